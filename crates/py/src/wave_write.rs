//! The wave executor's writes: rows of chunks, and what a device made of them on its way to the store.

use blazarr_core::codec::blosc::layout::Form;
use blazarr_core::codec::blosc::{Compressor, Filter};
use blazarr_core::error::Error;
use blazarr_core::wave::frames::Framing;
use blazarr_core::wave::rows::Limit;
use blazarr_core::wave::streams::FrameCodec;
use blazarr_core::wave::write::{Chunks, Encoding, Outcome};
use blazarr_core::{pool, write};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::bytes::Borrowed;
use crate::errors::{detached, to_py};
use crate::selection;
use crate::wave::{Source, WaveRows, columns_of, number_of, words};

/// The chunks that a write touches, one row for each.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
pub struct WaveChunks {
    source: Source,
    chunks: Chunks,
    encoding: Encoding,
}

impl WaveChunks {
    pub fn of(source: Source, chunks: Chunks, encoding: Encoding) -> WaveChunks {
        WaveChunks {
            source,
            chunks,
            encoding,
        }
    }
}

/// What the device does of the chain: so many steps from its start, the last of them this compressor with the form of
/// its frames: (name, whether there are checksums, bytes of a block, compressor, shuffle and element size of blosc).
pub type Frame = (String, bool, usize, Option<(String, String, usize)>);

pub fn encoding(steps: usize, frame: Option<Frame>) -> PyResult<Encoding> {
    let Some((name, checked, block, blosc)) = frame else {
        return Ok(Encoding {
            steps,
            framing: None,
        });
    };
    let unknown = || PyValueError::new_err(format!("no device encodes {name:?}"));
    let framing = Framing {
        codec: FrameCodec::from_name(&name).ok_or_else(unknown)?,
        checked,
        block,
        blosc: blosc
            .map(|form| form_of(&form).ok_or_else(unknown))
            .transpose()?,
    };
    Ok(Encoding {
        steps,
        framing: Some(framing),
    })
}

fn form_of((compressor, filter, typesize): &(String, String, usize)) -> Option<Form> {
    Some(Form {
        compressor: match &compressor[..] {
            "lz4" => Compressor::Lz4,
            "lz4hc" => Compressor::Lz4Hc,
            "snappy" => Compressor::Snappy,
            "zstd" => Compressor::Zstd,
            _ => return None,
        },
        filter: match &filter[..] {
            "noshuffle" => Filter::NoShuffle,
            "shuffle" => Filter::Shuffle,
            "bitshuffle" => Filter::BitShuffle,
            _ => return None,
        },
        typesize: *typesize,
    })
}

/// The chunks of `selection` from its job `first` on; `strides` are the value's, in bytes. The device does the first
/// `device_steps` steps of the chain, the last of them `frame`.
#[pyfunction]
#[pyo3(signature = (array, selection, strides, first, *, rows, nbytes, device_steps, frame))]
#[expect(clippy::too_many_arguments, reason = "keywords of a Python function")]
fn wave_chunks(
    py: Python<'_>,
    array: Py<Array>,
    selection: &Bound<'_, PyAny>,
    strides: Vec<isize>,
    first: usize,
    rows: usize,
    nbytes: usize,
    device_steps: usize,
    frame: Option<Frame>,
) -> PyResult<WaveChunks> {
    let selection = selection::parse(selection)?;
    if strides.len() != selection.picks.len() {
        return Err(PyValueError::new_err(
            "one stride for each axis of the selection",
        ));
    }
    let encoding = encoding(device_steps, frame)?;
    let limit = Limit {
        rows,
        bytes: nbytes,
    };
    let inner = array.get();
    let chunks = detached(py, || {
        Chunks::new(
            &inner.inner,
            &*inner.store,
            &selection,
            &strides,
            first,
            limit,
        )
    })?;
    Ok(WaveChunks::of(Source::Array(array), chunks, encoding))
}

#[pymethods]
impl WaveChunks {
    fn __len__(&self) -> usize {
        self.chunks.rows.rows.len()
    }

    /// The job after these rows, or None where they are the last.
    #[getter]
    fn next(&self) -> Option<usize> {
        let rows = &self.chunks.rows;
        (rows.next < rows.jobs).then_some(rows.next)
    }

