//! Verdicts over fixed figures.

use super::*;
use crate::model::report::{
    Bomb, BombOutcome, Compression, Loss, Missing, NotTimed, Reference, Safety, small,
};

const STEADY: [f64; 7] = [1.00e6, 1.01e6, 1.02e6, 1.03e6, 1.04e6, 1.05e6, 1.06e6];

fn times(factor: f64) -> Vec<f64> {
    STEADY.iter().map(|ns| ns * factor).collect()
}

fn row(name: &str, format: &str, bytes: u64, factor: f64) -> Row {
    small::row(name, format, bytes, &times(factor), &times(factor))
}

/// Makes a report in which json is large and slow, packed is small and middling, and quick is large
/// and fast.
fn report() -> Report {
    let mut report = small::empty();
    report.rows = vec![
        row("quick", "msgpack", 900_000, 1.0),
        row("packed", "cbor", 300_000, 3.0),
        row("json", "json", 1_000_000, 10.0),
    ];
    report
}

fn verdict(report: &Report, allow: Allow) -> Verdict {
    decide(report, &Assumptions::default(), allow, &|row| row.contender == "json", &[])
}

fn choice<'v>(verdict: &'v Verdict, purpose: &str) -> &'v Choice {
    verdict.choices.iter().find(|one| one.purpose == purpose).unwrap()
}

fn tried(runs_code: Option<bool>, bombs: Vec<Bomb>) -> Option<Safety> {
    Some(Safety {
        runs_code,
        reach: crate::model::report::Reach::Data,
        proof: String::new(),
        bombs,
        limits: String::new(),
    })
}

#[test]
fn each_use_has_its_winner() {
    let verdict = verdict(&report(), Allow::default());
    assert_eq!(choice(&verdict, "storage").winners, ["packed (cbor)"]);
    // 0.9 MB take 7.2 ms at 125 MB/s: 2.06 + 7.2 is more than 6.18 + 2.4.
    assert_eq!(choice(&verdict, "wire").winners, ["packed (cbor)"]);
    assert_eq!(choice(&verdict, "cache").winners, ["quick (msgpack)"]);
    assert!(verdict.choices.iter().all(|one| !one.too_close));
    assert_eq!(
        verdict.summary[0],
        "Python: to store, use packed (cbor); to send, use packed (cbor); for the in-process cache, \
         use quick (msgpack)."
    );
    assert!(
        verdict.summary[1].starts_with(
            "Python, compared with uncompressed json: saves 70% (70–70%) of the storage cost, saves "
        ),
        "{:?}",
        verdict.summary
    );
    assert!(verdict.summary[1].contains("saves 90% ("), "{:?}", verdict.summary);
    let because = &choice(&verdict, "storage").because;
    assert!(because.contains("10 reads") && because.contains("for 12 months"), "{because}");
}

#[test]
fn a_wide_road_prefers_the_quick_and_a_narrow_one_the_small() {
    let report = report();
    let wire = |bandwidth: f64| {
        let assumed = Assumptions { bandwidth, ..Assumptions::default() };
        let verdict = decide(&report, &assumed, Allow::default(), &|_| false, &[]);
        choice(&verdict, "wire").winners.clone()
    };
    assert_eq!(wire(1e6), ["packed (cbor)"]);
    assert_eq!(wire(1e10), ["quick (msgpack)"]);
}

#[test]
fn overlapping_intervals_are_a_tie() {
    let mut report = report();
    report.rows.push(row("twin", "msgpack", 900_000, 1.005));
    let verdict = verdict(&report, Allow::default());
    let cache = choice(&verdict, "cache");
    assert!(cache.too_close);
    assert_eq!(cache.winners, ["quick (msgpack)", "twin (msgpack)"]);
    assert!(cache.because.contains("A tie: "), "{}", cache.because);
    assert!(
        verdict.summary[0].contains("quick (msgpack) or twin (msgpack) (a tie)"),
        "{:?}",
        verdict.summary
    );
}

