//! libzstd's decompressor: whole chunks in one shot, or a frame block by block.

use std::marker::PhantomData;
use std::ptr::NonNull;

use zstd_safe::zstd_sys::{self as ffi, ZSTD_nextInputType_e};
use zstd_safe::{ErrorCode, WriteBuf};

use super::{NAME, checked};
use crate::codec::CodecError;
use crate::codec::support::no_memory;

pub(super) struct Decoder(NonNull<ffi::ZSTD_DCtx>);

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: allocated by zstd, owned by this value, freed once.
        unsafe { ffi::ZSTD_freeDCtx(self.0.as_ptr()) };
    }
}

impl Decoder {
    pub(super) fn new() -> Result<Decoder, CodecError> {
        // SAFETY: no arguments; null means that there is no memory.
        let context = NonNull::new(unsafe { ffi::ZSTD_createDCtx() });
        context.map(Decoder).ok_or_else(|| no_memory(NAME, 0))
    }

    /// Decodes all frames of `src`.
    pub(super) fn decode<B: WriteBuf + ?Sized>(
        &mut self,
        src: &[u8],
        dst: &mut B,
    ) -> Result<usize, ErrorCode> {
        // SAFETY: the context is live, `src` is readable and the buffer writable for their lengths, and what zstd
        // counts as written was initialised.
        unsafe {
            dst.write_from(|to, room| {
                let context = self.0.as_ptr();
                checked(ffi::ZSTD_decompressDCtx(
                    context,
                    to,
                    room,
                    src.as_ptr().cast(),
                    src.len(),
                ))
            })
        }
    }

    /// Begins a frame that is decoded to `content`, and is its own window.
    pub(super) fn frame<'f>(&'f mut self, content: &'f mut [u8]) -> Result<Frame<'f>, ErrorCode> {
        // SAFETY: the context is live.
        checked(unsafe { ffi::ZSTD_decompressBegin(self.0.as_ptr()) })?;
        Ok(Frame {
            context: self.0,
            content: content.as_mut_ptr(),
            size: content.len(),
            decoded: 0,
            borrowed: PhantomData,
        })
    }

    pub(super) fn size(&self) -> usize {
        // SAFETY: the context is live.
        unsafe { ffi::ZSTD_sizeof_DCtx(self.0.as_ptr()) }
    }
}

/// A frame on its way. zstd reads what it has decoded, so all goes through one pointer.
pub(super) struct Frame<'f> {
    context: NonNull<ffi::ZSTD_DCtx>,
    content: *mut u8,
    size: usize,
    decoded: usize,
    borrowed: PhantomData<(&'f mut Decoder, &'f mut [u8])>,
}

impl Frame<'_> {
    /// How many bytes are decoded.
    pub(super) fn len(&self) -> usize {
        self.decoded
    }

    /// How many bytes there is room for.
    pub(super) fn left(&self) -> usize {
        self.size - self.decoded
    }

    /// What is not decoded yet.
    pub(super) fn rest(&mut self) -> &mut [u8] {
        // SAFETY: borrowed from the content, of which `decoded` bytes are left out; zstd holds no reference.
        unsafe { std::slice::from_raw_parts_mut(self.content.add(self.decoded), self.left()) }
    }

    /// How long the next piece of the frame is; 0 behind its end.
    pub(super) fn wants(&self) -> usize {
        // SAFETY: the context is live.
        unsafe { ffi::ZSTD_nextSrcSizeToDecompress(self.context.as_ptr()) }
    }

    /// Whether that is what is in a block.
    pub(super) fn is_at_block(&self) -> bool {
        // SAFETY: the context is live.
        let next = unsafe { ffi::ZSTD_nextInputType(self.context.as_ptr()) };
        matches!(
            next,
            ZSTD_nextInputType_e::ZSTDnit_block | ZSTD_nextInputType_e::ZSTDnit_lastBlock
        )
    }

    /// Decodes the next piece, to at most `room` bytes. Behind an error the frame is lost.
    pub(super) fn go_on(&mut self, piece: &[u8], room: usize) -> Result<(), ErrorCode> {
        let room = room.min(self.left());
        // SAFETY: the context is live, `piece` is readable, and `room` bytes behind those decoded are writable. Those
        // before are where zstd wrote them, since the frame has borrowed them, and it looks at no others.
        self.decoded += checked(unsafe {
            let to = self.content.add(self.decoded);
            let (from, len) = (piece.as_ptr(), piece.len());
            ffi::ZSTD_decompressContinue(self.context.as_ptr(), to.cast(), room, from.cast(), len)
        })?;
        Ok(())
    }
}
