//! Every codec under the same laws: round trips, exact sizes, and errors instead of panics for
//! hostile input.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hostile;
mod laws;
mod support;
mod vectors;
