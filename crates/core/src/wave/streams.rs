//! Frames taken apart: the compressed streams in them, and what is left to do once those are decoded.
//!
//! A frame that is damaged, or of a kind that only a full decoder reads, gives `None`: the CPU then decodes it, and
//! names what is wrong.

use crate::codec::blocks::{self, Inner};
use crate::codec::blosc::layout::{Layout, decompress, layout};
use crate::codec::blosc::{Compressor, Filter};
use crate::codec::native;
use crate::codec::{CodecError, CodecErrorKind};

/// The format of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Format {
    Stored = 0,
    Zstd = 1,
    /// One block, without numcodecs' length in front.
    Lz4 = 2,
    Gzip = 3,
    /// Without zlib's header and trailer.
    Deflate = 4,
    Snappy = 5,
    Gdeflate = 6,
    Ans = 7,
    Bitcomp = 8,
    Cascaded = 9,
}

impl Format {
    pub fn from_number(number: u8) -> Option<Format> {
        use Format::{Ans, Bitcomp, Cascaded, Deflate, Gdeflate, Gzip, Lz4, Snappy, Stored, Zstd};
        [
            Stored, Zstd, Lz4, Gzip, Deflate, Snappy, Gdeflate, Ans, Bitcomp, Cascaded,
        ]
        .into_iter()
        .find(|format| *format as u8 == number)
    }

    /// What a device wants the start of a stream to be a multiple of.
    pub fn alignment(self) -> usize {
        match self {
            Format::Deflate | Format::Gdeflate => 4,
            Format::Ans | Format::Bitcomp | Format::Cascaded => ALIGNMENT,
            _ => 1,
        }
    }
}

/// A stream's place in the frame, and where its content goes in the decoded chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub format: Format,
    pub offset: usize,
    pub len: usize,
    pub to: usize,
    pub decoded: usize,
    pub check: Check,
}

/// How the decoded streams are shuffled: in blocks of `block` bytes, elements of `size`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planes {
    pub kind: PlanesKind,
    pub size: usize,
    pub block: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PlanesKind {
    #[default]
    None = 0,
    Bytes = 1,
    Bits = 2,
}

/// A checksum of a stream's content, still to be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Check {
    pub kind: CheckKind,
    pub value: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CheckKind {
    #[default]
    None = 0,
    /// The low half of XXH64.
    Xxh64 = 1,
    Crc32 = 2,
    Adler32 = 3,
}

#[derive(Debug, Default)]
pub struct Frame {
    pub streams: Vec<Stream>,
    pub planes: Planes,
}

impl Frame {
    fn is_unchecked(&self) -> bool {
        self.streams
            .iter()
            .all(|stream| stream.check == Check::default())
    }
}

/// The codec whose frames a device decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameCodec {
    Zstd,
    Lz4,
    Gzip,
    Zlib,
    Blosc,
    Blocks(Inner),
    /// nvCOMP's own container.
    Native(Inner),
}

impl FrameCodec {
    pub fn from_name(name: &str) -> Option<FrameCodec> {
        Some(match name {
            "zstd" => FrameCodec::Zstd,
            "lz4" => FrameCodec::Lz4,
            "gzip" => FrameCodec::Gzip,
            "zlib" => FrameCodec::Zlib,
            "blosc" => FrameCodec::Blosc,
            _ => match name.strip_prefix("nvcomp-") {
                Some(inner) => FrameCodec::Native(Inner::from_name(inner)?),
                None => FrameCodec::Blocks(Inner::from_name(name)?),
            },
        })
    }

    /// Where a frame has to start, modulo [`ALIGNMENT`], so that its stream is aligned.
    pub fn lead(self) -> usize {
        match self {
            FrameCodec::Zlib => ALIGNMENT - ZLIB_HEADER,
            _ => 0,
        }
    }

