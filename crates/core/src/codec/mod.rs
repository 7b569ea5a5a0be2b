//! Bytes-to-bytes codecs, one file each, behind one bounded interface.
//!
//! Every decoder writes into a buffer whose size the metadata justifies and stops at its end. Input
//! is hostile: no length in it is believed before it was checked against what is there.

pub mod bitround;
pub mod blocks;
pub mod blosc;
pub mod chain;
pub mod checksum;
mod deflate;
pub mod delta;
mod element;
pub mod fixedscaleoffset;
pub mod gdeflate;
pub mod gzip;
pub mod lz4;
pub mod native;
pub mod packbits;
pub mod planes;
pub mod shuffle;
pub mod step;
mod support;
pub mod swap;
mod transpose;
pub mod zlib;
pub mod zstd;

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How long a codec's output is, given the length of its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Exact(usize),
    AtMost(usize),
}

impl Size {
    /// The largest length this size allows.
    pub fn max(self) -> usize {
        match self {
            Size::Exact(n) | Size::AtMost(n) => n,
        }
    }
}

/// Why a codec could not decode or encode.
#[derive(Clone, Debug)]
pub struct CodecError {
    pub codec: String,
    pub kind: CodecErrorKind,
    pub what: String,
    /// Somebody else's error that was the reason (a Python exception), unchanged.
    pub cause: Option<Arc<Cause>>,
}

/// An error of another library. Behind one pointer, since errors are returned everywhere.
#[derive(Debug)]
pub struct Cause(pub Box<dyn Error + Send + Sync>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodecErrorKind {
    /// The encoded bytes are damaged: truncated, or a header that lies.
    Corrupt,
    /// A stored checksum differs from the data's.
    Checksum,
    /// The decoded data is longer or shorter than the metadata says.
    WrongSize,
    /// A valid stream that uses something this build does not have.
    Unsupported,
    /// A codec's configuration cannot be used.
    Config,
    /// The encoder failed.
    Encode,
    /// Memory could not be had.
    Memory,
}

impl CodecError {
    pub fn new(codec: &str, kind: CodecErrorKind, what: impl Into<String>) -> Self {
        CodecError {
            codec: codec.to_owned(),
            kind,
            what: what.into(),
            cause: None,
        }
    }

    /// The same error with its reason.
    pub fn caused_by(mut self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.cause = Some(Arc::new(Cause(cause.into())));
        self
    }

    pub fn corrupt(codec: &str, what: impl Into<String>) -> Self {
        Self::new(codec, CodecErrorKind::Corrupt, what)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.codec, self.what)
    }
}

impl Error for CodecError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &*cause.0 as _)
    }
}

/// A bytes-to-bytes step of a codec chain. One value serves many threads at once; contexts are kept
/// per thread.
pub trait BytesCodec: Send + Sync + fmt::Debug {
    fn name(&self) -> &str;

    /// The length of the encoded form of `decoded` bytes; `AtMost` is a true upper bound for any
    /// encoder of this format, since decoders of earlier steps are bounded by it.
    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError>;

    /// Decodes all of `src` so that it fills `dst` exactly; anything else is an error.
    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError>;

    /// Decodes all of `src` into `out` (its content is replaced), refusing to exceed `max` bytes.
    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Encodes `src` into `out` (its content is replaced; its capacity is reused).
    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError>;

    /// For codecs whose decoded form is a part of the encoded bytes (checksums): that part,
    /// checked.
    fn decode_view<'a>(&self, _src: &'a [u8]) -> Result<Option<&'a [u8]>, CodecError> {
        Ok(None)
    }

    /// Whether the start of the encoded bytes may be enough for [`BytesCodec::decode_range`].
    fn stops_early(&self) -> bool {
        false
    }

    /// Decodes into `chunk`, which has room for all of the decoded bytes, at least those of `range`, where that is
    /// cheaper than decoding all; what else it leaves there is of no meaning. `Ok(false)` says that this codec or this
    /// stream can't. Of `src` the end may be missing.
    fn decode_range(
        &self,
        _src: &[u8],
        _range: Range<usize>,
        _chunk: &mut [u8],
    ) -> Result<bool, CodecError> {
        Ok(false)
    }
}
