//! A chain of codecs: how the elements of one chunk become the bytes under a key, and back.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use super::step::StepSpec;
use super::{BytesCodec, CodecError, CodecErrorKind, Size};
use crate::arena::room;
use crate::error::{Error, Result};
use crate::grid::byte_count;
use crate::layout::Layout;

/// A chain as the array's description gives it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainSpec {
    /// Stored axis `k` holds logical axis `order[k]`.
    #[serde(default)]
    pub order: Option<Vec<usize>>,
    /// Bytes to reverse in each unit to get native order; 0 for none.
    #[serde(default)]
    pub swap: usize,
    /// In the order of encoding.
    #[serde(default)]
    pub steps: Vec<StepSpec>,
    #[serde(default)]
    pub shard: Option<Box<ShardingSpec>>,
}

/// `sharding_indexed` in place of plain bytes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShardingSpec {
    /// The inner chunk's shape, along the stored axes.
    pub chunks: Vec<u64>,
    pub chain: ChainSpec,
    #[serde(default)]
    pub index_swap: bool,
    #[serde(default)]
    pub index_steps: Vec<StepSpec>,
    pub at_end: bool,
    #[serde(default)]
    pub layout: Layout,
}

/// A chain that runs.
#[derive(Debug)]
pub struct Chain {
    pub order: Option<Vec<usize>>,
    pub swap: usize,
    pub steps: Vec<Arc<dyn BytesCodec>>,
    pub shard: Option<Box<Sharding>>,
}

#[derive(Debug)]
pub struct Sharding {
    pub chunks: Vec<u64>,
    pub chain: Chain,
    pub index_swap: bool,
    pub index_steps: Vec<Arc<dyn BytesCodec>>,
    pub at_end: bool,
    pub layout: Layout,
}

/// Where decoded bytes ended up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// In the source itself.
    Source(Range<usize>),
    /// In the buffers handed in.
    Front(Range<usize>),
    Back(Range<usize>),
    /// In the destination handed in.
    Destination,
}

impl Chain {
    /// Builds the chain; `externals` are the steps that are not native, by number.
    pub fn build(
        spec: &ChainSpec,
        rank: usize,
        externals: &[Arc<dyn BytesCodec>],
    ) -> Result<Chain> {
        if let Some(order) = &spec.order {
            check_order(order, rank)?;
        }
        if !matches!(spec.swap, 0 | 1 | 2 | 4 | 8 | 16) {
            return Err(Error::Spec(format!(
                "cannot swap units of {} bytes",
                spec.swap
            )));
        }
        let shard = match &spec.shard {
            Some(shard) => Some(Box::new(Sharding::build(shard, rank, externals)?)),
            None => None,
        };
        Ok(Chain {
            order: spec.order.clone(),
            swap: if spec.swap == 1 { 0 } else { spec.swap },
            steps: build_steps(&spec.steps, externals)?,
            shard,
        })
    }

    /// The most bytes that any encoding of a chunk of `shape` can have.
    pub fn encoded_max(&self, shape: &[u64], item: usize) -> Result<usize> {
        let spec = |e: CodecError| Error::Spec(e.to_string());
        let total = self.unstepped_max(shape, item)?;
        let sizes = sizes(&self.steps, Size::AtMost(total)).map_err(spec)?;
        Ok(sizes.last().map_or(total, |size| size.max()))
    }

    /// The same before the steps: the chunk's elements, or a shard.
    pub fn unstepped_max(&self, shape: &[u64], item: usize) -> Result<usize> {
        match &self.shard {
            Some(sharding) => {
                let stored: Vec<u64> = match &self.order {
                    Some(order) => order.iter().map(|&axis| shape[axis]).collect(),
                    None => shape.to_vec(),
                };
                sharding.max(&stored, item)
            }
            None => byte_count(shape.iter().copied(), item).ok_or_else(|| too_long(shape)),
        }
    }
}

