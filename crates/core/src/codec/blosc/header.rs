//! The 16 bytes at the start of a frame.

use super::{Compressor, Filter, NAME};
use crate::codec::{CodecError, CodecErrorKind};

/// The header's length.
pub(super) const SIZE: usize = 16;
pub(super) const MAX_TYPESIZE: usize = 255;
/// The longest buffer that a frame can hold.
pub(super) const MAX_DECODED: usize = i32::MAX as usize - SIZE;

const VERSION: u8 = 2;
const COMPRESSOR_VERSION: u8 = 1;

const SHUFFLED: u8 = 0x01;
const STORED: u8 = 0x02;
const BIT_SHUFFLED: u8 = 0x04;
const RESERVED: u8 = 0x08;
const UNSPLIT: u8 = 0x10;

/// Elements longer than this, or blocks with fewer elements than [`MIN_SPLIT`], are never split.
pub(super) const MAX_SPLITS: usize = 16;
const MIN_SPLIT: usize = 128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub compressor: Compressor,
    pub filter: Filter,
    /// The buffer follows as it is.
    pub stored: bool,
    /// The bytes of each position of the elements are compressed on their own.
    pub split: bool,
    pub typesize: usize,
    pub decoded: usize,
    pub blocksize: usize,
    pub encoded: usize,
}

impl Header {
    pub fn parse(src: &[u8]) -> Result<Header, CodecError> {
        let Some(bytes) = src.first_chunk::<SIZE>() else {
            return Err(CodecError::corrupt(
                NAME,
                format!("{} bytes are too few for a header", src.len()),
            ));
        };
        let [version, compressor_version, flags, typesize, ..] = *bytes;
        let number = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
        };
        if version != VERSION || flags & RESERVED != 0 {
            return Err(unsupported(format!(
                "format version {version} with flags {flags:#04x}"
            )));
        }
        let stored = flags & STORED != 0;
        if compressor_version != COMPRESSOR_VERSION && !stored {
            return Err(unsupported(format!(
                "version {compressor_version} of a compressor's format"
            )));
        }
        let header = Header {
            compressor: compressor(flags >> 5, stored)?,
            filter: filter(flags, typesize),
            stored,
            split: flags & UNSPLIT == 0,
            typesize: usize::from(typesize),
            decoded: number(4),
            blocksize: number(8),
            encoded: number(12),
        };
        header.check().map(|()| header)
    }

    /// An error where there is less than the header promises.
    pub fn check_complete(&self, available: usize) -> Result<(), CodecError> {
        if self.encoded <= available {
            return Ok(());
        }
        let what = format!(
            "the header promises {} bytes, but there are {available}",
            self.encoded
        );
        Err(CodecError::corrupt(NAME, what))
    }

    fn check(&self) -> Result<(), CodecError> {
        let wrong = |what: String| Err(CodecError::corrupt(NAME, what));
        if self.encoded < SIZE {
            return wrong(format!("a frame of {} bytes", self.encoded));
        }
        if self.decoded > MAX_DECODED || self.typesize == 0 || self.blocksize == 0 {
            return wrong("the header's sizes are impossible".into());
        }
        if self.decoded > 0 && self.blocksize > self.decoded {
            return wrong(format!(
                "blocks of {} bytes in a buffer of {}",
                self.blocksize, self.decoded
            ));
        }
        if self.stored && self.encoded != SIZE + self.decoded {
            return wrong(format!(
                "{} bytes cannot hold {} bytes stored",
                self.encoded, self.decoded
            ));
        }
        if !self.stored && self.blocks() > (self.encoded - SIZE) / 4 {
            return wrong(format!(
                "{} bytes cannot hold {} blocks",
                self.encoded,
                self.blocks()
            ));
        }
        Ok(())
    }

    pub fn blocks(&self) -> usize {
        self.decoded.div_ceil(self.blocksize)
    }

    /// The streams of a block of `len` bytes.
    pub fn streams(&self, len: usize) -> usize {
        let whole = len == self.blocksize;
        if self.split && whole && can_split(self.typesize, self.blocksize) {
            self.typesize
        } else {
            1
        }
    }

    pub fn to_bytes(self) -> [u8; SIZE] {
        let filter = match self.filter {
            Filter::NoShuffle => 0,
            Filter::Shuffle => SHUFFLED,
            Filter::BitShuffle => BIT_SHUFFLED,
        };
        let layout = if self.stored { STORED } else { 0 } | if self.split { 0 } else { UNSPLIT };
        let mut bytes = [0; SIZE];
        bytes[0] = VERSION;
        bytes[1] = COMPRESSOR_VERSION;
        bytes[2] = filter | layout | number_of(self.compressor) << 5;
        bytes[3] = self.typesize as u8;
        for (at, value) in [(4, self.decoded), (8, self.blocksize), (12, self.encoded)] {
            bytes[at..at + 4].copy_from_slice(&(value as u32).to_le_bytes());
        }
        bytes
    }
}

/// Whether readers take a block for split at all.
pub(super) fn can_split(typesize: usize, blocksize: usize) -> bool {
    typesize <= MAX_SPLITS && blocksize / typesize >= MIN_SPLIT
}

fn compressor(number: u8, stored: bool) -> Result<Compressor, CodecError> {
    match number {
        0 => Ok(Compressor::BloscLz),
        1 => Ok(Compressor::Lz4),
        2 => Ok(Compressor::Snappy),
        3 => Ok(Compressor::Zlib),
        4 => Ok(Compressor::Zstd),
        _ if stored => Ok(Compressor::BloscLz),
        _ => Err(unsupported(format!("compressor number {number}"))),
    }
}

fn number_of(compressor: Compressor) -> u8 {
    match compressor {
        Compressor::BloscLz => 0,
        Compressor::Lz4 | Compressor::Lz4Hc => 1,
        Compressor::Snappy => 2,
        Compressor::Zlib => 3,
        Compressor::Zstd => 4,
    }
}

/// Byte shuffling comes first where both flags are set, and does nothing to single bytes.
fn filter(flags: u8, typesize: u8) -> Filter {
    if flags & SHUFFLED != 0 && typesize > 1 {
        Filter::Shuffle
    } else if flags & BIT_SHUFFLED != 0 {
        Filter::BitShuffle
    } else {
        Filter::NoShuffle
    }
}

fn unsupported(what: String) -> CodecError {
    CodecError::new(
        NAME,
        CodecErrorKind::Unsupported,
        format!("{what} cannot be read"),
    )
}
