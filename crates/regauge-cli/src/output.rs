//! Output of a command. A file appears whole or not at all: the bytes go to an unnamed file next to
//! it, which gets the name once everything has been written.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use regauge::output::{FileOutput, Output, StreamOutput};
use tempfile::NamedTempFile;

use crate::compress::{Compression, Encoder};
use crate::failure::{Failure, Result, named, plain};

/// An output that is open but not yet in place.
pub struct Destination {
    /// The name in messages.
    pub name: String,
    target: Target,
}

enum Target {
    /// Standard output, a device, a FIFO: what is written cannot be taken back.
    Direct(File),
    /// A file being written, its final path, and whether it replaces an existing one.
    Beside { file: Beside, path: PathBuf, replaces: bool },
}

enum Beside {
    /// Unnamed: the system removes it, however this process ends.
    #[cfg(target_os = "linux")]
    Unnamed(File),
    /// Named, and removed by a signal handler, for file systems without unnamed files.
    Named(NamedTempFile),
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
            let file = io::stdout().as_fd().try_clone_to_owned();
            let file =
                file.map_err(|error| Failure::usage(format!("{name}: {}", plain(&error))))?;
            return Ok(Destination { name, target: Target::Direct(File::from(file)) });
        }
        let name = path.display().to_string();
        let cannot = |error: io::Error| {
            Failure::usage(format!("{name}: cannot be written: {}", plain(&error)))
        };
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(cannot(error)),
        };
        // A link keeps pointing to the file; only the file's content changes.
        let path = match &existing {
            Some(metadata) if metadata.is_dir() => {
                return Err(Failure::usage(format!("{name}: is a directory, expected a file")));
            }
            Some(metadata) if !metadata.is_file() => {
                let file = File::options().write(true).open(path).map_err(cannot)?;
                return Ok(Destination { name, target: Target::Direct(file) });
            }
            Some(_) if !force => {
                return Err(Failure::usage(format!(
                    "{name}: already exists and was kept; pass --force to replace it"
                )));
            }
            Some(_) => fs::canonicalize(path).map_err(cannot)?,
            None if path.is_symlink() => {
                return Err(Failure::usage(format!("{name}: is a link to a missing file")));
            }
            None => path.to_owned(),
        };
        let file = Beside::new(&path).map_err(cannot)?;
        if let Some(metadata) = &existing {
            let mode = Permissions::from_mode(metadata.permissions().mode() & 0o7777);
            file.file().set_permissions(mode).map_err(cannot)?;
        }
        let target = Target::Beside { file, path, replaces: existing.is_some() };
        Ok(Destination { name, target })
    }

    fn file(&self) -> &File {
        match &self.target {
            Target::Direct(file) => file,
            Target::Beside { file, .. } => file.file(),
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
        let file = self.file().try_clone()?;
        let way = match compression {
            Some(one) => Way::streamed(one.encoder(file, level, jobs)?),
            None if is_patchable(&file)? => Way::Patched(FileOutput::new(file)?),
            None => Way::streamed(Encoder::Plain(file)),
        };
        Ok(Outlet { way, name: self.name.clone(), bytes: 0 })
    }

    /// Writes all of a small file.
    ///
    /// # Errors
    /// `Io` from the system.
    pub fn write_all(&self, bytes: &[u8]) -> Result {
        self.file().write_all(bytes).map_err(|error| Failure::io(&self.name, &error))
    }

    /// Returns the output's size in bytes, if it is a regular file.
    pub fn size(&self) -> Option<u64> {
        let metadata = self.file().metadata().ok()?;
        matches!(self.target, Target::Beside { .. }).then(|| metadata.len())
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// `Io` if that fails; what was there before still is.
    pub fn commit(self) -> Result {
        let Destination { name, target } = self;
        let Target::Beside { file, path, replaces } = target else { return Ok(()) };
        let put = || {
            // A good file is about to be replaced: the new one has to reach the disk first.
            if replaces {
                file.file().sync_data()?;
            }
            file.put(&path, replaces)
        };
        put().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "{name}: was created meanwhile and was kept; pass --force to replace it"
            )),
            _ => Failure::io(name, &error),
        })
    }
}

impl Beside {
    /// Creates a file in the folder of `path`, with the default permissions.
    fn new(path: &Path) -> io::Result<Beside> {
        #[cfg(target_os = "linux")]
        if let Ok(file) = unnamed(folder(path)) {
            return Ok(Beside::Unnamed(file));
        }
        Beside::with_name(path)
    }

    fn with_name(path: &Path) -> io::Result<Beside> {
        let file = tempfile::Builder::new()
            .prefix(&hidden(path))
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder(path))?;
        crate::interrupt::remove_when_interrupted(file.path())?;
        Ok(Beside::Named(file))
    }

    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Beside::Unnamed(file) => file,
            Beside::Named(file) => file.as_file(),
        }
    }

    fn put(self, path: &Path, replaces: bool) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Beside::Unnamed(file) if replaces => {
                // A link cannot replace a file, so it gets a temporary name.
                let beside = folder(path).join(format!("{}{}", hidden(path), std::process::id()));
                link(&file, &beside)?;
                fs::rename(&beside, path).inspect_err(|_| drop(fs::remove_file(&beside)))
            }
            #[cfg(target_os = "linux")]
            Beside::Unnamed(file) => link(&file, path),
            Beside::Named(file) => {
                let done = match replaces {
                    true => file.persist(path),
                    false => file.persist_noclobber(path),
                };
                done.map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// Returns the folder of a path, which is `.` for a bare name.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Returns the prefix of the name of a file being written.
fn hidden(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Names are limited to 255 bytes.
    let name: String = name.chars().take(40).collect();
    format!(".{name}.regauge-")
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    // Without /proc, the file could never get its name.
    if !Path::new("/proc/self/fd").is_dir() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666))?))
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd as _;
    let here = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(rustix::fs::linkat(CWD, here, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

/// Returns whether written bytes can be patched later: not in a pipe, and not in a file that is
/// opened for appending, as with `>>`.
fn is_patchable(file: &File) -> io::Result<bool> {
    let appends = rustix::fs::fcntl_getfl(file)?.contains(rustix::fs::OFlags::APPEND);
    Ok(file.metadata()?.is_file() && !appends)
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
    Streamed(Box<StreamOutput<Encoder<File>>>),
}

impl Way {
    fn streamed(encoder: Encoder<File>) -> Way {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let names = fs::read_dir(folder).unwrap().map(name);
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_with_a_name_of_its_own_does_what_one_without_does() {
        for make in [Beside::new, Beside::with_name] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("it");
            drop(make(&path).unwrap());
            assert_eq!(names(folder.path()), [""; 0], "what is dropped is gone");

            let write = |text: &str| {
                let file = make(&path).unwrap();
                file.file().write_all(text.as_bytes()).unwrap();
                file
            };
            let (first, second, third) = (write("first"), write("second"), write("third"));
            first.put(&path, false).unwrap();
            let error = second.put(&path, false).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&path).unwrap(), "first");
            third.put(&path, true).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "third");
            assert_eq!(names(folder.path()), ["it"]);
        }
    }
}
