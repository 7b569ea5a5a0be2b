//! Planner, codecs and chunk input/output of blazarr. Nothing here knows Python.
//!
//! A selection becomes a [`plan`]; a plan is data; [`read`] and [`write`] run it over a [`io::Store`].

pub mod arena;
pub mod array;
pub mod chunks;
pub mod codec;
pub mod error;
pub mod fork;
pub mod grid;
pub mod io;
pub mod layout;
pub mod place;
pub mod plan;
pub mod pool;
pub mod read;
pub mod selection;
pub mod shard;
pub mod table;
pub mod target;
pub mod view;
pub mod wave;
pub mod write;
