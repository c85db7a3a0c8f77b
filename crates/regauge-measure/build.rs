//! Puts the files of `lab/contenders`, `lab/runners` and `lab/suites` into the library, so that an installed
//! binary can measure without the repository. `lab` here is a link to the folder at the top:
//! cargo follows it when it packs the crate.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The native libraries that are contenders.
const MEASURED: &[&str] = &[
    "bson",
    "ciborium",
    "rmp-serde",
    "serde-pickle",
    "serde-saphyr",
    "serde_json",
    "simd-json",
    "sonic-rs",
];

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("lab");
    let mut files = Vec::new();
    for folder in ["contenders", "payloads", "runners", "safety", "stand-ins", "suites", "tasks"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let mut table = String::from("pub(crate) static FILES: &[(&str, &str)] = &[\n");
    for path in files {
        let name = path.strip_prefix(&root).expect("found below it").to_string_lossy();
        let name = name.replace('\\', "/");
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.to_string_lossy()).unwrap();
    }
    table.push_str("];\n\npub(crate) static VERSIONS: &[(&str, &str)] = &[\n");
    for (name, version) in locked_versions(&root) {
        writeln!(table, "    ({name:?}, {version:?}),").unwrap();
    }
    table.push_str("];\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("assets.rs"), table).expect("the build folder can be written");
}

/// Adds every file below `folder`, but no caches that an interpreter left there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder).expect("lab holds the contenders, the runners and the suites")
    {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "__pycache__") {
                collect(&path, files);
            }
        } else {
            println!("cargo::rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
}

/// Name and version of the native contenders, from the lock file of the workspace. There is none
/// above a crate that comes from a registry: reports then say that the version is not known. The lock file
/// inside such a crate says what it was packed with, not what is compiled here.
fn locked_versions(lab: &Path) -> Vec<(String, String)> {
    let above = lab.ancestors().skip(2);
    let Some(lock) = above.map(|up| up.join("Cargo.lock")).find(|lock| lock.exists()) else {
        return Vec::new();
    };
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(lock).unwrap_or_default();
    let value = |line: &str, key: &str| -> Option<String> {
        Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned())
    };
    let mut versions = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(name) = value(line, "name") else { continue };
        let Some(version) = lines.next().and_then(|line| value(line, "version")) else { continue };
        if MEASURED.contains(&name.as_str()) {
            versions.push((name, version));
        }
    }
    versions
}
