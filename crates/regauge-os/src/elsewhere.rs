//! What only Linux has, on other systems: nothing.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Child;

use crate::Bounds;

/// Creates a file without a name in a folder: `Unsupported`.
///
/// # Errors
/// Always.
pub fn unnamed_file(_folder: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives an unnamed file a name that does not exist: `Unsupported`.
///
/// # Errors
/// Always.
pub fn give_name(_file: &File, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the memory of a child: unknown.
#[cfg(not(windows))]
pub fn memory(_child: &Child) -> Option<crate::Memory> {
    None
}

/// Makes the most memory so far the memory of now: the peak since the start remains.
pub fn forget_peak(_child: &Child) -> bool {
    false
}

/// Sets the limits of the system on a running child: none.
pub fn bind(_child: &Child, _bounds: Bounds) {}

/// A set of cores that threads may run on: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cores(());

impl Cores {
    /// Returns those that the calling thread may use: the system does not pin threads.
    pub fn allowed() -> Option<Cores> {
        None
    }

    /// Returns a set of one of them.
    pub fn only(&self, _number: usize) -> Cores {
        *self
    }

    /// Returns their numbers.
    pub fn numbers(&self) -> Vec<usize> {
        Vec::new()
    }

    /// Lets the calling thread run on these only.
    pub fn pin_here(&self) -> bool {
        false
    }

    /// Lets a thread of any process run on these only.
    pub fn pin_thread(&self, _id: u32) -> bool {
        false
    }
}