    /// Takes `src`, which decodes to `decoded` bytes, apart.
    pub fn parse(self, src: &[u8], decoded: usize) -> Option<Frame> {
        match self {
            FrameCodec::Zstd => zstd(src, decoded),
            FrameCodec::Lz4 => lz4(src, decoded),
            FrameCodec::Gzip => gzip(src, decoded),
            FrameCodec::Zlib => zlib(src, decoded),
            FrameCodec::Blosc => blosc(src, decoded),
            FrameCodec::Blocks(inner) => {
                let found = blocks::blocks(src).ok()?;
                in_blocks(inner, found, decoded, true)
            }
            FrameCodec::Native(inner) => {
                in_blocks(inner, native::blocks(src).ok()?, decoded, false)
            }
        }
    }
}

/// What every kind of stream may ask for.
pub const ALIGNMENT: usize = 16;

pub(super) const ZLIB_HEADER: usize = 2;

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk::<4>())
        .map(|word| u32::from_le_bytes(*word))
}

fn alone(format: Format, range: std::ops::Range<usize>, decoded: usize, check: Check) -> Frame {
    Frame {
        streams: vec![Stream {
            format,
            offset: range.start,
            len: range.len(),
            to: 0,
            decoded,
            check,
        }],
        planes: Planes::default(),
    }
}

/// Numcodecs' layout: the length in 4 bytes, then one block.
fn lz4(src: &[u8], decoded: usize) -> Option<Frame> {
    let fits = word(src, 0)? as usize == decoded && src.len() > 4;
    fits.then(|| alone(Format::Lz4, 4..src.len(), decoded, Check::default()))
}

/// One frame without a dictionary, whose blocks end where the chunk ends.
fn zstd(src: &[u8], decoded: usize) -> Option<Frame> {
    const MAGIC: u32 = 0xfd2f_b528;
    if word(src, 0)? != MAGIC {
        return None;
    }
    let descriptor = *src.get(4)?;
    let (single, checked) = (descriptor & 0x20 != 0, descriptor & 0x04 != 0);
    if descriptor & 0x0b != 0 {
        return None;
    }
    let mut at = 5 + usize::from(!single);
    let bytes = match (descriptor >> 6, single) {
        (0, false) => 0,
        (n, _) => 1usize << n,
    };
    let mut declared = [0u8; 8];
    declared[..bytes].copy_from_slice(src.get(at..at + bytes)?);
    let declared = u64::from_le_bytes(declared) + if bytes == 2 { 256 } else { 0 };
    if bytes > 0 && declared != decoded as u64 {
        return None;
    }
    at = zstd_blocks(src, at + bytes)?;
    let check = match checked {
        true => Check {
            kind: CheckKind::Xxh64,
            value: word(src, at)?,
        },
        false => Check::default(),
    };
    let end = at + if checked { 4 } else { 0 };
    (end == src.len()).then(|| alone(Format::Zstd, 0..end, decoded, check))
}

/// The end of the blocks that begin at `at`.
fn zstd_blocks(src: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let header = src.get(at..at.checked_add(3)?)?;
        let header = u32::from_le_bytes([header[0], header[1], header[2], 0]);
        let size = match (header >> 1) & 3 {
            1 => 1,
            3 => return None,
            _ => (header >> 3) as usize,
        };
        at = at.checked_add(3 + size)?;
        if at > src.len() {
            return None;
        }
        if header & 1 != 0 {
            return Some(at);
        }
    }
}

/// One member, as far as its header and trailer tell.
fn gzip(src: &[u8], decoded: usize) -> Option<Frame> {
    const SMALLEST: usize = 18;
    let reserved = src.get(3)? & 0xe0;
    if src.len() < SMALLEST || src[..3] != [0x1f, 0x8b, 8] || reserved != 0 {
        return None;
    }
    let length = word(src, src.len() - 4)?;
    if length != decoded as u32 {
        return None;
    }
    let check = Check {
        kind: CheckKind::Crc32,
        value: word(src, src.len() - 8)?,
    };
    Some(alone(Format::Gzip, 0..src.len(), decoded, check))
}

