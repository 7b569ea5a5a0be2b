//! Why a request failed, and what that is to the engine.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use blazarr_core::error::Error;
use blazarr_core::io::{Remote, RemoteKind, StoreError};

use crate::http::Refused;

/// How much of a server's own words an error repeats.
const WORDS: usize = 400;

#[derive(Debug)]
pub enum CloudError {
    /// There is no such object.
    Missing,
    /// Something else is there than the condition of a write says.
    Conflict,
    /// The part that was asked for lies behind the object's end.
    Beyond,
    /// The server refuses access.
    Permission(String),
    /// No answer in time.
    Late { deadline: Duration, attempts: u32 },
    /// The body ended early, as often as it was asked for.
    Cut { attempts: u32 },
    /// The body is longer than it may be.
    TooLong { allowed: u64 },
    /// There is no memory for the body.
    NoRoom { size: u64 },
    /// An answer that does not fit the question.
    Odd(String),
    /// The server failed, or cannot be reached.
    Failed { what: String, attempts: u32 },
    /// Options that make no store.
    Config(String),
}

impl CloudError {
    /// The engine's error about `key` in the store named `store`.
    pub fn at(self, store: &str, key: &str) -> Error {
        let key = key.to_owned();
        let kind = match self {
            CloudError::Conflict => return StoreError::Conflict { key }.into(),
            CloudError::Permission(_) => RemoteKind::Permission,
            CloudError::Late { .. } => RemoteKind::Deadline,
            _ => RemoteKind::Failed,
        };
        let (attempts, deadline) = match self {
            CloudError::Late { deadline, attempts } => (Some(attempts), Some(deadline)),
            CloudError::Cut { attempts } | CloudError::Failed { attempts, .. } => {
                (Some(attempts), None)
            }
            _ => (None, None),
        };
        StoreError::Remote(Box::new(Remote {
            store: store.to_owned(),
            key,
            kind,
            what: self.to_string(),
            attempts,
            deadline,
        }))
        .into()
    }
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CloudError::Missing => f.write_str("there is no such object"),
            CloudError::Conflict => f.write_str("another writer was faster"),
            CloudError::Beyond => f.write_str("the part asked for lies behind the object's end"),
            CloudError::Permission(what) => write!(f, "access is refused: {what}"),
            CloudError::Late { deadline, .. } => {
                write!(f, "it did not arrive within {} s", deadline.as_secs_f64())
            }
            CloudError::Cut { attempts } => write!(f, "it was cut short {attempts} times"),
            CloudError::TooLong { allowed } => {
                write!(
                    f,
                    "the answer is longer than the {allowed} bytes that it may have"
                )
            }
            CloudError::NoRoom { size } => {
                write!(f, "its {size} bytes do not fit in memory")
            }
            CloudError::Failed { what, .. } | CloudError::Odd(what) | CloudError::Config(what) => {
                f.write_str(what)
            }
        }
    }
}

impl StdError for CloudError {}

impl From<object_store::Error> for CloudError {
    fn from(error: object_store::Error) -> CloudError {
        use object_store::Error as E;
        let refused = refused(&error);
        match (&error, refused) {
            (E::NotFound { .. }, _) => CloudError::Missing,
            (E::AlreadyExists { .. } | E::Precondition { .. }, _) => CloudError::Conflict,
            (E::PermissionDenied { .. } | E::Unauthenticated { .. }, _) => {
                CloudError::Permission(words(&error.to_string()))
            }
            (_, Some(refused)) if refused.is_beyond() => CloudError::Beyond,
            (
                _,
                Some(Refused {
                    too_long: Some(allowed),
                    ..
                }),
            ) => CloudError::TooLong { allowed: *allowed },
            (_, Some(refused)) => CloudError::Failed {
                what: words(&error.to_string()),
                attempts: refused.attempts,
            },
            (_, None) => CloudError::Odd(words(&error.to_string())),
        }
    }
}

/// The answer that was behind an error, where it was one.
fn refused(error: &object_store::Error) -> Option<&Refused> {
    let mut source: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(error) = source {
        if let Some(refused) = error.downcast_ref::<Refused>() {
            return Some(refused);
        }
        source = error.source();
    }
    None
}

/// The beginning of what a server said.
pub fn words(text: &str) -> String {
    match text.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
