"""Every error that blazarr raises: one tree, by what a caller would do about it.

::

    BlazarrError(ValueError)
    ├── NotFoundError(+ KeyError, FileNotFoundError)     node, array, group
    ├── ChunkMissingError                                only when asked for
    ├── ExistsError(+ FileExistsError)                   would overwrite
    ├── MetadataError                                    with the JSON path
    ├── UnsupportedError(+ NotImplementedError)          codec, dtype, grid, extension: names it
    ├── CorruptError(+ RuntimeError)                     checksum, truncated, wrong header or index
    ├── LimitError(+ MemoryError)                        over Limits or budget
    ├── SelectionError(+ IndexError)
    ├── ConflictError                                    lost a compare-and-swap
    ├── ReadOnlyError
    ├── StoreError(+ OSError)                            attempts, deadline
    └── InternalError(+ RuntimeError)                    ours to fix; says so

The second half of the module holds zarr-python's public exception names. They are aliases or
subclasses of the tree, so that `except` clauses written for zarr-python go on working.
"""

from __future__ import annotations

from typing import Any, ClassVar

FIELDS = (
    "store",
    "key",
    "chunk",
    "codec",
    "path",
    "offset",
    "argument",
    "package",
    "size",
    "limit",
    "attempts",
    "deadline",
)


class BlazarrError(ValueError):
    """Base of every error that blazarr raises.

    Parameters
    ----------
    message
        What was wrong, and what to do.
    kind
        Stable identifier of the error; a class's own when not given.
    **fields
        Where it happened: any of `FIELDS`. `path` is a place in a JSON document, such as
        ``chunk_grid.configuration.chunk_shape[1]``; `key` is a key in the store.

    Attributes
    ----------
    kind
        Stable identifier, such as ``"not-found"`` or ``"checksum"``.
    message
        The text, as `str` gives it.
    store, key, chunk, codec, path, offset, argument, package, size, limit, attempts, deadline
        None where they say nothing.
    """

    default_kind: ClassVar[str] = "error"

    kind: str
    message: str
    store: Any = None
    key: Any = None
    chunk: Any = None
    codec: Any = None
    path: Any = None
    offset: Any = None
    argument: Any = None
    package: Any = None
    size: Any = None
    limit: Any = None
    attempts: Any = None
    deadline: Any = None

    def __init__(self, message: object = "", *, kind: str | None = None, **fields: Any) -> None:
        super().__init__(message)
        self.message = str(message)
        self.kind = self.default_kind if kind is None else kind
        for name, value in fields.items():
            if name not in FIELDS:
                raise TypeError(f"{type(self).__name__} has no field {name!r}; it has {FIELDS}")
            setattr(self, name, value)

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that say something."""
        return {name: value for name in FIELDS if (value := getattr(self, name)) is not None}

    def locate(self, store: object) -> None:
        """Name the store, in the message too, unless the error does already.

        Parameters
        ----------
        store
            Where it happened.
        """
        if self.store is None:
            self.store = str(store)
            self.message = f"{self.store}: {self.message}"
            self.args = (self.message,)

    def locate_chunk(self, key: str | None, chunk: tuple[int, ...] | None, codec: str) -> None:
        """Name the chunk and the codec, in the message too, unless the error does already.

        Parameters
        ----------
        key, chunk, codec
            Where it happened.
        """
        if self.chunk is None and chunk is not None:
            self.key, self.chunk = key, chunk
            self.message = f"chunk {list(chunk)} (key {key!r}): {self.message}"
            self.args = (self.message,)
        self.codec = self.codec or codec

    def __str__(self) -> str:
        # KeyError would quote the text and OSError would look for an errno.
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.kind, self.fields), _notes(self)


def _rebuild(
    cls: type[BlazarrError], message: str, kind: str, fields: dict[str, Any]
) -> BlazarrError:
    return cls(message, kind=kind, **fields)


def _notes(error: BaseException) -> dict[str, Any]:
    notes = getattr(error, "__notes__", None)
    return {"__notes__": list(notes)} if notes else {}


class NotFoundError(BlazarrError, KeyError, FileNotFoundError):
    """No node, array or group at this place."""

    default_kind = "not-found"


class ChunkMissingError(BlazarrError):
    """A chunk is absent, and the caller asked not to get fill values for it."""

    default_kind = "chunk-missing"


class ExistsError(BlazarrError, FileExistsError):
    """Something is there already, and overwriting it was not asked for."""

    default_kind = "exists"


class MetadataError(BlazarrError):
    """A metadata document, or an argument that becomes one, is wrong; `path` says where."""

    default_kind = "metadata"


class UnsupportedError(BlazarrError, NotImplementedError):
    """A codec, data type, chunk grid or extension that this installation doesn't have."""

    default_kind = "unsupported"


class CorruptError(BlazarrError, RuntimeError):
    """Stored bytes are not what their metadata says: checksum, length, header or index."""

    default_kind = "corrupt"


class LimitError(BlazarrError, MemoryError):
    """Over one of the `Limits`, or over the memory budget."""

    default_kind = "limit"


class SelectionError(BlazarrError, IndexError):
    """The selection does not fit the array."""

    default_kind = "selection"


class ConflictError(BlazarrError):
    """Another writer was faster; nothing was written."""

    default_kind = "conflict"


class ReadOnlyError(BlazarrError):
    """The store or node was opened for reading only."""

    default_kind = "read-only"


class StoreError(BlazarrError, OSError):
    """The store failed: `attempts` and `deadline` say what was tried."""

    default_kind = "store"


class InternalError(BlazarrError, RuntimeError):
    """A fault in blazarr itself; please report it."""

    default_kind = "internal"


# zarr-python's names. Bases follow zarr-python: all but the selection errors and
# `DataTypeValidationError` derive from `BaseZarrError`, which is a ValueError there too.

BaseZarrError = BlazarrError
NodeNotFoundError = NotFoundError
MetadataValidationError = MetadataError
ChunkNotFoundError = ChunkMissingError


class ArrayNotFoundError(NotFoundError):
    """No array at this path."""


class GroupNotFoundError(NotFoundError):
    """No group at this path."""


class ContainsArrayError(ExistsError):
    """An array is there already."""


class ContainsGroupError(ExistsError):
    """A group is there already."""


class ContainsArrayAndGroupError(MetadataError):
    """Both ``.zarray`` and ``.zgroup`` are there; only one of them may be."""


class DataTypeValidationError(MetadataError):
    """Not a data type, or not one of this format."""


class NodeTypeValidationError(MetadataError):
    """The document describes the other kind of node, or none."""


class UnknownCodecError(UnsupportedError):
    """A codec that this installation doesn't have."""


class PickleCodecDisabledError(UnsupportedError):
    """Unpickling runs code from the store, so it has to be asked for."""


class VindexInvalidSelectionError(SelectionError):
    """`vindex` takes integer arrays or one mask."""


class NegativeStepError(SelectionError):
    """zarr-python refuses negative steps; blazarr reads them, so this is never raised."""


class BoundsCheckError(SelectionError):
    """An index is outside the array."""


class ArrayIndexError(SelectionError):
    """An index array has the wrong type or shape."""


class ZarrUserWarning(UserWarning):
    """Something that the user should act on."""


class ZarrRuntimeWarning(RuntimeWarning):
    """Dubious behaviour at run time."""


class ZarrDeprecationWarning(DeprecationWarning):
    """A feature that will go."""


class ZarrFutureWarning(FutureWarning):
    """A feature that will change, said to end users."""


class UnstableSpecificationWarning(ZarrFutureWarning):
    """A feature outside the Zarr specification."""