    /// The rows as columns of 64-bit integers, and how many axes each has.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = columns_of(py, &self.chunks.rows)?;
        let rows = &self.chunks.rows.rows;
        let cover: Vec<i64> = rows.iter().map(|row| row.cover as i64).collect();
        columns.set_item("cover", words(py, &cover))?;
        Ok(columns)
    }

    /// Takes rows over from `memory`: of each its kind (0 empty, 1 elements, 2 streams), its number of parts and its
    /// checksum; `parts` are the offsets and lengths of all parts. Gives the rows that the CPU has to encode.
    #[pyo3(signature = (numbers, kinds, counts, checks, parts, memory, *, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of a Python method")]
    fn absorb(
        &self,
        py: Python<'_>,
        numbers: Vec<usize>,
        kinds: Vec<u8>,
        counts: Vec<usize>,
        checks: Vec<u32>,
        parts: Vec<(usize, usize)>,
        memory: &Bound<'_, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Vec<usize>> {
        let count = self.chunks.rows.rows.len();
        let lengths = [kinds.len(), counts.len(), checks.len()];
        if lengths != [numbers.len(); 3] || numbers.iter().any(|&number| number >= count) {
            return Err(PyValueError::new_err("a value for each row"));
        }
        let outcomes = outcomes(&kinds, &counts, &checks, &parts)?;
        let memory = Borrowed::new(memory)?;
        let threads = threads.unwrap_or_else(pool::threads);
        detached(py, || {
            self.chunks.absorb(
                self.source.array(),
                memory.as_ref(),
                &numbers,
                &outcomes,
                self.encoding,
                threads,
            )
        })
    }

    /// Rows of what is stored of the chunks with these numbers, each to be decoded whole to a place in the memory of the
    /// executor. What is made of them is stored only while they are there.
    fn old(&self, py: Python<'_>, numbers: Vec<usize>, to: Vec<i64>) -> PyResult<WaveRows> {
        if to.len() != numbers.len() {
            return Err(PyValueError::new_err("a place for each row"));
        }
        let (array, store) = (self.source.array(), self.source.store());
        let rows = detached(py, || self.chunks.old(array, store, &numbers, &to))?;
        Ok(WaveRows::of(self.source.share(py), rows))
    }

    /// Calls `fill` with the descriptor of an empty file, which it closes, and makes what is in it then the key of this
    /// row; False where the row is not all of its key, or the store has no files.
    fn replace_file(&self, py: Python<'_>, number: usize, fill: Py<PyAny>) -> PyResult<bool> {
        if number >= self.chunks.rows.rows.len() {
            return Err(PyValueError::new_err(format!("there is no row {number}")));
        }
        let mut raised = None;
        let done = detached(py, || {
            let mut fill = |file| {
                Python::attach(|py| fill.call1(py, (number_of(file),)))
                    .map(|_| ())
                    .map_err(|error| {
                        raised = Some(error);
                        Error::Internal("a file was not written".into())
                    })
            };
            self.chunks
                .replace_file(self.source.store(), number, &mut fill)
        });
        match raised {
            Some(error) => Err(error),
            None => done,
        }
    }

    /// Stores the keys whose chunks are all there; gives how many are still waiting, and the rows that have to be made
    /// again because another writer changed what they were made of.
    #[pyo3(signature = (*, threads=None, write_empty=false))]
    fn store(
        &self,
        py: Python<'_>,
        threads: Option<usize>,
        write_empty: bool,
    ) -> PyResult<(usize, Vec<usize>)> {
        let options = write::Options {
            threads: threads.unwrap_or_else(pool::threads),
            write_empty,
        };
        let (array, store) = (self.source.array(), self.source.store());
        let stored = detached(py, || {
            self.chunks
                .store(array, store, self.encoding.steps, options)
        })?;
        Ok((stored.waiting, stored.again))
    }
}

fn outcomes(
    kinds: &[u8],
    counts: &[usize],
    checks: &[u32],
    parts: &[(usize, usize)],
) -> PyResult<Vec<Outcome>> {
    let wrong = || to_py(Error::Internal("parts do not fit their rows".into()));
    let mut rest = parts
        .iter()
        .map(|&(start, len)| start..start.saturating_add(len));
    let mut found = Vec::with_capacity(kinds.len());
    for ((&kind, &count), &check) in kinds.iter().zip(counts).zip(checks) {
        found.push(match (kind, count) {
            (0, 0) => Outcome::Empty,
            (1, 1) => Outcome::Elements(rest.next().ok_or_else(wrong)?),
            (2, _) => {
                let streams: Vec<_> = rest.by_ref().take(count).collect();
                if streams.len() != count {
                    return Err(wrong());
                }
                Outcome::Streams(streams, check)
            }
            _ => return Err(wrong()),
        });
    }
    match rest.next() {
        None => Ok(found),
        Some(_) => Err(wrong()),
    }
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<WaveChunks>()?;
    module.add_function(wrap_pyfunction!(wave_chunks, module)?)
}
