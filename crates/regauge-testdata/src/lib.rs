//! Where the conformance suites and real files are that tests and benchmarks use: in `build/data`,
//! where `make data` puts them.
//!
//! A test that reads them is declared with [`needs_data!`] instead of `#[test]`. Without the data
//! the test runner counts it as ignored; with `CI=true` it fails instead.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

/// Returns the folder of the data, which need not exist.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../build/data")
}

/// Returns the place of a file or folder of the data.
///
/// # Panics
/// If it is not there, with a message that says how to get it.
#[track_caller]
pub fn path(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(path.exists(), "{} does not exist: `make data` gets it", path.display());
    path
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
