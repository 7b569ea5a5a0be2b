//! What zarr-python hands a codec pipeline, as pieces of work: for each chunk where its bytes are, what is wanted of it,
//! and where that lies in the result.

use std::sync::Arc;

use blazarr_core::chunks::Piece;
use blazarr_core::place::Walk;
use blazarr_core::selection::{Pick, Selection};
use blazarr_core::view::View;
use pyo3::buffer::{PyBuffer, PyUntypedBuffer};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PySlice, PyTuple};

/// The result (or value) as an array's memory.
pub struct Memory<'m> {
    pub base: *mut u8,
    pub shape: &'m [usize],
    pub strides: &'m [isize],
}

/// The pieces of a batch; `None` where a selection is of a form that only numpy knows.
pub fn parse(
    batch: &Bound<'_, PyAny>,
    memory: &Memory<'_>,
    drop_axes: &[usize],
) -> PyResult<Option<Vec<Piece<'static>>>> {
    let mut pieces = Vec::with_capacity(batch.len()?);
    let mut shapes = Shapes::default();
    for item in batch.try_iter()? {
        let item = item?.cast_into::<PyTuple>()?;
        let selection = entries(&item.get_item(2)?);
        let places = entries(&item.get_item(3)?);
        let shape = shapes.of(&item.get_item(1)?)?;
        let Some(picks) = picks(&selection, &shape, drop_axes)? else {
            return Ok(None);
        };
        if picks.picks.iter().any(|pick| pick.count() == 0) {
            return Ok(None);
        }
        let Some(view) = view(&places, &picks.picks, memory)? else {
            return Ok(None);
        };
        pieces.push(Piece {
            key: key(&item.get_item(0)?)?,
            shape,
            selection: picks,
            view,
            reaches_end: item.get_item(4)?.is_truthy()?,
        });
    }
    Ok(Some(pieces))
}

/// The shapes of chunk specifications, which most batches share one of.
#[derive(Default)]
struct Shapes<'py> {
    last: Option<(Bound<'py, PyAny>, Arc<[u64]>)>,
}

impl<'py> Shapes<'py> {
    fn of(&mut self, spec: &Bound<'py, PyAny>) -> PyResult<Arc<[u64]>> {
        if let Some((known, shape)) = &self.last
            && known.is(spec)
        {
            return Ok(shape.clone());
        }
        let shape: Vec<u64> = spec.getattr(intern!(spec.py(), "shape"))?.extract()?;
        let shape: Arc<[u64]> = shape.into();
        self.last = Some((spec.clone(), shape.clone()));
        Ok(shape)
    }
}

/// The key of a place in a store; other places have no name.
fn key(getter: &Bound<'_, PyAny>) -> PyResult<String> {
    match getter.getattr_opt(intern!(getter.py(), "path"))? {
        Some(path) => path.extract(),
        None => Ok(String::new()),
    }
}

fn entries<'py>(selection: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    match selection.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) => vec![selection.clone()],
    }
}

