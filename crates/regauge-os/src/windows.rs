//! Windows.

use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal as _};
use std::os::windows::fs::FileExt as _;
use std::os::windows::io::{AsHandle as _, AsRawHandle as _};
use std::os::windows::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

use tempfile::NamedTempFile;
use win32job::{ExtendedLimitInfo, Job};
use winapi_util::console::Console;

use crate::{Channel, Kind, Memory, Signal};

/// `CREATE_NEW_PROCESS_GROUP`: Ctrl-C does not reach it.
const NEW_GROUP: u32 = 0x200;
/// `STATUS_CONTROL_C_EXIT`, the exit status of a process that Ctrl-C ended.
const CONTROL_C_EXIT: u32 = 0xC000_013A;

/// Returns standard input.
///
/// # Errors
/// Those of the system.
pub fn stdin() -> io::Result<Channel> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(Channel::Console);
    }
    Ok(Channel::File(File::from(stdin.as_handle().try_clone_to_owned()?)))
}

/// Returns standard output.
///
/// # Errors
/// Those of the system.
pub fn stdout() -> io::Result<Channel> {
    let stdout = io::stdout();
    if stdout.is_terminal() {
        return Ok(Channel::Console);
    }
    Ok(Channel::File(File::from(stdout.as_handle().try_clone_to_owned()?)))
}

/// Returns whether terminals take escape sequences, after asking them to if that is necessary.
pub fn takes_escapes() -> bool {
    let asked = |console: io::Result<Console>| {
        console.and_then(|mut console| console.set_virtual_terminal_processing(true)).is_ok()
    };
    // Either may be redirected.
    let (stdout, stderr) = (asked(Console::stdout()), asked(Console::stderr()));
    stdout || stderr
}

/// Returns what an open file is.
///
/// # Errors
/// Those of the system.
pub fn kind(file: &File) -> io::Result<Kind> {
    // Pipes, consoles and `NUL` have no metadata.
    Ok(match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Kind::Folder,
        Ok(metadata) => Kind::Regular(metadata.len()),
        Err(_) => Kind::Stream,
    })
}

/// Returns whether a path without metadata names a device, such as `NUL`.
pub fn is_device(path: &Path) -> bool {
    let Ok(file) = File::options().write(true).open(path) else { return false };
    winapi_util::file::typ(&file).is_ok_and(|kind| !kind.is_disk())
}

/// Reads at a position that other reads do not use.
///
/// # Errors
/// Those of the system.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

/// Returns whether bytes that were written to standard output can be patched later. Windows does
/// not say whether a file was opened for appending, as with `>>`, so none is.
///
/// # Errors
/// None.
pub fn can_patch(_file: &File) -> io::Result<bool> {
    Ok(false)
}

/// Gives a file the permissions of the one that it is about to replace: here it has those of its
/// folder.
///
/// # Errors
/// None.
pub fn copy_permissions(_replaced: &Metadata, _file: &File) -> io::Result<()> {
    Ok(())
}

/// Creates a file with a name of its own and the default permissions, which is removed on drop.
///
/// # Errors
/// Those of the system.
pub fn named_file(folder: &Path, prefix: &str) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).tempfile_in(folder)
}

/// Gives a file the name of another one, which it replaces.
///
/// # Errors
/// Those of the system; the other file is still there.
pub fn replace(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (file, name) = file.into_parts();
    drop(file);
    let name = name.keep().map_err(|error| error.error)?;
    // Unlike `persist`, this replaces a file that somebody reads.
    fs::rename(&name, path).inspect_err(|_| drop(fs::remove_file(&name)))
}

/// Creates a folder and its parents, as far as they are missing. Who may read them follows from the
/// folder that they are in: a user's own is private.
///
/// # Errors
/// Those of the system.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Creates a file that is not there yet. Who may read it follows from its folder.
///
/// # Errors
/// Those of the system; `AlreadyExists`.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    File::options().write(true).create_new(true).open(path)
}

/// Returns the mode of a file that other users can read: there are no modes here.
pub fn mode_if_shared(_metadata: &Metadata) -> Option<u32> {
    None
}

/// Lets everybody execute a script: here its suffix says whether it is one.
///
/// # Errors
/// None.
pub fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns whether we are the superuser, who installs packages: there are none here.
pub fn is_root() -> bool {
    false
}

/// Raises the limit on open files as far as possible: there is no limit.
pub fn raise_open_files() -> Option<u64> {
    None
}

/// Lets a command lead a group of processes, which Ctrl-C on the console does not reach.
pub fn lead_group(command: &mut Command) {
    command.creation_flags(NEW_GROUP);
}

/// A child, and what it has started: a job of Windows, which ends with its last handle, so at the
/// latest with this process.
#[derive(Clone, Debug)]
pub struct Group(Arc<Mutex<Option<Job>>>);

impl Group {
    /// Puts a child into a job. If the system refuses, the group is empty.
    pub fn of(child: &Child) -> Group {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).ok();
        let handle = child.as_raw_handle() as isize;
        let job = job.filter(|job| job.assign_process(handle).is_ok());
        Group(Arc::new(Mutex::new(job)))
    }

    /// Kills all of it.
    pub fn kill(&self) {
        if let Ok(mut job) = self.0.lock() {
            drop(job.take());
        }
    }
}

/// Returns the memory of a child.
pub fn memory(child: &Child) -> Option<Memory> {
    let handle = child.as_raw_handle() as isize;
    let counters = win32job::utils::get_process_memory_info(handle).ok()?;
    Some(Memory {
        resident: counters.working_set_size as u64,
        peak: counters.peak_working_set_size as u64,
    })
}

/// Calls a function, on a thread of its own, whenever the process is asked to end, instead of
/// ending it. If the console is closed, the system ends the process a moment later.
///
/// # Errors
/// Those of setting a handler; one that is set already.
pub fn on_signal(mut act: impl FnMut(Signal) + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(move || act(Signal::Interrupt)).map_err(io::Error::other)
}

/// Ends the process as the signal would have done.
pub fn end_by(_signal: Signal) {
    std::process::exit(CONTROL_C_EXIT.cast_signed())
}

/// Ends the process as other tools do if the reader of their output has gone. Does nothing: there
/// is no such signal.
pub fn end_by_broken_pipe() {}
