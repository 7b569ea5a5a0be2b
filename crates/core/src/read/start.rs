//! Chunks of which the start is enough: what is wanted ends long before they do, so no more is read and decoded.

use super::Reader;
use crate::arena::{Arena, room};
use crate::codec::chain;
use crate::codec::swap::swap_units;
use crate::error::Result;
use crate::io::{Object, length};
use crate::target::Target;
use crate::view::ChunkWalk;

/// What codecs decode at a time, at most.
const BLOCK: usize = 128 << 10;
/// What is read beyond the share that the start should have of the encoded bytes.
const SLACK: u64 = 16 << 10;

impl Reader<'_> {
    /// Reads and places a chunk by its start, and says whether it is there; `None` where all of it is needed.
    pub(super) fn stored_start(
        &self,
        target: &Target<'_>,
        walk: &ChunkWalk,
        total: usize,
        arena: &mut Arena,
    ) -> Result<Option<bool>> {
        let Some(end) = self.early_end(target, walk, total) else {
            return Ok(None);
        };
        let Some(object) = self.store.open(target.key)? else {
            return self.absent(target).map(|()| Some(false));
        };
        if let Some(stored) = object.in_memory() {
            return self
                .chunk(target, Some(walk), total, stored, arena)
                .map(|()| Some(true));
        }
        let max = target.chain.encoded_max(&target.shape(), self.array.item)?;
        length::checked(target.key, object.size(), max)?;
        let Some(wanted) = share(&*object, end, total) else {
            return Ok(None);
        };
        let (fetched, front) = (&mut arena.fetched, &mut arena.front);
        let start = room(fetched, wanted)?;
        object.read_at(0, start)?;
        let span = walk.span(self.array.item);
        let decoded = chain::decode_span(&target.chain.steps, start, total, span.clone(), front);
        // Where something is wrong, all of it says better what.
        if !matches!(decoded, Ok(true)) {
            return Ok(None);
        }
        swap_units(&mut front[span], target.chain.swap);
        self.place(target.out, walk, &arena.front[..total], 0)
            .map(|()| Some(true))
    }

    /// Up to where the chunk has to be decoded, where that spares something.
    fn early_end(&self, target: &Target<'_>, walk: &ChunkWalk, total: usize) -> Option<usize> {
        let [step] = &target.chain.steps[..] else {
            return None;
        };
        let end = walk.span(self.array.item).end.div_ceil(BLOCK) * BLOCK;
        (step.stops_early() && end < total.saturating_sub(BLOCK)).then_some(end)
    }
}

/// How many of the object's bytes should hold the first `end` of `total` decoded ones; `None` where that is all of them.
fn share(object: &dyn Object, end: usize, total: usize) -> Option<usize> {
    let share = u128::from(object.size()) * end as u128 / total as u128;
    let share = u64::try_from(share).ok()?;
    let wanted = share.saturating_add(share / 16).saturating_add(SLACK);
    usize::try_from(wanted)
        .ok()
        .filter(|_| wanted < object.size())
}
