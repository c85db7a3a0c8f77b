//! Output of a command. A file appears whole or not at all: the bytes go to an unnamed file next to
//! it, which gets the name once everything has been written.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use regauge::output::{FileOutput, Output, StreamOutput};
use regauge_os::{Channel, NewFile};

use crate::failure::{Failure, Result, named, plain};
use regauge_packing::files::{Compression, Encoder};

/// An output that is open but not yet in place.
pub struct Destination {
    /// The name in messages.
    pub name: String,
    target: Target,
}

enum Target {
    /// Standard output, a device, a FIFO: what is written cannot be taken back.
    Direct(Channel),
    /// A file being written.
    Beside(NewFile),
}

impl Destination {
    /// Opens `path` (`-` is standard output). An existing regular file is replaced only with
    /// `force`, and stays in place until [`Destination::commit`].
    ///
    /// # Errors
    /// `Usage` if a file exists or cannot be created.
    pub fn open(path: &Path, force: bool) -> Result<Destination> {
        if path.as_os_str() == "-" {
            let name = "standard output".to_owned();
            let stdout = regauge_os::stdout()
                .map_err(|error| Failure::usage(format!("{name}: {}", plain(&error))))?;
            return Ok(Destination { name, target: Target::Direct(stdout) });
        }
        let name = path.display().to_string();
        let cannot = |error: io::Error| {
            Failure::usage(format!("{name}: cannot be written: {}", plain(&error)))
        };
        let direct = || -> Result<Target> {
            let file = File::options().write(true).open(path).map_err(cannot)?;
            Ok(Target::Direct(Channel::File(file)))
        };
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(_) if regauge_os::is_device(path) => {
                return Ok(Destination { target: direct()?, name });
            }
            Err(error) => return Err(cannot(error)),
        };
        // A link keeps pointing to the file; only the file's content changes.
        let path = match &existing {
            Some(metadata) if metadata.is_dir() => {
                return Err(Failure::usage(format!("{name}: is a directory, expected a file")));
            }
            Some(metadata) if !metadata.is_file() => {
                return Ok(Destination { target: direct()?, name });
            }
            Some(_) if !force => {
                return Err(Failure::usage(format!(
                    "{name}: already exists and was kept; pass --force to replace it"
                )));
            }
            Some(_) => dunce::canonicalize(path).map_err(cannot)?,
            None if path.is_symlink() => {
                return Err(Failure::usage(format!("{name}: is a link to a missing file")));
            }
            None => path.to_owned(),
        };
        let file = NewFile::beside(&path, existing.as_ref()).map_err(cannot)?;
        if let Some(temporary) = file.temporary() {
            crate::interrupt::remove_when_interrupted(temporary).map_err(cannot)?;
        }
        Ok(Destination { name, target: Target::Beside(file) })
    }

    fn channel(&self) -> io::Result<Channel> {
        match &self.target {
            Target::Direct(channel) => channel.try_clone(),
            Target::Beside(file) => file.file().try_clone().map(Channel::File),
        }
    }

    /// Returns whether written bytes can be patched later.
    fn can_patch(&self, file: &File) -> io::Result<bool> {
        match &self.target {
            Target::Direct(_) => regauge_os::can_patch(file),
            Target::Beside(_) => Ok(true),
        }
    }

    /// Returns an outlet for a writer: compressed, or patched in place if it is a regular file
    /// (which standard output may be), or sequential.
    ///
    /// # Errors
    /// Those of the system, and the compressor's about its level.
    pub fn outlet(
        &self,
        compression: Option<Compression>,
        level: Option<u32>,
        jobs: usize,
    ) -> io::Result<Outlet> {
        let way = match (compression, self.channel()?) {
            (Some(one), channel) => Way::streamed(one.encoder(channel, level, jobs)?),
            (None, Channel::File(file)) if self.can_patch(&file)? => {
                Way::Patched(FileOutput::new(file)?)
            }
            (None, channel) => Way::streamed(Encoder::plain(channel)),
        };
        Ok(Outlet { way, name: self.name.clone(), bytes: 0 })
    }

    /// Writes all of a small file.
    ///
    /// # Errors
    /// `Io` from the system.
    pub fn write_all(&self, bytes: &[u8]) -> Result {
        let written = self.channel().and_then(|mut channel| channel.write_all(bytes));
        written.map_err(|error| Failure::io(&self.name, &error))
    }

    /// Returns the output's size in bytes, if it is a regular file.
    pub fn size(&self) -> Option<u64> {
        match &self.target {
            Target::Direct(_) => None,
            Target::Beside(file) => Some(file.file().metadata().ok()?.len()),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// `Io` if that fails; what was there before still is.
    pub fn commit(self) -> Result {
        let Destination { name, target } = self;
        let Target::Beside(file) = target else { return Ok(()) };
        file.commit().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "{name}: was created meanwhile and was kept; pass --force to replace it"
            )),
            _ => Failure::io(name, &error),
        })
    }
}

/// Passes bytes from a writer of the library to a [`Destination`]. Counts the bytes before
/// compression, and names the file in errors.
pub struct Outlet {
    way: Way,
    name: String,
    /// Bytes written to it.
    pub bytes: u64,
}

enum Way {
    Patched(FileOutput),
    Streamed(Box<StreamOutput<Encoder<Channel>>>),
}

impl Way {
    fn streamed(encoder: Encoder<Channel>) -> Way {
        Way::Streamed(Box::new(StreamOutput::new(encoder)))
    }
}

impl Outlet {
    /// Writes the end of a compressed stream.
    pub fn finish(self) -> io::Result<()> {
        match self.way {
            Way::Patched(_) => Ok(()),
            Way::Streamed(stream) => {
                stream.into_inner().finish().map_err(|error| named("write", &self.name, &error))
            }
        }
    }

    fn with_way(&mut self, act: impl FnOnce(&mut dyn Output) -> io::Result<()>) -> io::Result<()> {
        let done = match &mut self.way {
            Way::Patched(output) => act(output),
            Way::Streamed(output) => act(output.as_mut()),
        };
        done.map_err(|error| named("write", &self.name, &error))
    }
}

impl Output for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.with_way(|output| output.write(bytes))
    }
    fn hold(&mut self) -> io::Result<()> {
        self.with_way(|output| output.hold())
    }
    fn patch(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.with_way(|output| output.patch(offset, bytes))
    }
    fn release(&mut self) -> io::Result<()> {
        self.with_way(|output| output.release())
    }
    fn can_truncate(&self) -> bool {
        matches!(&self.way, Way::Patched(output) if output.can_truncate())
    }
    fn truncate(&mut self, offset: u64) -> io::Result<()> {
        self.bytes = offset;
        self.with_way(|output| output.truncate(offset))
    }
}
