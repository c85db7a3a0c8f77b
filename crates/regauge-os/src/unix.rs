//! Linux, macOS and the like.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, kill_process_group, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tempfile::NamedTempFile;

use crate::{Channel, Kind, Signal};

/// Returns standard input.
///
/// # Errors
/// Those of the system.
pub fn stdin() -> io::Result<Channel> {
    Ok(Channel::File(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

/// Returns standard output.
///
/// # Errors
/// Those of the system.
pub fn stdout() -> io::Result<Channel> {
    Ok(Channel::File(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
}

/// Returns whether terminals take escape sequences, after asking them to if that is necessary.
pub fn takes_escapes() -> bool {
    true
}

/// Returns what an open file is.
///
/// # Errors
/// Those of the system.
pub fn kind(file: &File) -> io::Result<Kind> {
    let metadata = file.metadata()?;
    Ok(match (metadata.is_dir(), metadata.is_file()) {
        (true, _) => Kind::Folder,
        (_, true) => Kind::Regular(metadata.len()),
        _ => Kind::Stream,
    })
}

/// Returns whether a path without metadata names a device.
pub fn is_device(_path: &Path) -> bool {
    false
}

/// Reads at a position, without a change of the position that other reads use.
///
/// # Errors
/// Those of the system.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.read_at(buffer, offset)
}

/// Returns whether bytes that were written to standard output can be patched later: not in a pipe,
/// and not in a file that is opened for appending, as with `>>`.
///
/// # Errors
/// Those of the system.
pub fn can_patch(file: &File) -> io::Result<bool> {
    let appends = rustix::fs::fcntl_getfl(file)?.contains(OFlags::APPEND);
    Ok(file.metadata()?.is_file() && !appends)
}

/// Gives a file the permissions of the one that it is about to replace.
///
/// # Errors
/// Those of the system.
pub fn copy_permissions(replaced: &Metadata, file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(replaced.permissions().mode() & 0o7777))
}

/// Creates a file with a name of its own and the default permissions, which is removed on drop.
///
/// # Errors
/// Those of the system.
pub fn named_file(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(prefix)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

/// Gives a file the name of another one, which it replaces.
///
/// # Errors
/// Those of the system; the other file is still there.
pub fn replace(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Creates a folder and its parents, as far as they are missing, for this user alone.
///
/// # Errors
/// Those of the system.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a file that is not there yet, for this user alone.
///
/// # Errors
/// Those of the system; `AlreadyExists`.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Returns the mode of a file that other users can read; nothing for one that they cannot read, or
/// if the system has no modes.
pub fn mode_if_shared(metadata: &Metadata) -> Option<u32> {
    let mode = metadata.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Lets everybody execute a script.
///
/// # Errors
/// Those of the system.
pub fn make_executable(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755))
}

/// Returns whether we are the superuser.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Raises the limit on open files as far as possible; returns it, or nothing if there is no limit.
pub fn raise_open_files() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    if raised.is_ok() { maximum } else { current }
}

/// Lets a command lead a group of processes, which Ctrl-C on the terminal does not reach.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// A child that was started with [`lead_group`], and what it has started.
#[derive(Clone, Debug)]
pub struct Group(Option<Pid>);

impl Group {
    /// Returns the group of a child.
    pub fn of(child: &Child) -> Group {
        Group(Pid::from_raw(child.id().cast_signed()))
    }

    /// Kills all of it.
    pub fn kill(&self) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

/// Calls a function, on a thread of its own, whenever the process is asked to end, instead of
/// ending it.
///
/// # Errors
/// Those of setting a signal handler.
pub fn on_signal(mut act: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            act(match signal {
                SIGINT => Signal::Interrupt,
                SIGTERM => Signal::Terminate,
                _ => Signal::HangUp,
            });
        }
    });
    Ok(())
}

/// Ends the process as the signal would have done.
pub fn end_by(signal: Signal) {
    let _ = emulate_default_handler(match signal {
        Signal::Interrupt => SIGINT,
        Signal::Terminate => SIGTERM,
        Signal::HangUp => SIGHUP,
    });
}

/// Ends the process as other tools do if the reader of their output has gone: by the signal, which
/// the shell shows as 141. Does nothing where there is no such signal.
pub fn end_by_broken_pipe() {
    let _ = emulate_default_handler(SIGPIPE);
}
