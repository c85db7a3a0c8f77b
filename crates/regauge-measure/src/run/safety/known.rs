//! Results for the versions that the set-up installs, built into the binary: a first run spends no
//! time on them. `tools/known_safety.py` gathers them from reports of `--safety only`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::model::assets;
use crate::model::protocol::Hello;
use crate::model::report::Safety;
use crate::plan::contender::{Contender, Source};

/// The file below `lab/`.
const FILE: &str = "safety/known.json";

static KNOWN: LazyLock<BTreeMap<String, Safety>> = LazyLock::new(|| {
    assets::text(FILE).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
});

/// Returns the key of a result: the trials, the runtime and the contender, with the version of
/// each. Only the first two numbers of a runtime's version count, because patches do not change
/// what a library does.
pub(super) fn key(contender: &Contender, hello: &Hello) -> String {
    let numbers: Vec<&str> = hello.runtime.split('.').take(2).collect();
    let runtime = numbers.join(".");
    format!("{} {runtime}: {} {}", super::TRIALS, contender.name, hello.version)
}

/// Returns what is known about a built-in contender in this version.
pub(super) fn of(contender: &Contender, hello: &Hello) -> Option<Safety> {
    match contender.source {
        Source::File(_) => None,
        Source::Native(_) | Source::Carried(_) => KNOWN.get(&key(contender, hello)).cloned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_carried_can_be_read_and_is_of_these_trials() {
        let text = assets::text(FILE).expect("the file is carried");
        let known: BTreeMap<String, Safety> = serde_json::from_str(text).unwrap();
        assert!(!known.is_empty());
        for (key, safety) in known {
            assert!(key.starts_with(&format!("{} ", super::super::TRIALS)), "{key}");
            assert!(!safety.proof.is_empty(), "{key}");
        }
    }

    /// A usual library without a result would be recommended although nobody knows what hostile
    /// documents do to it.
    #[test]
    fn usual_libraries_of_rust_have_results() {
        let native = crate::plan::contender::all().into_iter();
        let native = native.filter(|one| matches!(one.source, Source::Native(_)) && one.is_usual);
        for one in native {
            let begins = format!("{} Rust: {} ", super::super::TRIALS, one.name);
            let is_known = KNOWN.keys().any(|key| key.starts_with(&begins));
            assert!(is_known, "{}: see tools/known_safety.py", one.name);
        }
    }

    #[test]
    fn a_patch_of_the_runtime_changes_nothing_and_another_library_does() {
        let contender = crate::plan::contender::all()
            .into_iter()
            .find(|one| one.name == "orjson")
            .expect("it is carried");
        let of = |runtime: &str, version: &str| {
            let hello =
                Hello { runtime: runtime.into(), version: version.into(), gc: String::new() };
            key(&contender, &hello)
        };
        assert_eq!(of("CPython 3.11.7", "3.1"), of("CPython 3.11.9", "3.1"));
        assert_ne!(of("CPython 3.11.7", "3.1"), of("CPython 3.12.1", "3.1"));
        assert_ne!(of("CPython 3.11.7", "3.1"), of("CPython 3.11.7", "3.2"));
    }
}
