//! One step of a chain as it stands in the array's description, and the codec it makes.

use std::sync::Arc;

use serde::Deserialize;

use super::bitround::BitRound;
use super::blocks::{Blocks, Inner};
use super::blosc::{Blosc, Compressor, Filter};
use super::checksum::{Algorithm, Checksum, Location};
use super::delta::Delta;
use super::fixedscaleoffset::{FixedScaleOffset, Scalar};
use super::gdeflate::Pages;
use super::gzip::Gzip;
use super::lz4::Lz4;
use super::native::Native;
use super::packbits::PackBits;
use super::shuffle::Shuffle;
use super::swap::Swap;
use super::transpose::Transpose;
use super::zlib::Zlib;
use super::zstd::Zstd;
use super::{BytesCodec, CodecError, CodecErrorKind};

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "id", rename_all = "lowercase", deny_unknown_fields)]
pub enum StepSpec {
    Zstd {
        level: i32,
        #[serde(default)]
        checksum: bool,
    },
    Gzip {
        level: i32,
    },
    Zlib {
        level: i32,
    },
    Lz4 {
        acceleration: i32,
    },
    Blocks {
        codec: Inner,
        block: usize,
        /// What a device is told; nothing to the core.
        #[serde(default)]
        tuning: Option<serde_json::Value>,
    },
    Nvcomp {
        codec: Inner,
    },
    Gdeflate {
        level: i32,
    },
    Blosc {
        cname: Compressor,
        clevel: u8,
        shuffle: Filter,
        typesize: usize,
        #[serde(default)]
        blocksize: usize,
    },
    Crc32c {
        #[serde(default = "at_end")]
        location: Location,
        #[serde(default = "yes")]
        verify: bool,
    },
    Crc32 {
        #[serde(default = "at_start")]
        location: Location,
        #[serde(default = "yes")]
        verify: bool,
    },
    Adler32 {
        #[serde(default = "at_start")]
        location: Location,
        #[serde(default = "yes")]
        verify: bool,
    },
    Fletcher32 {
        #[serde(default = "yes")]
        verify: bool,
    },
    Swap {
        size: usize,
    },
    Shuffle {
        elementsize: usize,
    },
    Delta {
        dtype: String,
        astype: String,
    },
    FixedScaleOffset {
        offset: Scalar,
        scale: Scalar,
        dtype: String,
        astype: String,
    },
    BitRound {
        keepbits: u32,
        itemsize: usize,
    },
    PackBits {},
    /// Moves elements behind a filter; leading transposes are the chain's `order`.
    Transpose {
        shape: Vec<usize>,
        order: Vec<usize>,
        itemsize: usize,
    },
    /// A codec written in Python: the position in the list that comes with the array.
    External {
        index: usize,
    },
}

fn at_start() -> Location {
    Location::Start
}

fn yes() -> bool {
    true
}

fn at_end() -> Location {
    Location::End
}

impl StepSpec {
    pub fn parse(json: &str) -> Result<StepSpec, CodecError> {
        serde_json::from_str(json)
            .map_err(|e| CodecError::new("step", CodecErrorKind::Config, e.to_string()))
    }

    /// The codec, its configuration checked. External steps are an error.
    pub fn build(&self) -> Result<Arc<dyn BytesCodec>, CodecError> {
        Ok(match self {
            StepSpec::Zstd { level, checksum } => Arc::new(Zstd::new(*level, *checksum)?),
            StepSpec::Gzip { level } => Arc::new(Gzip::new(*level)?),
            StepSpec::Zlib { level } => Arc::new(Zlib::new(*level)?),
            StepSpec::Lz4 { acceleration } => Arc::new(Lz4::new(*acceleration)?),
            StepSpec::Blocks { codec, block, .. } => Arc::new(Blocks::new(*codec, *block)?),
            StepSpec::Gdeflate { level } => Arc::new(Pages::new(*level)?),
            StepSpec::Nvcomp { codec } => Arc::new(Native { inner: *codec }),
            StepSpec::Blosc {
                cname,
                clevel,
                shuffle,
                typesize,
                blocksize,
            } => Arc::new(Blosc::new(
                *cname, *clevel, *shuffle, *typesize, *blocksize,
            )?),
            StepSpec::Crc32c { location, verify } => {
                checksum(Algorithm::Crc32c, *location, *verify)
            }
            StepSpec::Crc32 { location, verify } => checksum(Algorithm::Crc32, *location, *verify),
            StepSpec::Adler32 { location, verify } => {
                checksum(Algorithm::Adler32, *location, *verify)
            }
            StepSpec::Fletcher32 { verify } => {
                checksum(Algorithm::Fletcher32, Location::End, *verify)
            }
            StepSpec::Swap { size } => Arc::new(Swap::new(*size)?),
            StepSpec::Shuffle { elementsize } => Arc::new(Shuffle::new(*elementsize)?),
            StepSpec::Delta { dtype, astype } => Arc::new(Delta::new(dtype, astype)?),
            StepSpec::FixedScaleOffset {
                offset,
                scale,
                dtype,
                astype,
            } => Arc::new(FixedScaleOffset::new(*offset, *scale, dtype, astype)?),
            StepSpec::BitRound { keepbits, itemsize } => {
                Arc::new(BitRound::new(*keepbits, *itemsize)?)
            }
            StepSpec::PackBits {} => Arc::new(PackBits),
            StepSpec::Transpose {
                shape,
                order,
                itemsize,
            } => Arc::new(Transpose::new(shape, order, *itemsize)?),
            StepSpec::External { .. } => return Err(not_native("external")),
        })
    }
}

fn checksum(algorithm: Algorithm, location: Location, verify: bool) -> Arc<dyn BytesCodec> {
    let checksum = Checksum::new(algorithm, location);
    Arc::new(if verify {
        checksum
    } else {
        checksum.trusting()
    })
}

fn not_native(id: &str) -> CodecError {
    CodecError::new(
        id,
        CodecErrorKind::Config,
        "not a codec of bytes; the chain has to run it",
    )
}
