//! Reading for executors that decode and place elsewhere (a GPU): what a selection takes of which chunk as tables of
//! numbers, and the chunks' encoded bytes gathered in memory that the executor lends.
//!
//! Checksums of encoded bytes and shard indexes are checked here, frames are taken apart here, and what the executor
//! can't or had better not decode is decoded here, into the same memory.

mod fetch;
pub mod frames;
mod indexes;
pub mod rows;
pub mod stage;
pub mod streams;
pub mod write;
