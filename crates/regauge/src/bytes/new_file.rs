//! A file that gets its name when it is whole.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::output::FileOutput;

/// A file being written: what had its name stays until [`NewFile::commit`], and for good if that is not called.
///
/// It has a name of its own in the same folder meanwhile. What is no regular file, such as a pipe or a device, is
/// written as it is.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Its name meanwhile; `None` for what is written as it is, and after the end.
    temporary: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    /// Creates a file that will be at `path`. A link there keeps pointing to the file, whose permissions stay.
    ///
    /// # Errors
    /// Those of the system: the folder is missing, or the file there cannot be written.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        let existing = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut path = path.to_owned();
        if let Some(existing) = &existing {
            // Renaming would also replace a file that is protected from writing.
            let file = File::options().write(true).open(&path)?;
            if !existing.is_file() {
                return Ok(NewFile { file, temporary: None, path });
            }
            path = fs::canonicalize(&path)?;
        }
        let (file, temporary) = NewFile::beside(&path)?;
        let new = NewFile { file, temporary: Some(temporary), path };
        if let (Some(existing), Some(temporary)) = (existing, &new.temporary) {
            fs::set_permissions(temporary, existing.permissions())?;
        }
        Ok(new)
    }

    /// Creates a file next to `path`; returns its name, too.
    fn beside(path: &Path) -> io::Result<(File, PathBuf)> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Names are limited to 255 bytes.
        let name: String = name.chars().take(40).collect();
        let process = std::process::id();
        for attempt in 0..u32::MAX {
            let temporary = path.with_file_name(format!(".{name}.regauge-{process}-{attempt}"));
            match File::options().write(true).create_new(true).open(&temporary) {
                Ok(file) => return Ok((file, temporary)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "every temporary name is taken"))
    }

    /// Returns where a writer's bytes go.
    ///
    /// # Errors
    /// Those of the system.
    pub fn output(&self) -> io::Result<FileOutput> {
        FileOutput::new(self.file.try_clone()?)
    }

    /// Gives the file its name, now that it is whole. What has the name is replaced.
    ///
    /// # Errors
    /// Those of the system; what had the name is still there.
    pub fn commit(mut self) -> io::Result<()> {
        if let Some(temporary) = &self.temporary {
            if self.path.exists() {
                // The new bytes have to be on the disk before the old ones go.
                self.file.sync_data()?;
            }
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nobody waits for the outcome; the file is in nobody's way.
            let _ = fs::remove_file(temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Output as _;
    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<NewFile> {
        let new = NewFile::create(path)?;
        new.output()?.write(text.as_bytes())?;
        Ok(new)
    }

    #[test]
    fn what_is_there_stays_until_the_new_file_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        let count = || fs::read_dir(folder.path()).unwrap().count();
        drop(write(&path, "half").unwrap());
        assert_eq!(count(), 0);
        write(&path, "first").unwrap().commit().unwrap();
        let (second, third) = (write(&path, "second").unwrap(), write(&path, "third").unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        drop(second);
        assert_eq!(fs::read_to_string(&path).unwrap(), "first");
        third.commit().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(count(), 1);
        let error = write(&folder.path().join("missing/it"), "").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(write(folder.path(), "").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_a_device_is_written_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("it"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, "new").unwrap().commit().unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        write(Path::new("/dev/null"), "gone").unwrap().commit().unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn permissions_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        fs::write(&path, "old").unwrap();
        let before = fs::metadata(&path).unwrap().permissions();
        write(&path, "new").unwrap().commit().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions(), before);
    }
}
