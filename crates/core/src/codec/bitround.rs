//! Floats rounded to fewer bits of the mantissa, so that they compress better. Decoding changes
//! nothing.

use super::support::{check_max, check_range, concat, copy_exact, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "bitround";

#[derive(Clone, Copy, Debug)]
pub struct BitRound {
    keepbits: u32,
    itemsize: usize,
}

impl BitRound {
    pub fn new(keepbits: u32, itemsize: usize) -> Result<Self, CodecError> {
        let mantissa = match itemsize {
            2 => 10,
            4 => 23,
            8 => 52,
            _ => {
                let what = format!("itemsize must be 2, 4 or 8 (a float's), not {itemsize}");
                return Err(CodecError::new(NAME, CodecErrorKind::Config, what));
            }
        };
        check_range(NAME, "keepbits", keepbits, 0..=mantissa)?;
        Ok(BitRound { keepbits, itemsize })
    }
}

impl BitRound {
    fn check_whole(&self, len: usize, kind: CodecErrorKind) -> Result<(), CodecError> {
        if len.is_multiple_of(self.itemsize) {
            return Ok(());
        }
        let what = format!(
            "{len} bytes are no whole number of floats of {} bytes",
            self.itemsize
        );
        Err(CodecError::new(NAME, kind, what))
    }
}

impl BytesCodec for BitRound {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        Ok(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        self.check_whole(src.len(), CodecErrorKind::Corrupt)?;
        copy_exact(NAME, src, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.check_whole(src.len(), CodecErrorKind::Corrupt)?;
        check_max(NAME, max, src.len())?;
        concat(NAME, out, &[src])
    }

    fn decode_view<'a>(&self, src: &'a [u8]) -> Result<Option<&'a [u8]>, CodecError> {
        self.check_whole(src.len(), CodecErrorKind::Corrupt)?;
        Ok(Some(src))
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.check_whole(src.len(), CodecErrorKind::Encode)?;
        resize(NAME, out, src.len())?;
        match self.itemsize {
            2 => round::<2>(src, 10 - self.keepbits, out),
            4 => round::<4>(src, 23 - self.keepbits, out),
            _ => round::<8>(src, 52 - self.keepbits, out),
        }
        Ok(())
    }
}

/// Rounds little-endian floats of `N` bytes half to even at the bit above the `dropped` ones.
///
/// Rounding up may carry into the exponent, which is what is wanted but for infinities and NaNs,
/// where numcodecs lets it happen too.
fn round<const N: usize>(src: &[u8], dropped: u32, dst: &mut [u8]) {
    if dropped == 0 {
        return dst.copy_from_slice(src);
    }
    let almost_half = (1_u64 << (dropped - 1)) - 1;
    for (to, from) in dst
        .as_chunks_mut::<N>()
        .0
        .iter_mut()
        .zip(src.as_chunks::<N>().0)
    {
        let mut bytes = [0; 8];
        bytes[..N].copy_from_slice(from);
        let bits = u64::from_le_bytes(bytes);
        let rounded = bits.wrapping_add((bits >> dropped & 1) + almost_half) >> dropped << dropped;
        to.copy_from_slice(&rounded.to_le_bytes()[..N]);
    }
}
