"""Why names of zarr-python are absent from blazarr, or differ: patterns of full names, first match counts."""

_COPY = (
    "zarr-python raises NotImplementedError; here it copies, with the arguments of zarr-python 2"
)
_BUFFERS = "results are numpy arrays, and stores and codecs take anything with the buffer protocol"
_YAML = "settings come from code and from environment variables, not from files"
_PIPELINE = (
    "the chain of codecs runs in the Rust core; there is no pipeline to choose or to replace"
)
_DOCUMENTS = "the type of a JSON document: zarr-metadata has all of them"
_FACADE = (
    "made of the node: `AsyncArray(array)`, or `array.aio`; the node is made of metadata and place"
)
_ALIAS = "an alias: one class serves both formats, and documents are plain JSON"
_SYNC = "stores have one synchronous protocol, so there is nothing to opt in to"

REASONS = {
    "copy*": _COPY,
    "api.*.copy*": _COPY,
    "Array": _FACADE,
    "AsyncArray": _FACADE,
    "AsyncGroup": _FACADE,
    "Group": _FACADE,
    "abc.buffer.*": _BUFFERS,
    "abc.codec.ArrayBytesCodecPartial*": "which bytes of a shard are needed is the planner's work, for all codecs",
    "abc.codec.Codec[IO]*": _BUFFERS,
    "abc.codec.CodecPipeline": _PIPELINE,
    "abc.codec.GetResult": _PIPELINE,
    "abc.codec.SupportsSyncCodec": "codecs are synchronous, so there is nothing to opt in to",
    "abc.metadata.Metadata": "the union of the models, which are frozen data classes without a common base",
    "abc.store.Store": "blazarr's own protocol: keys and bytes with generations; see docs/how-to/from-zarr-python.md",
    "abc.store.ByteGetter": "codecs get bytes, not a place to get them from",
    "abc.store.ByteSetter": "codecs give bytes, not a place to put them",
    "abc.store.S*": _SYNC,
    "abc.store.set_or_delete": "`Store.put` and `Store.delete`",
    "codecs.numcodecs._*": "private; the classes derive from the ones of `blazarr.abc.codec`",
    "dtype.*JSON_V?": _DOCUMENTS,
    "dtype.DTypeSpec_V2": _DOCUMENTS,
    "dtype.check_dtype_spec*": _DOCUMENTS,
    "dtype.ZDType": "`blazarr.dtypes.DataType`: subclasses pass their numpy dtype to it",
    "dtype.data_type_registry": "`blazarr.registry.register_data_type` adds a type",
    "experimental.ChunkGrid": "made of its axes; arrays and arguments make them, users only look",
    "experimental.ChunkSpec": "`Array.plan` says which chunks a selection needs",
    "experimental.cache_store.*": "other arguments: `blazarr.stores.CacheStore` keeps so many bytes in a store of your choice",
    "registry.Registry": "`blazarr.registry`'s functions; there is no object to hold",
    "registry.*chunk_key_encoding*": "the two encodings of the specification, which the core computes",
    "registry.*pipeline*": _PIPELINE,
    "registry.*buffer*": _BUFFERS,
    "storage.GpuMemoryStore": "GPU memory is where results go (`blazarr.cuda`), not where chunks are stored",
    "storage.FsspecStore": "made of a file system alone; options are the file system's, errors are told by their class",
    "storage.ManagedMemoryStore": "a `MemoryStore` that the program holds on to",
    "testing.StoreTests": "`blazarr.testing.store_contract` is the suite for blazarr's protocol",
    "testing.assert_bytes_equal": _BUFFERS,
    "testing.stateful.*": "stays in zarr-python; not shown to run on blazarr from end to end",
    "testing.strategies.*": "stays in zarr-python; not shown to run on blazarr from end to end",
    "types.*": _ALIAS,
    "AsyncArray.open": "opens an array of either format, as `Array.open` does",
    "AsyncArray.resize": "chunks outside the new shape are always deleted: they would come back at the next growth",
    "AsyncGroup.from_dict": "`Group(metadata, store_path).aio`",
    "AsyncGroup.get": "the argument's name is that of `Group.get`",
    "AsyncGroup.open": "`blazarr.aio.open_group` takes `use_consolidated`",
    "config.codec_pipeline.*": _PIPELINE,
    "config.codecs.*": "a name has one implementation; `register_codec` replaces it",
    "config.*buffer": _BUFFERS,
    "Config.enable_gpu": '`device="cuda"` of `open_array` and `Array.to`; it is no setting of the process',
    "Config.clear": "`Config.reset`",
    "Config.get": "`default` may be left out in both; what stands for that is private",
    "Config.update": "`Config.set` changes many at once; there is no other priority",
    "Config.defaults": "`blazarr.config.DEFAULTS`",
    "Config.*": _YAML,
}
