//! The runtimes in which contenders run. A runtime is data: one runner file, whose head gives its
//! name, the suffix of its adapters, how its interpreter is started and how it is set up. The
//! engine knows none of them by name except the native one, which is this binary.
//!
//! docs/contenders.md lists the keys of the head.

mod head;
mod runner;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use head::Head;
pub(crate) use runner::{Places, RunnerFile, Started, carried, expand, is_there, with};

/// Returns whether a program can be found: at its path, or, if it is a bare name, in one of the
/// folders of `PATH`.
#[must_use]
pub fn has_program(program: &Path) -> bool {
    is_there(program.as_os_str()) && !program.is_dir()
}

/// Where a contender runs: the id of a runtime, such as `python`. Native comes first in order,
/// the others follow by id.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Runtime(&'static str);

impl Runtime {
    /// In a child process of this binary.
    pub const NATIVE: Runtime = Runtime("native");

    /// Returns the runtime with this id, whether or not it has a runner: an old report may name one
    /// that no longer exists.
    #[must_use]
    pub fn of(id: &str) -> Runtime {
        Runtime(kept(id))
    }

    /// Returns the id that adapters, options and `--json` use.
    #[must_use]
    pub fn id(self) -> &'static str {
        self.0
    }

    /// Returns the name for people, or the id if no runner has one.
    #[must_use]
    pub fn name(self) -> &'static str {
        if self == Runtime::NATIVE {
            return "Rust";
        }
        // Loads the names of the built-in runners first.
        carried();
        NAMES.lock().expect("no panic while locked").get(self.0).copied().unwrap_or(self.0)
    }

    /// Tells the name of a runtime.
    fn call(self, name: &str) {
        let name = kept(name);
        NAMES.lock().expect("no panic while locked").insert(self.0, name);
    }
}

/// The names of runtimes, by id.
static NAMES: Mutex<BTreeMap<&'static str, &'static str>> = Mutex::new(BTreeMap::new());

/// Leaks one copy of each text: ids and names are few and short, and rows, groups and tables pass
/// them around.
pub(crate) fn kept(text: &str) -> &'static str {
    static KEPT: Mutex<BTreeMap<&'static str, ()>> = Mutex::new(BTreeMap::new());
    let mut texts = KEPT.lock().expect("no panic while locked");
    if let Some((known, ())) = texts.get_key_value(text) {
        return known;
    }
    let text: &'static str = Box::leak(text.into());
    texts.insert(text, ());
    text
}

impl PartialOrd for Runtime {
    fn partial_cmp(&self, other: &Runtime) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Runtime {
    fn cmp(&self, other: &Runtime) -> Ordering {
        let key = |one: &Runtime| (*one != Runtime::NATIVE, one.0);
        key(self).cmp(&key(other))
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

impl Serialize for Runtime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for Runtime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Runtime, D::Error> {
        Ok(Runtime::of(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_its_id() {
        assert_eq!(serde_json::to_string(&Runtime::of("ruby")).unwrap(), r#""ruby""#);
        let read: Runtime = serde_json::from_str(r#""native""#).unwrap();
        assert_eq!(read, Runtime::NATIVE);
        assert_eq!(Runtime::NATIVE.name(), "Rust");
        assert_eq!(Runtime::of("python").name(), "Python");
        assert_eq!(Runtime::of("no-such-runtime").name(), "no-such-runtime");
    }

    #[test]
    fn native_comes_first() {
        let mut list = ["ruby", "native", "java"].map(Runtime::of);
        list.sort();
        assert_eq!(list, ["native", "java", "ruby"].map(Runtime::of));
    }
}
