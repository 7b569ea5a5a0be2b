"""How many threads of the process work at once."""

import os
import subprocess
import sys

import blazarr.engine  # noqa: F401 - it tells the core
from blazarr import _core, config


def test_the_core_has_as_many_threads_as_the_setting_says():
    before = _core.threads()
    with config.set({"threading.max_workers": before + 3}):
        assert _core.threads() == before + 3
        with config.set(threading__max_workers=1):
            assert _core.threads() == 1
        assert _core.threads() == before + 3
    assert _core.threads() == before


def test_none_is_one_for_each_processor():
    with config.set({"threading.max_workers": None}):
        assert _core.threads() == len(os.sched_getaffinity(0))


def test_the_environment_says_so_too():
    program = (
        "import blazarr, numpy\n"
        "from blazarr import _core\n"
        "blazarr.array(numpy.arange(3))[:]\n"
        "print(_core.threads())\n"
    )
    environment = os.environ | {"BLAZARR_THREADING__MAX_WORKERS": "5"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "5\n"
