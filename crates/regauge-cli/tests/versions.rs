//! What earlier versions stored is read, for ever: corpus/versions has a folder for each, made by
//! tools/keep_version.py.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::Folder;

/// The folders of the versions.
fn versions() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/versions");
    let found: Vec<_> = fs::read_dir(folder).unwrap().map(|one| one.unwrap().path()).collect();
    assert!(!found.is_empty());
    found
}

/// Copies a file or a folder into the test's folder, since opening a store may write to it.
fn copy(from: &Path, folder: &Folder, name: &str) {
    let to = folder.path(name);
    if !from.is_dir() {
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir(to).unwrap();
    for one in fs::read_dir(from).unwrap().map(|one| one.unwrap()) {
        let below = one.file_name().into_string().unwrap();
        copy(&one.path(), folder, &format!("{name}/{below}"));
    }
}

#[test]
fn every_value_of_a_store_is_read() {
    for version in versions() {
        let folder = Folder::new();
        copy(&version.join("store.db"), &folder, "store.db");
        let shown = fs::read_to_string(version.join("store.txt")).unwrap();
        let mut text = String::new();
        let mut collections = 0;
        for name in shown.lines().filter_map(|line| line.strip_prefix("# ")) {
            let place = format!("--db sqlite:store.db -c {name}");
            folder.run(&format!("store verify {place}")).status(0);
            let written = match name {
                "series" => folder.run(&format!("store scan {place} --series sensor")),
                _ => folder.run(&format!("store export {place}")),
            };
            text += &format!("# {name}\n{}", written.status(0).text());
            collections += 1;
        }
        assert!(collections > 10, "{collections} collections");
        assert!(text == shown, "{}: another text:\n{text}", version.display());
    }
}

#[test]
fn tenants_and_their_documents_are_there() {
    for version in versions() {
        let folder = Folder::new();
        copy(&version.join("gateway"), &folder, "gateway");
        let shown = fs::read_to_string(version.join("gateway.txt")).unwrap();
        let list = folder.run("store tenants --data gateway list").status(0).text();
        let export = folder.run("store tenants --data gateway export acme").status(0).text();
        assert_eq!(list + &export, shown, "{}", version.display());
        let tokens = folder.run("store tenants --data gateway token list acme").status(0).text();
        assert_eq!(tokens.lines().count(), 1, "{tokens}");
    }
}

#[test]
fn results_are_shown_and_compared_with() {
    for version in versions() {
        let folder = Folder::new();
        copy(&version.join("results.json"), &folder, "results.json");
        let text = folder.run("report results.json").status(0).text();
        assert!(text.contains("JSON, 1 document"), "{text}");
        folder.run("report results.json --out page").status(0);
        assert!(folder.path("page/report.html").exists());
    }
}
