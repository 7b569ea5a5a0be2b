"""Say how large wheels are; fail where one is too large or carries what does not belong into it.

python tools/check_wheel.py dist/*.whl
"""

import re
import sys
import zipfile
from pathlib import Path

LIMIT = 15 << 20
NEEDED = ("blazarr/py.typed", "blazarr/_core.pyi", "blazarr/cuda/kernels/kernels.cu")
UNWANTED = re.compile(r"(^|/)(tests?|sboms)/|\.pyc$")


def faults(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    names = zipfile.ZipFile(wheel).namelist()
    found = [f"{name} does not belong into it" for name in names if UNWANTED.search(name)]
    found += [f"{name} is missing" for name in NEEDED if name not in names]
    if wheel.stat().st_size > LIMIT:
        found.append(f"it is larger than {LIMIT >> 20} MiB")
    return found


def main() -> int:
    """Check the wheels named on the command line."""
    wheels = [Path(name) for name in sys.argv[1:]]
    for wheel in wheels:
        print(f"{wheel.name}: {wheel.stat().st_size / (1 << 20):.1f} MiB")
        for fault in faults(wheel):
            print(f"  {fault}")
    return 1 if not wheels or any(map(faults, wheels)) else 0


if __name__ == "__main__":
    sys.exit(main())
