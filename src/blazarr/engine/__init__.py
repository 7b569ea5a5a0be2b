"""Running selections: the engine of one array, its configuration and its plans."""

from blazarr import _core
from blazarr.config import config

# All engines of the process share the core's threads.
config.follow("threading.max_workers", _core.set_threads)
