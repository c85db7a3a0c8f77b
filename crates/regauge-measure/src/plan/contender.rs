//! Describes what takes part: native codecs in this binary, and adapter files for other runtimes.
//!
//! An adapter describes itself in comment lines at the top, `# key: value`, so that it can be
//! listed without running it or its interpreter. docs/contenders.md lists the keys.

use std::path::{Path, PathBuf};

use regauge::yaml::Schema;

use crate::model::assets;
use crate::model::error::Error;
use crate::model::runtime::{self, Head, RunnerFile, Runtime, kept};
use crate::model::wire::{Gives, Wire};
use crate::plan::native::{self, Native};

/// The location of a contender's code.
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
    /// Whether it takes part only for MARC catalogues.
    pub marc_only: bool,
    /// Whether it takes and returns text instead of bytes: it is no candidate for what is stored or
    /// sent.
    pub is_text: bool,
    /// Whether its runtime writes the reference bytes from the JSON, because regauge has no
    /// writer for the format yet.
    pub made_from_json: bool,
    /// How to get it, as a command or a remark.
    pub install: String,
    /// The library for which it has classes of its own, if that is not installed.
    pub(crate) stand_in: Option<String>,
    /// Gems that hold it, for the set-up.
    pub gems: Vec<String>,
    /// Debian packages that hold it, for the set-up.
    pub debian: Vec<String>,
    /// A file without which it need not be tried, as a template: a jar of the set-up.
    pub(crate) needs: Option<String>,
    /// Why it must not decode untrusted bytes, or nothing if it may.
    pub unsafe_because: Option<String>,
    /// The schema by which the YAML that it writes is to be read.
    pub yaml_schema: Schema,
    /// Bytes that it reads and writes again in a second, roughly: what would take too long is left
    /// out, unless it is asked for by name.
    pub pace: Option<u64>,
    /// Bytes that name code to it: if the reference contains them, it takes no part.
    pub avoids: Option<String>,
    /// The limits that its documentation states, in addition to those found by trying.
    pub limits: Option<String>,
    /// Whether it is one of the usual libraries of its runtime and format: what comes with the
    /// runtime, what most people use, and the fastest known. A verdict needs all of them.
    pub is_usual: bool,
    /// The location of its code.
    pub source: Source,
    /// Why it cannot be run here, when that is known before it is tried.
    pub(crate) hindrance: Option<Hindrance>,
}

/// Why a contender is not even started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hindrance {
    /// Its runtime has no such library, or its interpreter or library is not there.
    Missing(String),
    /// Its adapter cannot be compiled.
    Broken(String),
}

