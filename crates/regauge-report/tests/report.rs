//! Whole reports: what is in them, and what hostile text, odd numbers and missing parts do to
//! them. `BLESS=1` writes the snapshots. What a browser makes of the page is looked at by
//! `tools/report_check.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regauge_measure::Report;
use serde_json::Value;

/// A report with every section filled.
fn full() -> Value {
    serde_json::from_str(include_str!("full.json")).expect("tests/full.json is a report")
}

fn report(value: &Value) -> Report {
    serde_json::from_value(value.clone()).expect("a report")
}

fn files(value: &Value) -> BTreeMap<String, Vec<u8>> {
    regauge_report::files(&report(value)).expect("charts").into_iter().collect()
}

fn text<'a>(files: &'a BTreeMap<String, Vec<u8>>, name: &str) -> &'a str {
    let content = files.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", files.keys()));
    std::str::from_utf8(content).expect("text")
}

/// Compares with a file beside this one.
fn snapshot(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, found).expect("written");
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == found, "{name} is not as it was; found:\n{found}");
}

/// A tag of HTML or SVG: its name (with a slash if it closes), and all of it.
fn tags(html: &str) -> Vec<(&str, &str)> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').expect("every tag ends") + start;
        let tag = &rest[start + 1..end];
        tags.push((tag.split([' ', '\n']).next().unwrap_or(""), tag));
        rest = &rest[end + 1..];
        // Style and script hold signs that begin no tag.
        for (name, close) in [("style", "</style"), ("script", "</script")] {
            if tag == name {
                rest = &rest[rest.find(close).expect("it ends")..];
            }
        }
    }
    tags
}

/// Without the charts, whose lines of text depend on how long a name is.
fn without_charts(html: &str) -> String {
    let mut text = String::new();
    for (index, part) in html.split("<svg class=\"chart").enumerate() {
        text.push_str(if index == 0 {
            part
        } else {
            part.split_once("</svg>").expect("it ends").1
        });
    }
    text
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}

#[test]
fn every_part_of_a_report_has_its_place() {
    let files = files(&full());
    let html = text(&files, "report.html");
    let mut outline: String = files.keys().map(|name| format!("{name}\n")).collect();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let Some((tag, after)) = rest.split_once('>') else { break };
        let words = || after.split('<').next().unwrap_or("").trim();
        match tag.split(' ').next() {
            Some("section") => {
                outline.push_str(&format!("\n# {}\n", attribute(tag, "id").expect("an id")));
            }
            Some(name @ ("h1" | "h3" | "caption" | "figcaption")) => {
                outline.push_str(&format!("{name}: {}\n", words()));
            }
            Some("button") => outline.push_str(&format!("  | {}\n", words())),
            Some("svg") if tag.contains("chart wide") => {
                let title = after.split_once("<title").and_then(|(_, rest)| rest.split_once('>'));
                let title = title.and_then(|(_, rest)| rest.split('<').next()).expect("a title");
                outline.push_str(&format!("chart: {title}\n"));
            }
            _ => {}
        }
    }
    snapshot("outline.txt", &outline);
}

#[test]
fn tables_are_as_they_were() {
    let files = files(&full());
    let names: Vec<&String> = files.keys().filter(|name| name.ends_with(".csv")).collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        let csv = text(&files, name);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        assert!(reader.headers().expect("a head").len() >= 3, "{name}");
        // Rows of another length are an error.
        let rows: Vec<_> = reader.records().map(|row| row.expect(name)).collect();
        assert!(!rows.is_empty(), "{name}");
        if name != "tables/samples.csv" {
            snapshot(&name.replace("tables/", ""), csv);
        }
    }
}

