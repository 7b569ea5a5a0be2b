#![no_main]

const STEPS: &[&str] = &[
    r#"{"id":"crc32c"}"#,
    r#"{"id":"crc32"}"#,
    r#"{"id":"adler32"}"#,
    r#"{"id":"fletcher32"}"#,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