impl Contender {
    /// Reads the head of an adapter: one contender for each runtime that it serves. It serves
    /// those that its line `runtimes` names; else that of its folder, for a carried one, or that
    /// of its suffix. A runtime that a line `not on ID` names is among them, with the reason.
    ///
    /// # Errors
    /// `Adapter`, when a key is missing or has a value that is not known.
    pub(crate) fn from_adapter(
        path: &Path,
        text: &str,
        source: &Source,
        runners: &[RunnerFile],
    ) -> Result<Vec<Contender>, Error> {
        let fail = |reason: String| Error::Adapter { path: path.to_path_buf(), reason };
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or("");
        let Some(by_suffix) = runners.iter().find(|one| one.has_suffix(suffix)) else {
            let known: Vec<String> =
                runners.iter().flat_map(|one| &one.suffixes).map(|one| format!(".{one}")).collect();
            return Err(fail(format!(
                "found another suffix, expected one of {}",
                known.join(", ")
            )));
        };
        let head = Head::of(text);
        let need = |key: &str| {
            head.get(key).ok_or_else(|| fail(format!("found no line \"# {key}: …\" at its top")))
        };
        let made_from_json = head.get("made from") == Some("json");
        let wire = need("format")?;
        let wire = match Wire::ALL.iter().find(|(name, _)| *name == wire) {
            Some((_, wire)) => *wire,
            None if made_from_json && !wire.is_empty() => Wire::Own(kept(wire)),
            None => {
                let known: Vec<&str> = Wire::ALL.iter().map(|(name, _)| *name).collect();
                return Err(fail(format!(
                    "found format \"{wire}\", expected one of {}, or another with \"made from: \
                     json\"",
                    known.join(", ")
                )));
            }
        };
        let gives = match need("gives")? {
            "data" => Gives::Data,
            "tree" => Gives::Tree,
            "record" => Gives::Record,
            other => {
                return Err(fail(format!(
                    "found gives \"{other}\", expected data, tree or record"
                )));
            }
        };
        let untrusted = need("untrusted")?;
        let of_folder = match source {
            Source::Carried(path) => path.split('/').nth(1).map(Runtime::of),
            _ => None,
        };
        let runtimes: Vec<Runtime> = match head.get("runtimes") {
            Some(list) => list.split_whitespace().map(Runtime::of).collect(),
            None => vec![of_folder.unwrap_or(by_suffix.runtime)],
        };
        if let Some(unknown) =
            runtimes.iter().find(|one| runners.iter().all(|two| two.runtime != **one))
        {
            let known: Vec<&str> = runners.iter().map(|one| one.runtime.id()).collect();
            return Err(fail(format!(
                "found the runtime \"{}\", expected one of {}",
                unknown.id(),
                known.join(", ")
            )));
        }
        let usual = match head.get("usual") {
            None => false,
            Some("yes") => true,
            Some(other) => return Err(fail(format!("found usual \"{other}\", expected yes"))),
        };
        let is_text = match head.get("works on") {
            None => false,
            Some("text") => true,
            Some(other) => return Err(fail(format!("found works on \"{other}\", expected text"))),
        };
        let pace = match head.get("pace") {
            None => None,
            Some(text) => Some(
                text.strip_suffix(" kB/s").and_then(|n| n.parse::<u64>().ok()).ok_or_else(
                    || {
                        fail(format!(
                            "found pace \"{text}\", expected kilobytes a second as \"60 kB/s\""
                        ))
                    },
                )? * 1000,
            ),
        };
        let yaml_schema = head.get("yaml").unwrap_or("core");
        let yaml_schema = Schema::from_name(yaml_schema).ok_or_else(|| {
            let known = Schema::NAMES.join(", ");
            fail(format!("found yaml \"{yaml_schema}\", expected one of {known}"))
        })?;
        let contender = Contender {
            name: need("contender")?.to_owned(),
            runtime: by_suffix.runtime,
            library: need("library")?.to_owned(),
            wire,
            gives,
            marc_only: head.get("only") == Some("marc"),
            is_text,
            made_from_json,
            install: need("install")?.to_owned(),
            stand_in: head.get("stand-in").map(str::to_owned),
            gems: head.words("gem"),
            debian: head.words("debian"),
            needs: head.get("needs").map(str::to_owned),
            limits: head.get("limits").map(str::to_owned),
            unsafe_because: (untrusted != "safe").then(|| untrusted.to_owned()),
            is_usual: usual,
            yaml_schema,
            pace,
            avoids: head.get("avoids").map(str::to_owned),
            source: source.clone(),
            hindrance: None,
        };
        Ok(contender.on(&runtimes, runners, &head))
    }

    /// Returns one for each of these runtimes, and for each that a line of the head says something of.
    fn on(self, runtimes: &[Runtime], runners: &[RunnerFile], head: &Head<'_>) -> Vec<Contender> {
        let mut list: Vec<Contender> = runtimes
            .iter()
            .map(|&runtime| {
                let mut one = Contender { runtime, ..self.clone() };
                // Debian's packages are for the interpreter that the suffix belongs to.
                if runtime != self.runtime {
                    one.debian.clear();
                }
                one
            })
            .collect();
        for runner in runners {
            if let Some(why) = head.get(&format!("not on {}", runner.runtime.id())) {
                let reason = format!("not available on {}", runner.runtime.name());
                list.retain(|one| one.runtime != runner.runtime);
                list.push(Contender {
                    runtime: runner.runtime,
                    install: why.to_owned(),
                    is_usual: false,
                    hindrance: Some(Hindrance::Missing(reason)),
                    ..self.clone()
                });
            } else if let Some(how) = head.get(&format!("install on {}", runner.runtime.id())) {
                list.iter_mut()
                    .filter(|one| one.runtime == runner.runtime)
                    .for_each(|one| how.clone_into(&mut one.install));
            }
        }
        list
    }

