//! Batches of chunks that somebody else has planned: read, written, or only decoded and encoded.

use std::sync::Arc;

use blazarr_core::array;
use blazarr_core::chunks::{self, Piece, Source};
use blazarr_core::codec::BytesCodec;
use blazarr_core::io::handed::{AtHand, Handed, HandedKeys};
use blazarr_core::io::{self, ByteRange, Edit};
use blazarr_core::wave::write::{Chunks, Encoding};
use blazarr_core::{pool, write};
use bytes::Bytes;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::bytes::{Borrowed, to_python};
use crate::errors::{detached, to_py};
use crate::external::External;
use crate::pieces::{Memory, parse};
use crate::stores::Store;
use crate::wave::{Source as WaveSource, WaveRows};
use crate::wave_write::{Frame, WaveChunks, encoding};

/// How an array's chunks are decoded and encoded, wherever they are.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
struct ChunkEngine {
    inner: Arc<array::Array>,
    /// What it was made of, for executors that decode elsewhere.
    spec: Vec<u8>,
}

#[pymethods]
impl ChunkEngine {
    #[new]
    fn new(spec: &[u8], externals: Vec<Bound<'_, PyAny>>) -> PyResult<ChunkEngine> {
        let mut steps: Vec<Arc<dyn BytesCodec>> = Vec::with_capacity(externals.len());
        for external in &externals {
            steps.push(Arc::new(External::new(external)?));
        }
        let inner = Arc::new(array::Array::parse(spec, &steps).map_err(to_py)?);
        Ok(ChunkEngine {
            inner,
            spec: spec.to_vec(),
        })
    }

    #[getter]
    fn spec<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.spec)
    }

    /// The chunks of `batch`, as zarr-python gives them to a codec pipeline, with `memory` as result or value; `None`
    /// where a selection is of a form that only numpy knows.
    fn batch(
        &self,
        batch: &Bound<'_, PyAny>,
        memory: &Bound<'_, PyAny>,
        drop_axes: Vec<usize>,
    ) -> PyResult<Option<ChunkBatch>> {
        // An array without axes has no shape in the buffer protocol, which pyo3 takes for an error.
        let rank: usize = memory.getattr(intern!(memory.py(), "ndim"))?.extract()?;
        let buffer = match rank {
            0 => PyUntypedBuffer::get(&memory.call_method1("reshape", (1,))?)?,
            _ => PyUntypedBuffer::get(memory)?,
        };
        if buffer.item_size() != self.inner.item {
            return Err(PyValueError::new_err(format!(
                "the memory's items have {} bytes, but the array's have {}",
                buffer.item_size(),
                self.inner.item
            )));
        }
        let view = Memory {
            base: buffer.buf_ptr().cast(),
            shape: if rank == 0 { &[] } else { buffer.shape() },
            strides: if rank == 0 { &[] } else { buffer.strides() },
        };
        let pieces = parse(batch, &view, &drop_axes)?;
        Ok(pieces.map(|pieces| ChunkBatch {
            array: self.inner.clone(),
            pieces: Arc::new(pieces),
            memory: Some(buffer),
        }))
    }

    /// The same with memory of a device, of which only shape and strides are known here.
    fn device_batch(
        &self,
        batch: &Bound<'_, PyAny>,
        shape: Vec<usize>,
        strides: Vec<isize>,
        drop_axes: Vec<usize>,
    ) -> PyResult<Option<ChunkBatch>> {
        if shape.len() != strides.len() {
            return Err(PyValueError::new_err("a stride for each axis"));
        }
        let view = Memory {
            base: std::ptr::null_mut(),
            shape: &shape,
            strides: &strides,
        };
        let pieces = parse(batch, &view, &drop_axes)?;
        Ok(pieces.map(|pieces| ChunkBatch {
            array: self.inner.clone(),
            pieces: Arc::new(pieces),
            memory: None,
        }))
    }
}

/// A range of bytes by its start, from the end where negative, and its stop.
type Range = (i64, Option<u64>);

/// Chunks, what is wanted of each, and the memory in which that lies.
#[pyclass(frozen, module = "blazarr._core")]
struct ChunkBatch {
    array: Arc<array::Array>,
    pieces: Arc<Vec<Piece<'static>>>,
    /// None where it is a device's: the pieces can then be laid out for waves, and no more.
    memory: Option<PyUntypedBuffer>,
}

