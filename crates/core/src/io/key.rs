//! Keys: what may name an object, so that no store has to ask again.

use super::StoreError;

/// What lock files and unfinished writes end in. Not part of any key, so that listings need not
/// tell whether a lock file is one.
pub const LOCK_SUFFIX: &str = ".__lock";

/// A key that cannot leave the store: non-empty segments between slashes, none of them `.` or `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key<'a>(&'a str);

impl<'a> Key<'a> {
    pub fn parse(key: &'a str) -> Result<Self, StoreError> {
        let problem = key.split('/').find_map(segment_problem);
        match problem.or(key
            .ends_with(LOCK_SUFFIX)
            .then_some("its ending is a lock file's"))
        {
            None => Ok(Key(key)),
            Some(why) => Err(StoreError::BadKey {
                key: key.to_owned(),
                why,
            }),
        }
    }

    /// A place to list: the empty string, or a key with or without a slash at its end. Given back
    /// without the slash.
    pub fn parse_folder(folder: &'a str) -> Result<&'a str, StoreError> {
        match folder.strip_suffix('/').unwrap_or(folder) {
            "" if folder.is_empty() => Ok(""),
            inner => Key::parse(inner).map(Key::as_str),
        }
    }

    /// What the keys in a folder begin with.
    pub fn folder_prefix(folder: &str) -> Result<String, StoreError> {
        match Key::parse_folder(folder)? {
            "" => Ok(String::new()),
            inner => Ok(format!("{inner}/")),
        }
    }

    /// The folder in which keys that begin with `prefix` lie.
    pub fn folder_of(prefix: &'a str) -> Result<&'a str, StoreError> {
        prefix
            .rsplit_once('/')
            .map_or(Ok(""), |(folder, _)| Key::parse(folder).map(Key::as_str))
    }

    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Whether the key holds metadata, by the names that the two formats give it.
    pub fn is_document(self) -> bool {
        let name = self.0.rsplit('/').next();
        matches!(
            name,
            Some("zarr.json" | ".zarray" | ".zgroup" | ".zattrs" | ".zmetadata")
        )
    }
}

fn segment_problem(segment: &str) -> Option<&'static str> {
    match segment {
        "" => Some("it has an empty segment"),
        "." | ".." => Some("it has a `.` or `..` segment"),
        _ if segment.contains('\0') => Some("it has a NUL character"),
        _ if cfg!(windows) && segment.contains(['\\', ':']) => {
            Some("it has a backslash or a colon, which are part of paths here")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_keys_are_keys() {
        for key in [
            "zarr.json",
            "c/0/1",
            "a b/ü#%20/.zarray",
            "...",
            "a..b/..c",
            "~",
            "c",
        ] {
            assert_eq!(Key::parse(key).map(Key::as_str).ok(), Some(key));
        }
    }

    #[test]
    fn nothing_leaves_the_store() {
        let bad = [
            "",
            "/",
            "/etc/passwd",
            "a//b",
            "a/",
            "..",
            "a/../b",
            "./a",
            "a/.",
            "a\0b",
            "k.__lock",
        ];
        for key in bad {
            assert!(
                matches!(Key::parse(key), Err(StoreError::BadKey { .. })),
                "{key:?}"
            );
        }
    }

    #[test]
    fn folders_may_be_empty_or_end_in_a_slash() {
        for (folder, inner) in [("", ""), ("a", "a"), ("a/b/", "a/b")] {
            assert_eq!(Key::parse_folder(folder).ok(), Some(inner));
        }
        for folder in ["/", "a//", "../", "/a"] {
            assert!(Key::parse_folder(folder).is_err(), "{folder:?}");
        }
    }

    #[test]
    fn prefixes_lie_in_folders() {
        for (prefix, folder) in [("", ""), ("a", ""), ("a/", "a"), ("a/b/c", "a/b")] {
            assert_eq!(Key::folder_of(prefix).ok(), Some(folder));
        }
        assert!(Key::folder_of("../").is_err());
    }

    #[test]
    fn documents_are_known_by_name() {
        for (key, document) in [
            ("zarr.json", true),
            ("a/.zattrs", true),
            ("zarr.json/c/0", false),
        ] {
            assert_eq!(Key::parse(key).map(Key::is_document).ok(), Some(document));
        }
    }
}
