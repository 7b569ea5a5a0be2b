"""Why tests of zarr-python fail on blazarr: a pattern of the test's name or message, and the reason.

The first that matches counts. What is not here is a fault, and `run.py` says so.
"""

_MODELS = "builds or takes apart zarr-python's internal models of metadata (`zarr.core.metadata`)"
_PRIVATE = "reads private members of zarr-python's classes"
_INTERNAL = "calls zarr-python's internal functions, which know nothing of blazarr's objects"
_STORES = "awaits zarr-python's methods of stores or `StorePath`, or counts what is read from them"

REASONS = (
    (r"test_overwrite_without_deletes", "nodes in zip files can be overwritten"),
    (r"test_asyncgroup_from_dict", "made of the node (docs/parity.md)"),
    (r"test_group_members_async", "edits consolidated metadata in place, which is frozen here"),
    (
        r"test_open_ambiguous_node|Item key has incorrect type",
        "a dict given as a store holds bytes, not zarr-python's buffers",
    ),
    (
        r"test_open_v2_byte_order_irrelevant_dtype",
        "a document keeps the spelling that it had (`<b1`); it means the same",
    ),
    (
        r"test_from_array_keep_roundtrips|cast_value.*test_to_dict",
        "members of codecs are compared as lists or tuples; documents are equal",
    ),
    (
        r"test_parse_(zarr_format|node_type|codecs)|test_group_metadata_to_dict",
        "calls zarr-python's internal functions, or compares with its models in every member",
    ),
    (
        r"test_sharding_fixed_size_index_codecs_roundtrip",
        "indexes of shards are encoded by `bytes` and checksums, not by `transpose`",
    ),
    (r"test_info_reports", "summaries say it in other words"),
    (r"test_tree", "trees have no escape codes for bold, and say more of each array"),
    (
        r"test_vlen_string|test_from_array_preserves_dtype",
        "compares with, or resolves by, zarr-python's own classes of data types",
    ),
    (
        r"without_flag|rectilinear_feature_flag",
        "rectilinear grids are always there; the setting is accepted and not needed",
    ),
    (
        r"rejects_variable_size_index_codecs",
        "refused when an array is created or opened, not when the codec is made",
    ),
    (
        r"test_sharding_(partial_shard_read|multiple_chunks|duplicate_read|partial_shard)",
        "replaces a store's methods by mocks of zarr-python's, or counts what is read from it",
    ),
    (
        r"test_codecs_pickleable|test_repr\b|test_generic_checksum|test_generic_bytes_codec|KeyError: 'codecs'",
        "makes a numcodecs codec without what it needs, looks into it, or chooses its class by a setting",
    ),
    (
        r"tunable_attrs|evolve_from_array_spec|_codec_supports_sync|'validate'|encoded_size|attribute '_codec'",
        "calls what zarr-python's codecs have inside (array specs, buffers, back ends)",
    ),
    (
        r"to_native_dtype|_do_cast|check_backend|outdated_backend",
        "calls what zarr-python's codecs have inside (array specs, buffers, back ends)",
    ),
    (
        r"test_encode_decode_roundtrip",
        "byte order is the `bytes` codec's in format 3; results are in the machine's",
    ),
    (
        r"chunk_shape\[0\] must be an integer, not True",
        "zarr-python takes `True` for 1 when a codec is made; here only stored documents are read so",
    ),
    (
        r"test_construction_rejects_non_numeric|rejects_non_integer|must be an integer, not True",
        "an argument of the wrong type is a MetadataError (a ValueError), not a TypeError",
    ),
    (
        r"test_resize_|ChunkGrid\.__init__|'ChunkGrid' has no attribute",
        "drives zarr-python's chunk grid, or its way to delete chunks, from inside",
    ),
    (
        r"index_location|test_group_metadata_to_dict_consolidated|rooted_hierarchy",
        "compares with zarr-python's models in every member",
    ),
    (
        r"edge_lists_in_regular_grid|mixed_member_as_stored|test_sharding_warning_fires|test_init_order_warns",
        "a broken document is written rightly by `repair` and where it is copied, and no warning is given",
    ),
    (r"the tests after these", "**open**: the run of this module was stopped before its end"),
    (r"CountingDict|test_zarr_store", _STORES),
    (r"unraisable exception", "an event loop that the test plug-in leaves open; not each time"),
    (r"test_zdtype_json_roundtrip|ArrayConfig", _INTERNAL),
    (
        r"test_api.*test_create\b",
        "a chunk length that is no integer is a MetadataError (a ValueError), not a TypeError",
    ),
    (
        r"test_pickle_codec_read_disabled|test_pickle_codec_zarr_opt_in",
        "an error of numcodecs is the cause of a CorruptError that names the chunk",
    ),
    (
        r"test_creation_from_other_zarr_format",
        "what lies inside of the folder of the array that is copied is not emptied for the copy",
    ),
    (r"2\*\*63 - 1 items", "an array of more items than 64 bits count is refused"),
    (
        r"expected a chunk size of at least 1",
        "differs: a stored chunk size of 0 is read on empty axes only and refused elsewhere; zarr-python reads it as 1 with a warning",
    ),
    (r"'(Array|AsyncArray|Group|AsyncGroup)' (object )?has no attribute '_", _PRIVATE),
    (
        r"_FACADE|_Facade.__init__|AsyncNode|__init__\(\) got an unexpected keyword argument 'metadata'",
        "makes a facade of metadata and place; here it is made of the node (docs/parity.md)",
    ),
    (
        r"Array(V2|V3)?Metadata|GroupMetadata|ConsolidatedMetadata|extra_fields|to_buffer_dict|_from_bytes",
        _MODELS,
    ),
    (
        r"Unexpected metadata type|create_rooted_hierarchy|_parse_hierarchy|contains other nodes|build_metadata",
        _INTERNAL,
    ),
    (r"Unsupported type for store_like|ChunkGrid' has no attribute 'from_sizes'", _INTERNAL),
    (
        r"auto_partition_auto_shards|unbuildable_node|test_group_delitem_consolidated\[|TestInfo",
        _INTERNAL,
    ),
    (r"to_dict_order|test_with_config_polymorphism|has no attribute 'to_json'", _INTERNAL),
    (
        r"test_v3_chunk_encoding|test_v2_chunk_encoding|test_default_filters_compressors|test_roundtrip_numcodecs",
        "compares with objects of zarr-python's codec classes; blazarr's say the same to `to_dict` and in documents",
    ),
    (
        r"'StorePath' object has no attribute|'coroutine' object is not subscriptable|test_accessed_chunks",
        _STORES,
    ),
    (r"nests deeper than", "documents that nest deeper than `limits.json_depth` are refused"),
    (
        r"test_v2_with_v3_compressor",
        "codecs of format 3 are taken in format 2 too, where it has them",
    ),
    (
        r"special_complex_fill",
        "a NaN of other bits than the usual is written with its bits, as format 3 allows",
    ),
    (
        r"delitem_consolidated_aliased",
        "handles are independent: the parent's sees the deletion when opened again",
    ),
    (
        r"self_consolidating|non_consolidating|TestOpenMode",
        "no store of blazarr refuses consolidated metadata",
    ),
    (r"mixed_zarr_format", "hierarchies may have nodes of both formats"),
    (
        r"test_no_overwrite_load",
        "`load` says that there is nothing, where zarr-python makes a group",
    ),
    (r"test_save_group_storage_options", "`local://` is fsspec's name for a folder"),
    (
        r"config_refresh|has no attribute 'refresh'|via_env_var",
        "sets zarr-python's environment variables",
    ),
    (
        r"DID NOT RAISE IndexError|did not raise .*IndexError",
        "the selection means one thing only, so it is read: negative steps, masks of the first axis, nested lists",
    ),
    (r"DID NOT WARN", "the warning is not given"),
)
