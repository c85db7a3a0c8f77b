//! What takes part: native codecs in this binary, and adapter files for other runtimes.
//!
//! An adapter names itself in comment lines at its top, `# key: value`, so that it can be listed
//! without running it (and without its interpreter). docs/measure.md lists the keys.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::assets;
use crate::error::Error;

/// Where a contender runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    /// In a child process of this binary.
    Native,
    /// In CPython.
    Python,
    /// In MRI Ruby.
    Ruby,
}

impl Runtime {
    /// The name for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Runtime::Native => "Rust",
            Runtime::Python => "Python",
            Runtime::Ruby => "Ruby",
        }
    }
}

/// The bytes that a contender reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// JSON: one document, or one a line.
    Json,
    /// MessagePack: one document, or one after the other.
    Msgpack,
    /// MARC 21 records (ISO 2709).
    Marc,
    /// One MARCXML collection.
    Marcxml,
    /// MARC-in-JSON, one record a line.
    MarcJson,
    /// Ruby's own format.
    Marshal,
}

impl Wire {
    const ALL: [(&'static str, Wire); 6] = [
        ("json", Wire::Json),
        ("msgpack", Wire::Msgpack),
        ("marc", Wire::Marc),
        ("marcxml", Wire::Marcxml),
        ("marc-json", Wire::MarcJson),
        ("marshal", Wire::Marshal),
    ];

    /// The name as adapters write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        Wire::ALL.iter().find(|(_, wire)| *wire == self).map_or("", |(name, _)| name)
    }
}

/// What a contender makes of the bytes. Only contenders that give the same are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Gives {
    /// The runtime's plain values: maps, lists, text, numbers.
    Data,
    /// Objects of a MARC library.
    Record,
}

/// Where the code of a contender is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// In this binary, known to the native runner by this name.
    Native(&'static str),
    /// An adapter that the binary carries, by its path below `lab/`.
    Carried(&'static str),
    /// An adapter of the user's own.
    File(PathBuf),
}

/// One library with one format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// Its name in tables, unique within a runtime.
    pub name: String,
    /// Where it runs.
    pub runtime: Runtime,
    /// The library, under the name by which it is installed.
    pub library: String,
    /// The bytes it reads and writes.
    pub wire: Wire,
    /// What it gives.
    pub gives: Gives,
    /// Whether it takes part for MARC catalogues only.
    pub marc_only: bool,
    /// Whether its runtime writes the reference bytes from the JSON, because regauge has no
    /// writer for the format yet.
    pub made_from_json: bool,
    /// How to get it, as a command or a remark.
    pub install: String,
    /// Gems that hold it, for the set-up.
    pub gems: Vec<String>,
    /// Debian packages that hold it, for the set-up.
    pub debian: Vec<String>,
    /// Why it must not be given bytes of strangers, or nothing where it may.
    pub unsafe_because: Option<String>,
    /// Where its code is.
    pub source: Source,
}

impl Contender {
    /// Reads the head of an adapter.
    ///
    /// # Errors
    /// `Adapter`, when a key is missing or has a value that is not known.
    pub fn from_adapter(path: &Path, text: &str, source: Source) -> Result<Contender, Error> {
        let fail = |reason: String| Error::Adapter { path: path.to_path_buf(), reason };
        let runtime = match path.extension().and_then(|suffix| suffix.to_str()) {
            Some("py") => Runtime::Python,
            Some("rb") => Runtime::Ruby,
            _ => return Err(fail("found another suffix, expected .py or .rb".into())),
        };
        let head = Head(text);
        let need = |key: &str| {
            head.get(key).ok_or_else(|| fail(format!("found no line \"# {key}: …\" at its top")))
        };
        let words = |key: &str| -> Vec<String> {
            head.get(key).unwrap_or("").split_whitespace().map(str::to_owned).collect()
        };
        let wire = need("format")?;
        let wire =
            Wire::ALL.iter().find(|(name, _)| *name == wire).map(|(_, wire)| *wire).ok_or_else(
                || {
                    let known: Vec<&str> = Wire::ALL.iter().map(|(name, _)| *name).collect();
                    fail(format!("found format \"{wire}\", expected one of {}", known.join(", ")))
                },
            )?;
        let gives = match need("gives")? {
            "data" => Gives::Data,
            "record" => Gives::Record,
            other => {
                return Err(fail(format!("found gives \"{other}\", expected data or record")));
            }
        };
        let untrusted = need("untrusted")?;
        Ok(Contender {
            name: need("contender")?.to_owned(),
            runtime,
            library: need("library")?.to_owned(),
            wire,
            gives,
            marc_only: head.get("only") == Some("marc"),
            made_from_json: head.get("made from") == Some("json"),
            install: need("install")?.to_owned(),
            gems: words("gem"),
            debian: words("debian"),
            unsafe_because: (untrusted != "safe").then(|| untrusted.to_owned()),
            source,
        })
    }

