//! Where finished bytes go, and how a header that was written too early is corrected.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};

use crate::{Error, ErrorKind};

/// Accepts the bytes of a writer, in order.
///
/// A format that writes a length before a container (MessagePack) cannot know the length of one
/// that does not fit into memory. It then calls [`hold`](Output::hold), keeps writing, and
/// [`patch`](Output::patch)es the header when the container ends.
pub trait Output {
    /// Appends bytes.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Marks this place: anything from here on may be patched until [`release`](Output::release).
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn hold(&mut self) -> io::Result<()>;

    /// Replaces bytes at `offset`, counted from the first byte ever written. They must lie after
    /// the place of [`hold`](Output::hold).
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Declares that nothing written so far will be patched again.
    ///
    /// # Errors
    /// `Io` errors from the system.
    fn release(&mut self) -> io::Result<()>;

    /// Returns whether written bytes can be taken back with [`truncate`](Output::truncate).
    fn can_truncate(&self) -> bool {
        false
    }

    /// Drops everything from `offset` on, counted from the first byte ever written. Only called if
    /// [`can_truncate`](Output::can_truncate) says so.
    ///
    /// # Errors
    /// `Io` errors from the system, and `Unsupported` from an output that cannot.
    fn truncate(&mut self, offset: u64) -> io::Result<()> {
        let _ = offset;
        Err(io::ErrorKind::Unsupported.into())
    }
}

impl<O: Output + ?Sized> Output for &mut O {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).write(bytes)
    }
    fn hold(&mut self) -> io::Result<()> {
        (**self).hold()
    }
    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).patch(offset, bytes)
    }
    fn release(&mut self) -> io::Result<()> {
        (**self).release()
    }
    fn can_truncate(&self) -> bool {
        (**self).can_truncate()
    }
    fn truncate(&mut self, offset: u64) -> io::Result<()> {
        (**self).truncate(offset)
    }
}

/// A regular file, patched in place.
#[derive(Debug)]
pub struct FileOutput {
    file: File,
    start: u64,
    /// Nothing follows the place where it begins.
    is_at_end: bool,
}

impl FileOutput {
    /// Writes to `file` from its current position on. The file must be regular and not opened for
    /// appending.
    ///
    /// # Errors
    /// `Io` errors from querying the position and the length.
    pub fn new(mut file: File) -> io::Result<FileOutput> {
        let start = file.stream_position()?;
        let is_at_end = file.metadata()?.len() <= start;
        Ok(FileOutput { file, start, is_at_end })
    }
}

impl Output for FileOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn hold(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = self.file.stream_position()?;
        self.file.seek(SeekFrom::Start(self.start + offset))?;
        self.file.write_all(bytes)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn can_truncate(&self) -> bool {
        self.is_at_end
    }

    fn truncate(&mut self, offset: u64) -> io::Result<()> {
        let end = self.start + offset;
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end))?;
        Ok(())
    }
}

/// Anything that can only be appended to: a pipe, a compressor. Held bytes go to an unnamed
/// temporary file and are copied on when they are released.
pub struct StreamOutput<W> {
    inner: W,
    written: u64,
    spool: Option<(File, u64)>,
}

impl<W: Write> StreamOutput<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> StreamOutput<W> {
        StreamOutput { inner, written: 0, spool: None }
    }

    /// Returns the inner writer so that the caller can finish it. Bytes that are still held are
    /// lost.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Output for StreamOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.spool {
            Some((file, _)) => file.write_all(bytes),
            None => {
                self.written += bytes.len() as u64;
                self.inner.write_all(bytes)
            }
        }
    }

    fn hold(&mut self) -> io::Result<()> {
        if self.spool.is_none() {
            let file = tempfile::tempfile().map_err(|error| no_temporary_file(&error))?;
            self.spool = Some((file, self.written));
        }
        Ok(())
    }

    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (file, start) = self.spool.as_mut().expect("hold() comes before patch()");
        file.seek(SeekFrom::Start(offset - *start))?;
        file.write_all(bytes)?;
        file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn release(&mut self) -> io::Result<()> {
        if let Some((mut file, _)) = self.spool.take() {
            file.seek(SeekFrom::Start(0))?;
            self.written += io::copy(&mut file, &mut self.inner)?;
        }
        self.inner.flush()
    }
}

#[cold]
fn no_temporary_file(error: &io::Error) -> io::Error {
    let (folder, why) = (std::env::temp_dir(), error.to_string());
    let why = why.split(" (os error").next().unwrap_or_default();
    let message = format!("cannot create a temporary file in {}: {why}", folder.display());
    // The conversion from this error gives ours back.
    io::Error::other(
        Error::new(ErrorKind::Io, message)
            .hint("set the environment variable TMPDIR to a folder that can be written"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    fn script(output: &mut dyn Output) {
        output.write(b"before ").unwrap();
        output.hold().unwrap();
        output.write(b"00 middle ").unwrap();
        output.patch(7, b"42").unwrap();
        output.write(b"end").unwrap();
        output.release().unwrap();
        output.write(b" after").unwrap();
        output.release().unwrap();
    }

    #[test]
    fn a_stream_is_patched_as_a_file_is() {
        let mut sink = Vec::new();
        script(&mut StreamOutput::new(&mut sink));
        assert_eq!(sink.escape_ascii().to_string(), "before 42 middle end after");

        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"xx").unwrap();
        script(&mut FileOutput::new(file.try_clone().unwrap()).unwrap());
        file.seek(SeekFrom::Start(0)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "xxbefore 42 middle end after");
    }
}