impl Sharding {
    fn build(
        spec: &ShardingSpec,
        rank: usize,
        externals: &[Arc<dyn BytesCodec>],
    ) -> Result<Sharding> {
        if spec.chunks.len() != rank || spec.chunks.contains(&0) {
            return Err(Error::Spec(format!(
                "the inner chunk shape {:?} must have {rank} sizes above 0",
                spec.chunks
            )));
        }
        Ok(Sharding {
            chunks: spec.chunks.clone(),
            chain: Chain::build(&spec.chain, rank, externals)?,
            index_swap: spec.index_swap,
            index_steps: build_steps(&spec.index_steps, externals)?,
            at_end: spec.at_end,
            layout: spec.layout,
        })
    }

    /// The most bytes that a shard of `shape` (along the stored axes) can have.
    fn max(&self, shape: &[u64], item: usize) -> Result<usize> {
        let counts = shape
            .iter()
            .zip(&self.chunks)
            .map(|(shape, size)| shape / size);
        let inner = byte_count(counts, 1).ok_or_else(|| too_long(shape))?;
        let chunk = self.chain.encoded_max(&self.chunks, item)?;
        // Gaps that nothing uses are legal: as much again.
        let chunks = chunk.checked_mul(inner).and_then(|n| n.checked_mul(2));
        let index = self.index_size(inner)?;
        chunks
            .and_then(|n| n.checked_add(index))
            .ok_or_else(|| too_long(shape))
    }
}

fn too_long(shape: &[u64]) -> Error {
    Error::Spec(format!("a chunk of shape {shape:?} does not fit in memory"))
}

fn check_order(order: &[usize], rank: usize) -> Result<()> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if sorted.iter().copied().eq(0..rank) {
        return Ok(());
    }
    Err(Error::Spec(format!(
        "{order:?} is not an order of {rank} axes"
    )))
}

fn build_steps(
    specs: &[StepSpec],
    externals: &[Arc<dyn BytesCodec>],
) -> Result<Vec<Arc<dyn BytesCodec>>> {
    specs
        .iter()
        .map(|spec| match spec {
            StepSpec::External { index } => externals
                .get(*index)
                .cloned()
                .ok_or_else(|| Error::Spec(format!("there is no external codec {index}"))),
            native => native.build().map_err(|e| Error::Spec(e.to_string())),
        })
        .collect()
}

/// The size after each step of encoding `total` bytes.
pub fn sizes(steps: &[Arc<dyn BytesCodec>], total: Size) -> Result<Vec<Size>, CodecError> {
    let mut size = total;
    steps
        .iter()
        .map(|step| {
            size = step.encoded_size(size)?;
            Ok(size)
        })
        .collect()
}

/// Decodes `src` to `total` bytes: into `dst` where one is given (and the size is exact), else to where it costs
/// least.
pub fn decode(
    steps: &[Arc<dyn BytesCodec>],
    src: &[u8],
    total: Size,
    front: &mut Vec<u8>,
    back: &mut Vec<u8>,
    dst: Option<&mut [u8]>,
) -> Result<Decoded, DecodeError> {
    let mut at = Decoded::Source(0..src.len());
    let sizes = sizes(steps, total)?;
    let mut dst = dst;
    for (i, step) in steps.iter().enumerate().rev() {
        let size = if i == 0 { total } else { sizes[i - 1] };
        let here = bytes_at(&at, src, front, back);
        if let Some(view) = step.decode_view(here)? {
            let start = range_of(&at).start + (view.as_ptr() as usize - here.as_ptr() as usize);
            at = moved(&at, start..start + view.len());
        } else if let (0, Some(dst)) = (i, dst.as_deref_mut()) {
            step.decode_exact(here, dst)?;
            return Ok(Decoded::Destination);
        } else if matches!(at, Decoded::Front(_)) {
            at = Decoded::Back(step_into(
                &**step,
                bytes_at(&at, src, front, &[]),
                size,
                back,
            )?);
        } else {
            let here = match &at {
                Decoded::Back(range) => &back[range.clone()],
                other => &src[range_of(other)],
            };
            at = Decoded::Front(step_into(&**step, here, size, front)?);
        }
    }
    let here = bytes_at(&at, src, front, back);
    let fits = match total {
        Size::Exact(n) => here.len() == n,
        Size::AtMost(n) => here.len() <= n,
    };
    if !fits {
        let what = format!(
            "{} bytes are stored, but the chunk has {}",
            here.len(),
            total.max()
        );
        let name = steps.first().map_or("bytes", |step| step.name());
        return Err(CodecError::new(name, CodecErrorKind::WrongSize, what).into());
    }
    if let Some(dst) = dst {
        dst.copy_from_slice(here);
        return Ok(Decoded::Destination);
    }
    Ok(at)
}

