// Reads and writes arrays with zarrita.js: a JSON line for each job on standard input, one for each result on standard output.
//
// A job is {op: "read" | "write", path, text, document?, values?}: `document` is the metadata of format 3 to create the
// array with (in format 2, which zarrita does not create, it is there already), `values` are the elements in C order:
// a list of strings where `text` is set, else their little-endian bytes in base64. A result has `error`, or `values`
// likewise, but in the order that `stride` says.

import { createInterface } from "node:readline";
import { FileSystemStore } from "@zarrita/storage";
import * as zarr from "zarrita";

async function read({ path, text }) {
  const array = await zarr.open(new FileSystemStore(path), { kind: "array" });
  const { data, stride } = await zarr.get(array);
  if (text) return { values: Array.from(data), stride };
  const bytes = array.dtype === "bool" ? Uint8Array.from(data, Number) : data;
  return { values: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"), stride };
}

async function write({ path, text, document, values }) {
  const store = new FileSystemStore(path);
  const array = document ? await create(store, document) : await zarr.open(store, { kind: "array" });
  const data = text ? texts(array.dtype, values) : elements(array.dtype, Buffer.from(values, "base64"));
  await zarr.set(array, null, { data, shape: array.shape, stride: [array.shape[1], 1] });
  return {};
}

function create(store, document) {
  return zarr.create(store, {
    shape: document.shape,
    chunkShape: document.chunk_grid.configuration.chunk_shape,
    dtype: document.data_type,
    codecs: document.codecs,
    fillValue: document.fill_value,
    chunkSeparator: document.chunk_key_encoding.configuration.separator,
  });
}

function texts(dtype, values) {
  const [, kind, chars] = dtype.match(/^v2:([US])([0-9]+)$/) ?? [];
  if (!kind) return values;
  return new (kind === "U" ? zarr.UnicodeStringArray : zarr.ByteStringArray)(Number(chars), values);
}

function elements(dtype, bytes) {
  // A copy, because a view has to begin at a multiple of the element's size.
  const buffer = new Uint8Array(bytes).buffer;
  if (dtype === "bool") return new zarr.BoolArray(buffer);
  const views = {
    int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
    uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
    float16: globalThis.Float16Array, float32: Float32Array, float64: Float64Array,
  };
  if (!views[dtype]) throw new Error(`no typed array for ${dtype}`);
  return new views[dtype](buffer);
}

for await (const line of createInterface({ input: process.stdin })) {
  const job = JSON.parse(line);
  let result;
  try {
    result = await (job.op === "read" ? read(job) : write(job));
  } catch (error) {
    result = { error: String(error.cause ?? error) };
  }
  console.log(JSON.stringify(result));
}
