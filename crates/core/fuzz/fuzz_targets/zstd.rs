#![no_main]

const STEPS: &[&str] = &[
    r#"{"id":"zstd","level":1}"#,
    r#"{"id":"zstd","level":3,"checksum":true}"#,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