    /// Reads an adapter of the user's own.
    ///
    /// # Errors
    /// `Io`, and those of `from_adapter`.
    pub(crate) fn from_file(path: &Path, runners: &[RunnerFile]) -> Result<Vec<Contender>, Error> {
        let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
        // The interpreter may be started in another folder.
        let full = dunce::canonicalize(path).map_err(Error::io("find", path))?;
        Contender::from_adapter(path, &text, &Source::File(full), runners)
    }

    fn native(one: &Native) -> Contender {
        let Native { name, wire, gives, usual } = *one;
        Contender {
            name: name.to_owned(),
            runtime: Runtime::NATIVE,
            library: name.split(' ').next().unwrap_or(name).to_owned(),
            wire,
            gives,
            marc_only: matches!(wire, Wire::Marc | Wire::Marcxml | Wire::MarcJson),
            is_text: false,
            made_from_json: false,
            install: "part of regauge".to_owned(),
            stand_in: None,
            gems: Vec::new(),
            debian: Vec::new(),
            needs: None,
            unsafe_because: None,
            yaml_schema: Schema::Core,
            pace: None,
            avoids: None,
            limits: None,
            is_usual: usual,
            source: Source::Native(name),
            hindrance: None,
        }
    }
}

/// Returns every contender that the binary knows, native ones first, then in order of their files.
#[must_use]
pub fn all() -> Vec<Contender> {
    with(runtime::carried())
}

/// Returns every contender that the binary knows and one of these runners can run.
pub(crate) fn with(runners: &[RunnerFile]) -> Vec<Contender> {
    let mut list: Vec<Contender> = native::LIST.iter().map(Contender::native).collect();
    for (path, text) in assets::FILES {
        let suffix = Path::new(path).extension().and_then(|suffix| suffix.to_str()).unwrap_or("");
        if path.starts_with("contenders/") && runners.iter().any(|one| one.has_suffix(suffix)) {
            list.extend(
                Contender::from_adapter(Path::new(path), text, &Source::Carried(path), runners)
                    .expect("a test reads every adapter that is carried"),
            );
        }
    }
    list
}