fn zlib(src: &[u8], decoded: usize) -> Option<Frame> {
    let stream = zlib_stream(src)?;
    let check = Check {
        kind: CheckKind::Adler32,
        value: u32::from_be_bytes(*src.last_chunk::<4>()?),
    };
    Some(alone(Format::Deflate, stream, decoded, check))
}

/// The deflate stream between zlib's header, which must ask for no dictionary, and its trailer.
fn zlib_stream(src: &[u8]) -> Option<std::ops::Range<usize>> {
    let (method, flags) = (*src.first()?, *src.get(1)?);
    let sound = (u32::from(method) * 256 + u32::from(flags)) % 31 == 0;
    let fits = sound && method & 0x0f == 8 && flags & 0x20 == 0 && src.len() > ZLIB_HEADER + 4;
    fits.then(|| ZLIB_HEADER..src.len() - 4)
}

fn blosc(src: &[u8], decoded: usize) -> Option<Frame> {
    let found = layout(src).ok().filter(|found| found.decoded == decoded)?;
    let format = match found.compressor {
        Compressor::BloscLz => None,
        Compressor::Lz4 | Compressor::Lz4Hc => Some(Format::Lz4),
        Compressor::Snappy => Some(Format::Snappy),
        Compressor::Zlib => Some(Format::Deflate),
        Compressor::Zstd => Some(Format::Zstd),
    };
    let mut streams = Vec::with_capacity(found.streams.len());
    for stream in &found.streams {
        let range = stream.offset..stream.offset + stream.len;
        let decoded = stream.decoded;
        let whole = 0..stream.len;
        let inner = match format {
            _ if stream.len == decoded => alone(Format::Stored, whole, decoded, Check::default()),
            Some(Format::Deflate) => zlib(&src[range], decoded)?,
            // No writer puts checksums there, and the device's want their data aligned.
            Some(Format::Zstd) => zstd(&src[range], decoded).filter(Frame::is_unchecked)?,
            other => alone(other?, whole, decoded, Check::default()),
        };
        streams.extend(inner.streams.into_iter().map(|part| Stream {
            offset: part.offset + stream.offset,
            to: stream.to,
            ..part
        }));
    }
    let planes = planes(&found);
    Some(Frame { streams, planes })
}

/// A container of blocks, each a stream of its own; those as long as their content may be that.
fn in_blocks(
    inner: Inner,
    found: Vec<blocks::Block>,
    decoded: usize,
    may_be_stored: bool,
) -> Option<Frame> {
    let format = match inner {
        Inner::Snappy => Format::Snappy,
        Inner::Deflate => Format::Deflate,
        Inner::Gdeflate => Format::Gdeflate,
        Inner::Ans => Format::Ans,
        Inner::Bitcomp => Format::Bitcomp,
        Inner::Cascaded => Format::Cascaded,
    };
    if found.last().map_or(0, |block| block.decoded.end) != decoded {
        return None;
    }
    let stream = |block: blocks::Block| Stream {
        format: match may_be_stored && block.is_stored() {
            true => Format::Stored,
            false => format,
        },
        offset: block.encoded.start,
        len: block.encoded.len(),
        to: block.decoded.start,
        decoded: block.decoded.len(),
        check: Check::default(),
    };
    Some(Frame {
        streams: found.into_iter().map(stream).collect(),
        planes: Planes::default(),
    })
}

fn planes(found: &Layout) -> Planes {
    let kind = match found.filter {
        Filter::NoShuffle => return Planes::default(),
        Filter::Shuffle => PlanesKind::Bytes,
        Filter::BitShuffle => PlanesKind::Bits,
    };
    Planes {
        kind,
        size: found.typesize,
        block: found.blocksize,
    }
}

/// Decodes one stream of zstd, lz4, snappy or GDeflate, which makes exactly `dst`: what a device does in batches.
pub fn decode(format: Format, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    match format {
        Format::Zstd => decompress(Compressor::Zstd, src, dst),
        Format::Lz4 => decompress(Compressor::Lz4, src, dst),
        Format::Snappy => decompress(Compressor::Snappy, src, dst),
        Format::Gdeflate => Inner::Gdeflate.decode(src, dst),
        _ => Err(not_here(format, "decoded")),
    }
}