#[pymethods]
impl ChunkBatch {
    /// Reads from `store`; a byte for each chunk: 1 where it was there, 0 where it was filled.
    #[pyo3(signature = (store, *, threads=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        store: PyRef<'_, Store>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_writable()?;
        let store = store.inner.clone();
        self.run_read(py, Source::Store(&*store), threads)
    }

    /// Reads from bytes at hand. For each chunk: None where it is absent, its bytes, or (index, [(offset, bytes), ...])
    /// with the ranges that `ranges` asked for.
    #[pyo3(signature = (data, *, threads=None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        data: Vec<Bound<'py, PyAny>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.check_writable()?;
        let handed = self.handed(&data)?;
        self.run_read(py, Source::Handed(&handed), threads)
    }

    /// Writes to `store`.
    #[pyo3(signature = (store, *, threads=None, write_empty=false))]
    fn write(
        &self,
        py: Python<'_>,
        store: PyRef<'_, Store>,
        threads: Option<usize>,
        write_empty: bool,
    ) -> PyResult<()> {
        let store = store.inner.clone();
        self.run_write(py, Source::Store(&*store), threads, write_empty)
    }

    /// Encodes over the chunks at hand; for each its new bytes, or None where it is to be absent.
    #[pyo3(signature = (data, *, threads=None, write_empty=false))]
    fn encode(
        &self,
        py: Python<'_>,
        data: Vec<Bound<'_, PyAny>>,
        threads: Option<usize>,
        write_empty: bool,
    ) -> PyResult<Vec<Option<Py<PyAny>>>> {
        let handed = self.handed(&data)?;
        self.run_write(py, Source::Handed(&handed), threads, write_empty)?;
        handed.iter().map(|key| given(py, key.take())).collect()
    }

    /// The chunks in `store` as rows of the wave executor.
    fn rows(&self, py: Python<'_>, store: PyRef<'_, Store>) -> PyResult<WaveRows> {
        self.lay_out(py, store.inner.clone())
    }

    /// The same with bytes at hand, as for `decode`.
    fn rows_at_hand(&self, py: Python<'_>, data: Vec<Bound<'_, PyAny>>) -> PyResult<WaveRows> {
        self.lay_out(py, Arc::new(self.keys_at_hand(&data)?))
    }

    /// The chunks as those of a write of the wave executor, to `store`.
    fn chunks(
        &self,
        py: Python<'_>,
        store: PyRef<'_, Store>,
        device_steps: usize,
        frame: Option<Frame>,
    ) -> PyResult<WaveChunks> {
        self.lay_out_write(py, store.inner.clone(), encoding(device_steps, frame)?)
    }

    /// The same over bytes at hand, and what gives each chunk's new bytes once all is written.
    fn chunks_at_hand(
        &self,
        py: Python<'_>,
        data: Vec<Bound<'_, PyAny>>,
        device_steps: usize,
        frame: Option<Frame>,
    ) -> PyResult<(WaveChunks, KeysAtHand)> {
        let store = Arc::new(self.keys_at_hand(&data)?);
        let keys = self.pieces.iter().map(|piece| piece.key.clone()).collect();
        let taken = KeysAtHand {
            store: store.clone(),
            keys,
        };
        let encoding = encoding(device_steps, frame)?;
        Ok((self.lay_out_write(py, store, encoding)?, taken))
    }

    /// Whether a selection names an element twice.
    fn repeats(&self, py: Python<'_>) -> bool {
        py.detach(|| chunks::repeats(&self.pieces))
    }

    /// The numbers of the chunks of which a write changes only a part.
    fn partial(&self) -> PyResult<Vec<usize>> {
        let mut numbers = Vec::new();
        for (n, piece) in self.pieces.iter().enumerate() {
            if chunks::changes_part(&self.array, piece).map_err(to_py)? {
                numbers.push(n);
            }
        }
        Ok(numbers)
    }

    /// For each chunk the range of its index, (start, stop) with a negative start from the end; None where all of the
    /// key has to be fetched.
    fn index_ranges(&self) -> PyResult<Vec<Option<Range>>> {
        let range = |piece| {
            let range = chunks::index_range(&self.array, piece).map_err(to_py)?;
            Ok(match range {
                Some(ByteRange::Suffix(len)) => Some((-i64::try_from(len)?, None)),
                Some(ByteRange::Span { len, .. }) => Some((0, Some(len))),
                _ => None,
            })
        };
        self.pieces.iter().map(range).collect()
    }

    /// The ranges (start, stop) to fetch of the shard with this number, whose index is `index`.
    fn ranges(&self, number: usize, index: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        // Absent inner chunks are filled meanwhile, but for those of a device.
        let fills = self.memory.is_some();
        if fills {
            self.check_writable()?;
        }
        let index = Bytes::from_owner(Borrowed::new(index)?);
        let piece = self.pieces.get(number).ok_or_else(|| {
            PyValueError::new_err(format!("there is no chunk {number} in this batch"))
        })?;
        let ranges = chunks::inner_ranges(&self.array, piece, &index, fills).map_err(to_py)?;
        let ends = |(offset, len): (u64, u64)| (offset, offset.saturating_add(len));
        Ok(ranges.into_iter().map(ends).collect())
    }

    fn __len__(&self) -> usize {
        self.pieces.len()
    }
}

