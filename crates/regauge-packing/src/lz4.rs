//! LZ4 frames in sequence, each of them complete.
//!
//! The decoder of the `lz4_flex` crate treats the end of its input as the end of a frame wherever a
//! block or a frame descriptor could begin, so a file truncated there would pass as complete. Here,
//! the end of the input is an error until the frame's end mark has been read.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read};

use lz4_flex::frame::{self, FrameDecoder};

use crate::TRAILING;

/// The first bytes of a legacy frame (`lz4 -l`), which has no end mark: its last block is followed
/// by the end of the file.
const LEGACY_MAGIC: [u8; 4] = [0x02, 0x21, 0x4C, 0x18];

/// The size of a block header, an end mark and a frame's magic number.
const WORD_BYTES: usize = 4;

/// A reader of all frames of a file.
pub struct Frames<R: Read> {
    decoder: FrameDecoder<Input<R>>,
    done: bool,
}

impl<R: Read> Frames<R> {
    pub fn new(read: BufReader<R>) -> Frames<R> {
        let input = Input { read, begun: false, legacy: false, end_mark: false, ended: false };
        Frames { decoder: FrameDecoder::new(input), done: false }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while !self.done {
            self.decoder.get_mut().end_mark = false;
            let got = self.decoder.read(buffer);
            let input = self.decoder.get_mut();
            let is_end = match got {
                // A frame has ended, or the block was empty.
                Ok(0) => input.end_mark || input.legacy,
                Ok(got) => return Ok(got),
                Err(_) if input.ended => return Err(ErrorKind::UnexpectedEof.into()),
                Err(error) => match skippable(&error) {
                    Some(bytes) => input.skip(bytes)?,
                    None => return Err(error),
                },
            };
            if is_end {
                self.done = match input.read.fill_buf()?.first() {
                    None => true,
                    Some(0x02 | 0x04 | 0x50..=0x5F) => false,
                    Some(_) => return Err(io::Error::new(ErrorKind::InvalidData, TRAILING)),
                };
            }
        }
        Ok(0)
    }
}

/// Returns the length of a frame that is to be skipped, if that is what the decoder stopped at.
fn skippable(error: &io::Error) -> Option<u32> {
    match error.get_ref()?.downcast_ref()? {
        frame::Error::SkippableFrame(bytes) => Some(*bytes),
        _ => None,
    }
}

/// The decoder's input. Fills every buffer, so that a block header arrives in one read.
struct Input<R> {
    read: BufReader<R>,
    begun: bool,
    legacy: bool,
    /// A word of zeros was read: if a call of the decoder then returns no bytes, the frame has
    /// ended.
    end_mark: bool,
    /// The decoder wanted more bytes than there are.
    ended: bool,
}

impl<R: Read> Input<R> {
    /// Reads over this many bytes; a frame may begin after them, or the file has ended.
    fn skip(&mut self, bytes: u32) -> io::Result<bool> {
        let bytes = u64::from(bytes);
        if io::copy(&mut self.read.by_ref().take(bytes), &mut io::sink())? < bytes {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.begun = false;
        Ok(true)
    }
}

impl<R: Read> Read for Input<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(got) => filled += got,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if !self.begun {
            self.begun = true;
            self.legacy = *buffer == LEGACY_MAGIC;
        }
        let is_legacy_end = self.legacy && filled == 0 && buffer.len() == WORD_BYTES;
        if filled < buffer.len() && !is_legacy_end {
            self.ended = true;
            // Not `UnexpectedEof`, which the decoder would take as the end of the frame.
            return Err(io::Error::other("the frame ends early"));
        }
        self.end_mark |= filled > 0 && *buffer == [0; WORD_BYTES];
        Ok(filled)
    }
}
