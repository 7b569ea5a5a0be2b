//! Numcodecs' shuffle filter: byte planes of the elements, one after another.

use super::support::{check_max, check_range, check_size, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size, planes};

const NAME: &str = "shuffle";

#[derive(Clone, Copy, Debug)]
pub struct Shuffle {
    size: usize,
}

impl Shuffle {
    pub fn new(elementsize: usize) -> Result<Self, CodecError> {
        check_range(NAME, "elementsize", elementsize, 0..=i32::MAX as usize)?;
        Ok(Shuffle {
            size: elementsize.max(1),
        })
    }

    fn check_whole(&self, len: usize, kind: CodecErrorKind) -> Result<(), CodecError> {
        if len.is_multiple_of(self.size) {
            return Ok(());
        }
        let what = format!(
            "{len} bytes are no whole number of elements of {} bytes",
            self.size
        );
        Err(CodecError::new(NAME, kind, what))
    }
}

impl BytesCodec for Shuffle {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        Ok(decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), src.len())?;
        self.check_whole(src.len(), CodecErrorKind::Corrupt)?;
        let elements = src.len() / self.size;
        planes::join_bytes(self.size, |j| &src[j * elements..][..elements], dst);
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        check_max(NAME, max, src.len())?;
        resize(NAME, out, src.len())?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.check_whole(src.len(), CodecErrorKind::Encode)?;
        resize(NAME, out, src.len())?;
        planes::split_bytes(src, self.size, out);
        Ok(())
    }
}
