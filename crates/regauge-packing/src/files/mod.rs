//! Compressed files: detected by suffix or first bytes, read and written in a stream.

mod gzip_blocks;
mod gzip_members;

use std::io::{self, BufReader, Read, Write};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::read::MultiBzDecoder;
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Check, MtStreamBuilder, Stream};
use liblzma::write::XzEncoder;
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, Limits};

use crate::lz4;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// gzip, RFC 1952; any number of members.
    Gzip,
    /// Zstandard, RFC 8878; any number of frames.
    Zstd,
    /// LZ4 frames.
    Lz4,
    /// xz; any number of streams. The older `.lzma` is read as well.
    Xz,
    /// bzip2; any number of streams.
    Bzip2,
}

/// Whether this is the head of an `.lzma` file, which has no mark: the usual properties, a dictionary as `xz` and
/// Python's `lzma` make it, and a length that is not known or below 256 GiB (`alone_decoder.c` of liblzma).
fn is_lzma(head: &[u8]) -> bool {
    let [0x5D, a, b, c, d, length @ ..] = head else { return false };
    let dictionary = u32::from_le_bytes([*a, *b, *c, *d]);
    let is_usual = dictionary >= 1 << 12 && dictionary.is_power_of_two()
        || dictionary >= 3 << 11 && dictionary % 3 == 0 && (dictionary / 3).is_power_of_two();
    let length = length.first_chunk().map(|length| u64::from_le_bytes(*length));
    is_usual && length.is_some_and(|length| length == u64::MAX || length < 1 << 38)
}

/// Memory that xz needs for unpacking besides its window, rounded up.
const XZ_BESIDE_BYTES: u64 = 1 << 20;

/// Memory that xz may use to compress at the default level, by its own estimate; it runs fewer
/// threads if necessary.
const XZ_THREADS_BYTES: u64 = 64 << 20;

/// Input per thread of xz at the default level: twice its dictionary, not the usual three times.
const XZ_BLOCK_BYTES: u64 = 4 << 20;

/// Input per thread of zstd. The library's default, 8 MiB and more per thread, would exceed our
/// memory bound; this costs 0.1% in size.
const ZSTD_JOB_BYTES: u32 = 2 << 20;

impl Compression {
    /// Every compression.
    pub const ALL: [Compression; 5] = [
        Compression::Gzip,
        Compression::Zstd,
        Compression::Lz4,
        Compression::Xz,
        Compression::Bzip2,
    ];

