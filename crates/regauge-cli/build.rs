//! What `regauge --version --verbose` tells of the build: its commit and its target.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=REGAUGE_COMMIT");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=REGAUGE_TARGET={target}");
    let commit =
        std::env::var("REGAUGE_COMMIT").ok().or_else(commit_of_crate).or_else(commit_of_clone);
    println!("cargo::rustc-env=REGAUGE_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}

/// Returns the commit that the crate was packed from, which cargo writes into a file of it.
fn commit_of_crate() -> Option<String> {
    let written = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, commit) = written.split_once("\"sha1\": \"")?;
    Some(commit.split_once('"')?.0.to_owned())
}

/// Returns the commit that is checked out. Only a clone of ours is asked: sources without one may be
/// unpacked inside another repository.
fn commit_of_clone() -> Option<String> {
    if !Path::new("../../.git").exists() {
        return None;
    }
    let git = Command::new("git").args(["rev-parse", "HEAD", "--git-path", "logs/HEAD"]).output();
    let said = String::from_utf8(git.ok().filter(|ran| ran.status.success())?.stdout).ok()?;
    let (commit, log) = said.trim_end().split_once('\n')?;
    // Git adds a line to this file with every commit and every checkout.
    println!("cargo::rerun-if-changed={log}");
    Some(commit.to_owned())
}
