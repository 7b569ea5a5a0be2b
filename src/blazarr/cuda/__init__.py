"""Reading and writing on NVIDIA GPUs: plans run on a device in waves of chunks.

Nothing here is imported before it is asked for, and cupy not before an array on "cuda" is.
"""

from blazarr.cuda.about import Info, info
from blazarr.cuda.options import Options

__all__ = ["Info", "Options", "info"]
