//! What is asked of a store that is far away, and what the answers are for.

use std::sync::Arc;

use bytes::Bytes;

use super::shard::{Located, near};
use crate::io::{ByteRange, Request, Stamp};
use crate::shard::Index;

/// Bytes that cost no more than a request does: inner chunks nearer than this are fetched in one, and a shard of which
/// no more is left out is fetched whole.
pub const GAP: u64 = 1 << 20;
/// The most that one request of several inner chunks takes.
const GROUP: u64 = 4 << 20;
/// The most decoded bytes of a shard that is fetched whole; a larger one comes sooner by several requests.
pub const WHOLE: u64 = 32 << 20;

/// The index of a shard, empty where that is gone, and of which version of it where that is known.
#[derive(Clone, Debug, Default)]
pub struct Known {
    pub stamp: Option<Stamp>,
    pub index: Arc<Index>,
}

/// What an answer is for.
#[derive(Debug)]
pub enum Purpose {
    /// A chunk, or a shard.
    Whole,
    /// The index of a shard, for all inner chunks that are wanted or for those of these numbers.
    Index(Option<Vec<usize>>),
    /// Inner chunks that lie near each other, and the version of the shard in which they do.
    Part(Vec<Located>, Option<Stamp>),
    /// The index once more, of a shard whose versions the store does not tell apart.
    Again(Unsure),
}

/// Inner chunks that are believed once the index is found to be what it was.
#[derive(Debug)]
pub struct Unsure {
    /// Of all of them.
    pub numbers: Vec<usize>,
    pub index: Bytes,
    /// Questions for them that are not answered.
    pub open: usize,
}

/// Something to ask, for one job of the plan.
#[derive(Debug)]
pub struct Question {
    pub job: usize,
    pub purpose: Purpose,
    pub request: Request,
    /// How many bytes the answer may have.
    pub size: u64,
    /// How often the shard was another one than its index said.
    pub changes: u32,
}

/// The questions for inner chunks of one shard.
pub fn parts(
    job: usize,
    key: &str,
    wanted: Vec<Located>,
    stamp: Option<Stamp>,
    changes: u32,
) -> Vec<Question> {
    let question = |(offset, len, wanted)| Question {
        job,
        purpose: Purpose::Part(wanted, stamp),
        request: Request {
            key: key.to_owned(),
            range: ByteRange::Span { offset, len },
        },
        size: len,
        changes,
    };
    groups(wanted).into_iter().map(question).collect()
}

/// What to ask for at once: offset, length, and the inner chunks in it.
fn groups(wanted: Vec<Located>) -> Vec<(u64, u64, Vec<Located>)> {
    let mut groups: Vec<(u64, u64, Vec<Located>)> = Vec::new();
    for located in wanted {
        let end = located.offset + located.len;
        match groups.last_mut() {
            Some((start, len, group))
                if group.last().is_some_and(|last| near(last, &located, GAP))
                    && end.saturating_sub(*start) <= GROUP =>
            {
                *len = (*len).max(end - *start);
                group.push(located);
            }
            _ => groups.push((located.offset, located.len, vec![located])),
        }
    }
    groups
}
