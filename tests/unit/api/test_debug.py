"""What is logged, and how."""

import subprocess
import sys

CODE = """
import blazarr
from blazarr.storage import LoggingStore, MemoryStore
store = LoggingStore(MemoryStore())
blazarr.create_group(store)
blazarr.set_log_level("DEBUG")
blazarr.set_format("<%(name)s> %(levelname)s")
blazarr.open_group(store)
blazarr.set_log_level("ERROR")
blazarr.open_group(store)
"""


def test_levels_and_formats():
    found = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    lines = set(found.stderr.splitlines())
    assert lines == {"<blazarr.stores> DEBUG"}
