//! Where the streams of a frame lie, for decoders that run elsewhere.

use super::header::{self, Header};
use super::{Compressor, Filter, frame, inner};
use crate::codec::CodecError;

/// A checked frame, taken apart.
#[derive(Debug)]
pub struct Layout {
    pub compressor: Compressor,
    pub filter: Filter,
    pub typesize: usize,
    pub blocksize: usize,
    pub decoded: usize,
    /// Each stream's place in the frame, and where its content goes.
    pub streams: Vec<Stream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub offset: usize,
    pub len: usize,
    pub to: usize,
    /// Equal to `len` where the stream is stored as it is.
    pub decoded: usize,
}

/// Takes `src` apart; every stream lies in it and could be as long as it should.
pub fn layout(src: &[u8]) -> Result<Layout, CodecError> {
    let header = Header::parse(src)?;
    header.check_complete(src.len())?;
    let filter = match header.stored {
        true => Filter::NoShuffle,
        false => header.filter,
    };
    Ok(Layout {
        compressor: header.compressor,
        filter,
        typesize: header.typesize,
        blocksize: header.blocksize,
        decoded: header.decoded,
        streams: if header.stored {
            vec![stored(&header)]
        } else {
            streams(&header, src)?
        },
    })
}

fn stored(header: &Header) -> Stream {
    Stream {
        offset: header::SIZE,
        len: header.decoded,
        to: 0,
        decoded: header.decoded,
    }
}

fn streams(header: &Header, src: &[u8]) -> Result<Vec<Stream>, CodecError> {
    let frame = frame::Frame::parse(src)?;
    let mut found = Vec::with_capacity(frame.blocks());
    for index in 0..frame.blocks() {
        let block = frame.block_range(index);
        let mut walk = frame.streams(index, block.len())?;
        for number in 0..walk.count {
            let stream = walk.next()?;
            let decoded = walk.decoded;
            inner::check_plausible(header.compressor, stream, decoded)?;
            found.push(Stream {
                offset: walk.at - stream.len(),
                len: stream.len(),
                to: block.start + number * decoded,
                decoded,
            });
        }
    }
    Ok(found)
}

/// What a frame says of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub compressor: Compressor,
    pub filter: Filter,
    pub typesize: usize,
}

/// Writes the frame of blocks of `block` bytes, each one stream (or as it is, where that is as long); `None` where the
/// chunk is better stored, or too long for blosc.
pub fn write(
    form: Form,
    streams: &[&[u8]],
    decoded: usize,
    block: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    let blocksize = block.min(decoded);
    if blocksize == 0 || streams.len() != decoded.div_ceil(blocksize) {
        return None;
    }
    let content: usize = streams.iter().map(|stream| stream.len() + 8).sum();
    let encoded = header::SIZE.checked_add(content)?;
    if encoded >= header::SIZE + decoded || decoded > header::MAX_DECODED {
        return None;
    }
    let header = Header {
        compressor: form.compressor,
        filter: form.filter,
        stored: false,
        split: false,
        typesize: match form.typesize {
            size if size > header::MAX_TYPESIZE => 1,
            size => size,
        },
        decoded,
        blocksize,
        encoded,
    };
    out.clear();
    out.try_reserve_exact(encoded).ok()?;
    out.extend_from_slice(&header.to_bytes());
    let mut at = header::SIZE + 4 * streams.len();
    for stream in streams {
        out.extend_from_slice(&(at as u32).to_le_bytes());
        at += 4 + stream.len();
    }
    for stream in streams {
        out.extend_from_slice(&(stream.len() as u32).to_le_bytes());
        out.extend_from_slice(stream);
    }
    Some(())
}

/// Decompresses one stream, which makes exactly `dst`.
pub fn decompress(compressor: Compressor, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
    inner::decompress(compressor, src, dst)
}
