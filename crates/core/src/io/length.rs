//! How long an object may be before it is refused unread.

use crate::error::{Error, Result};

/// What an object may have beyond the size expected. Generous, since valid encodings exist that are longer than any
/// encoder makes them.
const SLACK: u64 = 64 << 20;

/// `size` as the length of memory, where the object under `key`, of at most `expected` bytes by its metadata, may be as
/// long.
pub fn checked(key: &str, size: u64, expected: usize) -> Result<usize> {
    let allowed = (expected as u64).saturating_mul(4).saturating_add(SLACK);
    if size > allowed {
        return Err(Error::Limit {
            what: format!("the object under {key:?}"),
            wanted: u128::from(size),
            allowed: u128::from(allowed),
            knob: "the size that its metadata allows",
        });
    }
    usize::try_from(size).map_err(|_| Error::OutOfMemory { bytes: usize::MAX })
}
