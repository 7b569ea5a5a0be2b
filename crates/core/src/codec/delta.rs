//! The first number, then the differences from each number to the next, as numcodecs' delta filter
//! stores them.

use super::element::{Element, Number, convert, converted_len, converted_size, with_type};
use super::support::{Scratch, check_max, check_size, resize, with_scratch};
use super::{BytesCodec, CodecError, Size};

const NAME: &str = "delta";

thread_local! {
    static DIFFERENCES: Scratch = const { Scratch::new(Vec::new()) };
}

/// Differences and sums are taken in the decoded type, and cast to and from the encoded one.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    decoded: Element,
    encoded: Element,
}

impl Delta {
    pub fn new(dtype: &str, astype: &str) -> Result<Self, CodecError> {
        Ok(Delta {
            decoded: Element::parse(NAME, "dtype", dtype)?,
            encoded: Element::parse(NAME, "astype", astype)?,
        })
    }

    fn decoded_len(&self, encoded: usize) -> Result<usize, CodecError> {
        converted_len(NAME, encoded, self.encoded, self.decoded)
    }
}

impl BytesCodec for Delta {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        converted_size(NAME, decoded, self.decoded, self.encoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), self.decoded_len(src.len())?)?;
        convert(self.encoded, src, self.decoded, dst);
        with_type!(self.decoded.kind, T => sum_up::<T>(dst, self.decoded.big_endian));
        Ok(())
    }

    fn decode_bounded(&self, src: &[u8], max: usize, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let len = self.decoded_len(src.len())?;
        check_max(NAME, max, len)?;
        resize(NAME, out, len)?;
        self.decode_exact(src, out)
    }

    fn encode(&self, src: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        resize(
            NAME,
            out,
            converted_len(NAME, src.len(), self.decoded, self.encoded)?,
        )?;
        with_scratch(NAME, &DIFFERENCES, src.len(), |differences| {
            let big_endian = self.decoded.big_endian;
            with_type!(self.decoded.kind, T => take_differences::<T>(src, big_endian, differences));
            convert(self.decoded, differences, self.encoded, out);
            Ok(())
        })
    }
}

fn sum_up<T: Number>(data: &mut [u8], big_endian: bool) {
    let mut numbers = data.chunks_exact_mut(size_of::<T>());
    let Some(first) = numbers.next() else { return };
    let mut sum = T::read(first, big_endian);
    for bytes in numbers {
        sum = sum.plus(T::read(bytes, big_endian));
        sum.write(bytes, big_endian);
    }
}

fn take_differences<T: Number>(src: &[u8], big_endian: bool, dst: &mut [u8]) {
    let mut before: Option<T> = None;
    for (bytes, target) in src
        .chunks_exact(size_of::<T>())
        .zip(dst.chunks_exact_mut(size_of::<T>()))
    {
        let number = T::read(bytes, big_endian);
        before
            .map_or(number, |before| number.minus(before))
            .write(target, big_endian);
        before = Some(number);
    }
}