/// Decodes only bytes `span` of the `total`, where the chain can; they end up in `front` at their own places. Of `src`
/// the end may be missing, which is an error or `false` where it is needed.
pub fn decode_span(
    steps: &[Arc<dyn BytesCodec>],
    src: &[u8],
    total: usize,
    span: Range<usize>,
    front: &mut Vec<u8>,
) -> Result<bool, DecodeError> {
    let [first, rest @ ..] = steps else {
        return Ok(false);
    };
    let mut here = src;
    for step in rest.iter().rev() {
        match step.decode_view(here)? {
            Some(view) => here = view,
            None => return Ok(false),
        }
    }
    Ok(first.decode_range(here, span, room(front, total)?)?)
}

/// Encodes `src` into `out`.
pub fn encode(
    steps: &[Arc<dyn BytesCodec>],
    src: &[u8],
    out: &mut Vec<u8>,
    spare: &mut Vec<u8>,
) -> Result<(), DecodeError> {
    let Some((first, rest)) = steps.split_first() else {
        out.clear();
        out.try_reserve(src.len())
            .map_err(|_| Error::OutOfMemory { bytes: src.len() })?;
        out.extend_from_slice(src);
        return Ok(());
    };
    first.encode(src, out)?;
    for step in rest {
        std::mem::swap(out, spare);
        step.encode(spare, out)?;
    }
    Ok(())
}

/// What can go wrong in a chain: a codec, or memory.
#[derive(Debug)]
pub enum DecodeError {
    Codec(CodecError),
    Other(Error),
}

impl From<CodecError> for DecodeError {
    fn from(e: CodecError) -> Self {
        DecodeError::Codec(e)
    }
}

impl From<Error> for DecodeError {
    fn from(e: Error) -> Self {
        DecodeError::Other(e)
    }
}

impl DecodeError {
    /// The engine's error, with the place where it happened.
    pub fn at(self, key: &str, chunk: &[u64]) -> Error {
        match self {
            DecodeError::Codec(source) => Error::Codec {
                key: key.to_owned(),
                chunk: chunk.to_vec(),
                source,
            },
            DecodeError::Other(e) => e,
        }
    }
}

fn step_into(
    step: &dyn BytesCodec,
    src: &[u8],
    size: Size,
    out: &mut Vec<u8>,
) -> Result<Range<usize>, DecodeError> {
    match size {
        Size::Exact(n) => {
            step.decode_exact(src, room(out, n)?)?;
            Ok(0..n)
        }
        Size::AtMost(max) => {
            step.decode_bounded(src, max, out)?;
            Ok(0..out.len())
        }
    }
}

fn range_of(at: &Decoded) -> Range<usize> {
    match at {
        Decoded::Source(range) | Decoded::Front(range) | Decoded::Back(range) => range.clone(),
        Decoded::Destination => 0..0,
    }
}

fn moved(at: &Decoded, range: Range<usize>) -> Decoded {
    match at {
        Decoded::Source(_) => Decoded::Source(range),
        Decoded::Front(_) => Decoded::Front(range),
        Decoded::Back(_) => Decoded::Back(range),
        Decoded::Destination => Decoded::Destination,
    }
}

fn bytes_at<'a>(at: &Decoded, src: &'a [u8], front: &'a [u8], back: &'a [u8]) -> &'a [u8] {
    match at {
        Decoded::Source(range) => &src[range.clone()],
        Decoded::Front(range) => &front[range.clone()],
        Decoded::Back(range) => &back[range.clone()],
        Decoded::Destination => &[],
    }
}
