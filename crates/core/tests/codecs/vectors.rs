//! What numcodecs made of small inputs, decoded; and encoded in the same way where the format
//! leaves no choice.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::support::{build, encode};

const DOCUMENT: &str = include_str!("../data/codec_vectors.json");

/// Compressors are free in what they write; all other codecs are not.
const FREE: &[&str] = &["zstd", "gzip", "zlib", "lz4", "blosc"];

#[derive(Deserialize)]
struct Document {
    inputs: HashMap<String, String>,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    step: Value,
    input: String,
    encoded: String,
    decoded: Option<String>,
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .map(|c| c.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

#[test]
fn numcodecs_and_we_agree() {
    let document: Document = serde_json::from_str(DOCUMENT).unwrap();
    assert!(document.vectors.len() > 100);
    for vector in &document.vectors {
        let (case, codec) = (
            format!("{} of {}", vector.step, vector.input),
            build(&vector.step.to_string()),
        );
        let input = unhex(&document.inputs[&vector.input]);
        let decoded = vector
            .decoded
            .as_ref()
            .map_or(input.clone(), |hex| unhex(hex));
        let mut dst = vec![0xaa; decoded.len()];
        codec
            .decode_exact(&unhex(&vector.encoded), &mut dst)
            .unwrap_or_else(|e| panic!("{case}: {e}"));
        assert_eq!(dst, decoded, "{case}: decoded");
        let encoded = encode(codec.as_ref(), &input);
        if !FREE.contains(&vector.step["id"].as_str().unwrap()) {
            assert_eq!(encoded, unhex(&vector.encoded), "{case}: encoded");
        }
        codec.decode_exact(&encoded, &mut dst).unwrap();
        assert_eq!(dst, decoded, "{case}: round trip");
    }
}
