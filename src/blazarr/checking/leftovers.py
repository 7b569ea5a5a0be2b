"""Files that killed writers left on a local disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from blazarr.nodes import StorePath

SUFFIX: Final = ".__lock"


def lock_files(place: StorePath) -> Iterator[str]:
    """Yield the keys of lock files below a place that no writer holds.

    Parameters
    ----------
    place
        A place in any store; only local folders have such files.
    """
    root = place.store.capabilities.local_path
    if root is None:
        return
    for folder, _, names in os.walk(root / place.path):
        for name in sorted(names):
            if name.endswith(SUFFIX):
                file = Path(folder) / name
                if _is_free(file, remove=False):
                    yield file.relative_to(root).as_posix()


def remove_lock(place: StorePath, key: str) -> bool:
    """Remove a lock file unless a writer holds it by now; return whether it was removed.

    Parameters
    ----------
    place
        Any place in the store.
    key
        One of those that `lock_files` yields.
    """
    root = place.store.capabilities.local_path
    assert root is not None
    assert key.endswith(SUFFIX)
    return _is_free(root / key, remove=True)


def _is_free(file: Path, *, remove: bool) -> bool:
    import fcntl

    try:
        descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        # Gone, or no file of ours: a link, or not for us to write.
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever opened it meanwhile looks, once it has the lock, whether it is still there.
        if remove:
            file.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
