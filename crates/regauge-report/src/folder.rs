//! Writes the folder of a report: it appears whole or not at all.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why a report was not written.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The folder holds something, and `force` was not given.
    NotEmpty(PathBuf),
    /// The folder holds something that no report writes, so it is not replaced.
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// The first such thing in it.
        found: PathBuf,
    },
    /// The name exists but is not a folder.
    NotAFolder(PathBuf),
    /// Reading or writing failed.
    Io {
        /// What with.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A chart could not be drawn.
    Chart {
        /// Which one.
        id: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Error::NotEmpty(folder) => {
                write!(f, "{} is not empty; pass --force to replace a report", folder.display())
            }
            Error::Foreign { folder, found } => write!(
                f,
                "{} contains {}, which is not part of a report, so it is not replaced; name another \
                 folder",
                folder.display(),
                found.display()
            ),
            Error::NotAFolder(path) => {
                write!(f, "{} exists and is not a folder; name another one", path.display())
            }
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Chart { id, reason } => write!(f, "cannot draw the chart {id}: {reason}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

fn io_error(path: &Path) -> impl FnOnce(io::Error) -> Error + '_ {
    |source| Error::Io { path: path.to_path_buf(), source }
}

/// A folder that a report may go to.
#[derive(Debug)]
pub struct Destination {
    folder: PathBuf,
    force: bool,
}

impl Destination {
    /// Checks that the report may go there, before anything is measured. The folder need not exist;
    /// its parent must.
    ///
    /// # Errors
    /// `NotEmpty`, `Foreign` (with `force`, a folder that holds more than a report), `NotAFolder`,
    /// `Io`.
    pub fn open(folder: &Path, force: bool) -> Result<Destination, Error> {
        let destination = Destination { folder: folder.to_path_buf(), force };
        destination.may_replace()?;
        let parent = destination.parent();
        if !parent.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, "no such folder");
            return Err(Error::Io { path: parent.to_path_buf(), source });
        }
        // The report is written into a folder beside it first.
        destination.beside().map(|_| destination)
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn parent(&self) -> &Path {
        match self.folder.parent() {
            Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) => parent,
            None => &self.folder,
        }
    }

    /// Makes a temporary folder beside it.
    fn beside(&self) -> Result<tempfile::TempDir, Error> {
        let parent = self.parent();
        let mut builder = tempfile::Builder::new();
        builder.prefix(".regauge-report-").tempdir_in(parent).map_err(io_error(parent))
    }

    /// Checks that what is there may be replaced; returns whether there is a folder.
    fn may_replace(&self) -> Result<bool, Error> {
        let folder = &self.folder;
        match fs::symlink_metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(io_error(folder)(error)),
            Ok(found) if found.is_symlink() || !found.is_dir() => {
                return Err(Error::NotAFolder(folder.clone()));
            }
            Ok(_) => {}
        }
        let mut entries = fs::read_dir(folder).map_err(io_error(folder))?.peekable();
        if entries.peek().is_some() && !self.force {
            return Err(Error::NotEmpty(folder.clone()));
        }
        match foreign(folder).map_err(io_error(folder))? {
            Some(found) => Err(Error::Foreign { folder: folder.clone(), found }),
            None => Ok(true),
        }
    }

    /// Puts the files there, all at once: they are written into a folder beside, which then takes
    /// the name. `files` are paths inside the folder (of at most one folder) and their contents.
    ///
    /// # Errors
    /// As of [`Destination::open`], for the folder may have changed since, and `Io`.
    pub fn put(&self, files: &[(String, Vec<u8>)]) -> Result<(), Error> {
        let beside = self.beside()?;
        let fresh = beside.path().join("new");
        fs::create_dir(&fresh).map_err(io_error(&fresh))?;
        for (name, content) in files {
            let path = fresh.join(name);
            if let Some(inner) = path.parent() {
                fs::create_dir_all(inner).map_err(io_error(inner))?;
            }
            fs::write(&path, content).map_err(io_error(&path))?;
        }
        if self.may_replace()? {
            let old = beside.path().join("old");
            fs::rename(&self.folder, &old).map_err(io_error(&self.folder))?;
            if let Err(error) = fs::rename(&fresh, &self.folder) {
                // What was there comes back.
                let _ = fs::rename(&old, &self.folder);
                return Err(io_error(&self.folder)(error));
            }
        } else {
            fs::rename(&fresh, &self.folder).map_err(io_error(&self.folder))?;
        }
        Ok(())
    }
}

/// Returns the path of the first entry in a folder that no report writes.
fn foreign(folder: &Path) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let kind = entry.file_type()?;
        let suffixes: &[&str] = match name.to_str() {
            Some("report.html" | "results.json") if kind.is_file() => continue,
            Some("tables") if kind.is_dir() => &["csv"],
            Some("charts") if kind.is_dir() => &["svg", "png"],
            _ => return Ok(Some(name.into())),
        };
        for inner in fs::read_dir(entry.path())? {
            let inner = inner?;
            let path = PathBuf::from(inner.file_name());
            let suffix = path.extension().and_then(OsStr::to_str).unwrap_or("");
            if !inner.file_type()?.is_file() || !suffixes.contains(&suffix) {
                return Ok(Some(PathBuf::from(name).join(path)));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<(String, Vec<u8>)> {
        vec![("report.html".into(), b"new".to_vec()), ("tables/rows.csv".into(), b"a\n".to_vec())]
    }

    fn put(folder: &Path, force: bool) -> Result<(), Error> {
        Destination::open(folder, force)?.put(&files())
    }

    #[test]
    fn a_report_takes_the_place_of_nothing_of_an_empty_folder_and_of_a_report() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("out");
        put(&folder, false).unwrap();
        assert_eq!(fs::read(folder.join("tables/rows.csv")).unwrap(), b"a\n");

        let message = put(&folder, false).unwrap_err().to_string();
        assert!(message.ends_with("is not empty; pass --force to replace a report"), "{message}");

        fs::create_dir(folder.join("charts")).unwrap();
        fs::write(folder.join("charts/old.svg"), "old").unwrap();
        put(&folder, true).unwrap();
        assert!(!folder.join("charts").exists(), "what the old report had is gone");

        let empty = base.path().join("empty");
        fs::create_dir(&empty).unwrap();
        put(&empty, false).unwrap();
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 2, "nothing is left beside");
    }

    #[test]
    fn a_folder_with_anything_else_is_never_replaced() {
        let base = tempfile::tempdir().unwrap();
        for name in ["thesis.txt", "charts/holiday.jpg", "tables/more/x.csv", "report.html/x"] {
            let folder = base.path().join(name.replace('/', "-"));
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "mine").unwrap();
            let message = put(&folder, true).unwrap_err().to_string();
            assert!(message.contains("not part of a report"), "{message}");
            assert_eq!(fs::read(&path).unwrap(), b"mine");
        }
        let file = base.path().join("file");
        fs::write(&file, "mine").unwrap();
        assert!(matches!(put(&file, true), Err(Error::NotAFolder(_))));
        assert!(matches!(put(&base.path().join("no/such"), true), Err(Error::Io { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let base = tempfile::tempdir().unwrap();
        let (real, link) = (base.path().join("real"), base.path().join("link"));
        fs::create_dir(&real).unwrap();
        regauge_testdata::unix::symlink(&real, &link).unwrap();
        assert!(matches!(put(&link, true), Err(Error::NotAFolder(_))));
    }
}
