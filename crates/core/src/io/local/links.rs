//! Symbolic links that lead out of the root.

use std::io;
use std::path::Path;

use super::{failed, is_missing};
use crate::io::StoreError;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// All of them: parts of a store may lie elsewhere.
    Anywhere,
    /// Those that stay below the root. Whoever may change the folder meanwhile can lead this astray; it is for folders
    /// that somebody else prepared.
    Inside,
}

impl Links {
    /// An error where `path`, which `key` means, leads out of `root`.
    pub(super) fn check(self, root: &Path, path: &Path, key: &str) -> Result<(), StoreError> {
        let refused = |source| failed(key, "follow links of", source);
        if self.allow(root, path).map_err(refused)? {
            return Ok(());
        }
        let what = "they lead out of the store's folder";
        Err(refused(io::Error::new(
            io::ErrorKind::PermissionDenied,
            what,
        )))
    }

    /// Whether `path`, as far as it exists, lies where it may.
    pub(super) fn allow(self, root: &Path, path: &Path) -> io::Result<bool> {
        if self == Links::Anywhere {
            return Ok(true);
        }
        let real_root = match root.canonicalize() {
            Ok(real) => real,
            Err(e) if is_missing(&e) => return Ok(true),
            Err(e) => return Err(e),
        };
        let ancestors = path.ancestors().take_while(|part| part.starts_with(root));
        for part in ancestors {
            match part.canonicalize() {
                Ok(real) => return Ok(real.starts_with(real_root)),
                Err(e) if !is_missing(&e) => return Err(e),
                // A link to nothing: a writer could make something there.
                Err(_) if part.is_symlink() => return Ok(false),
                Err(_) => {}
            }
        }
        Ok(true)
    }
}
