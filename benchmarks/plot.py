"""Draw a result of run.py: for each case, how many times faster than each peer blazarr is.

python benchmarks/plot.py benchmarks/results/FILE.json [OUT.svg]
"""

import json
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

COLOURS = {"zarr": "#8c8c8c", "zarr-fused": "#4c78a8", "zarrs": "#b279a2", "tensorstore": "#f58518"}


def draw(report: dict, out: Path) -> None:
    """Draw one dot a case and peer on a logarithmic scale, with a line where both are equally fast."""
    rows = [entry for entry in report["cases"] if "blazarr" in entry["milliseconds"]]
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.28 * len(rows)), layout="constrained")
    for peer, colour in COLOURS.items():
        points = [
            (entry["milliseconds"][peer] / entry["milliseconds"]["blazarr"], place)
            for place, entry in enumerate(rows)
            if peer in entry["milliseconds"]
        ]
        if points:
            axes.scatter(*zip(*points, strict=True), color=colour, label=peer, s=30, zorder=3)
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(range(len(rows)), [entry["case"] for entry in rows])
    axes.invert_yaxis()
    axes.grid(axis="both", alpha=0.3)
    axes.set_xlabel("times faster than the peer (left of the line: slower)")
    machine = report["machine"]
    axes.set_title(
        f"blazarr {report['versions']['blazarr']}, {machine['cpu']}, {machine['cores']} cores"
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(out, metadata={"Date": None})
    plt.close(figure)


def main() -> int:
    """Draw the file named on the command line."""
    source = Path(sys.argv[1])
    out = Path(sys.argv[2]) if len(sys.argv) > 2 else source.with_suffix(".svg")
    draw(json.loads(source.read_text(encoding="utf-8")), out)
    print(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