/// Returns the contenders whose library comes with its runtime.
pub(crate) fn bundled(list: &[Contender]) -> Vec<(Runtime, String)> {
    list.iter()
        .filter(|one| one.install.starts_with("comes with"))
        .map(|one| (one.runtime, one.name.clone()))
        .collect()
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
        assert!(count(Runtime::of("python")) >= 13 && count(Runtime::of("ruby")) >= 12);
    }

    #[test]
    fn every_runtime_has_usual_libraries_for_its_formats() {
        let list = all();
        let usual = |runtime: &str, wire: Wire| -> Vec<&str> {
            list.iter()
                .filter(|one| one.runtime.id() == runtime && one.wire == wire && one.is_usual)
                .map(|one| one.name.as_str())
                .collect()
        };
        for wire in [Wire::Json, Wire::Msgpack, Wire::Yaml, Wire::Bson, Wire::Cbor] {
            for runtime in ["native", "python", "ruby", "node"] {
                assert!(!usual(runtime, wire).is_empty(), "{runtime}, {}", wire.name());
            }
        }
        // What comes with the runtime is usual, and what needs somebody to walk its tree is not.
        assert!(usual("python", Wire::Json).contains(&"json"));
        assert!(usual("ruby", Wire::Marshal).contains(&"marshal"));
        assert_eq!(usual("jruby", Wire::Json), ["jrjackson", "json"]);
        assert!(list.iter().all(|one| !(one.is_usual && one.gives == Gives::Tree)));
    }

    #[test]
    fn a_line_usual_says_yes_or_is_refused() {
        let head = "# contender: a\n# library: a\n# format: json\n# gives: data\n# install: b\n\
                    # untrusted: safe\n";
        let read = |line: &str| {
            let text = format!("{head}{line}\n");
            let path = Path::new("a.py");
            Contender::from_adapter(path, &text, &Source::File("a.py".into()), runtime::carried())
        };
        assert!(!read("").unwrap()[0].is_usual);
        assert!(read("# usual: yes").unwrap()[0].is_usual);
        let error = read("# usual: often").unwrap_err().to_string();
        assert!(error.ends_with("found usual \"often\", expected yes"), "{error}");
    }

    #[test]
    fn what_runs_code_says_so() {
        let list = all();
        let is_unsafe = |name: &str, runtime: &str| {
            let mut found =
                list.iter().filter(|one| one.name == name && one.runtime.id() == runtime);
            found.next().unwrap_or_else(|| panic!("no {name}")).unsafe_because.is_some()
        };
        for (name, runtime) in [
            ("marshal", "ruby"),
            ("marshal", "jruby"),
            ("ruby-marc (marshal)", "ruby"),
            ("java serialization", "java"),
            ("v8.serialize", "node"),
            ("pickle", "python"),
        ] {
            assert!(is_unsafe(name, runtime), "{name}");
        }
        assert!(!is_unsafe("json", "ruby") && !is_unsafe("json", "node"));
    }

    #[test]
    fn adapters_are_shared_by_runtimes_that_they_name() {
        let list = all();
        let of = |runtime: &str, name: &str| -> &Contender {
            list.iter()
                .find(|one| one.runtime.id() == runtime && one.name == name)
                .unwrap_or_else(|| panic!("no {name} in {runtime}"))
        };
        assert_eq!(of("ruby", "json").source, of("jruby", "json").source);
        assert!(of("ruby", "msgpack").debian.contains(&"ruby-msgpack".to_owned()));
        assert!(of("jruby", "msgpack").debian.is_empty(), "they are for another interpreter");
        assert!(of("ruby", "oj").hindrance.is_none());
        let oj = of("jruby", "oj");
        assert_eq!(oj.hindrance, Some(Hindrance::Missing("not available on JRuby".into())));
        assert_eq!(oj.install, "a C extension");
        let source = Source::File("mine.rb".into());
        let text = "# contender: mine\n# library: mine\n# format: json\n# gives: data\n# install: no\n\
                    # untrusted: safe\n";
        let read = |text: &str| {
            Contender::from_adapter(Path::new("mine.rb"), text, &source, runtime::carried())
        };
        let ids = |text: &str| -> Vec<&str> {
            read(text).unwrap().iter().map(|one| one.runtime.id()).collect()
        };
        assert_eq!(ids(text), ["ruby"]);
        assert_eq!(ids(&format!("{text}# runtimes: jruby ruby\n")), ["jruby", "ruby"]);
        let message = read(&format!("{text}# runtimes: truffle\n")).unwrap_err().to_string();
        assert!(
            message
                .starts_with("contender mine.rb: found the runtime \"truffle\", expected one of "),
            "{message}"
        );
    }

    #[test]
    fn a_format_of_its_own_is_made_from_json() {
        let text = "# contender: mine\n# library: mine\n# format: mine\n# gives: data\n# install: no\n\
                    # untrusted: safe\n# made from: json\n";
        let source = Source::File("mine.py".into());
        let read = Contender::from_adapter(Path::new("mine.py"), text, &source, runtime::carried());
        let mine = &read.unwrap()[0];
        assert_eq!((mine.wire, mine.wire.name()), (Wire::Own("mine"), "mine"));
    }

    #[test]
    fn an_adapter_that_says_too_little_is_refused() {
        let read = |text: &str| {
            let source = Source::File("mine.py".into());
            Contender::from_adapter(Path::new("mine.py"), text, &source, runtime::carried())
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
             marcxml, marc-json, marshal, yaml, bson, cbor, pickle, pickle-0, pickle-2, \
             pickle-5, or another with \"made from: json\""
        );
        let other = Path::new("mine.xyz");
        let source = Source::File(other.into());
        let message = Contender::from_adapter(other, "", &source, runtime::carried()).unwrap_err();
        let message = message.to_string();
        assert!(
            message.starts_with("contender mine.xyz: found another suffix, expected one of ."),
            "{message}"
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
            .filter(|one| one.runtime == Runtime::of("python") && one.install.starts_with("pip"))
            .map(|one| one.library.as_str())
            .collect();
        pinned.sort_unstable();
        used.sort_unstable();
        used.dedup();
        assert_eq!(pinned, used);
    }
}
