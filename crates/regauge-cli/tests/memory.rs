//! Memory stays bounded, whatever is broken. Linux only: it reports a process's peak memory.

#![cfg(target_os = "linux")]

mod common;

use std::process::Stdio;
use std::time::Duration;

use common::{Folder, lines};

/// The command's memory limit.
const MOST_KIB: u64 = 64 << 10;

/// Runs the command; returns its status and its peak memory, in KiB.
fn run(folder: &Folder, arguments: &str) -> (Option<i32>, u64) {
    let mut command = folder.command(arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let ended = child.try_wait().unwrap();
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        most = most.max(peak.unwrap_or(0));
        if let Some(ended) = ended {
            return (ended.code(), most);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Converts with broken records skipped, and kept, with one thread and with two.
#[track_caller]
fn check(folder: &Folder, input: &str, to: &str, statuses: &[i32]) {
    for jobs in [1, 2] {
        for bad in ["skip", "bad"] {
            let arguments = format!("convert --force --jobs {jobs} --bad {bad} {input} {to}");
            let (status, most) = run(folder, &arguments);
            assert!(status.is_some_and(|one| statuses.contains(&one)), "{arguments}: {status:?}");
            assert!(most > 0 && most < MOST_KIB, "{arguments}: {most} KiB");
        }
    }
}

#[test]
fn a_megabyte_of_empty_records() {
    let folder = Folder::new();
    folder.write("in.mrc", vec![0x1D; 1 << 20]);
    check(&folder, "in.mrc", "out.json", &[0]);
    assert_eq!(folder.read("bad").len(), 1 << 20);
}

#[test]
fn broken_lines() {
    let folder = Folder::new();
    folder.write("in.ndjson", format!("{}{}", "{]\n".repeat(500_000), lines(3)));
    check(&folder, "in.ndjson", "out.json", &[0]);
    assert_eq!(folder.read("bad").len(), 1_500_000);
    assert_eq!(folder.text("out.json").matches("name").count(), 6);
    // Across a window boundary, from a pipe.
    let text = folder.read("in.ndjson");
    let ran = folder.feed("convert --force --bad bad - --from ndjson out.json", &text);
    let stderr = ran.status(0).stderr;
    assert_eq!(stderr.lines().count(), 1001);
    let last = "500000 of 500003 records were broken and skipped; their bytes are in bad; the \
                first 1000 are named above\n";
    assert!(stderr.ends_with(last), "{}", stderr.lines().last().unwrap_or_default());
    assert_eq!(folder.read("bad").len(), 1_500_000);
}

#[test]
fn one_long_broken_record() {
    let folder = Folder::new();
    for (name, head, statuses) in [
        ("in.ndjson", &b"[}"[..], [0, 0]),
        ("in.mrc", b"what", [0, 0]),
        ("in.xml", b"<collection><record><x/>", [0, 0]),
        ("in.marc.json", b"{]", [0, 1]),
        ("in.yaml", b"a: [}", [0, 1]),
        // A length, and a type that does not exist.
        ("in.bson", b"\0\0\0\x0Bx", [0, 1]),
    ] {
        let mut bytes = head.to_vec();
        bytes.resize(48 << 20, b'x');
        folder.write(name, bytes);
        check(&folder, name, "out.msgpack --to msgpack", &statuses);
    }
}

/// Converts to JSON with broken documents skipped, without a place for their bytes.
#[track_caller]
fn check_skipped(name: &str, bytes: Vec<u8>, status: i32) {
    let folder = Folder::new();
    folder.write(name, bytes);
    let arguments = format!("convert --force --quiet --bad skip {name} out.json");
    let (ended, most) = run(&folder, &arguments);
    assert_eq!(ended, Some(status), "{arguments}");
    assert!(most > 0 && most < MOST_KIB, "{arguments}: {most} KiB");
}

#[test]
fn a_document_whose_values_take_more_than_its_bytes() {
    let filled = |head: &[u8], unit: &[u8], size: usize| [head, &unit.repeat(size)].concat();
    // A pickle that is cut: its strings, and as many entries in the memo.
    check_skipped("in.pkl", filled(b"\x80\x04(", b"\x8c\x01a\x94", 2_500_000), 1);
    // The tokens of one expression.
    check_skipped("in.toml", filled(b"", b"a = [\n", 2_500_000), 1);
    // More symbols than Ruby would write.
    check_skipped("in.marshal", filled(b"\x04\x08[\x04\xff\xff\xff\0", b":\x06a", 8_000_000), 1);
}

#[test]
fn a_record_in_lines_without_its_first() {
    check_skipped("in.mrk", b"=24\n".repeat(10 << 20), 0);
    check_skipped("in.alephseq", b"000000001 24\n".repeat(3 << 20), 0);
}

#[test]
fn a_long_document_that_is_broken_at_its_end() {
    let broken = [&b"- a: b\n".repeat(6 << 20)[..], b"\t: [\n"].concat();
    check_skipped("in.yaml", broken.clone(), 3);
    // What was written of it is taken back, between two documents that are whole.
    let folder = Folder::new();
    folder.write("in.yaml", [b"first: 1\n---\n", &broken[..], b"---\nlast: 2\n"].concat());
    let arguments = "convert --quiet --bad skip --documents join in.yaml out.json";
    let (ended, most) = run(&folder, arguments);
    assert_eq!(ended, Some(0));
    assert!(most > 0 && most < MOST_KIB, "{most} KiB");
    assert_eq!(folder.text("out.json").trim_end(), r#"[{"first":1},{"last":2}]"#);
}

#[test]
fn the_only_document_is_broken() {
    let folder = Folder::new();
    folder.write("in.yaml", "- a\n\t: [\n");
    let ran = folder.run("convert --quiet --bad skip in.yaml out.json");
    let stderr = ran.status(3).stderr;
    assert!(stderr.contains("whose one document was broken and skipped"), "{stderr}");
    assert!(stderr.contains("found no document, expected one in a JSON file"), "{stderr}");
}
