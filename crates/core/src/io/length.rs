//! How long an object may be before it is refused unread.

use crate::error::{Error, Result};

/// What an object may have beyond the size expected. Generous, since valid encodings exist that are longer than any
/// encoder makes them.
const SLACK: u64 = 64 << 20;

/// The most bytes that an object may have of which its metadata lets one expect `expected` at most.
pub fn allowed(expected: usize) -> u64 {
    (expected as u64).saturating_mul(4).saturating_add(SLACK)
}

/// `size` as the length of memory, where the object under `key` may be as long.
pub fn checked(key: &str, size: u64, expected: usize) -> Result<usize> {
    let allowed = allowed(expected);
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