/// Encodes one stream of snappy or GDeflate.
pub fn encode(format: Format, src: &[u8]) -> Result<Vec<u8>, CodecError> {
    match format {
        Format::Snappy => Inner::Snappy.encode(src),
        Format::Gdeflate => Inner::Gdeflate.encode(src),
        _ => Err(not_here(format, "encoded")),
    }
}

fn not_here(format: Format, what: &str) -> CodecError {
    let what = format!("streams of format {format:?} are not {what} here");
    CodecError::new("stream", CodecErrorKind::Config, what)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use crate::codec::step::StepSpec;

    static DATA: [u8; 40_000] = [7; 40_000];

    fn encoded(step: &str) -> Vec<u8> {
        let spec: StepSpec = serde_json::from_str(step).unwrap();
        let mut out = Vec::new();
        spec.build().unwrap().encode(&DATA, &mut out).unwrap();
        out
    }

    #[test]
    fn frames_of_the_encoders_are_taken_apart() {
        let steps = [
            ("zstd", r#"{"id": "zstd", "level": 1}"#),
            ("zstd", r#"{"id": "zstd", "level": 1, "checksum": true}"#),
            ("gzip", r#"{"id": "gzip", "level": 1}"#),
            ("zlib", r#"{"id": "zlib", "level": 1}"#),
            ("lz4", r#"{"id": "lz4", "acceleration": 1}"#),
        ];
        for (name, step) in steps {
            let (codec, frame) = (FrameCodec::from_name(name).unwrap(), encoded(step));
            let parsed = codec.parse(&frame, DATA.len()).unwrap();
            assert_eq!(parsed.streams.len(), 1, "{step}");
            assert_eq!(parsed.streams[0].decoded, DATA.len(), "{step}");
            for end in 0..frame.len() {
                // Never a panic; what is cut off inside is mostly noticed later.
                let _ = codec.parse(&frame[..end], DATA.len());
            }
            assert!(codec.parse(&frame, DATA.len() - 1).is_none() || name == "zlib");
        }
    }

    #[test]
    fn streams_come_back() {
        for format in [Format::Snappy, Format::Gdeflate] {
            let stream = encode(format, &DATA).unwrap();
            let mut out = vec![0; DATA.len()];
            decode(format, &stream, &mut out).unwrap();
            assert_eq!(out, DATA);
            assert!(decode(format, &stream, &mut out[1..]).is_err());
        }
        assert!(encode(Format::Ans, &DATA).is_err());
    }

    #[test]
    fn a_second_zstd_frame_is_left_to_the_cpu() {
        let mut frames = encoded(r#"{"id": "zstd", "level": 1}"#);
        frames.extend(frames.clone());
        assert!(FrameCodec::Zstd.parse(&frames, DATA.len()).is_none());
    }

    #[test]
    fn the_streams_of_blosc_make_the_chunk() {
        for (cname, shuffle, typesize) in [("zstd", "shuffle", 4), ("lz4", "bitshuffle", 3)] {
            let step = format!(
                r#"{{"id": "blosc", "cname": "{cname}", "clevel": 1, "shuffle": "{shuffle}",
                    "typesize": {typesize}, "blocksize": 8192}}"#
            );
            let frame = encoded(&step);
            let parsed = FrameCodec::Blosc.parse(&frame, DATA.len()).unwrap();
            let mut decoded = vec![0; DATA.len()];
            for stream in &parsed.streams {
                let src = &frame[stream.offset..stream.offset + stream.len];
                let dst = &mut decoded[stream.to..stream.to + stream.decoded];
                match stream.format {
                    Format::Stored => dst.copy_from_slice(src),
                    format => decode(format, src, dst).unwrap(),
                }
            }
            // Constant bytes are the same however they are shuffled; bits are not.
            assert_eq!(decoded.len(), DATA.len());
            assert_eq!(parsed.planes.size, typesize);
            assert!(shuffle != "shuffle" || decoded == DATA);
        }
    }
}
