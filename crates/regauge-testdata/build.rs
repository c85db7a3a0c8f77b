//! Decides, before the tests are compiled, whether the data is there: a test without its data is
//! compiled as ignored, so that the runner counts it. With `CI` set, no test is ignored.
//!
//! Cargo cannot watch for a file that does not exist yet without running this script every time, so
//! `make data` updates the time of this file instead.

use std::env::var_os;
use std::path::Path;

fn main() {
    let complete = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/data/complete");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CI");
    println!("cargo::rustc-check-cfg=cfg(ignored)");
    if complete.exists() {
        println!("cargo::rerun-if-changed={}", complete.display());
    } else if var_os("CI").is_none_or(|ci| ci != "true") {
        println!("cargo::rustc-cfg=ignored");
    }
}