/// Every table has a caption, every head a scope, every chart a title and a description, every
/// reference its target, and no identifier stands twice.
#[test]
fn the_page_can_be_heard_and_walked_through() {
    let files = files(&full());
    let html = text(&files, "report.html");
    let tags = tags(html);
    let count = |name: &str| tags.iter().filter(|(one, _)| *one == name).count();
    assert_eq!(count("table"), count("caption"));
    assert!(count("table") > 15, "{}", count("table"));
    let mut ids = BTreeSet::new();
    for (name, tag) in &tags {
        if let Some(id) = attribute(tag, "id") {
            assert!(ids.insert(id), "{id} stands twice");
        }
        if *name == "th" {
            assert!(attribute(tag, "scope").is_some(), "{tag}");
        }
        if *name == "svg" && attribute(tag, "role") != Some("img") {
            assert_eq!(attribute(tag, "aria-hidden"), Some("true"), "{tag}");
        }
        assert!(attribute(tag, "style").is_none(), "the policy allows no such attribute: {tag}");
    }
    for (_, tag) in &tags {
        for name in ["aria-labelledby", "aria-describedby"] {
            if let Some(id) = attribute(tag, name) {
                assert!(ids.contains(id), "{tag}");
            }
        }
        match attribute(tag, "href") {
            Some(target) if target.starts_with('#') => assert!(ids.contains(&target[1..]), "{tag}"),
            Some(target) => assert!(files.contains_key(target), "{tag}"),
            None => {}
        }
        assert!(attribute(tag, "src").is_none(), "{tag}");
    }
    assert!(!html.contains("http://") && !html.contains("https://"), "an address of a server");
}

/// Whatever colour a chart has, the page has one for it in every theme.
#[test]
fn the_page_knows_every_colour_of_the_charts() {
    let files = files(&full());
    let html = text(&files, "report.html");
    let mut colours = BTreeSet::new();
    for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
        let svg = std::str::from_utf8(content).expect("text");
        for (_, tag) in tags(svg) {
            for attribute_name in ["fill", "stroke"] {
                if let Some(colour) = attribute(tag, attribute_name).filter(|one| *one != "none") {
                    colours.insert(format!("[{attribute_name}=\"{colour}\"]"));
                }
            }
        }
        assert!(svg.contains("<desc>"), "{name}");
    }
    assert!(colours.len() > 10, "{colours:?}");
    for colour in colours {
        assert!(html.contains(&colour), "{colour}");
    }
}

/// Replaces every text that is not one of a few fixed words.
fn replace_texts(value: &mut Value, with: &str) {
    match value {
        Value::String(text) => with.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_texts(item, with)),
        Value::Object(members) => {
            for (key, member) in members {
                if !matches!(key.as_str(), "runtime" | "gives" | "outcome" | "reach" | "unit") {
                    replace_texts(member, with);
                }
            }
        }
        _ => {}
    }
}

const HOSTILE: &str = "=</title></style></script><script>alert(1)</script>\u{202E}\"'><img src=x \
                       onerror=alert(2)>&lt;\u{0}\u{FFFE}\u{2028}]]><!-- \u{1F600} -->";

#[test]
fn hostile_text_is_only_text() {
    let (mut hostile, mut plain) = (full(), full());
    replace_texts(&mut hostile, HOSTILE);
    replace_texts(&mut plain, "plain");
    let (hostile, plain) = (files(&hostile), files(&plain));
    let page = text(&hostile, "report.html");
    let names = |html: &str| -> Vec<String> {
        let html = without_charts(html);
        let tags = tags(&html).into_iter().map(|(name, _)| name.to_owned());
        // Where a line may break depends on the text.
        tags.filter(|name| name != "wbr").collect()
    };
    assert_eq!(names(page), names(text(&plain, "report.html")), "the same elements");
    assert!(names(page).len() > 1_000);
    for forbidden in ['\u{202E}', '\u{0}', '\u{FFFE}', '\u{2028}'] {
        assert!(!page.contains(forbidden), "{forbidden:?}");
    }
    assert!(page.contains(r"\u{202e}"));
    assert_eq!(page.matches("<script").count(), 1);
    let known =
        ["svg", "title", "desc", "rect", "line", "polyline", "polygon", "circle", "text", "g"];
    for (name, content) in &hostile {
        assert!(
            name.chars().all(|one| one.is_ascii_alphanumeric() || "./-".contains(one)),
            "{name}"
        );
        if name.ends_with(".svg") {
            let svg = std::str::from_utf8(content).expect("text");
            for (tag, _) in tags(svg) {
                assert!(known.contains(&tag.trim_start_matches('/')), "{tag} in {name}");
            }
        }
        if name.ends_with(".csv") {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(content.as_slice());
            for row in reader.records() {
                for cell in &row.expect("as long as the others") {
                    assert!(!cell.starts_with(['=', '+', '@', '\t', '\r']), "{cell} in {name}");
                    let is_number = cell.parse::<f64>().is_ok();
                    assert!(!cell.starts_with('-') || is_number, "{cell} in {name}");
                }
            }
        }
    }
}

