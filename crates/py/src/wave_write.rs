//! The wave executor's writes: rows of chunks, and what a device made of them on its way to the store.

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
use crate::wave::{columns_of, words};

/// The chunks that a write touches, one row for each.
#[pyclass(frozen, module = "blazarr._core")]
#[derive(Debug)]
pub struct WaveChunks {
    array: Py<Array>,
    chunks: Chunks,
    encoding: Encoding,
}

/// The chunks of `selection` from its job `first` on; `strides` are the value's, in bytes. The device does the first
/// `device_steps` steps of the chain, the last of them `frame`.
#[pyfunction]
#[pyo3(signature = (array, selection, strides, first, *, rows, nbytes, device_steps, frame, checked, block))]
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
    frame: Option<&str>,
    checked: bool,
    block: usize,
) -> PyResult<WaveChunks> {
    let selection = selection::parse(selection)?;
    if strides.len() != selection.picks.len() {
        return Err(PyValueError::new_err(
            "one stride for each axis of the selection",
        ));
    }
    let unknown = || PyValueError::new_err(format!("no device encodes {frame:?}"));
    let framing = match frame {
        Some(name) => Some(Framing {
            codec: FrameCodec::from_name(name).ok_or_else(unknown)?,
            checked,
            block,
        }),
        None => None,
    };
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
    let encoding = Encoding {
        steps: device_steps,
        framing,
    };
    Ok(WaveChunks {
        array,
        chunks,
        encoding,
    })
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
            self.chunks
                .absorb(memory.as_ref(), &numbers, &outcomes, self.encoding, threads)
        })
    }

    /// Stores the keys whose chunks are all there; gives how many are still waiting.
    #[pyo3(signature = (*, threads=None, write_empty=false))]
    fn store(&self, py: Python<'_>, threads: Option<usize>, write_empty: bool) -> PyResult<usize> {
        let array = self.array.get();
        let options = write::Options {
            threads: threads.unwrap_or_else(pool::threads),
            write_empty,
        };
        detached(py, || {
            self.chunks
                .store(&array.inner, &*array.store, self.encoding.steps, options)
        })
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
