//! A file that gets its name when it is whole.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file being written next to the place where it will be. What is there stays until [`NewFile::commit`], and
/// for good if that is not called.
#[derive(Debug)]
pub struct NewFile {
    held: Held,
    path: PathBuf,
    replaces: bool,
}

#[derive(Debug)]
enum Held {
    /// Unnamed: the system removes it, however this process ends.
    Unnamed(File),
    /// Named, and removed on drop, where there are no unnamed files.
    Named(NamedTempFile),
    /// A pipe or a device, which is written as it is.
    Direct(File),
}

impl NewFile {
    /// Creates a file that will be at `path`, in place of what is there. A link there keeps pointing to the file,
    /// whose permissions stay. A pipe or a device there is written as it is.
    ///
    /// # Errors
    /// Those of the system: the folder is missing, or what is there cannot be written.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        let existing = match fs::metadata(path) {
            Ok(metadata) => metadata,
            // A link to a missing file stays one.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
                return Ok(NewFile { replaces: true, ..NewFile::beside(path, None)? });
            }
            Err(error) => return Err(error),
        };
        // Renaming would also replace a file that is protected from writing.
        let file = File::options().write(true).open(path)?;
        if existing.is_file() {
            return NewFile::beside(&fs::canonicalize(path)?, Some(&existing));
        }
        Ok(NewFile { held: Held::Direct(file), path: path.to_owned(), replaces: false })
    }

    /// Creates a file that will be at `path`, which is no link, in place of the one with this metadata. Without
    /// them, what is created there meanwhile is kept.
    ///
    /// # Errors
    /// Those of the system.
    pub fn beside(path: &Path, replaced: Option<&Metadata>) -> io::Result<NewFile> {
        match crate::unnamed_file(folder(path)) {
            Ok(file) => NewFile::of(Held::Unnamed(file), path, replaced),
            Err(_) => NewFile::with_name(path, replaced),
        }
    }

    fn with_name(path: &Path, replaced: Option<&Metadata>) -> io::Result<NewFile> {
        // If the folder is missing, the error is the system's, not one about a temporary name.
        fs::metadata(folder(path))?;
        let file = crate::named_file(folder(path), &hidden(path))?;
        NewFile::of(Held::Named(file), path, replaced)
    }

    fn of(held: Held, path: &Path, replaced: Option<&Metadata>) -> io::Result<NewFile> {
        let new = NewFile { held, path: path.to_owned(), replaces: replaced.is_some() };
        if let Some(metadata) = replaced {
            crate::copy_permissions(metadata, new.file())?;
        }
        Ok(new)
    }

    /// Returns the name that the file has meanwhile, if it has one: to remove it if the process is interrupted.
    pub fn temporary(&self) -> Option<&Path> {
        match &self.held {
            Held::Named(file) => Some(file.path()),
            Held::Unnamed(_) | Held::Direct(_) => None,
        }
    }

    /// Returns the file, open for writing.
    pub fn file(&self) -> &File {
        match &self.held {
            Held::Unnamed(file) | Held::Direct(file) => file,
            Held::Named(file) => file.as_file(),
        }
    }

    /// Gives the file its name, now that it is whole.
    ///
    /// # Errors
    /// Those of the system, and `AlreadyExists` for what is not to be replaced; it is still there.
    pub fn commit(self) -> io::Result<()> {
        let path = &self.path;
        if self.replaces && path.exists() {
            // The new bytes have to reach the disk before the old ones go.
            self.file().sync_data()?;
        }
        match self.held {
            Held::Direct(_) => Ok(()),
            Held::Unnamed(file) if self.replaces => {
                // A link cannot replace a file, so it gets a temporary name.
                let beside = folder(path).join(format!("{}{}", hidden(path), std::process::id()));
                crate::give_name(&file, &beside)?;
                fs::rename(&beside, path).inspect_err(|_| drop(fs::remove_file(&beside)))
            }
            Held::Unnamed(file) => crate::give_name(&file, path),
            Held::Named(file) if self.replaces => crate::replace(file, path),
            Held::Named(file) => {
                file.persist_noclobber(path).map(drop).map_err(|error| error.error)
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let names = fs::read_dir(folder).unwrap().map(name);
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn write(new: io::Result<NewFile>, text: &str) -> NewFile {
        let new = new.unwrap();
        new.file().write_all(text.as_bytes()).unwrap();
        new
    }

    #[test]
    fn a_file_with_a_name_of_its_own_does_what_one_without_does() {
        for make in [NewFile::beside, NewFile::with_name] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("it");
            drop(make(&path, None).unwrap());
            assert_eq!(names(folder.path()), [""; 0], "what is dropped is gone");
            let (first, second) =
                (write(make(&path, None), "first"), write(make(&path, None), "second"));
            first.commit().unwrap();
            let error = second.commit().unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&path).unwrap(), "first");
            let metadata = fs::metadata(&path).unwrap();
            write(make(&path, Some(&metadata)), "third").commit().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "third");
            assert_eq!(names(folder.path()), ["it"]);
        }
    }

    #[test]
    fn what_is_there_stays_until_the_new_file_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        let create = |text: &str| write(NewFile::create(&path), text);
        drop(create("half"));
        assert_eq!(names(folder.path()), [""; 0]);
        create("first").commit().unwrap();
        let permissions = fs::metadata(&path).unwrap().permissions();
        drop(create("second"));
        let third = create("third");
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        third.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(fs::metadata(&path).unwrap().permissions(), permissions);
        assert_eq!(names(folder.path()), ["it"]);
        let error = NewFile::create(&folder.path().join("missing/it")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.raw_os_error().is_some(), "{error}");
        assert!(NewFile::create(folder.path()).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_written_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("it"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(NewFile::create(&link), "new").commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        let dangling = folder.path().join("dangling");
        std::os::unix::fs::symlink(folder.path().join("none"), &dangling).unwrap();
        assert_eq!(NewFile::create(&dangling).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(dangling.is_symlink());
        write(NewFile::create(Path::new("/dev/null")), "gone").commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
