//! Decompression on a separate thread, a few buffers ahead of the conversion.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};

/// A buffer, as large as a window of the library.
const PIECE_BYTES: usize = 256 << 10;
/// Maximum number of buffers in the queue.
const PIECES: usize = 4;

/// A reader that another thread reads ahead.
pub struct ReadAhead {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: Vec<u8>,
    position: usize,
    ended: bool,
}

impl ReadAhead {
    /// Starts reading. The thread ends with the stream, or when the reader is dropped.
    pub fn new(mut read: Box<dyn Read + Send>) -> ReadAhead {
        let (to_reader, pieces) = sync_channel(PIECES);
        std::thread::spawn(move || {
            loop {
                let mut piece = vec![0; PIECE_BYTES];
                let mut filled = 0;
                let mut failed = None;
                while filled < PIECE_BYTES {
                    match read.read(&mut piece[filled..]) {
                        Ok(0) => break,
                        Ok(got) => filled += got,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => {
                            failed = Some(error);
                            break;
                        }
                    }
                }
                piece.truncate(filled);
                let ended = filled < PIECE_BYTES;
                // Data before a failure is good. An empty buffer marks the end; without one, this
                // thread has panicked.
                let sent = filled == 0 || to_reader.send(Ok(piece)).is_ok();
                if sent && let Some(error) = failed {
                    let _ = to_reader.send(Err(error));
                } else if sent && ended {
                    let _ = to_reader.send(Ok(Vec::new()));
                } else if sent {
                    continue;
                }
                return;
            }
        });
        ReadAhead { pieces, piece: Vec::new(), position: 0, ended: false }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position == self.piece.len() {
            if self.ended {
                return Ok(0);
            }
            match self.pieces.recv() {
                Ok(Ok(piece)) => (self.piece, self.position) = (piece, 0),
                Ok(Err(error)) => return Err(error),
                Err(_) => return Err(io::Error::other("the decompression thread ended early")),
            }
            if self.piece.is_empty() {
                self.ended = true;
                return Ok(0);
            }
        }
        let rest = &self.piece[self.position..];
        let taken = rest.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&rest[..taken]);
        self.position += taken;
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fails;

    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }

    #[test]
    fn everything_comes_in_order_and_then_the_error() {
        let bytes: Vec<u8> = (0..1_000_000u32).flat_map(u32::to_le_bytes).collect();
        let source = io::Cursor::new(bytes.clone()).chain(Fails);
        let mut ahead = ReadAhead::new(Box::new(source));
        let mut got = Vec::new();
        let error = ahead.read_to_end(&mut got).unwrap_err();
        assert_eq!(error.to_string(), "gone");
        assert!(got == bytes);
    }
}
