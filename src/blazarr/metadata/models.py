"""zarr-metadata's models, types and JSON Schemas: made of ours, and ours of them.

The package `zarr-metadata` is optional. Nothing that opens or reads an array imports it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from blazarr.errors import UnsupportedError

if TYPE_CHECKING:
    from blazarr.metadata.array import ArrayMetadata
    from blazarr.metadata.group import GroupMetadata

Model: TypeAlias = Any

# Parts of the package that have a name in `blazarr.metadata`.
PARTS: Final = frozenset({"json_schema", "model", "pydantic"})

INSTALL: Final = "pip install 'blazarr[metadata]'"


def theirs(part: str = "") -> Any:
    """Import zarr-metadata, or a part of it.

    Raises
    ------
    UnsupportedError
        If the package, or what the part needs, is not installed.
    """
    name = f"zarr_metadata.{part}" if part else "zarr_metadata"
    try:
        return import_module(name)
    except ImportError as error:
        raise UnsupportedError(
            f"{name} cannot be imported ({error}): {INSTALL}", package="zarr-metadata"
        ) from error


def public_name(name: str) -> Any:
    """Return what zarr-metadata calls `name` at its top, or one of `PARTS`.

    Raises
    ------
    AttributeError
        If it has no such name, or is not installed.
    """
    if name in PARTS:
        return theirs(name)
    # Dunder names are asked for by Python's own machinery.
    if not name.startswith("_"):
        try:
            found = theirs()
        except UnsupportedError as error:
            raise AttributeError(
                f"module 'blazarr.metadata' has no attribute {name!r}; if it is a name of "
                f"zarr-metadata: {INSTALL}"
            ) from error
        if name in found.__all__:
            return getattr(found, name)
    raise AttributeError(f"module 'blazarr.metadata' has no attribute {name!r}")


def to_model(metadata: ArrayMetadata | GroupMetadata) -> Model:
    """Return zarr-metadata's model of a node's metadata.

    Parameters
    ----------
    metadata
        Of either format.

    Returns
    -------
    ZarrV2ArrayMetadata, ZarrV2GroupMetadata, ZarrV3ArrayMetadata or ZarrV3GroupMetadata
        It shares nothing that can change with `metadata`. A v2 group's consolidated metadata is a document of its own,
        and so not part of its model.

    Raises
    ------
    MetadataValidationError
        Zarr-metadata's, if the document is not strictly valid; `validate` tells where.
    UnsupportedError
        If zarr-metadata is not installed.
    """
    from blazarr.metadata.group import GroupMetadata

    kind = "Group" if isinstance(metadata, GroupMetadata) else "Array"
    model = getattr(theirs("model"), f"ZarrV{metadata.zarr_format}{kind}Metadata")
    return model.from_key_value(metadata.to_documents())


def from_model(model: Model) -> ArrayMetadata | GroupMetadata:
    """Return our metadata for a model of zarr-metadata.

    Parameters
    ----------
    model
        Of an array or a group, or the consolidated metadata of format 2.

    Returns
    -------
    ArrayMetadata or GroupMetadata

    Raises
    ------
    MetadataError, UnsupportedError
        If blazarr can't use what the model describes.
    """
    from blazarr.metadata import parse_documents

    return parse_documents(model.to_key_value())


def format_name(part: str, modules: tuple[str, ...], name: str) -> Any:
    """Return what zarr-metadata has for one format: a module, a definition, or the shape of a document.

    Parameters
    ----------
    part
        ``"v2"`` or ``"v3"``.
    modules
        Its modules, whose names count as the format's own.
    name
        The name asked for.
    """
    try:
        if name in modules:
            return theirs(f"{part}.{name}")
        of_part = (theirs(part), *(theirs(f"{part}.{module}") for module in modules))
    except UnsupportedError as error:
        raise AttributeError(error.message) from error
    for module in of_part:
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module 'blazarr.metadata.{part}' has no attribute {name!r}")
