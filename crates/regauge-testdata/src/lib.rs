//! What tests and benchmarks need: conformance suites and real files in `build/data`, where `make data`
//! puts them, programs of the machine, and random numbers.
//!
//! Declare a test that reads them with [`needs_data!`] instead of `#[test]`. Without the data, the
//! test runner counts it as ignored; with `CI=true` it fails instead.

#![forbid(unsafe_code)]

mod random;
mod ratio;
#[cfg(unix)]
pub mod unix;

use std::path::{Path, PathBuf};
use std::process::Command;

pub use random::Random;
pub use ratio::ratio;

/// Returns the data folder, which may not exist.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/data")
}

/// Returns the path of a file or folder in the data.
///
/// # Panics
/// If it does not exist, with a message that says how to get it.
#[track_caller]
pub fn path(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(path.exists(), "{} does not exist: run `make data` to get it", path.display());
    path
}

/// Returns whether a program works here with these arguments. If it does not, prints a note, and
/// the calling test has nothing to do.
///
/// # Panics
/// With `CI=true`, if the program does not work: nothing may be skipped there.
#[track_caller]
pub fn has(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    let works = output.is_ok_and(|output| output.status.success());
    if !works {
        let command = format!("{program} {}", arguments.join(" "));
        assert!(
            std::env::var_os("CI").is_none_or(|ci| ci != "true"),
            "{command} does not work here"
        );
        eprintln!("skipped: {command} does not work here");
    }
    works
}

/// Declares a function as a test that needs the data: `needs_data!(the_function);`.
///
/// The test is called `the_function::with_data`.
#[cfg(not(ignored))]
#[macro_export]
macro_rules! needs_data {
    ($name:ident) => {
        mod $name {
            #[test]
            fn with_data() {
                super::$name();
            }
        }
    };
}

/// Declares a function as a test that needs the data: `needs_data!(the_function);`.
///
/// The test is called `the_function::with_data`.
#[cfg(ignored)]
#[macro_export]
macro_rules! needs_data {
    ($name:ident) => {
        mod $name {
            #[test]
            #[ignore = "no data: `make data` gets it"]
            fn with_data() {
                super::$name();
            }
        }
    };
}
