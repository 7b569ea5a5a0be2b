//! Large uncompressed chunks on their way to a file, band by band, so that they pass through memory once. Rows that
//! are long enough are written from where they lie in the array.

use std::fs::File;
use std::io::{self, IoSlice, Write};

use super::{Writer, is_all};
use crate::arena::{Arena, room};
use crate::codec::swap::swap_units;
use crate::error::Result;
use crate::io::{Edit, Store, StoreError};
use crate::place;
use crate::target::Target;
use crate::view::{ChunkWalk, View};

/// Chunks up to this size are put together as a whole: a core's cache holds most of one until it is written.
const LARGE: usize = 2 << 20;
/// What is written at once. It should stay in cache, and with rows of [`ROW`] it is few enough parts for one call.
const BAND: usize = 256 << 10;
/// Rows from this length on are written from where they lie; of shorter ones the parts cost more than a copy.
const ROW: usize = 2 << 10;

/// What becomes of a band, which may be in several parts, and whether to go on.
type Each<'e> = &'e mut dyn FnMut(&mut [IoSlice<'_>]) -> Result<bool>;

impl Writer<'_> {
    /// Stores a large uncompressed chunk that is replaced as a whole; `false` where that has to be done otherwise.
    pub(super) fn stored_in_bands(
        &self,
        target: &Target<'_>,
        store: &dyn Store,
        arena: &mut Arena,
    ) -> Result<bool> {
        let Some(walk) = self.large(target)? else {
            return Ok(false);
        };
        let mut fill = self.array.fill.to_vec();
        swap_units(&mut fill, target.chain.swap);
        let bands = Bands {
            item: self.array.item,
            swap: target.chain.swap,
        };
        let buffer = &mut arena.encoded;
        let mut is_fill =
            |parts: &mut [IoSlice<'_>]| Ok(parts.iter().all(|part| is_all(part, &fill)));
        if !self.options.write_empty && bands.all(&walk, target.out, buffer, &mut is_fill)? {
            store.update(target.key, false, &mut |_| Ok(Edit::Delete))?;
            return Ok(true);
        }
        store.replace_file(target.key, &mut |file| {
            let mut file = File::from(file);
            let mut write = |parts: &mut [IoSlice<'_>]| {
                write_all(&mut file, parts).map_err(|source| StoreError::Io {
                    key: target.key.to_owned(),
                    op: "write",
                    source,
                })?;
                Ok(true)
            };
            bands.all(&walk, target.out, buffer, &mut write).map(drop)
        })
    }

    /// How the value lies in a large uncompressed chunk, where it replaces all of it from its first byte to its last.
    fn large(&self, target: &Target<'_>) -> Result<Option<ChunkWalk>> {
        let chain = target.chain;
        if self.made.is_some() || chain.shard.is_some() || !chain.steps.is_empty() {
            return Ok(None);
        }
        let shape = target.shape();
        if self.total(&shape)? <= LARGE || !target.is_whole() {
            return Ok(None);
        }
        let walk = target.walk(&shape, self.array.item);
        Ok(walk.is_forward(target.out).then_some(walk))
    }
}

/// How elements are stored.
struct Bands {
    item: usize,
    swap: usize,
}

impl Bands {
    /// Gives `each` the stored bytes of what `walk` touches, in their order, until it says no; whether it never did.
    fn all(
        &self,
        walk: &ChunkWalk,
        value: &View<'_>,
        buffer: &mut Vec<u8>,
        each: Each<'_>,
    ) -> Result<bool> {
        if let Some(mut parts) = walk.cuts(value, self.item, BAND) {
            return parts.try_fold(true, |so_far, (walk, value)| {
                Ok(so_far && self.all(&walk, &value, buffer, each)?)
            });
        }
        let axes = walk.from_view(value);
        if self.swap == 0
            && let Some((starts, len)) = place::runs(&axes, value.base(), self.item, ROW)
        {
            // SAFETY: these are the elements that the view reaches, and its maker promised them.
            let row = |start| IoSlice::new(unsafe { std::slice::from_raw_parts(start, len) });
            return each(&mut starts.into_iter().map(row).collect::<Vec<_>>());
        }
        let band = room(buffer, walk.span(self.item).len())?;
        // SAFETY: a walk that goes forward begins with the first byte of its span, which the band holds, and the view's
        // maker promised the value.
        unsafe { place::copy(&axes, value.base(), band.as_mut_ptr(), self.item) };
        swap_units(band, self.swap);
        each(&mut [IoSlice::new(band)])
    }
}

fn write_all(file: &mut impl Write, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
    while !parts.is_empty() {
        match file.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => IoSlice::advance_slices(&mut parts, n),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Takes less than it is given, is interrupted, and has room for no more than `room` bytes.
    struct Slow {
        taken: Vec<u8>,
        calls: usize,
        room: usize,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            self.calls += 1;
            if self.calls.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if self.taken.len() == self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
            let count = bytes.len().min(5).min(self.room - self.taken.len());
            self.taken.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_a_call_leaves_over_is_written_by_the_next() {
        let rows: Vec<Vec<u8>> = (0..20).map(|n| vec![n; 7]).collect();
        for room in [200, 140, 61] {
            let mut parts: Vec<_> = rows.iter().map(|row| IoSlice::new(row)).collect();
            let mut file = Slow {
                taken: vec![],
                calls: 0,
                room,
            };
            let done = write_all(&mut file, &mut parts);
            assert_eq!(file.taken, rows.concat()[..room.min(140)]);
            match room {
                61 => assert_eq!(done.unwrap_err().kind(), io::ErrorKind::StorageFull),
                _ => done.unwrap(),
            }
        }
    }
}
