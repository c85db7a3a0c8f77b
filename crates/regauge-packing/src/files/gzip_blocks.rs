//! gzip on several cores: one member, whose blocks are compressed in parallel.
//!
//! Every block of input is deflated separately, with the preceding 32 KiB as a dictionary, and ends
//! with an empty stored block, so that it ends on a byte boundary; concatenated, they form one
//! deflate stream (RFC 1951 §3.2.4). Checksums of blocks are combined. The output is a plain gzip
//! file that depends only on the level, not on the number of threads.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use crc32fast::Hasher;
use flate2::{Compress, FlushCompress, Status};

/// Input per block.
const BLOCK_BYTES: usize = 256 << 10;
/// How far back deflate can look.
const WINDOW_BYTES: usize = 32 << 10;

/// Deflate, no flags, no time, an unknown operating system (RFC 1952 §2.3).
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255];

struct Block {
    bytes: Vec<u8>,
    /// What precedes the block.
    dictionary: Vec<u8>,
    last: bool,
    reply: SyncSender<io::Result<Done>>,
}

struct Done {
    packed: Vec<u8>,
    checksum: Hasher,
    length: usize,
}

/// A gzip writer that compresses on other threads.
pub struct Encoder<W> {
    write: W,
    block: Vec<u8>,
    dictionary: Vec<u8>,
    to_workers: SyncSender<Block>,
    under_way: VecDeque<Receiver<io::Result<Done>>>,
    /// Maximum number of blocks in flight, which bounds memory.
    most: usize,
    checksum: Hasher,
    /// Modulo 2³², as in the trailer.
    length: u32,
    begun: bool,
}

impl<W: Write> Encoder<W> {
    /// Starts `jobs` threads, which end with the encoder.
    pub fn new(write: W, level: u32, jobs: usize) -> Encoder<W> {
        let most = 2 * jobs;
        let (to_workers, from_encoder) = sync_channel::<Block>(most);
        let from_encoder = Arc::new(Mutex::new(from_encoder));
        for _ in 0..jobs {
            let blocks = Arc::clone(&from_encoder);
            std::thread::spawn(move || work(&blocks, level));
        }
        Encoder {
            write,
            block: Vec::with_capacity(BLOCK_BYTES),
            dictionary: Vec::new(),
            to_workers,
            under_way: VecDeque::new(),
            most,
            checksum: Hasher::new(),
            length: 0,
            begun: false,
        }
    }

    /// Submits the current block, after collecting a finished one if too many are in flight.
    fn send(&mut self, last: bool) -> io::Result<()> {
        while self.under_way.len() >= self.most {
            self.take()?;
        }
        let bytes = std::mem::replace(&mut self.block, Vec::with_capacity(BLOCK_BYTES));
        let tail = bytes[bytes.len().saturating_sub(WINDOW_BYTES)..].to_vec();
        let dictionary = std::mem::replace(&mut self.dictionary, tail);
        let (reply, done) = sync_channel(1);
        let block = Block { bytes, dictionary, last, reply };
        self.to_workers.send(block).map_err(|_| worker_gone())?;
        self.under_way.push_back(done);
        Ok(())
    }

    /// Writes the oldest of the blocks in flight.
    fn take(&mut self) -> io::Result<()> {
        let Some(first) = self.under_way.pop_front() else { return Ok(()) };
        let done = first.recv().map_err(|_| worker_gone())??;
        if !self.begun {
            self.write.write_all(&HEADER)?;
            self.begun = true;
        }
        self.write.write_all(&done.packed)?;
        self.checksum.combine(&done.checksum);
        self.length = self.length.wrapping_add(done.length as u32);
        Ok(())
    }

    /// Writes what is left and the trailer, and returns the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.send(true)?;
        while !self.under_way.is_empty() {
            self.take()?;
        }
        self.write.write_all(&self.checksum.finalize().to_le_bytes())?;
        self.write.write_all(&self.length.to_le_bytes())?;
        Ok(self.write)
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.block.len() == BLOCK_BYTES {
            self.send(false)?;
        }
        let taken = bytes.len().min(BLOCK_BYTES - self.block.len());
        self.block.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn worker_gone() -> io::Error {
    io::Error::other("a compression thread ended early")
}

fn work(blocks: &Mutex<Receiver<Block>>, level: u32) {
    let mut deflate = Compress::new(flate2::Compression::new(level), false);
    loop {
        let block = match blocks.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        let Ok(block) = block else { return };
        // The encoder is gone only if the run has already failed.
        let _ = block.reply.send(pack(&mut deflate, &block));
    }
}

fn pack(deflate: &mut Compress, block: &Block) -> io::Result<Done> {
    deflate.reset();
    if !block.dictionary.is_empty() {
        deflate.set_dictionary(&block.dictionary)?;
    }
    let flush = if block.last { FlushCompress::Finish } else { FlushCompress::Sync };
    // Data that deflate cannot shrink is stored, with 5 bytes per 64 KiB at most.
    let mut packed = Vec::with_capacity(block.bytes.len() + block.bytes.len() / 1000 + 256);
    loop {
        let read = deflate.total_in() as usize;
        let status = deflate.compress_vec(&block.bytes[read..], &mut packed, flush)?;
        let all_read = deflate.total_in() as usize == block.bytes.len();
        // Spare room in the output means that nothing is left to flush.
        let flushed = all_read && packed.len() < packed.capacity();
        if if block.last { status == Status::StreamEnd } else { flushed } {
            break;
        }
        packed.reserve(packed.capacity().max(1024));
    }
    let mut checksum = Hasher::new();
    checksum.update(&block.bytes);
    Ok(Done { packed, checksum, length: block.bytes.len() })
}
