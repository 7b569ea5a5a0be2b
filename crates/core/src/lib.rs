//! Planner, codecs and chunk input/output of blazarr. Nothing here knows Python.
//!
//! A selection becomes a [`plan`]; a plan is data; [`read`] and [`write`] run it over a [`io::Store`].

pub mod codec;
pub mod error;
pub mod fork;
pub mod io;
pub mod pool;
