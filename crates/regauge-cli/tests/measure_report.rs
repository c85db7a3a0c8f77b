//! `regauge report`, and `--out` of `regauge measure`: the folder and the messages about it.

mod common;

use common::Folder;

const RESULTS: &str = include_str!("../../regauge-report/tests/full.json");

#[test]
fn a_report_goes_to_a_folder_that_may_be_replaced() {
    let folder = Folder::new();
    folder.write("results.json", RESULTS);
    let ran = folder.run("report results.json --out out").silent();
    assert_eq!(ran.text(), "out/report.html\n");
    assert!(folder.text("out/report.html").starts_with("<!DOCTYPE html>"));
    assert!(folder.read("out/charts/sizes.png").starts_with(b"\x89PNG"));
    assert!(folder.text("out/tables/rows.csv").starts_with("contender,runtime,"));

    // The results in it give the same report again.
    folder.run("report out/results.json --out again").silent();
    assert_eq!(folder.read("again/report.html"), folder.read("out/report.html"));
    assert_eq!(folder.read("again/results.json"), folder.read("out/results.json"));

    // The page alone, which names no files beside it.
    let ran = folder.run("report results.json --out page.HTML").silent();
    assert_eq!(ran.text(), "page.HTML\n");
    let page = folder.text("page.HTML");
    assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("tables/rows.csv"));
    folder.run("report results.json --out page.HTML").status(2);
    folder.run("report results.json --out page.HTML --force").silent();

    let refused = folder.run("report results.json --out out").status(2);
    assert_eq!(refused.stderr, "regauge: out is not empty; pass --force to replace a report\n");
    folder.run("report results.json --out out --force").silent();
    folder.write("out/mine.txt", "mine");
    let refused = folder.run("report results.json --out out --force").status(2);
    assert_eq!(
        refused.stderr,
        "regauge: out contains mine.txt, which is not part of a report, so it is not replaced; name \
         another folder\n"
    );
    assert_eq!(folder.text("out/mine.txt"), "mine");
}

/// A saved measurement shows the same screen as when it was taken, and everything on request.
#[test]
fn a_kept_measurement_is_shown_again() {
    let folder = Folder::new();
    folder.write("results.json", RESULTS);
    let text = folder.run("report results.json").silent().text();
    assert!(text.starts_with("catalog.mrc: MARC 21, "), "{text}");
    assert!(text.lines().count() <= 45, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\x1b'), "no colours without a terminal: {text}");
    let full = folder.run("report results.json --full").silent().text();
    assert!(full.contains("Sizes of all documents") && full.contains(" vs best |"), "{full}");
}

#[test]
fn what_is_no_result_of_a_measurement_is_refused() {
    let folder = Folder::new();
    folder.write("other.json", "{\"a\": 1}");
    folder.write("half.json", &RESULTS[..RESULTS.len() / 2]);
    folder.write("file", "");
    let said = |words: &str, status: i32| folder.run(words).status(status).stderr;
    assert_eq!(
        said("report other.json --out out", 1),
        "regauge: other.json: found JSON that is not a measurement; name what `regauge measure \
         --json FILE` wrote\n"
    );
    assert!(said("report half.json --out out", 1).contains("half.json: found no JSON"));
    assert_eq!(said("report none.json --out out", 2), "regauge: none.json: no such file\n");
    assert_eq!(
        said("report other.json --out file", 2),
        "regauge: file exists and is not a folder; name another one\n"
    );
    assert!(!folder.path("out").exists(), "nothing was made");
}

/// Measures with the built-in contenders, and checks that the folder is refused before that.
#[test]
fn a_measurement_writes_its_report() {
    let folder = Folder::new();
    folder.write("in.json", "{\"a\": [1, 2.5, \"three\", null, true]}");
    let measure = "measure in.json --only rust --rounds 5 --budget 1";
    let ran = folder.run(&format!("{measure} --out out")).status(0);
    assert!(ran.text().ends_with("\nReport: out/report.html\n"), "{}", ran.text());
    let page = folder.text("out/report.html");
    assert!(page.contains("regauge (msgpack)") && page.contains("in.json"));
    assert!(folder.text("out/tables/samples.csv").lines().count() > 20);
    let refused = folder.run(&format!("{measure} --out out")).status(2);
    assert!(refused.stderr.contains("is not empty") && refused.text().is_empty());
}
