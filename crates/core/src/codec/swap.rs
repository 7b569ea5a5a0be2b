//! Byte order: the bytes of every unit reversed.

use super::support::{check_size, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "swap";

#[derive(Clone, Copy, Debug)]
pub struct Swap {
    size: usize,
}

impl Swap {
    pub fn new(size: usize) -> Result<Self, CodecError> {
        if matches!(size, 1 | 2 | 4 | 8 | 16) {
            return Ok(Swap { size });
        }
        let what = format!("size must be 1, 2, 4, 8 or 16, not {size}");
        Err(CodecError::new(NAME, CodecErrorKind::Config, what))
    }

    fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), src.len())?;
        if !src.len().is_multiple_of(self.size) {
            let what = format!(
                "{} bytes are no whole number of units of {} bytes",
                src.len(),
                self.size
            );
            return Err(CodecError::corrupt(NAME, what));
        }
        dst.copy_from_slice(src);
        swap_units(dst, self.size);
        Ok(())
    }
}

impl BytesCodec for Swap {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        Ok(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        self.run(src, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        super::support::check_max(NAME, max, src.len())?;
        self.encode(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        resize(NAME, out, src.len())?;
        self.run(src, out)
    }
}

/// Reverses the bytes of every unit of `size` bytes (2, 4, 8 or 16; otherwise nothing happens).
pub fn swap_units(data: &mut [u8], size: usize) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { swap_avx2(data, size) };
    }
    swap_by_size(data, size);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn swap_avx2(data: &mut [u8], size: usize) {
    swap_by_size(data, size);
}

#[inline(always)]
fn swap_by_size(data: &mut [u8], size: usize) {
    match size {
        2 => swap_each::<2>(data),
        4 => swap_each::<4>(data),
        8 => swap_each::<8>(data),
        16 => swap_each::<16>(data),
        _ => {}
    }
}

#[inline(always)]
fn swap_each<const N: usize>(data: &mut [u8]) {
    let (units, _) = data.as_chunks_mut::<N>();
    units.iter_mut().for_each(|unit| unit.reverse());
}
