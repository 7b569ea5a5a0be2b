//! `zarrs.gdeflate`: pages of 64 KiB, each a stream of its own.
//!
//! All numbers are little-endian and of 8 bytes: the decoded length, the number of pages, and the length of each
//! page's stream; then the streams.

use super::super::support::{
    check_max, check_range, check_size, compressed_bound, resize, too_big,
};
use super::super::{BytesCodec, CodecError, Size};
use super::{NAME, damaged, decode, encode};

const PAGE: usize = 1 << 16;
const NUMBER: usize = 8;

#[derive(Clone, Copy, Debug)]
pub struct Pages {
    level: i32,
}

impl Pages {
    pub fn new(level: i32) -> Result<Self, CodecError> {
        let level = check_range(NAME, "level", level, 0..=12)?;
        Ok(Pages { level })
    }
}

impl BytesCodec for Pages {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        compressed_bound(NAME, decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let (decoded, streams) = streams(src)?;
        check_size(NAME, dst.len(), decoded)?;
        for (stream, page) in streams.into_iter().zip(dst.chunks_mut(PAGE)) {
            decode(stream, page)?;
        }
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let (decoded, _) = streams(src)?;
        check_max(NAME, max, decoded)?;
        resize(NAME, out, decoded)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        let pages = src.chunks(PAGE).map(|page| encode(self.level, page));
        let pages = pages.collect::<Result<Vec<_>, _>>()?;
        let streams: usize = pages.iter().map(Vec::len).sum();
        out.clear();
        out.try_reserve(NUMBER * (2 + pages.len()) + streams)
            .map_err(|_| too_big(NAME, src.len()))?;
        let lengths = [src.len(), pages.len()].into_iter();
        for number in lengths.chain(pages.iter().map(Vec::len)) {
            out.extend_from_slice(&(number as u64).to_le_bytes());
        }
        pages.iter().for_each(|page| out.extend_from_slice(page));
        Ok(())
    }
}

/// The decoded length, and the stream of each page.
fn streams(src: &[u8]) -> Result<(usize, Vec<&[u8]>), CodecError> {
    let short = || damaged("the chunk ends within its header");
    let (decoded, rest) = number(src).ok_or_else(short)?;
    let (count, rest) = number(rest).ok_or_else(short)?;
    // Writers may make a page of nothing.
    if count != decoded.div_ceil(PAGE) && (decoded, count) != (0, 1) {
        return Err(damaged("the number of pages is not that of the length"));
    }
    let table = count
        .checked_mul(NUMBER)
        .and_then(|n| rest.split_at_checked(n));
    let (table, mut rest) = table.ok_or_else(short)?;
    let mut streams = Vec::with_capacity(count);
    for length in table.chunks_exact(NUMBER) {
        let stream = number(length).and_then(|(length, _)| rest.split_at_checked(length));
        let (stream, behind) = stream.ok_or_else(|| damaged("a page reaches out of the chunk"))?;
        streams.push(stream);
        rest = behind;
    }
    match rest.is_empty() {
        true => Ok((decoded, streams)),
        false => Err(damaged("there are bytes behind the last page")),
    }
}

fn number(src: &[u8]) -> Option<(usize, &[u8])> {
    let (bytes, rest) = src.split_first_chunk::<NUMBER>()?;
    Some((usize::try_from(u64::from_le_bytes(*bytes)).ok()?, rest))
}
