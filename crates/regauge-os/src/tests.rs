//! The same on every system, as far as it has it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

#[test]
fn a_regular_file_is_read_at_any_position_and_a_folder_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    std::fs::write(&path, "0123456789").unwrap();
    let file = std::fs::File::open(&path).unwrap();
    assert_eq!(kind(&file).unwrap(), Kind::Regular(10));
    let mut bytes = [0; 4];
    for (offset, expected) in [(3, "3456"), (0, "0123"), (8, "89"), (10, ""), (99, "")] {
        let got = read_at(&file, &mut bytes, offset).unwrap();
        assert_eq!(std::str::from_utf8(&bytes[..got]).unwrap(), expected);
    }
    assert!(!is_device(&path));
}

#[test]
fn a_pipe_is_a_stream() {
    let (read, mut write) = std::io::pipe().unwrap();
    write.write_all(b"1").unwrap();
    #[cfg(unix)]
    let file = std::fs::File::from(std::os::fd::OwnedFd::from(read));
    #[cfg(windows)]
    let file = std::fs::File::from(std::os::windows::io::OwnedHandle::from(read));
    assert_eq!(kind(&file).unwrap(), Kind::Stream);
}

#[test]
fn a_file_replaces_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    std::fs::write(&path, "old").unwrap();
    // Somebody reads it meanwhile.
    let reader = std::fs::File::open(&path).unwrap();
    let mut file = named_file(folder.path(), ".it-").unwrap();
    file.write_all(b"new").unwrap();
    replace(file, &path).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"new");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    drop(reader);
}

#[test]
fn a_private_file_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    create_private_folder(&inner).unwrap();
    create_private_folder(&inner).unwrap();
    let path = inner.join("key");
    let file = create_private_file(&path).unwrap();
    assert_eq!(mode_if_shared(&file.metadata().unwrap()), None);
    let error = create_private_file(&path).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn the_limit_on_open_files_stays_where_it_was_raised_to() {
    assert_eq!(raise_open_files(), raise_open_files());
    assert!(raise_open_files().is_none_or(|limit| limit >= 256));
}

/// A command that waits for its input to end.
fn waiting() -> Command {
    let mut command = Command::new(if cfg!(windows) { "findstr" } else { "cat" });
    command.args(if cfg!(windows) { &["x"][..] } else { &[] });
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    command
}

#[test]
fn a_group_is_killed() {
    let mut command = waiting();
    lead_group(&mut command);
    let mut child = command.spawn().unwrap();
    let group = Group::of(&child);
    group.kill();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn the_memory_of_a_child_is_known_on_linux_and_windows() {
    let mut child = waiting().spawn().unwrap();
    let known = memory(&child);
    assert_eq!(known.is_some(), cfg!(any(target_os = "linux", windows)));
    assert!(known.is_none_or(|memory| memory.peak >= memory.resident));
    assert_eq!(forget_peak(&child), cfg!(target_os = "linux"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_read_has_a_mode_to_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    create_private_file(&path).unwrap();
    make_executable(&path).unwrap();
    assert_eq!(mode_if_shared(&std::fs::metadata(&path).unwrap()), Some(0o755));
}