#[test]
fn one_sample_decides_nothing_that_is_close() {
    let mut report = report();
    let single = |name, ns: f64| small::row(name, "msgpack", 900_000, &[ns], &[ns]);
    report.rows[0] = single("quick", 1e6);
    report.rows.push(single("twin", 1.6e6));
    let verdict = verdict(&report, Allow::default());
    let cache = choice(&verdict, "cache");
    assert_eq!(cache.winners, ["quick (msgpack)", "twin (msgpack)"]);
    assert!(cache.because.contains("too few samples to tell"), "{}", cache.because);
    let saved = "saves about 90.3% (too few samples) of the caching cost";
    assert!(verdict.summary[1].contains(saved), "{:?}", verdict.summary);
    let costs = cost::costs(&report, &Assumptions::default(), &|_| true);
    assert!(costs.rows[0].total_ns.too_few, "{:?}", costs.rows[0]);
}

#[test]
fn what_runs_code_is_refused_unless_allowed() {
    let mut report = report();
    report.rows[0].safety = tried(Some(true), Vec::new());
    let strict = verdict(&report, Allow::default());
    let cache = choice(&strict, "cache");
    assert_eq!(cache.winners, ["packed (cbor)"]);
    assert!(
        cache.because.contains(
            "Left out: quick (msgpack): decoding ran code that the document named. quick (msgpack) \
             would cost 33% ("
        ),
        "{}",
        cache.because
    );
    assert!(strict.summary.iter().any(|one| one.contains("--allow unsafe")), "{strict:?}");
    let allowed = verdict(&report, Allow { unsafe_ones: true, lossy: false });
    assert_eq!(choice(&allowed, "cache").winners, ["quick (msgpack)"]);
    assert!(allowed.summary.iter().any(|one| one.starts_with("Unsafe libraries were allowed")));
    // What an adapter says about its library counts even without a test.
    report.rows[0].safety = None;
    report.rows[0].unsafe_because = Some("runs code".into());
    let told = verdict(&report, Allow::default());
    assert_eq!(choice(&told, "cache").winners, ["packed (cbor)"]);
}

#[test]
fn what_a_small_document_stops_is_refused() {
    for (outcome, words) in [
        (BombOutcome::Crashed, "crashes it"),
        (BombOutcome::OutOfMemory, "exhausts memory"),
        (BombOutcome::OutOfTime, "hangs it"),
    ] {
        let mut report = report();
        let bomb = Bomb {
            kind: "depth 100,000".into(),
            bytes: 200_000,
            outcome,
            ended: true,
            detail: String::new(),
            peak_bytes: None,
        };
        report.rows[0].safety = tried(Some(false), vec![bomb]);
        let strict = verdict(&report, Allow::default());
        assert_eq!(choice(&strict, "cache").winners, ["packed (cbor)"]);
        let because = &choice(&strict, "cache").because;
        let told = format!("a hostile document of 200 kB (depth 100,000) {words}");
        assert!(because.contains(&told), "{because}");
        // An error that leaves the process alive is none of that.
        let bomb = &mut report.rows[0].safety.as_mut().unwrap().bombs[0];
        (bomb.outcome, bomb.ended) = (BombOutcome::OutOfMemory, false);
        assert_eq!(
            choice(&verdict(&report, Allow::default()), "cache").winners[0],
            "quick (msgpack)"
        );
    }
}

#[test]
fn what_loses_data_is_refused_unless_allowed() {
    let mut report = report();
    report.rows[1].losses = vec![Loss { kind: "key order".into(), count: 3, examples: Vec::new() }];
    let strict = verdict(&report, Allow::default());
    assert_eq!(choice(&strict, "storage").winners, ["quick (msgpack)"]);
    assert!(choice(&strict, "storage").because.contains("packed (cbor): loses key order"));
    let allowed = verdict(&report, Allow { unsafe_ones: false, lossy: true });
    assert_eq!(choice(&allowed, "storage").winners, ["packed (cbor)"]);
    // What the format itself cannot hold is lost as well.
    report.references = vec![Reference {
        format: "cbor".into(),
        bytes: 300_000,
        gzip_bytes: 0,
        written_by: "regauge".into(),
        losses: std::mem::take(&mut report.rows[1].losses),
        compressions: Vec::new(),
    }];
    let strict = verdict(&report, Allow::default());
    assert_eq!(choice(&strict, "storage").winners, ["quick (msgpack)"]);
    assert!(choice(&strict, "storage").because.contains("packed (cbor): its format loses key"));
}

