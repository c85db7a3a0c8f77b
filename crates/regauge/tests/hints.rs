//! Hints in errors are data: no message of the library or a binding spells out a command-line flag.

use std::fs;
use std::path::Path;

use regauge::options::{Language, OPTIONS};

fn sources(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, each);
        } else if path.extension().is_some_and(|it| it == "rs") {
            each(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn no_message_spells_a_flag() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let flags: Vec<String> = OPTIONS
        .iter()
        .filter_map(|row| row.name(Language::Command))
        .map(|name| format!("--{name}"))
        .collect();
    let mut files = 0;
    for folder in ["crates/regauge/src", "bindings/python/src", "bindings/ruby/ext"] {
        sources(&root.join(folder), &mut |path, text| {
            files += 1;
            let shown = path.to_string_lossy();
            if shown.contains("tests")
                || shown.contains("/target/")
                || shown.ends_with("model/hint.rs")
                // The help of the command.
                || shown.ends_with("model/option.rs")
            {
                return;
            }
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            for (line, code) in (1..).zip(text.lines()) {
                if code.trim_start().starts_with("//") {
                    continue;
                }
                for flag in &flags {
                    let spelled = code.match_indices(flag.as_str()).any(|(at, _)| {
                        let next = code[at + flag.len()..].bytes().next();
                        !next.is_some_and(|b| b == b'-' || b.is_ascii_alphanumeric())
                    });
                    assert!(!spelled, "{shown}, line {line}: {flag}; say it with a hint::Hint");
                }
            }
        });
    }
    assert!(files > 200, "{files}");
}
