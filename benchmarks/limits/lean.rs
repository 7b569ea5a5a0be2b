//! The least that a read can cost: open, read, decode and place, for arrays of three dimensions whose chunks divide
//! them, and nothing else. `run.py` calls this beside blazarr, in one process and turn by turn.
//!
//! It believes what it reads and is no example of how to read foreign data.

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use blazarr_core::codec::planes;
use zstd_safe::DCtx;

const BLOSC_HEADER: usize = 16;
/// The index of a shard has two numbers for each inner chunk, and a checksum.
const ENTRY: usize = 16;
const CHECKSUM: usize = 4;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Job {
    shape: [usize; 3],
    /// Inner chunks where there are shards.
    chunks: [usize; 3],
    /// What has a key of its own: shards, or the chunks again.
    stored: [usize; 3],
    item: usize,
    codec: Codec,
    threads: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    None = 0,
    Zstd = 1,
    BloscLz4 = 2,
    Gzip = 3,
    /// Files are opened, read and closed, and that is all.
    Files = 4,
}

/// Reads the whole array into `out`; 0 where that went well.
///
/// # Safety
/// `job` must be valid, `folder` a C string, and `out` have room for the array.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_read(folder: *const c_char, job: *const Job, out: *mut u8) -> c_int {
    // SAFETY: the caller's promise.
    let (job, folder) = unsafe { (&*job, CStr::from_ptr(folder)) };
    let folder = folder.to_string_lossy();
    let out = Out(out);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(None);
    let work = || {
        let mut worker = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let worker = worker.get_or_insert_default();
        while let Some(at) = job.key(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = worker.stored(job, &folder, at, &out) {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
        }
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(std::mem::take(worker));
    };
    thread::scope(|scope| {
        (1..job.threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => 0,
        Some(error) => {
            eprintln!("{error}");
            1
        }
    }
}

/// Copies `len` bytes by `threads` threads.
///
/// # Safety
/// Both must be valid for `len` bytes, and not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lean_copy(src: *const u8, dst: *mut u8, len: usize, threads: usize) {
    // SAFETY: the caller's promise.
    let src = unsafe { std::slice::from_raw_parts(src, len) };
    // SAFETY: as above.
    let dst = unsafe { std::slice::from_raw_parts_mut(dst, len) };
    let part = len.div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for (from, to) in src.chunks(part).zip(dst.chunks_mut(part)) {
            scope.spawn(|| to.copy_from_slice(from));
        }
    });
}

/// Workers, with what they keep from call to call.
static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());

struct Out(*mut u8);

// SAFETY: every chunk has bytes of its own in it, and one worker.
unsafe impl Sync for Out {}

#[derive(Default)]
struct Worker {
    fetched: Vec<u8>,
    decoded: Vec<u8>,
    streams: Vec<u8>,
}

