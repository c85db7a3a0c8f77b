//! Standard input and output, as files where they are files.

use std::fs::File;
use std::io::{self, Read, Write};

use crate::{Kind, kind};

/// An open file, or the console of Windows. A console has text in UTF-16, which the standard
/// library converts from and to UTF-8; bytes that are written to it as to a file would be taken for
/// its code page.
#[derive(Debug)]
pub enum Channel {
    /// A file, a pipe, a device, a terminal.
    File(File),
    /// The console that standard input and output belong to.
    Console,
}

impl Channel {
    /// Returns what it is.
    ///
    /// # Errors
    /// Those of the system.
    pub fn kind(&self) -> io::Result<Kind> {
        match self {
            Channel::File(file) => kind(file),
            Channel::Console => Ok(Kind::Stream),
        }
    }

    /// Returns another handle of the same file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn try_clone(&self) -> io::Result<Channel> {
        match self {
            Channel::File(file) => file.try_clone().map(Channel::File),
            Channel::Console => Ok(Channel::Console),
        }
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Channel::File(file) => file.read(buffer),
            Channel::Console => io::stdin().read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Channel::File(file) => file.write(bytes),
            Channel::Console => {
                let mut stdout = io::stdout().lock();
                let written = stdout.write(bytes)?;
                stdout.flush()?;
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Channel::File(file) => file.flush(),
            Channel::Console => io::stdout().flush(),
        }
    }
}
