//! Measuring while the machine is disturbed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use regauge_measure::{Quiet, run};
use regauge_testdata::has;

use crate::{DOCUMENT, options, row};

/// A machine that is disturbed every fourth time.
fn noisy_probe() -> Duration {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let disturbed = COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(4);
    Duration::from_millis(if disturbed { 9 } else { 1 })
}

#[test]
fn on_a_noisy_machine_quiet_samples_count_and_all_are_kept() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest", "prints"]);
    options.probe = noisy_probe;
    options.rounds = Some(20);
    let report = run(&options, &mut Quiet).unwrap();
    let noise = report.noise.as_ref().unwrap();
    assert_eq!(noise.best_probe_ns, 1e6);
    assert!(noise.quiet_share.is_some_and(|share| share > 0.1 && share < 0.9), "{noise:?}");
    for name in ["test honest", "test prints"] {
        let decode = &row(&report, name).timing.as_ref().unwrap().decode;
        assert_eq!((decode.samples_ns.len(), decode.probes_ns.len()), (20, 20));
        let quiet = |place: &u64| decode.probes_ns[*place as usize] == [1e6; 2];
        assert!(!decode.left_out.is_empty() && !decode.left_out.iter().any(quiet), "{decode:?}");
    }
    assert!(report.verdict.is_some());
}

fn never_quiet_probe() -> Duration {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let quiet = COUNT.fetch_add(1, Ordering::Relaxed).is_multiple_of(10);
    Duration::from_millis(if quiet { 1 } else { 9 })
}

#[test]
fn where_no_moment_is_quiet_times_are_of_the_processor_and_the_report_says_so() {
    // A contender is bound to one of several cores, where the system can do that.
    let may_pin =
        cfg!(target_os = "linux") && std::thread::available_parallelism().unwrap().get() > 1;
    if !may_pin || !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["honest", "slow"]);
    options.probe = never_quiet_probe;
    options.rounds = Some(20);
    let report = run(&options, &mut Quiet).unwrap();
    for name in ["test honest", "test slow"] {
        let timing = row(&report, name).timing.as_ref().unwrap();
        assert!(timing.decode.by_processor_time && timing.encode.by_processor_time, "{timing:?}");
        assert_eq!((timing.decode.samples_ns.len(), timing.decode.left_out.len()), (20, 0));
    }
    // It sleeps for three milliseconds of the clock in each pass, and for none of the processor's.
    let slow = row(&report, "test slow").timing.as_ref().unwrap();
    assert!(slow.decode.estimate_ns.median < 3e6, "{slow:?}");
    let note = "2 of the 2 contenders, those that work on one thread, are timed by processor time";
    assert!(report.notes.iter().any(|one| one.contains(note)), "{:?}", report.notes);
}

#[test]
fn processor_time_that_is_asked_for_is_taken_on_a_quiet_machine_too() {
    let may_pin =
        cfg!(target_os = "linux") && std::thread::available_parallelism().unwrap().get() > 1;
    if !may_pin || !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path(), "a.json", DOCUMENT, &["slow"]);
    options.probe = || Duration::from_millis(1);
    options.rounds = Some(20);
    options.processor_time = true;
    let report = run(&options, &mut Quiet).unwrap();
    let decode = &row(&report, "test slow").timing.as_ref().unwrap().decode;
    assert!(decode.by_processor_time && decode.estimate_ns.median < 3e6, "{decode:?}");
    assert!(!report.notes.iter().any(|one| one.contains("rarely quiet")), "{:?}", report.notes);
}
