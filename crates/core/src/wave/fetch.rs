//! The bytes of many rows at once, from stores that like it so: parts of one key that lie near each other in one request.

use std::collections::HashMap;

use bytes::Bytes;

use super::rows::{Rows, Source};
use super::stage::open;
use crate::error::{Error, Result};
use crate::io::arrivals::Found;
use crate::io::{ByteRange, Request, Stamp, Store, StoreError, length};

/// Parts nearer than this are fetched in one request.
const GAP: u64 = 1 << 20;
/// The most that one request of several parts takes.
const GROUP: u64 = 16 << 20;

/// A request, and which rows it is for: their places in the order, and where in the answer their bytes are.
struct Group {
    /// The number of the key.
    key: usize,
    request: Request,
    rows: Vec<(usize, Option<(u64, u64)>)>,
}

/// The bytes of the rows of these numbers, `batch` requests at a time; `None` where there are none.
pub fn fetch(
    store: &dyn Store,
    rows: &Rows,
    numbers: &[usize],
    batch: usize,
) -> Result<Vec<Option<Bytes>>> {
    let mut fetched = vec![None; numbers.len()];
    let mut versions = HashMap::new();
    for groups in groups(rows, numbers).chunks(batch.max(1)) {
        let requests: Vec<Request> = groups.iter().map(|group| group.request.clone()).collect();
        let answers = store.get_many(&requests)?;
        if answers.len() != requests.len() {
            let what = "the store gave another number of answers than of requests";
            return Err(Error::Internal(what.into()));
        }
        for (group, answer) in groups.iter().zip(answers) {
            if is_of_another_version(group, &answer, &mut versions) {
                let key = group.request.key.clone();
                return Err(Error::Store(StoreError::Conflict { key }));
            }
            let Some((answer, _)) = answer else { continue };
            for &(at, part) in &group.rows {
                fetched[at] = Some(cut(&answer, part));
            }
        }
    }
    Ok(fetched)
}

/// Whether a key went after its index was read, or is not what an earlier answer was of.
fn is_of_another_version(
    group: &Group,
    answer: &Found,
    versions: &mut HashMap<usize, Stamp>,
) -> bool {
    match answer {
        None => group.request.range != ByteRange::Whole,
        Some((_, None)) => false,
        Some((_, Some(stamp))) => versions
            .insert(group.key, *stamp)
            .is_some_and(|old| old != *stamp),
    }
}

/// The encoded bytes of the rows of these numbers, at most `max` of each, from any store; `None` where there are none.
pub fn bytes_of(
    store: &dyn Store,
    rows: &Rows,
    numbers: &[usize],
    max: usize,
) -> Result<Vec<Option<Bytes>>> {
    let mut found = match store.batch() {
        Some(batch) => fetch(store, rows, numbers, batch)?,
        None => vec![None; numbers.len()],
    };
    for (bytes, &number) in found.iter_mut().zip(numbers) {
        let part = match rows.rows[number].source {
            Source::Held { shard, offset, len } => {
                let range = offset as usize..(offset + len) as usize;
                *bytes = Some(Bytes::copy_from_slice(&rows.held[shard][range]));
                continue;
            }
            Source::Key(key) => (key, None),
            Source::Part { key, offset, len } => (key, Some((offset, len))),
            Source::Absent => continue,
        };
        if store.batch().is_none() {
            *bytes = read(store, rows, part, max)?;
        }
    }
    Ok(found)
}

fn read(
    store: &dyn Store,
    rows: &Rows,
    (key, range): (usize, Option<(u64, u64)>),
    max: usize,
) -> Result<Option<Bytes>> {
    let Some(object) = open(store, rows, key)? else {
        return Ok(None);
    };
    let (offset, len) = range.unwrap_or((0, object.size()));
    let len = length::checked(&rows.keys[key], len, max)?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(len)
        .map_err(|_| Error::OutOfMemory { bytes: len })?;
    bytes.resize(len, 0);
    object.read_at(offset, &mut bytes)?;
    Ok(Some(bytes.into()))
}

/// A part of an answer; one that is shorter than asked for gives what is there, which the decoder then names.
fn cut(answer: &Bytes, part: Option<(u64, u64)>) -> Bytes {
    let Some((offset, len)) = part else {
        return answer.clone();
    };
    let end = |n: u64| usize::try_from(n).map_or(answer.len(), |n| n.min(answer.len()));
    answer.slice(end(offset)..end(offset.saturating_add(len)))
}