    /// Reads an adapter of the user's own.
    ///
    /// # Errors
    /// `Io`, and those of `from_adapter`.
    pub fn from_file(path: &Path) -> Result<Contender, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        // The interpreter may be started in another folder.
        let full = path.canonicalize().map_err(Error::io("find", path))?;
        Contender::from_adapter(path, &text, Source::File(full))
    }

    fn native(name: &'static str, wire: Wire, gives: Gives) -> Contender {
        Contender {
            name: name.to_owned(),
            runtime: Runtime::Native,
            library: name.split(' ').next().unwrap_or(name).to_owned(),
            wire,
            gives,
            marc_only: matches!(wire, Wire::Marc | Wire::Marcxml | Wire::MarcJson),
            made_from_json: false,
            install: "part of regauge".to_owned(),
            gems: Vec::new(),
            debian: Vec::new(),
            unsafe_because: None,
            source: Source::Native(name),
        }
    }
}

/// The comment lines at the top of an adapter.
struct Head<'t>(&'t str);

impl<'t> Head<'t> {
    fn get(&self, key: &str) -> Option<&'t str> {
        self.0.lines().map_while(|line| line.strip_prefix('#')).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim())
        })
    }
}

/// Every contender that the binary knows, native ones first, then in order of name.
#[must_use]
pub fn all() -> Vec<Contender> {
    let mut list: Vec<Contender> = crate::native::NAMES
        .iter()
        .map(|(name, wire, gives)| Contender::native(name, *wire, *gives))
        .collect();
    for (path, text) in assets::FILES {
        let suffix = Path::new(path).extension().and_then(|suffix| suffix.to_str());
        if path.starts_with("contenders/") && matches!(suffix, Some("py" | "rb")) {
            list.push(
                Contender::from_adapter(Path::new(path), text, Source::Carried(path))
                    .expect("a test reads every adapter that is carried"),
            );
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_carried_adapter_can_be_read_and_has_a_name_of_its_own() {
        let list = all();
        let mut names: Vec<_> = list.iter().map(|one| (one.runtime, one.name.clone())).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), list.len());
        let count = |runtime| list.iter().filter(|one| one.runtime == runtime).count();
        assert!(count(Runtime::Python) >= 13 && count(Runtime::Ruby) >= 12);
    }

    #[test]
    fn what_runs_code_says_so() {
        let unsafe_ones: Vec<String> = all()
            .into_iter()
            .filter(|one| one.unsafe_because.is_some())
            .map(|one| one.name)
            .collect();
        assert_eq!(unsafe_ones, ["marshal", "ruby-marc (marshal)"]);
    }

    #[test]
    fn an_adapter_that_says_too_little_is_refused() {
        let read = |text: &str| {
            Contender::from_adapter(Path::new("mine.py"), text, Source::Carried("mine.py"))
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            read("# contender: mine\n"),
            "contender mine.py: found no line \"# format: …\" at its top"
        );
        assert_eq!(
            read("# format: xml\n"),
            "contender mine.py: found format \"xml\", expected one of json, msgpack, marc, \
             marcxml, marc-json, marshal"
        );
        let message =
            Contender::from_adapter(Path::new("mine.js"), "", Source::Carried("")).unwrap_err();
        assert_eq!(
            message.to_string(),
            "contender mine.js: found another suffix, expected .py or .rb"
        );
    }

    #[test]
    fn every_pinned_requirement_has_an_adapter_and_the_other_way_round() {
        let text = assets::text("contenders/python/requirements.txt").unwrap();
        let mut pinned: Vec<&str> =
            text.lines().filter_map(|line| line.split_once("==")).map(|(name, _)| name).collect();
        let list = all();
        let mut used: Vec<&str> = list
            .iter()
            .filter(|one| one.runtime == Runtime::Python && one.install.starts_with("pip"))
            .map(|one| one.library.as_str())
            .collect();
        pinned.sort_unstable();
        used.sort_unstable();
        used.dedup();
        assert_eq!(pinned, used);
    }
}
