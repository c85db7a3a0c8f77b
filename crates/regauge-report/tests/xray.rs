//! The page of a cache, and the times to read its values. What a browser makes of the page is looked at by
//! `tools/xray_page_check.py`.

use regauge::{Format, Limits};
use regauge_caches::{Report, Xray};
use regauge_measure::Runtime;
use regauge_report::xray::{About, Reading, json, page, screen};
use regauge_sources::{Item, Kind, Summary};
use serde_json::{Value, json};

/// What loads as data, names a class, is known from attacks, cannot run code, and is unknown.
fn values() -> [(&'static str, Vec<u8>); 5] {
    [
        ("plain:1", b"\x04\x08[\x07i\x06i\x07".to_vec()),
        ("user:1:cart", b"\x04\x08o:\x08Foo\x06:\x0B@itemsi\x06".to_vec()),
        ("evil", b"cos\nsystem\n(S'id'\ntR.".to_vec()),
        ("list:1", br#"{"name": "a text that is long enough to be counted"}"#.to_vec()),
        ("odd", b"\xFE\xFE\x00\xFF\x01".to_vec()),
    ]
}

/// Looks into these values, each twice.
fn report(keys: &[(Vec<u8>, Vec<u8>)]) -> Report {
    let mut xray = Xray::new(Limits::default());
    for (key, value) in keys.iter().flat_map(|one| [one, one]) {
        xray.take(&Item {
            database: 0,
            key,
            kind: Kind::String,
            part: None,
            value: Some(value),
            bytes: value.len() as u64,
            is_text: false,
            expires_at: None,
            knows_expiry: true,
            part_expires_at: None,
            idle: None,
            frequency: None,
            flags: None,
            is_first: true,
            parts: None,
        });
    }
    xray.finish()
}

fn keys(mark: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    values().map(|(key, value)| ([key.as_bytes(), mark].concat(), value)).to_vec()
}

fn about<'a>(summary: &'a Summary, readings: &'a [Reading]) -> About<'a> {
    About {
        name: "dump.rdb",
        summary,
        one_in: 1,
        prefix: "",
        database: None,
        has_values: true,
        readings,
    }
}

fn summary() -> Summary {
    let mut summary = Summary::default();
    summary.title = "RDB 10 of Redis 7.0.15".into();
    summary.is_whole = true;
    summary
}

/// The ids of the parts of a page, in their order.
fn parts(html: &str) -> Vec<&str> {
    let parts = html.split("<section id=\"").skip(1);
    parts.map(|part| part.split('"').next().unwrap_or_default()).collect()
}

fn hrefs(html: &str) -> Vec<&str> {
    html.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect()
}

#[test]
fn plain_types_that_other_formats_lack_are_worth_a_trial() {
    let set = b"\x80\x04\x8F\x94(K\x01K\x02\x90.".to_vec();
    let list = b"\x80\x04]\x94K\x01a.".to_vec();
    let mixed = report(&[(b"tags:1".to_vec(), set), (b"tags:2".to_vec(), list)]);
    let summary = summary();
    let found = json(&mixed, &about(&summary, &[]));
    let advice = &found["advice"][0];
    assert_eq!((&advice["topic"], &advice["prefixes"]), (&json!("partly"), &json!(["tags:*"])));
    let text = advice["text"].as_str().unwrap();
    assert!(text.contains("sampled values in Python pickle are exact in MessagePack"), "{text}");
    assert!(page(&mixed, &about(&summary, &[])).contains("Try a dry run"));
    // Classes have advice of their own.
    let topics = json(&report(&keys(b"")), &about(&summary, &[]))["advice"].to_string();
    assert!(topics.contains("classes") && !topics.contains("partly"), "{topics}");
}

#[test]
fn advice_counts_only_the_values_that_it_is_about() {
    let summary = summary();
    let advice = |values: &[(String, Vec<u8>)]| {
        let keys: Vec<_> =
            values.iter().map(|(key, value)| (key.clone().into(), value.clone())).collect();
        json(&report(&keys), &about(&summary, &[]))["advice"].clone()
    };
    // Text beside pickles is not saved.
    let ones = [&b"\x80\x04]\x94("[..], &b"K\x01".repeat(100), b"e."].concat();
    let mut values: Vec<_> = (0..9).map(|id| (format!("user:{id}"), ones.clone())).collect();
    values.extend((100..109).map(|id| (format!("user:{id}"), format!("{id} ").repeat(50).into())));
    let found = advice(&values);
    let saved = found[0]["bytes"].as_u64().unwrap();
    let pickles = 2 * 9 * ones.len() as u64;
    assert_eq!(found[0]["topic"], "leave");
    assert!(saved > pickles / 4 && saved < pickles, "{found}");
    // Which of two formats names a class is not said; of one, it is.
    let foo = b"\x04\x08o:\x08Foo\0".to_vec();
    values.push(("user:200".into(), foo.clone()));
    let text = |found: &Value| {
        let classes = found.as_array().unwrap().iter().find(|one| one["topic"] == "classes");
        classes.unwrap()["text"].as_str().unwrap().to_owned()
    };
    let found = text(&advice(&values));
    assert!(
        found.starts_with("2 of 20 values in formats that can run code name classes"),
        "{found}"
    );
    let found = text(&advice(&[("user:1".into(), foo), ("user:2".into(), b"plain text".to_vec())]));
    assert!(found.starts_with("2 of 2 values in Ruby Marshal name classes"), "{found}");
}

#[test]
fn the_answer_comes_first_and_details_are_folded() {
    let summary = summary();
    let html = page(&report(&keys(b"")), &about(&summary, &[]));
    let expected =
        ["summary", "prefixes", "sizes", "classes", "repeated", "largest", "unknown", "limits"];
    assert_eq!(parts(&html), expected);
    assert_eq!(html.matches("<details class=\"part\">").count(), expected.len() - 2);
    for text in [
        "6 values (60%) are in formats that can run code when they are loaded.",
        "Do not load",
        "Plan for classes",
        "known from attacks",
        "cannot run code",
        "RDB 10 of Redis 7.0.15",
        "<code>os.<wbr>system</code>",
        "<code>fe fe 00 ff</code>",
        "Bytes by prefix, and what loading the values would do",
        "was not measured; <code>--time</code> measures it",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
    // Every link leads to a part of the page, and nothing is loaded from elsewhere.
    for target in hrefs(&html) {
        assert!(
            target.starts_with('#') && html.contains(&format!("id=\"{}\"", &target[1..])),
            "{target}"
        );
    }
    for outside in ["http://", "https://", " src=", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn keys_are_only_text() {
    let hostile = "</title></style></script><script>alert(1)</script>\u{202E}\"'><img src=x onerror=alert(2)>\0";
    let mut list = keys(hostile.as_bytes());
    list.extend(keys(b"\xFF\xFE<b>\x1B[31m"));
    let mut summary = summary();
    summary.title = hostile.into();
    let about = About { name: hostile, prefix: hostile, ..about(&summary, &[]) };
    let html = page(&report(&list), &about);
    assert_eq!(html.matches("<script").count(), 1);
    for forbidden in ["<img", "<b>", "\u{202E}", "\0", "\x1B"] {
        assert!(!html.contains(forbidden), "{forbidden:?}");
    }
    assert!(html.contains("&lt;img"), "{html}");
    // Keys that are not UTF-8 have their bytes.
    assert!(html.contains(r"\xff\xfe&lt;b&gt;\x1b[31m"), "{html}");
}

#[test]
fn nothing_and_a_part_are_said_so() {
    let mut summary = Summary::default();
    let html = page(&report(&[]), &about(&summary, &[]));
    assert_eq!(parts(&html), ["summary", "limits"]);
    for text in ["There are no keys.", "Not read to its end."] {
        assert!(html.contains(text), "{text}\n{html}");
    }
    summary.is_whole = true;
    let about = About { one_in: 1000, prefix: "views/", database: Some(3), ..about(&summary, &[]) };
    let html = page(&report(&keys(b"")), &about);
    for text in [
        "One key in 1,000 was looked at.",
        "one in 1,000 that begin with <code>views/</code>, of database 3",
    ] {
        assert!(html.contains(text), "{text}\n{html}");
    }
    let html = page(&report(&[]), &About { has_values: false, ..about });
    assert!(html.contains("were not looked into"), "{html}");
}

/// A measurement of ten values; of each library the nanoseconds to decode them all, with the interval.
fn measured(rows: &[(&str, &str, [f64; 3])]) -> regauge_measure::Report {
    let full: Value = serde_json::from_str(include_str!("full.json")).expect("a report");
    let mut found = full.clone();
    found["input"]["documents"] = 10.into();
    found["method"]["timed_documents"] = 10.into();
    let timed = full["rows"].as_array().expect("rows").iter().find(|row| row["timing"].is_object());
    let row = |(name, format, [median, low, high]): &(&str, &str, [f64; 3])| {
        let mut row = timed.expect("one").clone();
        row["contender"] = json!(name);
        row["format"] = json!(format);
        row["runtime"] = json!("ruby");
        row["timing"]["decode"]["estimate_ns"] =
            json!({ "median": median, "low": low, "high": high });
        row["timing"]["decode"]["by_processor_time"] = json!(true);
        row
    };
    found["rows"] = rows.iter().map(row).collect();
    serde_json::from_value(found).expect("a report")
}

fn reading(rows: &[(&str, &str, [f64; 3])]) -> Reading {
    Reading::new(Format::Marshal, Runtime::of("ruby"), 2, &measured(rows))
}

const MARSHAL: (&str, &str, [f64; 3]) = ("marshal", "marshal", [40_000.0, 39_000.0, 41_000.0]);

#[test]
fn reading_is_compared_with_the_fastest_library_of_each_format() {
    let one = reading(&[
        MARSHAL,
        ("slow", "msgpack", [90_000.0, 89_000.0, 91_000.0]),
        ("msgpack", "msgpack", [20_000.0, 19_000.0, 21_000.0]),
        ("oj", "ndjson", [10_000.0, 9_000.0, 11_000.0]),
        ("cbor", "cbor", [42_000.0, 38_000.0, 46_000.0]),
    ]);
    let words = one.words(Format::Msgpack).expect("words");
    assert_eq!(
        words,
        "Ruby reads it 2.00x faster, in 2.00 µs instead of 4.00 µs a value (with msgpack, the fastest of 2 \
         libraries timed); the fastest format is JSON, in 1.00 µs (with oj)"
    );
    let words = one.words(Format::Cbor).expect("words");
    assert!(
        words.starts_with(
            "Ruby reads it in 4.20 µs instead of 4.00 µs a value, no clear difference"
        ),
        "{words}"
    );
    assert!(words.contains("the only library timed"), "{words}");
    assert_eq!((one.timed, one.values, one.prefixes), (5, 10, 2));

    let slower = reading(&[MARSHAL, ("msgpack", "msgpack", [80_000.0, 79_000.0, 81_000.0])]);
    let words = slower.words(Format::Msgpack).expect("words");
    assert!(
        words.starts_with("Ruby reads it 2.00x slower, in 8.00 µs instead of 4.00 µs"),
        "{words}"
    );
    // Nothing is claimed of what was not timed.
    assert_eq!(slower.words(Format::Cbor), None);
    let unknown = reading(&[("msgpack", "msgpack", [80_000.0, 79_000.0, 81_000.0])]);
    assert_eq!(unknown.words(Format::Msgpack), None);
}

#[test]
fn times_are_on_the_screen_in_json_and_on_the_page() {
    let report = report(
        &(0..40).map(|n| (format!("plain:{n}").into(), values()[0].1.clone())).collect::<Vec<_>>(),
    );
    let msgpack = ("msgpack", "msgpack", [20_000.0, 19_000.0, 21_000.0]);
    let readings = [
        reading(&[MARSHAL, msgpack]),
        Reading::not_timed(
            Format::Pickle,
            Runtime::of("python"),
            "no prefix has only plain data in its sample",
        ),
        reading(&[]),
    ];
    let summary = summary();
    let about = about(&summary, &readings);
    let text = screen(&report, &about, false);
    for line in [
        "  Ruby Marshal      10 Ruby        4.00        2.00        –        –  2 timed",
        "  Python pickle in Python: not timed: no prefix has only plain data in its",
        "sampled",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(
        text.contains("Ruby reads it 2.00x") && text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let found = json(&report, &about);
    let first = &found["reading"][0];
    assert_eq!(first["now"]["us_per_read"], 4.0);
    assert_eq!(
        (&first["best"][0]["format"], &first["best"][0]["us_per_read"]),
        (&json!("msgpack"), &json!(2.0))
    );
    assert_eq!(first["libraries_timed"], 2);
    assert_eq!(found["reading"][1]["not_timed"], "no prefix has only plain data in its sample");
    assert!(found["reading"][2]["now"].is_null() && found["reading"][2]["not_timed"].is_string());
    let html = page(&report, &about);
    for text in
        ["<section id=\"times\"", "4.00 µs", "MessagePack, 2.00x faster", "not timed: no prefix"]
    {
        assert!(html.contains(text), "{text}\n{html}");
    }
}
