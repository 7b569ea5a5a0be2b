//! One pool of threads for the process.