/// What is not there is left out, part by part.
#[test]
fn parts_that_were_not_measured_are_left_out() {
    let mut value = full();
    for (key, section) in [("noise", "noise"), ("costs", "cost"), ("task", "task"), ("verdict", "")]
    {
        value[key] = Value::Null;
        let files = files(&value);
        let html = text(&files, "report.html");
        assert!(section.is_empty() || !html.contains(&format!("<section id=\"{section}\"")));
        assert!(html.contains("<section id=\"summary\""));
    }
    for row in value["rows"].as_array_mut().expect("rows") {
        row["cold"] = Value::Null;
        row["safety"] = Value::Null;
        row["unsafe_because"] = Value::Null;
        row["timing"] = Value::Null;
    }
    for key in ["missing", "references", "notes"] {
        value[key] = Value::Array(Vec::new());
    }
    let some = files(&value);
    let html = text(&some, "report.html");
    for section in ["safety", "cold", "missing", "sizes"] {
        assert!(!html.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    assert!(html.contains("there is nothing to compare"));
    value["rows"] = Value::Array(Vec::new());
    value["interrupted"] = Value::Bool(true);
    let none = files(&value);
    assert!(text(&none, "report.html").contains("Interrupted: "));
    assert!(!none.keys().any(|name| name.starts_with("charts/")), "{:?}", none.keys());
}

/// Numbers that no measurement should give neither stop a report nor leave its charts.
#[test]
fn odd_numbers_stay_inside() {
    fn replace_numbers(value: &mut Value, with: f64) {
        match value {
            Value::Number(number) if number.is_f64() => *value = with.into(),
            Value::Array(items) => items.iter_mut().for_each(|item| replace_numbers(item, with)),
            Value::Object(members) => {
                members.values_mut().for_each(|member| replace_numbers(member, with));
            }
            _ => {}
        }
    }
    for number in [0.0, -1.0, 1e-300, 1e300] {
        let mut value = full();
        replace_numbers(&mut value, number);
        let files = files(&value);
        for (name, content) in files.iter().filter(|(name, _)| name.ends_with(".svg")) {
            let svg = std::str::from_utf8(content).expect("text");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} with {number}");
            for (_, tag) in tags(svg) {
                for place in ["x1", "x2", "cx", "x"] {
                    let Some(place) = attribute(tag, place) else { continue };
                    let place: f64 = place.parse().expect("a number");
                    assert!((-200.0..=8_800.0).contains(&place), "{tag} in {name} with {number}");
                }
            }
        }
    }
}

#[test]
fn the_same_results_give_the_same_files() {
    let (one, other) = (files(&full()), files(&full()));
    assert_eq!(one, other);
    for (name, content) in one.iter().filter(|(name, _)| name.ends_with(".png")) {
        assert!(content.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
        let width = u32::from_be_bytes(content[16..20].try_into().expect("four bytes"));
        assert_eq!(width, 1_720, "{name} is as wide as a page, twice over");
    }
    assert_eq!(
        report(&serde_json::from_slice(&one["results.json"]).expect("JSON")),
        report(&full())
    );
}
