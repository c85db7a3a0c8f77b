//! Races: who is dropped, who wins, and when nobody does.

use std::path::Path;
use std::time::Duration;

use regauge_measure::report::Report;
use regauge_measure::{Quiet, run};
use regauge_testdata::has;

use crate::{DOCUMENT, options, row};

/// A race of a second or two.
fn race(folder: &Path, adapters: &[&str], budget: u64) -> Report {
    let mut options = options(folder, "a.json", DOCUMENT, adapters);
    options.rounds = None;
    options.sample_min = Duration::from_millis(1);
    options.budget = Duration::from_secs(budget);
    let report = run(&options, &mut Quiet).unwrap();
    assert!(report.method.took_s < budget as f64 + 3.0, "{}", report.method.took_s);
    report
}

#[test]
fn a_race_drops_those_far_behind_and_has_a_winner() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // `slow` sleeps for three milliseconds in every call. The race ends when it is decided.
    let report = race(folder.path(), &["honest", "slow"], 20);
    let slow = row(&report, "test slow");
    let dropped = slow.dropped.unwrap_or_else(|| panic!("{slow:?}"));
    assert!(dropped.at_least > 2.0 && dropped.processes >= 1, "{dropped:?}");
    assert!(slow.timing.is_some() && slow.usual);
    let honest = row(&report, "test honest");
    assert!(honest.dropped.is_none());
    assert!(honest.timing.as_ref().unwrap().decode.processes() >= 3, "{honest:?}");
    let verdict = report.verdict.unwrap();
    let field = &verdict.fields[0];
    assert!(field.is_decided());
    assert_eq!((field.found, field.timed, field.usual_timed), (2, 2, 1));
    assert_eq!(verdict.choices[2].winners, ["test honest (json)"]);
}

#[test]
fn one_that_hangs_is_ruled_out_by_the_time_it_was_given() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = race(folder.path(), &["honest", "hangs_usual"], 8);
    let hangs = row(&report, "test hangs usual");
    let dropped = hangs.dropped.unwrap_or_else(|| panic!("{hangs:?}"));
    assert!(hangs.timing.is_none() && dropped.processes == 0 && dropped.at_least > 100.0);
    let verdict = report.verdict.unwrap();
    assert!(verdict.fields[0].is_decided());
    let not_timed = &verdict.fields[0].not_timed[0];
    assert!(
        not_timed.is_ruled_out && not_timed.why.contains("x slower than the best"),
        "{not_timed:?}"
    );
}

#[test]
fn a_winner_that_is_wrong_on_the_whole_of_large_data_falls() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let element = format!(r#"{{"name": "{}"}}"#, "x".repeat(800));
    let document = format!("[{}]", vec![element; 4_000].join(","));
    let adapters = ["wrong_when_large", "slow"];
    let mut options = options(folder.path(), "a.json", &document, &adapters);
    options.rounds = None;
    options.budget = Duration::from_secs(12);
    let report = run(&options, &mut Quiet).unwrap();
    let part = report.method.part.as_ref().unwrap();
    assert!(part.of == 4_000 && part.elements < 2_000, "{part:?}");
    // It was the fastest on the part, which it gives back as it is.
    let wrong = row(&report, "test wrong when large");
    assert!(wrong.timing.is_none() && !wrong.wrong.is_empty(), "{wrong:?}");
    // The next takes its place, after it has given back the whole.
    let slow = row(&report, "test slow");
    let whole = slow.whole.unwrap_or_else(|| panic!("{slow:?}"));
    assert!(whole.decode_ns > 0.0 && whole.encode_ns > 0.0);
    assert_eq!(slow.timing.as_ref().unwrap().ratio.median, 1.0);
    let verdict = report.verdict.unwrap();
    let mut winners = verdict.choices.iter().flat_map(|one| &one.winners);
    assert!(winners.all(|one| one.starts_with("test slow (json)")), "{verdict:?}");
    let not_timed = &verdict.fields[0].not_timed[0];
    assert!(not_timed.is_ruled_out && not_timed.why == "its output is wrong", "{not_timed:?}");
}

/// The budget may end before a winner is checked on the whole: it keeps its times, and a note says so.
#[test]
fn a_winner_that_there_is_no_time_to_check_on_the_whole_stays() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let element = format!(r#"{{"name": "{}"}}"#, "x".repeat(800));
    let document = format!("[{}]", vec![element; 4_000].join(","));
    let mut options = options(folder.path(), "a.json", &document, &["late_when_large"]);
    options.rounds = None;
    options.budget = Duration::from_secs(8);
    let report = run(&options, &mut Quiet).unwrap();
    let late = row(&report, "test late when large");
    assert!(late.timing.is_some() && late.whole.is_none(), "{late:?}");
    let verdict = report.verdict.as_ref().unwrap();
    assert!(verdict.fields[0].is_decided(), "{verdict:?}");
    let note = report.notes.iter().find(|note| note.starts_with("Checked on the timed part only"));
    assert!(
        note.is_some_and(|note| note.ends_with(": test late when large (Python).")),
        "{note:?}"
    );
}

#[test]
fn one_that_never_says_hello_leaves_its_runtime_without_a_winner() {
    if !has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let report = race(folder.path(), &["honest", "never_starts"], 8);
    let verdict = report.verdict.as_ref().unwrap();
    assert!(!verdict.fields[0].is_decided(), "{verdict:?}");
    assert!(verdict.choices.iter().all(|one| one.winners.is_empty()));
    assert!(verdict.summary[0].contains("no winner: test never starts was not timed"));
    let failure = row(&report, "test never starts").failure.as_deref();
    assert!(failure.is_some_and(|why| why.starts_with("did not start within ")), "{failure:?}");
}

/// A usual library that cannot hold the data is out; one that was not given it might be the best.
#[test]
fn one_whose_data_could_not_be_prepared_leaves_its_runtime_without_a_winner() {
    if !has("python3", &["--version"]) {
        return;
    }
    for (name, is_ruled_out) in [("unprepared", false), ("refuses", true)] {
        let folder = tempfile::tempdir().unwrap();
        let report = race(folder.path(), &["honest", name], 20);
        let verdict = report.verdict.unwrap();
        let field = &verdict.fields[0];
        let not_timed = &field.not_timed[0];
        assert_eq!(not_timed.is_ruled_out, is_ruled_out, "{not_timed:?}");
        assert!(not_timed.why.ends_with("knows no dictionaries"), "{not_timed:?}");
        assert_eq!(field.is_decided(), is_ruled_out, "{field:?}");
        let has_winners = verdict.choices.iter().all(|one| !one.winners.is_empty());
        assert_eq!(has_winners, is_ruled_out, "{:?}", verdict.choices);
    }
}
