//! The wave executor's view of an array: rows of chunks, and their bytes staged in memory that Python lends.

use std::ops::Range;
use std::sync::Arc;

use blazarr_core::codec::CodecError;
use blazarr_core::error::Error;
use blazarr_core::io::{Descriptor, Store};
use blazarr_core::wave::rows::{self, Limit, Request, Row, Rows};
use blazarr_core::wave::stage::{Order, Room, Staged, stage};
use blazarr_core::wave::streams::{self, Format, FrameCodec};
use blazarr_core::{array, pool};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::array::Array;
use crate::bytes::Borrowed;
use crate::errors::{detached, to_py};
use crate::selection;

/// Some rows of a selection: one for each chunk that is decoded.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
pub struct WaveRows {
    source: Source,
    rows: Rows,
    missing_is_error: bool,
}

/// Whose chunks they are, and where.
#[derive(Debug)]
pub enum Source {
    Array(Py<Array>),
    Pieces(Arc<array::Array>, Arc<dyn Store>),
}

impl Source {
    pub fn share(&self, py: Python<'_>) -> Source {
        match self {
            Source::Array(array) => Source::Array(array.clone_ref(py)),
            Source::Pieces(array, store) => Source::Pieces(array.clone(), store.clone()),
        }
    }

    pub fn array(&self) -> &array::Array {
        match self {
            Source::Array(array) => &array.get().inner,
            Source::Pieces(array, _) => array,
        }
    }

    pub fn store(&self) -> &dyn Store {
        match self {
            Source::Array(array) => &*array.get().store,
            Source::Pieces(_, store) => &**store,
        }
    }
}

impl WaveRows {
    /// Rows of chunks that somebody else has planned.
    pub fn of(source: Source, rows: Rows) -> WaveRows {
        WaveRows {
            source,
            rows,
            missing_is_error: false,
        }
    }
}

/// The rows of `selection` from its job `first` on; `strides` are the result's, in bytes.
#[pyfunction]
#[pyo3(signature = (array, selection, strides, first, *, rows, nbytes, missing_is_error=false))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn wave_rows(
    py: Python<'_>,
    array: Py<Array>,
    selection: &Bound<'_, PyAny>,
    strides: Vec<isize>,
    first: usize,
    rows: usize,
    nbytes: usize,
    missing_is_error: bool,
) -> PyResult<WaveRows> {
    let selection = selection::parse(selection)?;
    if strides.len() != selection.picks.len() {
        return Err(PyValueError::new_err(
            "one stride for each axis of the selection",
        ));
    }
    let limit = Limit {
        rows,
        bytes: nbytes,
    };
    let inner = array.get();
    let rows = detached(py, || {
        let request = Request {
            array: &inner.inner,
            store: &*inner.store,
            missing_is_error,
            writing: false,
        };
        Rows::new(request, &selection, &strides, first, limit)
    })?;
    Ok(WaveRows {
        source: Source::Array(array),
        rows,
        missing_is_error,
    })
}

#[pymethods]
impl WaveRows {
    fn __len__(&self) -> usize {
        self.rows.rows.len()
    }

    /// The job after these rows, or None where they are the last.
    #[getter]
    fn next(&self) -> Option<usize> {
        (self.rows.next < self.rows.jobs).then_some(self.rows.next)
    }

    /// Key and chunk coordinates of a row, for messages.
    fn place(&self, row: usize) -> PyResult<(String, Vec<u64>)> {
        let out = || PyValueError::new_err(format!("there is no row {row}"));
        let row = self.rows.rows.get(row).ok_or_else(out)?;
        Ok((self.rows.keys[row.key].clone(), row.coords.to_vec()))
    }

    /// The rows as columns of 64-bit integers, and how many axes each has.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        columns_of(py, &self.rows)
    }

    /// A byte for each key: 1 where it is a shard that is not there.
    fn missing<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.rows.missing.iter().map(|&n| u8::from(n)).collect();
        PyBytes::new(py, &bytes)
    }

    /// Stages the rows of the given numbers in `memory`; what became of each, as columns.
    /// Where `direct`, files are left to be read by the caller, who closes their descriptors.
    #[pyo3(signature = (numbers, host, memory, *, device_steps, frame, most_streams, direct=false, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn stage<'py>(
        &self,
        py: Python<'py>,
        numbers: Vec<usize>,
        host: Vec<bool>,
        memory: &Bound<'py, PyAny>,
        device_steps: usize,
        frame: Option<&str>,
        most_streams: usize,
        direct: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let buffer = PyUntypedBuffer::get(memory)?;
        if buffer.readonly() || !buffer.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "memory must be writable and contiguous",
            ));
        }
        if numbers.len() != host.len() || numbers.iter().any(|&n| n >= self.rows.rows.len()) {
            return Err(PyValueError::new_err(
                "numbers of rows, and as many booleans",
            ));
        }
        let unknown = || PyValueError::new_err(format!("no device decodes {frame:?}"));
        let order = Order {
            rows: &numbers,
            host: &host,
            direct,
            device_steps,
            frame: match frame {
                Some(name) => Some(FrameCodec::from_name(name).ok_or_else(unknown)?),
                None => None,
            },
            most_streams,
            threads: threads.unwrap_or_else(pool::threads),
            missing_is_error: self.missing_is_error,
        };
        let (base, len) = (buffer.buf_ptr() as usize, buffer.len_bytes());
        let (array, store) = (self.source.array(), self.source.store());
        let (staged, used) = detached(py, || {
            // SAFETY: the buffer is writable, contiguous, of this length, and held for this call; that nobody else
            // uses it meanwhile is the executor's affair.
            let room = unsafe { Room::new(base as *mut u8, len) };
            let staged = stage(array, store, &self.rows, order, &room)?;
            Ok((staged, room.used()))
        })?;
        let columns = outcome(py, staged)?;
        columns.set_item("used", used)?;
        Ok(columns)
    }
}

