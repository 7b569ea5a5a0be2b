#![no_main]

const STEPS: &[&str] = &[
    r#"{"id":"shuffle","elementsize":4}"#,
    r#"{"id":"shuffle","elementsize":3}"#,
    r#"{"id":"swap","size":8}"#,
    r#"{"id":"delta","dtype":"<i4","astype":"<i4"}"#,
    r#"{"id":"delta","dtype":"<u2","astype":"<i8"}"#,
    r#"{"id":"bitround","keepbits":23,"itemsize":4}"#,
];

libfuzzer_sys::fuzz_target!(|data: &[u8]| blazarr_core_fuzz::decode(STEPS, data));
