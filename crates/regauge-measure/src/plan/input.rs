//! The input: a file, or a folder of files, in any of the formats.

use std::cmp::Ordering;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use regauge::Format;
use regauge::hint::Surface;

use crate::model::error::Error;

/// A file of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// The file itself, or a decompressed copy.
    pub path: PathBuf,
    /// As reports and messages name it.
    pub name: String,
    /// What it holds.
    pub format: Format,
}

/// The files of the input, in their order.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub list: Vec<InputFile>,
    /// What a reader of the figures must know of the choice.
    pub notes: Vec<String>,
}

impl Files {
    /// Finds the files of the input: itself, or those in it.
    ///
    /// # Errors
    /// `Io`, and `Input` where no format can be told, or a folder holds nothing to measure on.
    pub(crate) fn find(input: &Path, from: Option<Format>) -> Result<Files, Error> {
        if !input.is_dir() {
            let format = match from {
                Some(format) => format,
                None => detect(input)?.ok_or_else(|| {
                    Error::Input(format!(
                        "{}: neither its name nor its first bytes identify the format; pass \
                         --from FORMAT",
                        input.display()
                    ))
                })?,
            };
            let (path, name) = (input.to_path_buf(), input.display().to_string());
            return Ok(Files { list: vec![InputFile { path, name, format }], notes: Vec::new() });
        }
        let mut list = Vec::new();
        let mut unknown = Vec::new();
        for path in files_in(input)? {
            let name = name_in(input, &path);
            match from.map_or_else(|| detect(&path), |format| Ok(Some(format)))? {
                Some(format) => list.push(InputFile { path, name, format }),
                None => unknown.push(name),
            }
        }
        if list.is_empty() {
            return Err(Error::Input(format!(
                "{}: no file's name or first bytes identify a format; pass --from FORMAT",
                input.display()
            )));
        }
        Ok(Files { list, notes: note_of_unknown(&unknown) })
    }

    /// Returns the format, or all of them: `json`, `json, yaml`.
    pub(crate) fn format_name(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for file in &self.list {
            if !names.contains(&file.format.name()) {
                names.push(file.format.name());
            }
        }
        names.join(", ")
    }

    /// Returns the total size of all files, uncompressed.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        let size =
            |path: &Path| Ok(std::fs::metadata(path).map_err(Error::io("read", path))?.len());
        self.list.iter().map(|file| size(&file.path)).sum()
    }

    /// Returns whether all of it is MARC.
    pub(crate) fn are_marc(&self) -> bool {
        self.list.iter().all(|file| file.format.is_marc())
    }
}

/// Returns the note about skipped files.
pub fn note_of_unknown(names: &[String]) -> Vec<String> {
    let first = match names {
        [] => return Vec::new(),
        [one] => {
            return vec![format!(
                "The file {one} in the folder was skipped because neither its name nor its first \
                 bytes identify a format."
            )];
        }
        [first, ..] => first,
    };
    vec![format!(
        "{} files in the folder were skipped because neither their names nor their first bytes \
         identify a format; the first is {first}.",
        names.len()
    )]
}

/// Returns all files below a folder except hidden ones, in natural order: `b2` before `b10`.
///
/// # Errors
/// `Io`.
pub fn files_in(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut list = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(Error::io("read", &folder))?;
        for entry in entries {
            let entry = entry.map_err(Error::io("read", &folder))?;
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            let kind = entry.file_type().map_err(Error::io("read", &entry.path()))?;
            // A link to a folder could lead round in a circle; one to a file is that file.
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry.path().is_file() {
                list.push(entry.path());
            }
        }
    }
    list.sort_by(|one, other| natural(&one.to_string_lossy(), &other.to_string_lossy()));
    Ok(list)
}

/// Returns a file's name below the folder.
pub fn name_in(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// Compares names as people do: runs of digits by their value.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one, other);
    loop {
        let (Some(a), Some(b)) = (left.chars().next(), right.chars().next()) else {
            return left.len().cmp(&right.len()).then_with(|| one.cmp(other));
        };
        if a.is_ascii_digit() && b.is_ascii_digit() {
            let digits =
                |text: &str| text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
            let (number_a, rest_a) = left.split_at(digits(left));
            let (number_b, rest_b) = right.split_at(digits(right));
            let (a, b) = (number_a.trim_start_matches('0'), number_b.trim_start_matches('0'));
            let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (rest_a, rest_b);
        } else if a == b {
            (left, right) = (&left[a.len_utf8()..], &right[b.len_utf8()..]);
        } else {
            return a.cmp(&b);
        }
    }
}

/// Identifies the format of a file by its name and first bytes, which must agree.
fn detect(path: &Path) -> Result<Option<Format>, Error> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(4096).read_to_end(&mut head))
        .map_err(Error::io("read", path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let format = regauge::detect::detect(&name, &head).map_err(|error| {
        Error::Input(format!("{}: {}", path.display(), error.display(&Surface::COMMAND)))
    })?;
    Ok(match format {
        // A catalogue in JSON has the same suffix.
        Some(Format::Json | Format::Ndjson)
            if Format::from_magic(&head) == Some(Format::MarcJson) =>
        {
            Some(Format::MarcJson)
        }
        format => format,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_natural_order() {
        let mut names = ["b10", "b2", "a", "b2a", "b02", "b", "c/1", "c/x"];
        names.sort_by(|one, other| natural(one, other));
        assert_eq!(names, ["a", "b", "b02", "b2", "b2a", "b10", "c/1", "c/x"]);
    }
}
