//! Versions of objects in the engine's fixed size.

use std::sync::atomic::{AtomicU64, Ordering};

use blazarr_core::io::Stamp;
use object_store::UpdateVersion;
use ring::digest::{Context, SHA256};

/// A digest of what a server calls a version. Where it names none, the stamp is like no other.
pub fn stamp(version: &UpdateVersion) -> Stamp {
    static UNNAMED: AtomicU64 = AtomicU64::new(0);
    let unnamed = || Stamp([UNNAMED.fetch_add(1, Ordering::Relaxed), 0, 0, 0]);
    stamp_of(version).unwrap_or_else(unnamed)
}

/// The same, or `None` where the server names no version.
pub fn stamp_of(version: &UpdateVersion) -> Option<Stamp> {
    let UpdateVersion { e_tag, version } = version;
    if e_tag.is_none() && version.is_none() {
        return None;
    }
    let mut digest = Context::new(&SHA256);
    digest.update(e_tag.as_deref().unwrap_or_default().as_bytes());
    digest.update(b"\0");
    digest.update(version.as_deref().unwrap_or_default().as_bytes());
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(digest.finish().as_ref().as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    Some(Stamp(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(e_tag: Option<&str>, version: Option<&str>) -> Stamp {
        stamp(&UpdateVersion {
            e_tag: e_tag.map(str::to_owned),
            version: version.map(str::to_owned),
        })
    }

    #[test]
    fn stamps_are_equal_where_versions_are() {
        assert_eq!(named(Some("a"), None), named(Some("a"), None));
        assert_ne!(named(Some("a"), None), named(Some("b"), None));
        assert_ne!(named(Some("a"), None), named(Some("a"), Some("1")));
        assert_ne!(named(None, None), named(None, None));
    }
}
