//! Booleans as bits, most significant first, after a byte with the number of bits that are padding.

use super::support::{check_max, check_size, resize};
use super::{BytesCodec, CodecError, Size};

const NAME: &str = "packbits";

/// The eight booleans that each byte stands for.
const UNPACKED: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> (7 - bit) & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

#[derive(Clone, Copy, Debug)]
pub struct PackBits;

impl BytesCodec for PackBits {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        Ok(match decoded {
            Size::Exact(n) => Size::Exact(1 + n.div_ceil(8)),
            Size::AtMost(n) => Size::AtMost(1 + n.div_ceil(8)),
        })
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        let (count, packed) = split(src)?;
        check_size(NAME, dst.len(), count)?;
        for (to, byte) in dst.chunks_mut(8).zip(packed) {
            to.copy_from_slice(&UNPACKED[usize::from(*byte)][..to.len()]);
        }
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let (count, _) = split(src)?;
        check_max(NAME, max, count)?;
        resize(NAME, out, count)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        resize(NAME, out, 1 + src.len().div_ceil(8))?;
        let padding = src.len().next_multiple_of(8) - src.len();
        let Some((header, packed)) = out.split_first_mut() else {
            return Ok(());
        };
        *header = padding as u8;
        for (byte, booleans) in packed.iter_mut().zip(src.chunks(8)) {
            let bits = booleans
                .iter()
                .enumerate()
                .map(|(at, boolean)| u8::from(*boolean != 0) << (7 - at));
            *byte = bits.sum();
        }
        Ok(())
    }
}

/// The number of booleans, and the bytes that hold them.
fn split(src: &[u8]) -> Result<(usize, &[u8]), CodecError> {
    let Some((&padding, packed)) = src.split_first() else {
        return Err(CodecError::corrupt(
            NAME,
            "no bytes where the padding should be told",
        ));
    };
    let count = (packed.len() * 8)
        .checked_sub(usize::from(padding))
        .filter(|_| padding < 8);
    let count =
        count.ok_or_else(|| CodecError::corrupt(NAME, format!("{padding} bits of padding")))?;
    Ok((count, packed))
}