    /// Returns the name in messages and reports.
    pub fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Lz4 => "lz4",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// Returns the file name suffix without the dot.
    pub fn suffix(self) -> &'static str {
        match self {
            Compression::Gzip => "gz",
            Compression::Zstd => "zst",
            Compression::Lz4 => "lz4",
            Compression::Xz => "xz",
            Compression::Bzip2 => "bz2",
        }
    }

    /// Returns the compression of this name or suffix.
    pub fn parse(name: &str) -> Option<Compression> {
        Compression::ALL.into_iter().find(|one| one.name() == name || one.suffix() == name)
    }

    /// Returns the compression that a file name implies, and the name without its suffix.
    pub fn from_name(name: &str) -> (Option<Compression>, &str) {
        for one in Compression::ALL {
            let cut = name.len().saturating_sub(one.suffix().len());
            if let Some((stem, suffix)) = name.split_at_checked(cut)
                && suffix.eq_ignore_ascii_case(one.suffix())
                && let Some(stem) = stem.strip_suffix('.')
            {
                return (Some(one), stem);
            }
        }
        (None, name)
    }

    /// Returns whether a file of this compression can begin with these bytes: at least four, or all of it.
    pub fn can_begin(self, head: &[u8]) -> bool {
        // Frames to be skipped have the same mark in zstd (RFC 8878 §3.1.2) and LZ4.
        let is_skipped = matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]);
        match self {
            Compression::Gzip => head.starts_with(b"\x1F\x8B"),
            Compression::Zstd => is_skipped || head.starts_with(b"\x28\xB5\x2F\xFD"),
            // The second is the mark of legacy frames.
            Compression::Lz4 => {
                is_skipped
                    || head.starts_with(b"\x04\x22\x4D\x18")
                    || head.starts_with(b"\x02\x21\x4C\x18")
            }
            Compression::Xz => head.starts_with(b"\xFD7zX") || is_lzma(head),
            Compression::Bzip2 => head.starts_with(b"BZh"),
        }
    }

    /// Detects the compression from the first 13 bytes of a file, or more: a frame to be skipped may come before.
    pub fn from_magic(mut head: &[u8]) -> Option<Compression> {
        while let [0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d, rest @ ..] = head {
            head = rest.get(u32::from_le_bytes([*a, *b, *c, *d]) as usize..)?;
        }
        match head {
            // The upper flag bits are reserved and must be 0 (RFC 1952 §2.3.1).
            [0x1F, 0x8B, 8, flags, ..] if flags & 0xE0 == 0 => Some(Compression::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Compression::Zstd),
            [0x04, 0x22, 0x4D, 0x18, ..] => Some(Compression::Lz4),
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            head if is_lzma(head) => Some(Compression::Xz),
            // A block begins with the digits of pi; an empty file ends with those of its square
            // root.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Some(Compression::Bzip2)
            }
            _ => None,
        }
    }

    /// Returns the levels that `--level` accepts; `None` if there is no choice.
    pub fn levels(self) -> Option<RangeInclusive<u32>> {
        match self {
            Compression::Gzip | Compression::Bzip2 => Some(1..=9),
            Compression::Zstd => Some(1..=22),
            Compression::Xz => Some(0..=9),
            Compression::Lz4 => None,
        }
    }

    /// Returns the level to use without `--level`: the tool's own default, except for xz, whose 6
    /// takes 94 MiB of memory per thread while 2 takes 17.
    fn default_level(self) -> u32 {
        match self {
            Compression::Gzip => 6,
            Compression::Zstd => 3,
            Compression::Xz => 2,
            Compression::Bzip2 => 9,
            Compression::Lz4 => 0,
        }
    }

    /// Decompresses `read`, as long as the output stays within [`Limits::expansion`]. All members,
    /// frames or streams are read in sequence; a file that ends inside one is an error.
    ///
    /// # Errors
    /// Those of the decompressor, which cannot be set up. Reading fails with those of `read`, and with a
    /// [`regauge::Error`] inside if the data is broken or exceeds a limit.
    pub fn decoder<'a>(
        self,
        read: impl Read + Send + 'a,
        limits: &Limits,
    ) -> io::Result<Box<dyn Read + Send + 'a>> {
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = Counted { read, consumed: Arc::clone(&consumed) };
        let buffered = BufReader::with_capacity(64 << 10, counted);
        let inner: Box<dyn Read + Send + 'a> = match self {
            Compression::Gzip => Box::new(gzip_members::Members::new(buffered)),
            Compression::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(buffered)?;
                decoder.window_log_max(limits.window_bytes.max(1).ilog2().clamp(10, 31))?;
                Box::new(decoder)
            }
            Compression::Lz4 => Box::new(lz4::Frames::new(buffered)),
            Compression::Xz => {
                let memory = limits.window_bytes.saturating_add(XZ_BESIDE_BYTES);
                let stream = Stream::new_auto_decoder(memory, CONCATENATED)?;
                Box::new(XzDecoder::new_stream(buffered, stream))
            }
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(buffered)),
        };
        Ok(Box::new(Guard {
            inner,
            compression: self,
            consumed,
            produced: 0,
            expansion: limits.expansion,
            window_bytes: limits.window_bytes,
        }))
    }

    /// Compresses to `write`, on this many threads if the format allows it.
    ///
    /// # Errors
    /// Those of the compressor, which cannot be set up.
    pub fn encoder<W: Write>(
        self,
        write: W,
        wanted: Option<u32>,
        jobs: usize,
    ) -> io::Result<Encoder<W>> {
        let level = wanted.unwrap_or(self.default_level());
        let threads = u32::try_from(jobs).unwrap_or(u32::MAX);
        Ok(Encoder(match self {
            Compression::Gzip if jobs > 1 => {
                To::GzipBlocks(Box::new(gzip_blocks::Encoder::new(write, level, jobs)))
            }
            Compression::Gzip => {
                To::Gzip(Box::new(GzEncoder::new(write, flate2::Compression::new(level))))
            }
            Compression::Zstd => {
                let mut encoder = zstd::Encoder::new(write, level as i32)?;
                encoder.include_checksum(true)?;
                if jobs > 1 {
                    encoder.multithread(threads)?;
                    let job = zstd::zstd_safe::CParameter::JobSize(ZSTD_JOB_BYTES);
                    encoder.set_parameter(job)?;
                }
                To::Zstd(Box::new(encoder))
            }
            Compression::Lz4 => {
                let info = FrameInfo::new().block_size(BlockSize::Max1MB).content_checksum(true);
                To::Lz4(Box::new(FrameEncoder::with_frame_info(info, write)))
            }
            Compression::Xz => {
                let threads = match wanted {
                    Some(_) => threads,
                    None => (1..=threads).rev().find(|threads| fits(*threads, level)).unwrap_or(1),
                };
                let stream = match threads {
                    1 => Stream::new_easy_encoder(level, Check::Crc64)?,
                    _ => xz_threads(threads, level, wanted.is_none()).encoder()?,
                };
                To::Xz(Box::new(XzEncoder::new_stream(write, stream)))
            }
            Compression::Bzip2 => {
                To::Bzip2(Box::new(BzEncoder::new(write, bzip2::Compression::new(level))))
            }
        }))
    }
}

fn xz_threads(threads: u32, level: u32, small: bool) -> MtStreamBuilder {
    let mut builder = MtStreamBuilder::new();
    builder.threads(threads).preset(level).check(Check::Crc64);
    if small {
        builder.block_size(XZ_BLOCK_BYTES);
    }
    builder
}

