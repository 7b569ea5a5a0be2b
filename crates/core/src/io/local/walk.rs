//! Listing files as keys, in the keys' order and in bounded memory.

use std::collections::BinaryHeap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Links, failed, is_missing};
use crate::error::Result;
use crate::io::key::{Key, LOCK_SUFFIX};
use crate::io::{Children, Listing, Page, StoreError};

/// Names of one folder that are kept at a time; a longer folder is read several times.
const WINDOW: usize = 1 << 18;

/// Whether a link is followed.
type Follows<'f> = &'f dyn Fn(&Path) -> io::Result<bool>;

/// Names directly in a folder; missing folders have none.
pub(super) fn children(path: &Path, folder: &str, follows: Follows<'_>) -> Result<Children> {
    let mut children = Children::default();
    for_each_name(path, folder, follows, |name, is_folder| match is_folder {
        true => children.folders.push(name),
        false => children.keys.push(name),
    })?;
    children.keys.sort_unstable();
    children.folders.sort_unstable();
    Ok(children)
}

/// A walk under way: the folders from the root to the present one.
#[derive(Debug)]
pub(super) struct Walk {
    root: PathBuf,
    links: Links,
    prefix: String,
    after: String,
    stack: Vec<Folder>,
}

/// A folder whose names are being handed out.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    /// Key of the folder, with a slash at its end unless it is the root.
    key: String,
    identity: (u64, u64),
    /// Names to come, the next one last; folders end in a slash, which is how their keys sort.
    names: Vec<String>,
    /// Whether there are names after these.
    more: bool,
    /// The last name handed out.
    last: String,
}

impl Walk {
    pub(super) fn new(root: &Path, links: Links, prefix: &str, after: &str) -> Result<Self> {
        let folder = Key::folder_of(prefix)?;
        let path = root.join(folder);
        links.check(root, &path, folder)?;
        let key = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let mut walk = Walk {
            root: root.to_owned(),
            links,
            prefix: prefix.to_owned(),
            after: after.to_owned(),
            stack: Vec::new(),
        };
        walk.enter(path, key)?;
        Ok(walk)
    }

    fn enter(&mut self, path: PathBuf, key: String) -> Result<()> {
        let identity = match fs::metadata(&path) {
            Ok(meta) => identity(&meta),
            Err(e) if is_missing(&e) => return Ok(()),
            Err(e) => return Err(failed(&key, "list", e).into()),
        };
        // A link to a folder that we are in would go round for ever.
        if self
            .stack
            .iter()
            .any(|folder| folder.identity == identity && identity != (0, 0))
        {
            return Ok(());
        }
        let mut folder = Folder {
            path,
            key,
            identity,
            names: Vec::new(),
            more: false,
            last: String::new(),
        };
        folder.fill(&self.prefix, &self.after, &|path| {
            self.links.allow(&self.root, path)
        })?;
        self.stack.push(folder);
        Ok(())
    }

    /// The next key and its size; `None` at the end.
    fn next(&mut self) -> Result<Option<(String, u64)>> {
        while let Some(folder) = self.stack.last_mut() {
            let Some(name) = folder.names.pop() else {
                if folder.more {
                    let (root, links) = (&self.root, self.links);
                    folder.fill(&self.prefix, &self.after, &|path| links.allow(root, path))?;
                } else {
                    self.stack.pop();
                }
                continue;
            };
            let key = format!("{}{name}", folder.key);
            let path = folder.path.join(name.trim_end_matches('/'));
            folder.last.clone_from(&name);
            if name.ends_with('/') {
                self.enter(path, key)?;
            } else if let Some(size) = size(&path, &key)? {
                return Ok(Some((key, size)));
            }
        }
        Ok(None)
    }
}

impl Listing for Walk {
    fn next_page(&mut self, limit: usize) -> Result<Page> {
        let mut page = Page::new();
        while page.len() < limit {
            match self.next()? {
                Some(entry) => page.push(entry),
                None => break,
            }
        }
        Ok(page)
    }
}

impl Folder {
    /// Reads the next names in order, of those that lead to keys with `prefix` after `after`.
    fn fill(&mut self, prefix: &str, after: &str, follows: Follows<'_>) -> Result<()> {
        let mut least = BinaryHeap::new();
        self.more = false;
        let (key, last, more) = (&self.key, &self.last, &mut self.more);
        for_each_name(&self.path, key, follows, |mut name, is_folder| {
            if is_folder {
                name.push('/');
            }
            if name > *last && concerns(&format!("{key}{name}"), prefix, after) {
                least.push(name);
                if least.len() > WINDOW {
                    least.pop();
                    *more = true;
                }
            }
        })?;
        self.names = least.into_sorted_vec();
        self.names.reverse();
        Ok(())
    }
}

/// Whether `key`, or a key below it where it ends in a slash, begins with `prefix` and comes after
/// `after`.
fn concerns(key: &str, prefix: &str, after: &str) -> bool {
    let is_folder = key.ends_with('/');
    let fits = key.starts_with(prefix) || (is_folder && prefix.starts_with(key));
    fits && (key > after || (is_folder && after.starts_with(key)))
}

/// Calls `each` with every name that can be part of a key and whether it is a folder.
fn for_each_name(
    path: &Path,
    folder: &str,
    follows: Follows<'_>,
    mut each: impl FnMut(String, bool),
) -> Result<()> {
    let list = |e| failed(folder, "list", e);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if is_missing(&e) => return Ok(()),
        Err(e) => return Err(list(e).into()),
    };
    for entry in entries {
        let entry = entry.map_err(list)?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if name.ends_with(LOCK_SUFFIX) || Key::parse(&name).is_err() {
            continue;
        }
        if let Some(is_folder) = is_folder(&entry, follows).map_err(list)? {
            each(name, is_folder);
        }
    }
    Ok(())
}

/// `None` for what is gone, leads nowhere or is not followed.
fn is_folder(entry: &fs::DirEntry, follows: Follows<'_>) -> io::Result<Option<bool>> {
    let kind = entry.file_type()?;
    if !kind.is_symlink() {
        return Ok(Some(kind.is_dir()));
    }
    // A loop of links leads nowhere.
    if !follows(&entry.path()).unwrap_or(false) {
        return Ok(None);
    }
    Ok(fs::metadata(entry.path()).ok().map(|meta| meta.is_dir()))
}

/// `None` where the file is gone.
fn size(path: &Path, key: &str) -> Result<Option<u64>, StoreError> {
    match fs::metadata(path) {
        Ok(meta) => Ok(Some(meta.len())),
        Err(e) if is_missing(&e) => Ok(None),
        Err(e) => Err(failed(key, "look at", e)),
    }
}

#[cfg(unix)]
fn identity(meta: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (meta.dev(), meta.ino())
}

#[cfg(not(unix))]
fn identity(_meta: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}
