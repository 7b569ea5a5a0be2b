//! Object stores and web servers as stores of the engine. Nothing here knows Python.

mod asking;
mod buffers;
mod client;
pub mod config;
mod credentials;
mod error;
mod http;
mod listing;
mod range;
mod runtime;
mod stamp;
mod store;

pub use credentials::{Credentials, Found};
pub use error::CloudError;
pub use store::CloudStore;