/// What is wanted of a chunk.
fn picks(
    entries: &[Bound<'_, PyAny>],
    shape: &[u64],
    drop_axes: &[usize],
) -> PyResult<Option<Selection>> {
    if entries.len() != shape.len() {
        return Ok(None);
    }
    let mut selection = Selection {
        consts: Vec::new(),
        picks: Vec::with_capacity(entries.len()),
    };
    let mut arrays = Vec::new();
    for (axis, (entry, &size)) in entries.iter().zip(shape).enumerate() {
        match Entry::of(entry, size)? {
            Some(Entry::Index(index)) => selection.consts.push((axis, index)),
            Some(Entry::Slice { start, step, count }) => selection.picks.push(Pick::Strided {
                axis,
                start,
                step,
                count,
            }),
            Some(Entry::Array {
                rank,
                along,
                values,
            }) => {
                arrays.push(Along { axis, rank, along });
                let indices = vec![values.into()];
                let axes = vec![axis];
                selection.picks.push(Pick::Indexed { axes, indices });
            }
            None => return Ok(None),
        }
    }
    let all = arrays.len() == entries.len();
    Ok(match arrays[..] {
        [] if drop_axes.is_empty() => Some(selection),
        _ if all && is_mesh(&arrays) => dropped(selection, drop_axes),
        [Along { rank: 1, .. }] if drop_axes.is_empty() && selection.consts.is_empty() => {
            Some(selection)
        }
        _ if all && drop_axes.is_empty() => joint(selection, &arrays),
        _ => None,
    })
}

/// An index array, and the one of its axes that has more than one element.
struct Along {
    axis: usize,
    rank: usize,
    along: Option<usize>,
}

/// Whether the arrays are what `numpy.ix_` makes: each along its own axis.
fn is_mesh(arrays: &[Along]) -> bool {
    let own = |array: &Along| {
        array.rank == arrays.len() && array.along.is_none_or(|along| along == array.axis)
    };
    arrays.iter().all(own)
}

/// Axes of one element that the result does not have.
fn dropped(selection: Selection, drop_axes: &[usize]) -> Option<Selection> {
    let mut kept = Selection {
        consts: Vec::new(),
        picks: Vec::new(),
    };
    for pick in selection.picks {
        match &pick {
            Pick::Indexed { axes, indices } if drop_axes.contains(axes.first()?) => {
                let [index] = indices.first()?[..] else {
                    return None;
                };
                kept.consts.push((*axes.first()?, index));
            }
            _ => kept.picks.push(pick),
        }
    }
    Some(kept)
}

/// Points: one index array for each axis, all in one row.
fn joint(selection: Selection, arrays: &[Along]) -> Option<Selection> {
    if arrays.iter().any(|array| array.rank != 1) {
        return None;
    }
    let mut points = Vec::with_capacity(arrays.len());
    for pick in selection.picks {
        if let Pick::Indexed { indices, .. } = pick {
            points.extend(indices);
        }
    }
    let count = points.first()?.len();
    if points.iter().any(|indices| indices.len() != count) {
        return None;
    }
    Some(Selection {
        consts: Vec::new(),
        picks: vec![Pick::Indexed {
            axes: (0..points.len()).collect(),
            indices: points,
        }],
    })
}

/// Where the picks lie in memory.
fn view(
    entries: &[Bound<'_, PyAny>],
    picks: &[Pick],
    memory: &Memory<'_>,
) -> PyResult<Option<View<'static>>> {
    let mut base = memory.base;
    let mut walks = Vec::with_capacity(picks.len());
    if memory.shape.is_empty() && !picks.is_empty() {
        // One value for all elements.
        walks.resize(picks.len(), Walk::Even(0));
    } else if entries.len() != picks.len() || memory.shape.len() != picks.len() {
        return Ok(None);
    } else {
        let axes = memory.shape.iter().zip(memory.strides);
        for ((entry, pick), (&size, &stride)) in entries.iter().zip(picks).zip(axes) {
            match Entry::of(entry, size as u64)? {
                Some(Entry::Slice { start, step, count }) if count == pick.count() => {
                    base = base.wrapping_offset(stride * start as isize);
                    walks.push(Walk::Even(stride * step as isize));
                }
                Some(Entry::Array { values, .. }) if values.len() as u64 == pick.count() => {
                    if values.iter().any(|&value| value >= size as u64) {
                        return Ok(None);
                    }
                    let table = values.iter().map(|&value| stride * value as isize);
                    walks.push(Walk::Table(table.collect()));
                }
                _ => return Ok(None),
            }
        }
    }
    // SAFETY: every index was just checked against the memory's shape. Whoever runs the pieces holds the memory.
    Ok(Some(unsafe { View::walking(base, walks) }))
}

/// One entry of a selection.
enum Entry {
    Index(u64),
    Slice {
        start: u64,
        step: i64,
        count: u64,
    },
    Array {
        rank: usize,
        /// The axis with more than one element; `None` where there is none.
        along: Option<usize>,
        values: Vec<u64>,
    },
}

impl Entry {
    /// `None` where it is neither an index, a slice, nor an array with one axis of more than one element.
    fn of(entry: &Bound<'_, PyAny>, size: u64) -> PyResult<Option<Entry>> {
        if let Ok(slice) = entry.cast::<PySlice>() {
            let range = slice.indices(isize::try_from(size)?)?;
            // An empty slice may start behind the end; it reaches nothing.
            return Ok(Some(Entry::Slice {
                start: u64::try_from(range.start).unwrap_or(0),
                step: range.step as i64,
                count: range.slicelength as u64,
            }));
        }
        if entry.is_instance_of::<PyInt>() && !entry.is_instance_of::<PyBool>() {
            let index = entry.extract::<i64>()?;
            return Ok(u64::try_from(index).ok().map(Entry::Index));
        }
        array(entry)
    }
}

fn array(entry: &Bound<'_, PyAny>) -> PyResult<Option<Entry>> {
    let Ok(buffer) = PyUntypedBuffer::get(entry) else {
        return Ok(None);
    };
    let rank = buffer.dimensions();
    if rank == 0 {
        return Ok(None);
    }
    if buffer.item_size() == 1 {
        // Of numpy's arrays only truth values are indices of one byte.
        let nonzero = entry.call_method0(intern!(entry.py(), "nonzero"))?;
        return match rank {
            1 => array(&nonzero.get_item(0)?),
            _ => Ok(None),
        };
    }
    let mut along = None;
    for (axis, &size) in buffer.shape().iter().enumerate() {
        if size != 1 && along.replace(axis).is_some() {
            return Ok(None);
        }
    }
    let Ok(buffer) = PyBuffer::<i64>::get(entry) else {
        return Ok(None);
    };
    let mut values = Vec::with_capacity(buffer.item_count());
    for value in buffer.to_vec(entry.py())? {
        match u64::try_from(value) {
            Ok(value) => values.push(value),
            Err(_) => return Ok(None),
        }
    }
    Ok(Some(Entry::Array {
        rank,
        along,
        values,
    }))
}
