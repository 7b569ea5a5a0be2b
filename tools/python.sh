#!/bin/sh
# Prints the path of the newest Python (3.11 or later) that can make a virtual environment.
# Looks on PATH first, then where pyenv keeps its versions; shims that only complain are passed over.
# With versions (3.11 ...) as arguments it looks for these alone, in their order.

works() {
    "$1" - <<'PY' 2>/dev/null
import sys, ssl, venv, ensurepip
raise SystemExit(not ((3, 11) <= sys.version_info[:2] <= (3, 14)))
PY
}

for version in ${*:-3.14 3.13 3.12 3.11}; do
    for candidate in "python$version" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python; do
        if works "$candidate"; then
            command -v "$candidate"
            exit 0
        fi
    done
done
if [ $# -gt 0 ]; then
    echo "No Python $* with ssl and venv was found" >&2
    exit 1
fi
for candidate in python3 python; do
    if works "$candidate"; then
        command -v "$candidate"
        exit 0
    fi
done
echo "No Python from 3.11 to 3.14 with ssl and venv was found; install one, or name it: make PYTHON=/path/to/python" >&2
exit 1
