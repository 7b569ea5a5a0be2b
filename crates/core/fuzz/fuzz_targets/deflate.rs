#![no_main]

const STEPS: &[&str] = &[r#"{"id":"gzip","level":5}"#, r#"{"id":"zlib","level":5}"#];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
