//! Finds and makes folders: where the set-up keeps its libraries, and where a run works.

use std::path::{Path, PathBuf};

use crate::model::error::Error;
use crate::model::runtime::Runtime;
use crate::plan::options::Options;

/// Returns where the set-up keeps what it installs: `regauge` in `XDG_DATA_HOME`, otherwise in
/// `~/.local/share` (on Windows in `%LOCALAPPDATA%`), or nothing without a home.
#[must_use]
pub fn data_dir() -> Option<PathBuf> {
    Some(of_user("XDG_DATA_HOME", ".local/share")?.join("regauge"))
}

/// Returns the folder that a variable names, otherwise that of the user: one in the home folder, or
/// what Windows has for all programs.
pub(crate) fn of_user(variable: &str, in_home: &str) -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let named = set(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| match cfg!(windows) {
        true => set("LOCALAPPDATA").map(PathBuf::from),
        false => set("HOME").map(|home| PathBuf::from(home).join(in_home)),
    })
}

/// Returns the folder of the set-up that a measurement uses, from the root on: contenders work in
/// folders of their own.
pub(crate) fn set_up(options: &Options) -> Option<PathBuf> {
    let folder = options.data_dir.clone().or_else(data_dir)?;
    // What cannot be made absolute is an empty path, where nothing was set up.
    std::path::absolute(&folder).ok()
}

/// The name of the file that records what its folder was made from.
pub(crate) const STAMP: &str = ".set-up";

/// Returns the file that says what a runtime was set up from.
pub(crate) fn stamp(data_dir: &Path, runtime: Runtime) -> PathBuf {
    data_dir.join(runtime.id()).join(STAMP)
}

/// Returns the name of a file without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Makes the folder of a run, which is removed with its value.
pub(crate) fn work_dir(options: &Options) -> Result<tempfile::TempDir, Error> {
    let parent = options.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    tempfile::Builder::new()
        .prefix("regauge-measure-")
        .tempdir_in(&parent)
        .map_err(Error::io("make a work folder in", &parent))
}

/// Makes a folder in another, unless it is there.
pub(crate) fn subfolder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    let folder = parent.join(name);
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    Ok(folder)
}
