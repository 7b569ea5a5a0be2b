#![no_main]

const STEPS: &[&str] = &[
    r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":4}"#,
    r#"{"id":"blosc","cname":"blosclz","clevel":5,"shuffle":"bitshuffle","typesize":2,"blocksize":256}"#,
    r#"{"id":"blosc","cname":"zstd","clevel":1,"shuffle":"noshuffle","typesize":1}"#,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
