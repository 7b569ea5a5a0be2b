//! The data with a checksum of 4 bytes (little-endian) before or after it.

use serde::Deserialize;

use super::support::{check_max, concat, copy_exact, longer_by};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const SIZE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Location {
    Start,
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Crc32c,
    Crc32,
    Adler32,
    Fletcher32,
}

impl Algorithm {
    fn name(self) -> &'static str {
        match self {
            Algorithm::Crc32c => "crc32c",
            Algorithm::Crc32 => "crc32",
            Algorithm::Adler32 => "adler32",
            Algorithm::Fletcher32 => "fletcher32",
        }
    }

    fn of(self, data: &[u8]) -> u32 {
        match self {
            Algorithm::Crc32c => crc32c::crc32c(data),
            // SAFETY: `data` is valid for reads of its length.
            Algorithm::Crc32 => unsafe {
                libdeflate_sys::libdeflate_crc32(0, data.as_ptr().cast(), data.len())
            },
            // SAFETY: `data` is valid for reads of its length.
            Algorithm::Adler32 => unsafe {
                libdeflate_sys::libdeflate_adler32(1, data.as_ptr().cast(), data.len())
            },
            Algorithm::Fletcher32 => fletcher32(data),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Checksum {
    algorithm: Algorithm,
    location: Location,
    /// Whether a wrong checksum is an error; it is written either way.
    verify: bool,
}

impl Checksum {
    pub fn new(algorithm: Algorithm, location: Location) -> Self {
        Checksum {
            algorithm,
            location,
            verify: true,
        }
    }

    /// The same, believing the data.
    pub fn trusting(self) -> Self {
        Checksum {
            verify: false,
            ..self
        }
    }

    fn checked<'a>(&self, src: &'a [u8]) -> Result<&'a [u8], CodecError> {
        let parts = match self.location {
            Location::Start => src
                .split_first_chunk::<SIZE>()
                .map(|(sum, data)| (data, sum)),
            Location::End => src.split_last_chunk::<SIZE>(),
        };
        let Some((data, sum)) = parts else {
            let what = format!("{} bytes are too few to hold a checksum", src.len());
            return Err(CodecError::corrupt(self.name(), what));
        };
        if !self.verify {
            return Ok(data);
        }
        let (stored, computed) = (u32::from_le_bytes(*sum), self.algorithm.of(data));
        if stored == computed {
            return Ok(data);
        }
        let what = format!("stored checksum {stored:#010x}, but the data has {computed:#010x}");
        Err(CodecError::new(self.name(), CodecErrorKind::Checksum, what))
    }
}

impl BytesCodec for Checksum {
    fn name(&self) -> &str {
        self.algorithm.name()
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        longer_by(self.name(), decoded, SIZE)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        copy_exact(self.name(), self.checked(src)?, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let data = self.checked(src)?;
        check_max(self.name(), max, data.len())?;
        concat(self.name(), out, &[data])
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let sum = self.algorithm.of(src).to_le_bytes();
        match self.location {
            Location::Start => concat(self.name(), out, &[&sum, src]),
            Location::End => concat(self.name(), out, &[src, &sum]),
        }
    }

    fn decode_view<'a>(&self, src: &'a [u8]) -> Result<Option<&'a [u8]>, CodecError> {
        self.checked(src).map(Some)
    }
}

/// HDF5's Fletcher-32: big-endian words of 16 bits, a last odd byte being the high half of one.
fn fletcher32(data: &[u8]) -> u32 {
    // The most words that can be added before the second sum needs folding.
    const RUN: usize = 360;
    let (words, odd) = data.as_chunks::<2>();
    let (mut low, mut high) = (0_u32, 0_u32);
    for run in words.chunks(RUN) {
        for word in run {
            low += u32::from(u16::from_be_bytes(*word));
            high += low;
        }
        (low, high) = (fold(low), fold(high));
    }
    if let [byte] = odd {
        low += u32::from(*byte) << 8;
        high += low;
        (low, high) = (fold(low), fold(high));
    }
    fold(high) << 16 | fold(low)
}

/// One's complement addition of the halves.
fn fold(sum: u32) -> u32 {
    (sum & 0xffff) + (sum >> 16)
}