#[test]
fn if_all_are_refused_nothing_wins() {
    let mut report = report();
    for row in &mut report.rows {
        row.safety = tried(Some(true), Vec::new());
    }
    let verdict = verdict(&report, Allow::default());
    assert!(verdict.choices.iter().all(|one| one.winners.is_empty() && !one.too_close));
    assert!(verdict.choices[0].because.contains("No candidate is left"), "{verdict:?}");
    assert!(verdict.summary[0].contains("no recommendation"), "{verdict:?}");
}

/// Makes a usual Python contender with this name and no times.
fn untimed(name: &str, why: &str, is_ruled_out: bool) -> Untimed {
    Untimed {
        runtime: Runtime::of("python"),
        gives: Gives::Data,
        told: NotTimed { contender: name.into(), usual: true, why: why.into(), is_ruled_out },
    }
}

#[test]
fn there_is_no_winner_without_every_usual_library() {
    let mut report = report();
    report.rows[0].usual = true;
    let decided = |untimed: &[Untimed]| {
        decide(&report, &Assumptions::default(), Allow::default(), &|_| false, untimed)
    };
    let verdict = decided(&[untimed("orjson", "the budget ran out", false)]);
    let field = &verdict.fields[0];
    assert_eq!((field.found, field.timed, field.usual, field.usual_timed), (4, 3, 2, 1));
    assert!(!field.is_decided());
    assert_eq!(verdict.choices.len(), 3);
    assert!(verdict.choices.iter().all(|one| one.winners.is_empty() && one.gain.is_none()));
    assert_eq!(
        verdict.summary[0],
        "Python: no winner: orjson was not timed (the budget ran out); 3 of 4 \
         libraries were."
    );
    // A contender that is wrong, or was stopped after many times the best's time, cannot win.
    let verdict = decided(&[untimed("orjson", "its output is wrong", true)]);
    assert!(verdict.fields[0].is_decided());
    assert_eq!(choice(&verdict, "cache").winners, ["quick (msgpack)"]);
    // A missing time does not matter for one that is not usual.
    let mut other = untimed("another", "the budget ran out", false);
    other.told.usual = false;
    assert!(decided(&[other]).fields[0].is_decided());
}

#[test]
fn what_is_not_installed_is_named_and_does_not_count() {
    let mut report = report();
    report.missing.push(Missing {
        contender: "orjson".into(),
        runtime: Runtime::of("python"),
        install: String::new(),
        reason: String::new(),
        usual: true,
        gives: Some(Gives::Data),
    });
    let verdict = verdict(&report, Allow::default());
    let field = &verdict.fields[0];
    assert_eq!((field.found, field.usual), (3, 0));
    assert_eq!(field.usual_missing, ["orjson"]);
    assert!(field.is_decided());
}

#[test]
fn a_runtime_without_any_times_has_no_winner() {
    let verdict = decide(
        &small::empty(),
        &Assumptions::default(),
        Allow::default(),
        &|_| false,
        &[untimed("json", "the budget ran out", false)],
    );
    assert_eq!((verdict.fields.len(), verdict.choices.len()), (1, 3));
    assert!(verdict.summary[0].starts_with("Python: no winner: json was not timed"));
}

#[test]
fn gains_are_over_what_the_user_has_now() {
    let report = report();
    let verdict = verdict(&report, Allow::default());
    assert_eq!(verdict.fields[0].now.as_deref(), Some("json"));
    let gain = |purpose| choice(&verdict, purpose).gain.clone().unwrap();
    // packed has 300 kB, json 1 MB; quick takes a tenth of json's time.
    assert!((gain("storage").size - 10.0 / 3.0).abs() < 1e-9);
    assert!((gain("cache").cost.median - 10.0).abs() < 1e-9 && !gain("cache").is_same);
    // For NDJSON it is JSON's library.
    let mut lines = report;
    lines.input.format = "ndjson".into();
    let verdict = decide(&lines, &Assumptions::default(), Allow::default(), &|_| false, &[]);
    assert_eq!(verdict.fields[0].now.as_deref(), Some("json"));
}

#[test]
fn compression_takes_part_but_not_in_the_cache() {
    let mut report = report();
    let exact = |ns: f64| Estimate::exact(ns);
    report.references = vec![Reference {
        format: "json".into(),
        bytes: 1_000_000,
        gzip_bytes: 0,
        written_by: "regauge".into(),
        losses: Vec::new(),
        compressions: vec![Compression {
            codec: "zstd -3".into(),
            bytes: 50_000,
            compress_ns: exact(1e6),
            decompress_ns: exact(0.5e6),
        }],
    }];
    let verdict = verdict(&report, Allow::default());
    assert_eq!(choice(&verdict, "storage").winners, ["json + zstd -3"]);
    assert_eq!(choice(&verdict, "cache").winners, ["quick (msgpack)"]);
    assert!(!verdict.summary.iter().any(|one| one.contains("Compression was not measured")));
}