thread_local! {
    static ZSTD: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

impl Job {
    /// The coordinates of the `number`th key.
    fn key(&self, number: usize) -> Option<[usize; 3]> {
        unravel(number, counts(self.shape, self.stored))
    }

    fn len(&self, sizes: [usize; 3]) -> usize {
        sizes.iter().product::<usize>() * self.item
    }
}

impl Worker {
    fn stored(&mut self, job: &Job, folder: &str, at: [usize; 3], out: &Out) -> io::Result<()> {
        let [z, y, x] = at;
        let mut file = File::open(format!("{folder}/c/{z}/{y}/{x}"))?;
        let corner = [0, 1, 2].map(|axis| at[axis] * job.stored[axis]);
        let most = job.len(job.stored) * 2 + (64 << 10);
        self.fetched.resize(self.fetched.len().max(most), 0);
        if job.stored != job.chunks {
            return self.shard(job, &file, corner, out);
        }
        let mut len = 0;
        // A read that fills what is asked for needs no second one to find the end.
        while len < job.len(job.stored) {
            match file.read(&mut self.fetched[len..most])? {
                0 => break,
                n => len += n,
            }
        }
        self.chunk(job, 0..len, corner, out)
    }

    fn shard(&mut self, job: &Job, file: &File, corner: [usize; 3], out: &Out) -> io::Result<()> {
        let counts = counts(job.stored, job.chunks);
        let entries = counts.iter().product::<usize>();
        let mut index = vec![0; entries * ENTRY + CHECKSUM];
        let end = file.metadata()?.len();
        file.read_exact_at(&mut index, end - (entries * ENTRY + CHECKSUM) as u64)?;
        for (number, entry) in index.chunks_exact(ENTRY).take(entries).enumerate() {
            let (offset, len) = (number_at(entry, 0), number_at(entry, 8) as usize);
            file.read_exact_at(&mut self.fetched[..len], offset)?;
            let Some(at) = unravel(number, counts) else {
                break;
            };
            let corner = [0, 1, 2].map(|axis| corner[axis] + at[axis] * job.chunks[axis]);
            self.chunk(job, 0..len, corner, out)?;
        }
        Ok(())
    }

    fn chunk(
        &mut self,
        job: &Job,
        stored: std::ops::Range<usize>,
        corner: [usize; 3],
        out: &Out,
    ) -> io::Result<()> {
        let total = job.len(job.chunks);
        self.decoded.resize(self.decoded.len().max(total), 0);
        let (src, dst) = (&self.fetched[stored], &mut self.decoded[..total]);
        let bytes = match job.codec {
            Codec::Files => return Ok(()),
            Codec::None => src,
            _ => {
                decode(job, src, dst, &mut self.streams)?;
                dst
            }
        };
        let (row, [_, height, width]) = (job.chunks[2] * job.item, job.shape);
        for (number, from) in bytes.chunks_exact(row).enumerate() {
            let (z, y) = (number / job.chunks[1], number % job.chunks[1]);
            let at = ((corner[0] + z) * height + corner[1] + y) * width + corner[2];
            // SAFETY: the row lies in the array, and belongs to this chunk.
            unsafe {
                let to = out.0.add(at * job.item);
                std::ptr::copy_nonoverlapping(from.as_ptr(), to, row);
            }
        }
        Ok(())
    }
}

fn decode(job: &Job, src: &[u8], dst: &mut [u8], streams: &mut Vec<u8>) -> io::Result<()> {
    let done = match job.codec {
        Codec::Zstd => ZSTD
            .with_borrow_mut(|context| context.decompress(dst, src))
            .is_ok(),
        Codec::BloscLz4 => blosc(src, dst, streams).is_some(),
        _ => gzip(src, dst),
    };
    done.then_some(())
        .ok_or_else(|| io::Error::other("the chunk does not decode"))
}

fn gzip(src: &[u8], dst: &mut [u8]) -> bool {
    // SAFETY: the lengths are those of the slices, and the decompressor is freed once.
    unsafe {
        let decompressor = libdeflate_sys::libdeflate_alloc_decompressor();
        let done = libdeflate_sys::libdeflate_gzip_decompress(
            decompressor,
            src.as_ptr().cast(),
            src.len(),
            dst.as_mut_ptr().cast(),
            dst.len(),
            std::ptr::null_mut(),
        );
        libdeflate_sys::libdeflate_free_decompressor(decompressor);
        done == libdeflate_sys::libdeflate_result_LIBDEFLATE_SUCCESS
    }
}

/// A frame of LZ4 blocks, byte-shuffled and split.
fn blosc(src: &[u8], dst: &mut [u8], streams: &mut Vec<u8>) -> Option<()> {
    let size = usize::from(*src.get(3)?);
    let blocksize = word(src, 8)?;
    streams.resize(streams.len().max(blocksize), 0);
    for (number, block) in dst.chunks_mut(blocksize).enumerate() {
        let mut at = word(src, BLOSC_HEADER + 4 * number)?;
        let parts = if block.len() == blocksize { size } else { 1 };
        let room = &mut streams[..block.len()];
        for stream in room.chunks_exact_mut(block.len() / parts) {
            let len = word(src, at)?;
            let from = src.get(at + 4..at + 4 + len)?;
            match len == stream.len() {
                true => stream.copy_from_slice(from),
                false => lz4(from, stream)?,
            }
            at += 4 + len;
        }
        let plane = block.len() / size;
        planes::join_bytes(size, |j| &room[j * plane..][..plane], block);
    }
    Some(())
}

fn lz4(src: &[u8], dst: &mut [u8]) -> Option<()> {
    let (from, room) = (src.len() as c_int, dst.len() as c_int);
    // SAFETY: the lengths are those of the slices.
    let made = unsafe {
        lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), dst.as_mut_ptr().cast(), from, room)
    };
    (made == room).then_some(())
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*bytes) as usize)
}

fn number_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..].first_chunk::<8>();
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn counts(whole: [usize; 3], parts: [usize; 3]) -> [usize; 3] {
    [0, 1, 2].map(|axis| whole[axis] / parts[axis])
}

fn unravel(number: usize, counts: [usize; 3]) -> Option<[usize; 3]> {
    let [planes, rows, columns] = counts;
    let at = [
        number / (rows * columns),
        number / columns % rows,
        number % columns,
    ];
    (at[0] < planes).then_some(at)
}