impl ChunkBatch {
    fn check_writable(&self) -> PyResult<()> {
        match self.host_memory()?.readonly() {
            false => Ok(()),
            true => Err(PyValueError::new_err(
                "the memory to read into is read-only",
            )),
        }
    }

    fn host_memory(&self) -> PyResult<&PyUntypedBuffer> {
        let what = "the memory is a device's: only rows can be made of this batch";
        self.memory
            .as_ref()
            .ok_or_else(|| PyValueError::new_err(what))
    }

    fn lay_out(&self, py: Python<'_>, store: Arc<dyn io::Store>) -> PyResult<WaveRows> {
        let rows = detached(py, || {
            chunks::rows(&self.array, &*store, &self.pieces, false)
        })?;
        Ok(WaveRows::of(
            WaveSource::Pieces(self.array.clone(), store),
            rows,
        ))
    }

    fn lay_out_write(
        &self,
        py: Python<'_>,
        store: Arc<dyn io::Store>,
        encoding: Encoding,
    ) -> PyResult<WaveChunks> {
        let chunks = detached(py, || {
            Chunks::of_pieces(&self.array, &*store, self.pieces.clone())
        })?;
        let source = WaveSource::Pieces(self.array.clone(), store);
        Ok(WaveChunks::of(source, chunks, encoding))
    }

    fn keys_at_hand(&self, data: &[Bound<'_, PyAny>]) -> PyResult<HandedKeys> {
        let keys = self.pieces.iter().map(|piece| piece.key.clone());
        Ok(HandedKeys::new(keys.zip(self.handed(data)?)))
    }

    fn run_read<'py>(
        &self,
        py: Python<'py>,
        source: Source<'_>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let threads = threads.unwrap_or_else(pool::threads);
        let present = detached(py, || {
            chunks::read(&self.array, source, &self.pieces, threads)
        })?;
        let bytes: Vec<u8> = present.into_iter().map(u8::from).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn run_write(
        &self,
        py: Python<'_>,
        source: Source<'_>,
        threads: Option<usize>,
        write_empty: bool,
    ) -> PyResult<()> {
        self.host_memory()?;
        let options = write::Options {
            threads: threads.unwrap_or_else(pool::threads),
            write_empty,
        };
        detached(py, || {
            chunks::write(&self.array, source, &self.pieces, options)
        })
    }

    fn handed(&self, data: &[Bound<'_, PyAny>]) -> PyResult<Vec<Handed>> {
        if data.len() != self.pieces.len() {
            return Err(PyValueError::new_err(format!(
                "{} chunks are given to a batch of {}",
                data.len(),
                self.pieces.len()
            )));
        }
        let one = |data| Ok(Handed::new(self.at_hand(data)?));
        data.iter().map(one).collect()
    }

    fn at_hand(&self, data: &Bound<'_, PyAny>) -> PyResult<AtHand> {
        if data.is_none() {
            return Ok(AtHand::Absent);
        }
        if !data.is_instance_of::<PyTuple>() {
            return Ok(AtHand::Whole(Bytes::from_owner(Borrowed::new(data)?)));
        }
        let (index, parts): (Bound<'_, PyAny>, Vec<(u64, Bound<'_, PyAny>)>) = data.extract()?;
        let index = Bytes::from_owner(Borrowed::new(&index)?);
        let at = chunks::index_offset(&self.array, index.len()).map_err(to_py)?;
        let mut all = vec![(at, index)];
        for (offset, bytes) in parts {
            all.push((offset, Bytes::from_owner(Borrowed::new(&bytes)?)));
        }
        all.sort_by_key(|(offset, _)| *offset);
        Ok(AtHand::Parts(all))
    }
}

/// Keys at hand that a write of the wave executor changes.
#[pyclass(frozen, module = "blazarr._core")]
struct KeysAtHand {
    store: Arc<HandedKeys>,
    keys: Vec<String>,
}

#[pymethods]
impl KeysAtHand {
    /// For each chunk its new bytes, or None where it is to be absent. They are given once.
    fn take(&self, py: Python<'_>) -> PyResult<Vec<Option<Py<PyAny>>>> {
        self.keys
            .iter()
            .map(|key| given(py, self.store.take(key)))
            .collect()
    }
}

fn given(py: Python<'_>, made: Option<Edit>) -> PyResult<Option<Py<PyAny>>> {
    match made {
        Some(Edit::Put(bytes)) => to_python(py, bytes.into()).map(Some),
        _ => Ok(None),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ChunkEngine>()?;
    module.add_class::<KeysAtHand>()?;
    module.add_class::<ChunkBatch>()
}