/// Returns whether this many threads stay within [`XZ_THREADS_BYTES`].
fn fits(threads: u32, level: u32) -> bool {
    xz_threads(threads, level, true).memusage() <= XZ_THREADS_BYTES
}

/// A writer of compressed (or plain) bytes; it must be finished.
pub struct Encoder<W: Write>(To<W>);

enum To<W: Write> {
    Plain(W),
    Gzip(Box<GzEncoder<W>>),
    GzipBlocks(Box<gzip_blocks::Encoder<W>>),
    Zstd(Box<zstd::Encoder<'static, W>>),
    Lz4(Box<FrameEncoder<W>>),
    Xz(Box<XzEncoder<W>>),
    Bzip2(Box<BzEncoder<W>>),
}

impl<W: Write> Encoder<W> {
    /// Returns a writer that does not compress.
    pub fn plain(write: W) -> Encoder<W> {
        Encoder(To::Plain(write))
    }

    /// Writes buffered data and the end of the compressed stream.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            To::Plain(mut write) => write.flush(),
            To::Gzip(encoder) => encoder.finish()?.flush(),
            To::GzipBlocks(encoder) => encoder.finish()?.flush(),
            To::Zstd(encoder) => encoder.finish()?.flush(),
            To::Lz4(encoder) => encoder.finish().map_err(io::Error::other)?.flush(),
            To::Xz(encoder) => encoder.finish()?.flush(),
            To::Bzip2(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            To::Plain(write) => write.write(bytes),
            To::Gzip(encoder) => encoder.write(bytes),
            To::GzipBlocks(encoder) => encoder.write(bytes),
            To::Zstd(encoder) => encoder.write(bytes),
            To::Lz4(encoder) => encoder.write(bytes),
            To::Xz(encoder) => encoder.write(bytes),
            To::Bzip2(encoder) => encoder.write(bytes),
        }
    }

    /// Does nothing while compressing: a flush would cut a block short and cost size, and nobody
    /// waits for part of the file.
    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            To::Plain(write) => write.flush(),
            _ => Ok(()),
        }
    }
}

struct Counted<R> {
    read: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.read.read(buffer)?;
        self.consumed.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

/// Stops a decompression bomb, and names the decoder's errors.
struct Guard<R> {
    inner: R,
    compression: Compression,
    consumed: Arc<AtomicU64>,
    produced: u64,
    expansion: u64,
    window_bytes: u64,
}

/// Returns whether a decoder needs a larger window than allowed.
fn is_window_too_large(error: &io::Error) -> bool {
    let inner = error.get_ref();
    let xz = inner.and_then(|inner| inner.downcast_ref::<liblzma::stream::Error>());
    // The crate exposes the library's message but no code.
    xz == Some(&liblzma::stream::Error::MemLimit)
        || inner.is_some_and(|inner| inner.to_string().contains("requires too much memory"))
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.inner.read(buffer).map_err(|error| self.explain(error))?;
        // Some decoders take an empty file for one without a frame.
        if got == 0 && !buffer.is_empty() && self.consumed.load(Ordering::Relaxed) == 0 {
            return Err(self.explain(io::ErrorKind::UnexpectedEof.into()));
        }
        self.produced += got as u64;
        if self.produced > Limits::EXPANSION_FREE {
            let consumed = self.consumed.load(Ordering::Relaxed);
            if self.produced > consumed.saturating_mul(self.expansion) {
                return Err(self.bomb(consumed));
            }
        }
        Ok(got)
    }
}

impl<R> Guard<R> {
    #[cold]
    fn bomb(&self, consumed: u64) -> io::Error {
        let Guard { produced, expansion, .. } = self;
        io::Error::other(
            Error::limit(format!(
                "found {produced} bytes in {consumed} bytes of {} data, more than {expansion} to \
                 one, the limit of expansion",
                self.compression.name()
            ))
            .hint(Hint::unlimited(Limit::Expansion).when("you trust the file")),
        )
    }

    #[cold]
    fn explain(&self, error: io::Error) -> io::Error {
        if error.get_ref().is_some_and(|inner| inner.is::<Error>()) {
            return error;
        }
        // The system's own errors are about the file; all others are about its content.
        if error.raw_os_error().is_some() {
            return io::Error::new(error.kind(), error.to_string());
        }
        let name = self.compression.name();
        let consumed = self.consumed.load(Ordering::Relaxed);
        if is_window_too_large(&error) {
            let window = self.window_bytes;
            let found = Error::limit(format!(
                "the {name} data needs a window of more than {window} bytes, the limit of window_bytes"
            ));
            return io::Error::other(found.hint(Hint::raise(Limit::WindowBytes)));
        }
        let found = match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                Error::truncated(format!("the {name} data ends early, after {consumed} bytes"))
            }
            _ => Error::syntax(format!(
                "the {name} data is broken, within the first {consumed} bytes: {error}"
            )),
        };
        io::Error::other(found.hint("check the file, or fetch it again"))
    }
}

#[cfg(test)]
mod tests;
