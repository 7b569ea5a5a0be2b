#![no_main]

const STEPS: &[&str] = &[r#"{"id":"lz4","acceleration":1}"#];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
