//! yaml-test-suite, whole: the events of every valid case, the refusal of every invalid one.

use std::path::{Path, PathBuf};

use super::events;

/// The suite's folder, where the data is.
fn suite() -> Option<PathBuf> {
    let data = std::env::var_os("REGAUGE_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let folder = data.join("conformance/yaml-test-suite");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no {}", folder.display());
    None
}

fn cases(folder: &Path, cases_found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    if folder.join("in.yaml").is_file() {
        cases_found.push(folder.to_owned());
        return;
    }
    for entry in entries.iter().filter(|entry| entry.is_dir()) {
        cases(entry, cases_found);
    }
}

#[test]
fn every_case_of_the_suite() {
    let Some(folder) = suite() else { return };
    let mut all = Vec::new();
    cases(&folder, &mut all);
    assert_eq!(all.len(), 402);
    let (mut valid, mut invalid) = (0, 0);
    let mut wrong = Vec::new();
    for case in &all {
        let name = case.strip_prefix(&folder).unwrap().display().to_string();
        let input = std::fs::read(case.join("in.yaml")).unwrap();
        let found = events(&input);
        if case.join("error").exists() {
            match found {
                Err(error) => {
                    assert!(error.offset().is_some_and(|at| at <= input.len() as u64), "{name}");
                    invalid += 1;
                }
                Ok(_) => wrong.push(format!("{name}: read, but it is invalid")),
            }
            continue;
        }
        let expected = std::fs::read_to_string(case.join("test.event")).unwrap();
        match found {
            Ok(found) if found == expected => valid += 1,
            Ok(found) => wrong.push(format!("{name}:\n{expected}but found\n{found}")),
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    println!("yaml-test-suite: {valid} of 308 valid, {invalid} of 94 invalid");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
