//! A folder of files.
