//! Moving the axes of a chunk, for chains in which a copy with strides cannot do it while placing.

use super::{BytesCodec, CodecError, CodecErrorKind, Size, support};
use crate::place::{CopyAxis, Walk, copy};
use crate::view::chunk_strides;

/// `transpose` behind a filter: the decoded bytes are in C order of `shape`, the encoded ones in C order of the
/// permuted shape.
#[derive(Debug)]
pub struct Transpose {
    shape: Vec<usize>,
    plain: Vec<isize>,
    moved: Vec<isize>,
    item: usize,
    bytes: usize,
}

impl Transpose {
    pub fn new(shape: &[usize], order: &[usize], item: usize) -> Result<Transpose, CodecError> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let sizes: Vec<u64> = shape.iter().map(|&n| n as u64).collect();
        let bytes = crate::grid::byte_count(sizes.iter().copied(), item);
        match bytes {
            Some(bytes) if sorted.iter().copied().eq(0..shape.len()) => Ok(Transpose {
                shape: shape.to_vec(),
                plain: chunk_strides(&sizes, None, item),
                moved: chunk_strides(&sizes, Some(order), item),
                item,
                bytes,
            }),
            _ => {
                let what = format!("{order:?} is not an order of the axes of {shape:?}");
                Err(CodecError::new("transpose", CodecErrorKind::Config, what))
            }
        }
    }

    fn copy(
        &self,
        src: &[u8],
        from: &[isize],
        to: &[isize],
        dst: &mut [u8],
    ) -> Result<(), CodecError> {
        if src.len() != self.bytes || dst.len() != self.bytes {
            let what = format!(
                "{} bytes were given, but {:?} has {}",
                src.len(),
                self.shape,
                self.bytes
            );
            return Err(CodecError::new(
                "transpose",
                CodecErrorKind::WrongSize,
                what,
            ));
        }
        let axes: Vec<CopyAxis<'_>> = (0..self.shape.len())
            .map(|axis| CopyAxis {
                count: self.shape[axis],
                src: Walk::Even(from[axis]),
                dst: Walk::Even(to[axis]),
            })
            .collect();
        // SAFETY: both sides hold the whole shape, which the strides enumerate exactly once.
        unsafe { copy(&axes, src.as_ptr(), dst.as_mut_ptr(), self.item) };
        Ok(())
    }
}

impl BytesCodec for Transpose {
    fn name(&self) -> &str {
        "transpose"
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        Ok(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        self.copy(src, &self.moved, &self.plain, dst)
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        if self.bytes > max {
            let what = format!("{} bytes are more than the {max} due", self.bytes);
            return Err(CodecError::new(
                "transpose",
                CodecErrorKind::WrongSize,
                what,
            ));
        }
        support::resize("transpose", out, self.bytes)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        support::resize("transpose", out, self.bytes)?;
        self.copy(src, &self.plain, &self.moved, out)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn moves_axes_and_back() {
        let codec = Transpose::new(&[2, 3], &[1, 0], 1).unwrap();
        let mut out = Vec::new();
        codec.encode(&[0, 1, 2, 3, 4, 5], &mut out).unwrap();
        assert_eq!(out, [0, 3, 1, 4, 2, 5]);
        let mut back = [0; 6];
        codec.decode_exact(&out, &mut back).unwrap();
        assert_eq!(back, [0, 1, 2, 3, 4, 5]);
        assert!(codec.decode_exact(&out[1..], &mut back).is_err());
    }
}
