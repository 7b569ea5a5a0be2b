//! Numbers shifted, scaled and rounded, so that they fit a smaller type, as numcodecs' filter of
//! that name does.
//!
//! The arithmetic is done in the type that numpy does it in: floats of 4 or 8 bytes in their own;
//! integers in their own when offset and scale are integers too, else as floats of 8 bytes.

use serde::Deserialize;

use super::element::{
    Cast, Element, Kind, Number, convert, converted_len, converted_size, with_type,
};
use super::support::{check_max, check_size, resize};
use super::{BytesCodec, CodecError, CodecErrorKind, Size};

const NAME: &str = "fixedscaleoffset";

/// The numbers that are handled at a time, in buffers on the stack.
const BATCH: usize = 256;
const BATCH_BYTES: usize = BATCH * 8;

/// A number of the configuration. Whether it is written as an integer decides about the arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Scalar {
    Integer(i64),
    Float(f64),
}

impl Scalar {
    fn is_integer(self) -> bool {
        matches!(self, Scalar::Integer(_))
    }

    fn cast<T>(self) -> T
    where
        i64: Cast<T>,
        f64: Cast<T>,
    {
        match self {
            Scalar::Integer(number) => Cast::cast(number),
            Scalar::Float(number) => Cast::cast(number),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct FixedScaleOffset {
    offset: Scalar,
    scale: Scalar,
    decoded: Element,
    encoded: Element,
}

impl FixedScaleOffset {
    pub fn new(
        offset: Scalar,
        scale: Scalar,
        dtype: &str,
        astype: &str,
    ) -> Result<Self, CodecError> {
        if scale.cast::<f64>() == 0.0 {
            return Err(CodecError::new(
                NAME,
                CodecErrorKind::Config,
                "scale must not be 0",
            ));
        }
        let (decoded, encoded) = (
            Element::parse(NAME, "dtype", dtype)?,
            Element::parse(NAME, "astype", astype)?,
        );
        Ok(FixedScaleOffset {
            offset,
            scale,
            decoded,
            encoded,
        })
    }

    fn decoded_len(&self, encoded: usize) -> Result<usize, CodecError> {
        converted_len(NAME, encoded, self.encoded, self.decoded)
    }

    fn encode_batch(
        &self,
        batch: &[u8],
        target: &mut [u8],
        [shifted, scaled]: &mut [[u8; BATCH_BYTES]; 2],
    ) {
        let shifted_in = Element::native(arithmetic(self.decoded.kind, self.offset.is_integer()));
        let scaled_in = Element::native(arithmetic(shifted_in.kind, self.scale.is_integer()));
        let count = batch.len() / self.decoded.size();
        let (shifted, scaled) = (
            &mut shifted[..count * shifted_in.size()],
            &mut scaled[..count * scaled_in.size()],
        );
        convert(self.decoded, batch, shifted_in, shifted);
        with_type!(shifted_in.kind, T => map::<T>(shifted, |x| x.minus(self.offset.cast())));
        convert(shifted_in, shifted, scaled_in, scaled);
        with_type!(scaled_in.kind, T => map::<T>(scaled, |x| x.times(self.scale.cast()).rounded()));
        convert(scaled_in, scaled, self.encoded, target);
    }

    fn decode_batch(&self, batch: &[u8], target: &mut [u8], numbers: &mut [u8; BATCH_BYTES]) {
        // A division: even of integers it makes floats.
        let work = Element::native(arithmetic(self.encoded.kind, false));
        let numbers = &mut numbers[..batch.len() / self.encoded.size() * work.size()];
        convert(self.encoded, batch, work, numbers);
        match work.kind {
            Kind::F32 => map::<f32>(numbers, |x| {
                x / self.scale.cast::<f32>() + self.offset.cast::<f32>()
            }),
            _ => map::<f64>(numbers, |x| {
                x / self.scale.cast::<f64>() + self.offset.cast::<f64>()
            }),
        }
        convert(work, numbers, self.decoded, target);
    }
}

/// The type in which numpy combines `kind` with a number that has no type of its own.
fn arithmetic(kind: Kind, integers: bool) -> Kind {
    match kind {
        Kind::F32 | Kind::F64 => kind,
        _ if integers => kind,
        _ => Kind::F64,
    }
}

impl BytesCodec for FixedScaleOffset {
    fn name(&self) -> &str {
        NAME
    }

    fn encoded_size(&self, decoded: Size) -> Result<Size, CodecError> {
        converted_size(NAME, decoded, self.decoded, self.encoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8]) -> Result<(), CodecError> {
        check_size(NAME, dst.len(), self.decoded_len(src.len())?)?;
        let mut numbers = [0; BATCH_BYTES];
        let targets = dst.chunks_mut(BATCH * self.decoded.size());
        for (batch, target) in src.chunks(BATCH * self.encoded.size()).zip(targets) {
            self.decode_batch(batch, target, &mut numbers);
        }
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
        let mut numbers = [[0; BATCH_BYTES]; 2];
        let targets = out.chunks_mut(BATCH * self.encoded.size());
        for (batch, target) in src.chunks(BATCH * self.decoded.size()).zip(targets) {
            self.encode_batch(batch, target, &mut numbers);
        }
        Ok(())
    }
}

fn map<T: Number>(numbers: &mut [u8], step: impl Fn(T) -> T) {
    let big_endian = cfg!(target_endian = "big");
    for bytes in numbers.chunks_exact_mut(size_of::<T>()) {
        step(T::read(bytes, big_endian)).write(bytes, big_endian);
    }
}
