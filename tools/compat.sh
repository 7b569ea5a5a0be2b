#!/usr/bin/env bash
# zarr-python's and zarrs-python's own tests with blazarr's codec pipeline as the default one.
#
#     tools/compat.sh PYTHON
#
# The scripts that run them are looked for in $BLAZARR_SHARED/suites (else ../shared/suites); zarrs-python's tests need
# $GITDIR, a git directory of that project. tests/compat/KNOWN.md names the tests that may fail.
set -euo pipefail
python=$(realpath -s "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
suites=${BLAZARR_SHARED:-$root/../shared}/suites
pipeline=blazarr.compat.zarr_python.BlazarrCodecPipeline
work=$root/build/compat

if [ ! -d "$suites" ]; then
    echo "no scripts at $suites; set BLAZARR_SHARED" >&2
    exit 0
fi

version=$("$python" -c "import importlib.metadata as m; print(m.version('zarr'))")
if [ ! -d "$work/zarr-$version" ]; then
    mkdir -p "$work"
    "$python" -m pip download --quiet --no-deps --no-binary zarr --dest "$work" "zarr==$version"
    tar -C "$work" -xzf "$work/zarr-$version.tar.gz"
fi
ZARR_SUITE_PY=$python ZARR_SUITE_SRC=$work/zarr-$version ZARR_SUITE_OUT=$work/logs ZARR_SUITE_LIST=1 \
    bash "$suites/zarr-python.sh" "$pipeline"

if [ -n "${GITDIR:-}" ]; then
    bash "$suites/zarrs-python.sh" "$pipeline" "$python" || true
else
    echo "zarrs-python's tests were not run; set GITDIR to a git directory of it" >&2
fi
