//! What regauge needs of the operating system. The other crates are the same everywhere: what
//! differs has one name here, and an implementation for each system.
//!
//! | file | content |
//! |---|---|
//! | `unix.rs` | files, processes and signals on Linux, macOS and the like |
//! | `windows.rs` | the same names on Windows |
//! | `linux.rs` | what only Linux has: unnamed files, limits on another process, pinning to cores |
//! | `elsewhere.rs` | the same names on other systems, where they do nothing and say so |
//! | `new_file.rs` | a file that gets its name when it is whole |
//! | `channel.rs` | standard input and output, which on Windows may be a console |

#![forbid(unsafe_code)]

mod channel;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;
mod new_file;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use channel::Channel;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::*;
#[cfg(target_os = "linux")]
pub use linux::*;
pub use new_file::NewFile;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

/// What an open file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file of this many bytes.
    Regular(u64),
    /// A folder.
    Folder,
    /// A pipe, a terminal, a device: what is read is gone.
    Stream,
}

/// Why the process is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C. On Windows also Ctrl-Break, and a console or a session that is closed.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

/// The memory of a process in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// What is resident now.
    pub resident: u64,
    /// The most that was resident since the process was started, or since [`forget_peak`].
    pub peak: u64,
}

/// The limits that the system enforces on a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes that its address space may grow by, above what it has mapped now.
    pub growth: u64,
    /// Seconds of processor time.
    pub core_seconds: u64,
    /// Bytes that it may write to a file.
    pub file_bytes: u64,
}

#[cfg(test)]
mod tests;
