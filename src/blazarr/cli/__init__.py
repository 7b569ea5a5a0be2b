"""The command line: ``blazarr``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, and end the process with its exit code."""
    try:
        import rich
        import typer
    except ImportError as error:
        print(  # noqa: T201 - there is nothing else to say it with
            f"blazarr: the command line needs {error.name}. Hint: pip install 'blazarr[cli]'",
            file=sys.stderr,
        )
        sys.exit(6)
    del rich, typer
    from blazarr.cli.app import run

    sys.exit(run(sys.argv[1:]))
