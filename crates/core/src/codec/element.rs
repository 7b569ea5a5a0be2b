//! Numbers of a numpy type in a buffer, and casts between types as numpy does them.

use std::ops::{Add, Mul, Sub};

use super::support::too_big;
use super::{CodecError, CodecErrorKind, Size};

/// Runs an expression with `$T` standing for the type of `$kind`.
macro_rules! with_type {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            $crate::codec::element::Kind::I8 => {
                type $T = i8;
                $body
            }
            $crate::codec::element::Kind::I16 => {
                type $T = i16;
                $body
            }
            $crate::codec::element::Kind::I32 => {
                type $T = i32;
                $body
            }
            $crate::codec::element::Kind::I64 => {
                type $T = i64;
                $body
            }
            $crate::codec::element::Kind::U8 => {
                type $T = u8;
                $body
            }
            $crate::codec::element::Kind::U16 => {
                type $T = u16;
                $body
            }
            $crate::codec::element::Kind::U32 => {
                type $T = u32;
                $body
            }
            $crate::codec::element::Kind::U64 => {
                type $T = u64;
                $body
            }
            $crate::codec::element::Kind::F32 => {
                type $T = f32;
                $body
            }
            $crate::codec::element::Kind::F64 => {
                type $T = f64;
                $body
            }
        }
    };
}
pub(super) use with_type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

/// A type of numbers with its byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    pub kind: Kind,
    pub big_endian: bool,
}

impl Element {
    /// Reads numpy's short form, such as `<i4`.
    pub fn parse(codec: &str, member: &str, text: &str) -> Result<Self, CodecError> {
        let unsupported = || {
            let what =
                format!("{member} {text:?} is not an integer of 1 to 8 bytes or a float of 4 or 8");
            CodecError::new(codec, CodecErrorKind::Config, what)
        };
        let big_endian = match text.as_bytes().first() {
            Some(b'<' | b'|') => false,
            Some(b'>') => true,
            _ => return Err(unsupported()),
        };
        let kind = match &text[1..] {
            "i1" => Kind::I8,
            "i2" => Kind::I16,
            "i4" => Kind::I32,
            "i8" => Kind::I64,
            "u1" => Kind::U8,
            "u2" => Kind::U16,
            "u4" => Kind::U32,
            "u8" => Kind::U64,
            "f4" => Kind::F32,
            "f8" => Kind::F64,
            _ => return Err(unsupported()),
        };
        Ok(Element { kind, big_endian })
    }

    pub fn native(kind: Kind) -> Self {
        Element {
            kind,
            big_endian: cfg!(target_endian = "big"),
        }
    }

    pub fn size(self) -> usize {
        with_type!(self.kind, T => size_of::<T>())
    }
}

/// A number that can be read from and written to bytes of either order. Integers wrap around.
pub(super) trait Number: Copy {
    fn read(bytes: &[u8], big_endian: bool) -> Self;
    fn write(self, bytes: &mut [u8], big_endian: bool);
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The nearest whole number, of two the even one.
    fn rounded(self) -> Self;
}

macro_rules! impl_number {
    ($plus:ident, $minus:ident, $times:ident, $rounded:ident, $($T:ty)*) => {$(
        impl Number for $T {
            #[inline]
            fn read(bytes: &[u8], big_endian: bool) -> Self {
                let mut own = [0; size_of::<$T>()];
                own.copy_from_slice(bytes);
                if big_endian { <$T>::from_be_bytes(own) } else { <$T>::from_le_bytes(own) }
            }

            #[inline]
            fn write(self, bytes: &mut [u8], big_endian: bool) {
                let own = if big_endian { self.to_be_bytes() } else { self.to_le_bytes() };
                bytes.copy_from_slice(&own);
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.$plus(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.$minus(other)
            }

            #[inline]
            fn times(self, other: Self) -> Self {
                self.$times(other)
            }

            #[inline]
            fn rounded(self) -> Self {
                <$T>::$rounded(self)
            }
        }
    )*};
}

impl_number!(wrapping_add, wrapping_sub, wrapping_mul, from, i8 i16 i32 i64 u8 u16 u32 u64);
impl_number!(add, sub, mul, round_ties_even, f32 f64);

/// A cast as in C. What C leaves undefined does not trap.
pub(super) trait Cast<To> {
    fn cast(self) -> To;
}

// Small integers come by way of larger ones, as on the processors that numpy runs on: -1.0 becomes
// 255 and not 0.
macro_rules! impl_casts {
    ($($From:ty)*) => {$(
        impl_casts!(@by $From, i64, i8 i16 i32 i64 u8 u16 u32);
        impl_casts!(@by $From, i128, u64);
        impl_casts!(@by $From, $From, f32 f64);
    )*};
    (@by $From:ty, $By:ty, $($To:ty)*) => {$(
        impl Cast<$To> for $From {
            #[inline]
            fn cast(self) -> $To {
                self as $By as $To
            }
        }
    )*};
}

impl_casts!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

/// Casts every number of `src` to the type of `dst`, which has as many.
pub(super) fn convert(from: Element, src: &[u8], to: Element, dst: &mut [u8]) {
    with_type!(from.kind, From => with_type!(to.kind, To => {
        let targets = dst.chunks_exact_mut(size_of::<To>());
        for (bytes, target) in src.chunks_exact(size_of::<From>()).zip(targets) {
            let number: To = From::read(bytes, from.big_endian).cast();
            number.write(target, to.big_endian);
        }
    }))
}

/// How many bytes the numbers of type `from` in `len` bytes take as `to`.
pub(super) fn converted_len(
    codec: &str,
    len: usize,
    from: Element,
    to: Element,
) -> Result<usize, CodecError> {
    let (from, to) = (from.size(), to.size());
    if !len.is_multiple_of(from) {
        let what = format!("{len} bytes are no whole number of elements of {from} bytes");
        return Err(CodecError::corrupt(codec, what));
    }
    (len / from)
        .checked_mul(to)
        .ok_or_else(|| too_big(codec, len))
}

/// [`converted_len`] of a size that may be a bound.
pub(super) fn converted_size(
    codec: &str,
    size: Size,
    from: Element,
    to: Element,
) -> Result<Size, CodecError> {
    match size {
        Size::Exact(n) => converted_len(codec, n, from, to).map(Size::Exact),
        Size::AtMost(n) => {
            converted_len(codec, n / from.size() * from.size(), from, to).map(Size::AtMost)
        }
    }
}
