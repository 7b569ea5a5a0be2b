"""zarr-python's name for `blazarr.api`."""

from blazarr.api import *  # noqa: F403
from blazarr.api import __all__  # noqa: F401
