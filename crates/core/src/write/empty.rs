//! Chunks and shards of nothing but the fill value, for stores that could delete what another writer has just put.

use super::Writer;
use crate::arena::{Arena, room};
use crate::codec::chain::{self, Sharding};
use crate::codec::swap::swap_units;
use crate::error::Result;
use crate::target::{Inner, Target};

impl Writer<'_> {
    /// Makes the bytes of a chunk, or of a shard without inner chunks, in `encoded`.
    pub(super) fn empty(
        &self,
        target: &Target<'_>,
        arena: &mut Arena,
        encoded: &mut Vec<u8>,
    ) -> Result<()> {
        let plain = &mut arena.front;
        match &target.chain.shard {
            Some(sharding) => empty_shard(target, sharding, plain, &mut arena.back)?,
            None => {
                let total = self.total(&target.shape())?;
                self.fill(room(plain, total)?);
                plain.truncate(total);
                swap_units(plain, target.chain.swap);
            }
        }
        chain::encode(&target.chain.steps, plain, encoded, &mut arena.back)
            .map_err(|e| e.at(target.key, &target.job.coords))
    }
}

fn empty_shard(
    target: &Target<'_>,
    sharding: &Sharding,
    plain: &mut Vec<u8>,
    spare: &mut Vec<u8>,
) -> Result<()> {
    let count = Inner::new(target, sharding)?.grid.count()?;
    sharding.encode_index(&vec![None; count], plain, spare)
}