#[test]
fn what_the_user_has_now_is_the_usual_way_to_call_a_library() {
    let mut report = report();
    // The unsafe loader of the same library is a little faster.
    report.rows.insert(2, row("json (unsafe)", "json", 1_000_000, 9.0));
    report.rows.iter_mut().for_each(|row| row.usual = row.contender == "json");
    let bundled = |row: &Row| row.contender.starts_with("json");
    let verdict = decide(&report, &Assumptions::default(), Allow::default(), &bundled, &[]);
    assert_eq!(verdict.fields[0].now.as_deref(), Some("json"));
}

#[test]
fn text_is_not_stored_or_sent_and_may_be_cached() {
    let mut report = report();
    let before = verdict(&report, Allow::default());
    assert_eq!(choice(&before, "storage").winners, ["packed (cbor)"]);
    assert_eq!(choice(&before, "cache").winners, ["quick (msgpack)"]);
    report.rows.iter_mut().for_each(|row| row.is_text = true);
    let after = verdict(&report, Allow::default());
    assert!(
        choice(&after, "storage").winners.is_empty() && choice(&after, "wire").winners.is_empty()
    );
    assert!(choice(&after, "wire").because.contains("quick (msgpack): gives text, not bytes"));
    assert_eq!(choice(&after, "cache").winners, ["quick (msgpack)"]);
    assert!(!choice(&after, "cache").because.contains("gives text"));
}

#[test]
fn one_that_left_the_race_never_ties_and_wins_only_by_its_size() {
    let left = |row: Row| Row {
        dropped: Some(crate::model::report::Dropped { at_least: 2.2, processes: 1 }),
        ..row
    };
    let mut report = report();
    // As fast as the best by its samples, and a byte shorter.
    report.rows.push(left(row("gone", "ubjson", 899_999, 1.0)));
    let verdict = verdict(&report, Allow::default());
    assert_eq!(choice(&verdict, "cache").winners, ["quick (msgpack)"]);
    assert!(!choice(&verdict, "cache").too_close);
    report.rows = vec![report.rows.remove(0), left(row("tiny", "cbor", 90_000, 3.0))];
    let verdict = self::verdict(&report, Allow::default());
    assert_eq!(choice(&verdict, "cache").winners, ["quick (msgpack)"]);
    assert_eq!(choice(&verdict, "storage").winners, ["tiny (cbor)"]);
}

/// regauge takes classes out of what it gives to the loaders of Marshal and pickle, which would keep them.
#[test]
fn classes_that_were_left_out_are_no_loss_of_the_format() {
    let loss = || Loss { kind: "class or tag".into(), count: 1, examples: Vec::new() };
    let mut report = report();
    report.references = ["marshal", "msgpack"]
        .map(|format| Reference {
            format: format.into(),
            bytes: 900_000,
            gzip_bytes: 0,
            written_by: "regauge".into(),
            losses: vec![loss()],
            compressions: Vec::new(),
        })
        .into();
    report.rows.push(row("marshal", "marshal", 900_000, 0.5));
    report.rows.push(row("regauge (marshal)", "marshal", 900_000, 0.5));
    report.rows[3].unsafe_because = Some("runs code".into());
    let refused = |place: usize, unsafe_ones| {
        refusal(&report, &report.rows[place], Allow { unsafe_ones, lossy: false })
    };
    assert_eq!(refused(0, true).as_deref(), Some("its format loses class or tag"));
    assert_eq!(refused(3, false).as_deref(), Some("runs code"));
    assert_eq!(refused(3, true), None);
    assert_eq!(refused(4, true).as_deref(), Some("classes were left out of its test"));
    let allow = Allow { unsafe_ones: true, lossy: false };
    let verdict = verdict(&report, allow);
    assert_eq!(choice(&verdict, "cache").winners, ["marshal"]);
    assert!(
        verdict.summary.iter().any(|line| line.starts_with("Classes were left out of the test"))
    );
}