/// The columns of rows.
pub fn columns_of<'py>(py: Python<'py>, rows: &Rows) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    columns.set_item("rank", rows.rank)?;
    let put = |name: &str, values: &[i64]| columns.set_item(name, words(py, values));
    let of = |value: fn(&Row) -> i64| rows.rows.iter().map(value).collect::<Vec<i64>>();
    put("key", &of(|row| row.key as i64))?;
    put("decoded", &of(|row| row.decoded as i64))?;
    put("encoded", &of(|row| encoded(&row.source)))?;
    put("src", &of(|row| row.src))?;
    put("dst", &of(|row| row.dst))?;
    put("counts", &rows.counts)?;
    put("src_steps", &rows.src_steps)?;
    put("src_tables", &rows.src_tables)?;
    put("dst_steps", &rows.dst_steps)?;
    put("dst_tables", &rows.dst_tables)?;
    put("tables", &rows.tables)?;
    Ok(columns)
}

fn encoded(source: &rows::Source) -> i64 {
    match source {
        rows::Source::Absent => 0,
        rows::Source::Key(_) => -1,
        rows::Source::Part { len, .. } | rows::Source::Held { len, .. } => *len as i64,
    }
}

/// What the columns of a staged row hold: a state by number, where its bytes are, how they are shuffled.
fn outcome(py: Python<'_>, staged: Vec<Staged>) -> PyResult<Bound<'_, PyDict>> {
    let mut rows: [Vec<i64>; 5] = Default::default();
    let mut streams: [Vec<i64>; 8] = Default::default();
    let mut files = Vec::new();
    for (number, staged) in staged.into_iter().enumerate() {
        let row = match staged {
            Staged::Deferred => [0; 5],
            Staged::Absent => [1, 0, 0, 0, 0],
            Staged::ForHost => [2, 0, 0, 0, 0],
            Staged::Decoded(range) => [3, range.start as i64, 0, 0, 0],
            Staged::Plain(range) => [4, range.start as i64, 0, 0, 0],
            Staged::InFile(range, file, offset) => {
                let start = range.start as i64;
                files.push((number, file, offset, range));
                [4, start, 0, 0, 0]
            }
            Staged::Frame(found, planes) => {
                for stream in found {
                    push(
                        &mut streams,
                        [
                            number as i64,
                            stream.format as i64,
                            stream.offset as i64,
                            stream.len as i64,
                            stream.to as i64,
                            stream.decoded as i64,
                            stream.check.kind as i64,
                            i64::from(stream.check.value),
                        ],
                    );
                }
                let [kind, size, block] =
                    [planes.kind as i64, planes.size as i64, planes.block as i64];
                [5, 0, kind, size, block]
            }
        };
        push(&mut rows, row);
    }
    let columns = PyDict::new(py);
    let names = ["state", "offset", "planes", "size", "block"];
    for (name, column) in names.iter().zip(&rows) {
        columns.set_item(name, words(py, column))?;
    }
    let names = [
        "row", "format", "from", "length", "to", "makes", "check", "value",
    ];
    for (name, column) in names.iter().zip(&streams) {
        columns.set_item(format!("stream_{name}"), words(py, column))?;
    }
    let read = |(row, file, offset, range): (usize, Descriptor, u64, Range<usize>)| {
        (row, number_of(file), offset, range.start, range.len())
    };
    columns.set_item("files", files.into_iter().map(read).collect::<Vec<_>>())?;
    Ok(columns)
}

/// The number of an open file, which whoever gets it closes.
#[cfg(unix)]
pub fn number_of(file: Descriptor) -> i32 {
    std::os::fd::IntoRawFd::into_raw_fd(file)
}

#[cfg(not(unix))]
pub fn number_of(file: Descriptor) -> i32 {
    match file {}
}

fn push<const N: usize>(columns: &mut [Vec<i64>; N], values: [i64; N]) {
    for (column, value) in columns.iter_mut().zip(values) {
        column.push(value);
    }
}

pub fn words<'py>(py: Python<'py>, values: &[i64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|n| n.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

/// Decodes one stream of zstd, lz4, snappy or GDeflate to exactly `size` bytes.
#[pyfunction]
fn decode_stream<'py>(
    py: Python<'py>,
    format: u8,
    data: &Bound<'py, PyAny>,
    size: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let format = known(format)?;
    let data = Borrowed::new(data)?;
    PyBytes::new_with(py, size, |dst| {
        streams::decode(format, data.as_ref(), dst).map_err(of_a_stream)
    })
}

/// Encodes one stream of snappy or GDeflate.
#[pyfunction]
fn encode_stream<'py>(
    py: Python<'py>,
    format: u8,
    data: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let data = Borrowed::new(data)?;
    let stream = streams::encode(known(format)?, data.as_ref()).map_err(of_a_stream)?;
    Ok(PyBytes::new(py, &stream))
}

fn known(format: u8) -> PyResult<Format> {
    Format::from_number(format)
        .ok_or_else(|| PyValueError::new_err(format!("there is no format {format}")))
}

fn of_a_stream(source: CodecError) -> PyErr {
    to_py(Error::Codec {
        key: String::new(),
        chunk: Vec::new(),
        source,
    })
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<WaveRows>()?;
    module.add_function(wrap_pyfunction!(wave_rows, module)?)?;
    module.add_function(wrap_pyfunction!(decode_stream, module)?)?;
    module.add_function(wrap_pyfunction!(encode_stream, module)?)
}