fn groups(rows: &Rows, numbers: &[usize]) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut parts = Vec::new();
    for (at, &number) in numbers.iter().enumerate() {
        match rows.rows[number].source {
            Source::Key(key) => groups.push(Group {
                key,
                request: Request {
                    key: rows.keys[key].clone(),
                    range: ByteRange::Whole,
                },
                rows: vec![(at, None)],
            }),
            Source::Part { key, offset, len } => parts.push((key, offset, len, at)),
            Source::Absent | Source::Held { .. } => {}
        }
    }
    parts.sort_unstable();
    let mut rest = &parts[..];
    while let Some(&(key, start, len, _)) = rest.first() {
        let mut end = start.saturating_add(len);
        let near = |&&(next, offset, len, _): &&(usize, u64, u64, usize)| {
            let stop = end.max(offset.saturating_add(len));
            let fits = next == key && offset <= end.saturating_add(GAP) && stop - start <= GROUP;
            if fits {
                end = stop;
            }
            fits
        };
        let count = 1 + rest[1..].iter().take_while(near).count();
        let (group, others) = rest.split_at(count);
        let place =
            |&(_, offset, len, at): &(usize, u64, u64, usize)| (at, Some((offset - start, len)));
        groups.push(Group {
            key,
            request: Request {
                key: rows.keys[key].clone(),
                range: ByteRange::Span {
                    offset: start,
                    len: end - start,
                },
            },
            rows: group.iter().map(place).collect(),
        });
        rest = others;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wave::rows::{Cover, Row};

    fn row(source: Source) -> Row {
        Row {
            source,
            key: 0,
            coords: [].into(),
            shape: [].into(),
            decoded: 0,
            src: 0,
            dst: 0,
            cover: Cover::Part,
        }
    }

    #[test]
    fn parts_that_lie_near_each_other_are_one_request() {
        let part = |key, offset, len| row(Source::Part { key, offset, len });
        let rows = Rows {
            keys: vec!["a".into(), "b".into()],
            rows: vec![
                part(0, 5000, 10),
                part(1, 0, 10),
                row(Source::Key(1)),
                part(0, 0, 100),
                row(Source::Absent),
                part(0, 10 << 20, 8),
                part(1, 4, 3),
            ],
            ..Rows::empty(1)
        };
        let found = groups(&rows, &[0, 1, 2, 3, 4, 5, 6]);
        let spans: Vec<_> = found
            .iter()
            .map(|g| (&g.request.key[..], g.request.range))
            .collect();
        let span = |offset, len| ByteRange::Span { offset, len };
        assert_eq!(
            spans,
            [
                ("b", ByteRange::Whole),
                ("a", span(0, 5010)),
                ("a", span(10 << 20, 8)),
                ("b", span(0, 10)),
            ]
        );
        assert_eq!(found[1].rows, [(3, Some((0, 100))), (0, Some((5000, 10)))]);
        assert_eq!(found[3].rows, [(1, Some((0, 10))), (6, Some((4, 3)))]);
    }

    #[test]
    fn parts_that_went_or_are_of_two_versions_are_no_values() {
        let group = |range| Group {
            key: 3,
            request: Request {
                key: "a".into(),
                range,
            },
            rows: vec![],
        };
        let part = group(ByteRange::Span { offset: 0, len: 4 });
        let answer = |version| Some((Bytes::new(), Some(Stamp([version; 4]))));
        let mut versions = HashMap::new();
        assert!(is_of_another_version(&part, &None, &mut versions));
        assert!(!is_of_another_version(&part, &answer(1), &mut versions));
        assert!(!is_of_another_version(&part, &answer(1), &mut versions));
        assert!(is_of_another_version(&part, &answer(2), &mut versions));
        let whole = group(ByteRange::Whole);
        assert!(!is_of_another_version(&whole, &None, &mut versions));
    }

    #[test]
    fn short_answers_are_cut_short() {
        let answer = Bytes::from_static(b"0123456789");
        assert_eq!(cut(&answer, None), answer);
        assert_eq!(cut(&answer, Some((2, 3))), "234");
        assert_eq!(cut(&answer, Some((8, 5))), "89");
        assert_eq!(cut(&answer, Some((20, 5))), "");
    }
}
