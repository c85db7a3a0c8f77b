//! Every format as input, as reference and in the hands of its contenders. What is not installed
//! is printed and passed over.

use std::path::{Path, PathBuf};
use std::time::Duration;

use regauge::values::write_values;
use regauge::{Ext, Format, OnLoss, Origin, TypeBuf, Value};
use regauge_measure::report::{Loss, Reference, Report, Row};
use regauge_measure::{Options, Quiet, contenders, run};
use regauge_report::{Layout, render};

/// Quick options for this input.
fn options(folder: &Path, input: PathBuf) -> Options {
    let mut options = Options::new(input, vec![env!("CARGO_BIN_EXE_regauge-contender").into()]);
    options.rounds = Some(1);
    options.sample_min = Duration::from_micros(200);
    options.data_dir = Some(folder.join("data"));
    options.python = std::env::var_os("REGAUGE_PYTHON").map(PathBuf::from);
    options
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// A document that every format holds.
fn plain() -> Value {
    Value::Map(vec![
        (text("name"), text("naïve yes 1e3 0o7 2026-11-21 \u{1F600}")),
        (text("like a number"), text("1e3")),
        (text("like a truth value"), text("no")),
        (text("lines"), text("one\ntwo: three\n# four\n")),
        (text("none"), Value::Null),
        (text("yes"), Value::Bool(true)),
        (text("integers"), Value::Array(vec![Value::Int(0), Value::Int(-7), Value::Int(1 << 40)])),
        (text("doubles"), Value::Array(vec![Value::F64(0.1), Value::F64(1e300), Value::F64(2.0)])),
        (text("empty"), Value::Array(vec![Value::Map(vec![]), Value::Array(vec![]), text("")])),
    ])
}

/// A document with what some formats lack.
fn rich() -> Value {
    let tuple = TypeBuf { origin: Origin::Python, kind: "tuple".into(), name: String::new() };
    Value::Map(vec![
        (text("name"), text("first")),
        (text("symbol"), Value::Ext(Ext::Symbol("red").into())),
        (text("bytes"), Value::Bytes(vec![0, 255])),
        (text("pair"), Value::Typed(Box::new(tuple), Box::new(Value::Array(vec![Value::Int(1)])))),
        (Value::Int(1), text("one")),
    ])
}

fn written(documents: &[Value], format: Format, on_loss: OnLoss) -> Vec<u8> {
    let mut options = regauge::Options::new(format, format);
    options.on_loss = on_loss;
    write_values(documents, &options).unwrap().0
}

fn measured(folder: &Path, input: PathBuf, only: &[&str], adapters: &[&str]) -> Report {
    let mut options = options(folder, input);
    options.only = only.iter().map(|&one| one.to_owned()).collect();
    // Nothing is ranked here, and which core is quiet is a note of its own.
    options.pin = false;
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contenders");
    options.adapters = adapters.iter().map(|name| tests.join(format!("{name}.py"))).collect();
    run(&options, &mut Quiet).unwrap()
}

fn reference<'r>(report: &'r Report, format: &str) -> &'r Reference {
    let found = report.references.iter().find(|one| one.format == format);
    found.unwrap_or_else(|| panic!("no {format}: {:?}", report.notes))
}

fn kinds(losses: &[Loss]) -> Vec<(&str, u64)> {
    losses.iter().map(|loss| (loss.kind.as_str(), loss.count)).collect()
}

const FORMATS: [Format; 7] = [
    Format::Json,
    Format::Yaml,
    Format::Msgpack,
    Format::Bson,
    Format::Cbor,
    Format::Marshal,
    Format::Pickle,
];

#[test]
fn every_format_is_read_and_every_format_is_written_from_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut sizes = Vec::new();
    for from in FORMATS {
        let input = folder.path().join(format!("a.{}", from.suffixes()[0]));
        std::fs::write(&input, written(&[plain()], from, OnLoss::Refuse)).unwrap();
        let report = measured(folder.path(), input, &["regauge (json)"], &[]);
        assert_eq!((report.input.format.as_str(), report.input.documents), (from.name(), 1));
        let found: Vec<(String, u64)> =
            report.references.iter().map(|one| (one.format.clone(), one.bytes)).collect();
        assert_eq!(found.len(), FORMATS.len() + 3, "{from}: {:?}", report.notes);
        assert!(report.references.iter().all(|one| one.losses.is_empty()), "{from}");
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        sizes.push(found);
    }
    // The bytes do not depend on the format that they came in.
    assert!(sizes.windows(2).all(|pair| pair[0] == pair[1]), "{sizes:?}");
}

#[test]
fn a_folder_is_a_stream_of_all_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("cache");
    std::fs::create_dir_all(input.join("deeper")).unwrap();
    let one = |number: i64| Value::Map(vec![(text("n"), Value::Int(number))]);
    let put = |name: &str, documents: &[Value], format| {
        std::fs::write(input.join(name), written(documents, format, OnLoss::Refuse)).unwrap();
    };
    put("part10.pickle", &[one(4)], Format::Pickle);
    put("part2.yaml", &[one(2), one(3)], Format::Yaml);
    put("part1.json", &[one(1)], Format::Json);
    put("deeper/marshalled", &[one(0)], Format::Marshal);
    std::fs::write(input.join("readme"), "What this folder holds.\n").unwrap();
    std::fs::write(input.join(".hidden"), "{").unwrap();
    let report = measured(folder.path(), input.clone(), &["regauge (cbor)", "ciborium"], &[]);
    assert_eq!(report.input.documents, 5);
    assert_eq!(report.input.format, "marshal, json, yaml, pickle");
    assert_eq!(reference(&report, "ndjson").bytes, 5 * 8);
    assert_eq!(
        report.notes,
        ["The file readme in the folder was skipped because neither its name nor its first bytes \
          identify a format."]
    );
    assert!(report.rows.iter().all(Row::is_timed) && report.rows.len() == 2, "{report:?}");

    let broken = input.join("part3.json");
    std::fs::write(&broken, "[1,").unwrap();
    let error = run(&options(folder.path(), input), &mut Quiet).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: json: byte 3", broken.display())), "{error}");
}

#[test]
fn what_a_format_cannot_hold_is_told_of_the_format_and_not_of_its_libraries() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.json");
    let mut bytes = written(&[rich()], Format::Json, OnLoss::Wrap);
    // The notation is for those who ask for it: a file of Marshal has the values themselves.
    let input = match bytes.starts_with(b"{") {
        true => {
            let mut options = regauge::Options::new(Format::Json, Format::Marshal);
            options.unwrap = true;
            options.objects = Some(regauge::Objects::Data);
            bytes = regauge::convert_bytes(&bytes, &options).unwrap();
            input.with_extension("marshal")
        }
        false => input,
    };
    std::fs::write(&input, &bytes).unwrap();
    let report = measured(folder.path(), input, &["regauge ("], &[]);
    assert_eq!(
        kinds(&reference(&report, "json").losses),
        [("bytes to text", 1), ("key to text", 1), ("symbol to text", 1)]
    );
    assert_eq!(kinds(&reference(&report, "yaml").losses), [("symbol to text", 1)]);
    assert_eq!(kinds(&reference(&report, "marshal").losses), []);
    let native: Vec<&Row> = report.rows.iter().filter(|row| row.runtime.name() == "Rust").collect();
    assert!(native.len() >= 7 && native.iter().all(|row| row.losses.is_empty()), "{native:?}");
    let table = render(&report, Layout::default());
    assert!(table.contains("| lost by the format"), "{table}");
    assert!(table.contains("1 × symbol to text; first in document 1 at $.symbol"), "{table}");
}

#[test]
fn a_document_of_bson_is_a_map() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.json");
    std::fs::write(&input, "[1, 2]").unwrap();
    let report = measured(folder.path(), input, &["bson"], &[]);
    assert_eq!(kinds(&reference(&report, "bson").losses), [("document to map", 1)]);
    let ours = report.rows.iter().find(|row| row.contender == "regauge (bson)").unwrap();
    assert!(ours.is_timed() && ours.losses.is_empty(), "{ours:?}");
}

#[test]
fn contenders_of_a_binary_format_are_lossy_or_wrong_as_in_any_other() {
    if !regauge_testdata::has("python3", &["--version"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.pickle");
    let document = match rich() {
        Value::Map(mut pairs) => {
            pairs.remove(1);
            Value::Map(pairs)
        }
        _ => unreachable!(),
    };
    std::fs::write(&input, written(&[document], Format::Pickle, OnLoss::Refuse)).unwrap();
    let report =
        measured(folder.path(), input, &["test ", "pickle"], &["lossy_pickle", "wrong_pickle"]);
    let row = |name: &str| report.rows.iter().find(|row| row.contender == name).unwrap();
    let lossy = row("test lossy pickle");
    assert!(lossy.is_timed() && lossy.wrong.is_empty(), "{lossy:?}");
    assert_eq!(kinds(&lossy.losses), [("key to text", 1), ("tuple to list", 1)]);
    let wrong = row("test wrong pickle");
    assert!(!wrong.is_timed());
    assert_eq!(kinds(&wrong.wrong), [("value", 1)]);
    let exact = row("pickle (protocol 0)");
    assert!(exact.is_timed() && exact.losses.is_empty(), "{exact:?}");
    assert_eq!(exact.format, "pickle-0");
}

/// Every adapter gives back a small document of its own format as it was. One that does not on
/// purpose is listed here with what it loses.
#[test]
fn every_contender_gives_back_a_small_document() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.json");
    std::fs::write(&input, written(&[plain()], Format::Json, OnLoss::Refuse)).unwrap();
    let report = measured(folder.path(), input, &[], &[]);
    let mut records = String::new();
    for number in 1..=3 {
        records.push_str(&format!(
            "{{\"leader\":\"00000nam a2200000 a 4500\",\"fields\":[{{\"001\":\"ocm{number}\"}},\
             {{\"245\":{{\"subfields\":[{{\"a\":\"Naïve /\"}},{{\"c\":\"yes: 1e3\"}}],\
             \"ind1\":\"1\",\"ind2\":\"0\"}}}}]}}\n"
        ));
    }
    let catalogue = folder.path().join("a.marc.json");
    std::fs::write(&catalogue, records).unwrap();
    let catalogue = measured(folder.path(), catalogue, &[], &[]);
    let mut seen = std::collections::BTreeSet::new();
    let mut faults = Vec::new();
    for (what, report) in [("document", &report), ("catalogue", &catalogue)] {
        for one in &report.missing {
            println!("skipped, not installed: {} ({})", one.contender, one.runtime.name());
        }
        for row in &report.rows {
            let who = format!("{} ({})", row.contender, row.runtime.name());
            if row.failure.is_some() || !row.wrong.is_empty() || !row.is_timed() {
                faults.push(format!("{who}, {what}: {:?} {:?}", row.failure, row.wrong));
            }
            let lost: Vec<&str> = row.losses.iter().map(|loss| loss.kind.as_str()).collect();
            let known: &[&str] = match row.library.as_str() {
                // Libraries without maps in their order.
                "serde_json" | "rmp-serde" | "serde-saphyr" | "serde-pickle" => &["key order"],
                // Their dictionaries name the indicators of a field first.
                "pymarc" | "mrrc" | "marc" => &["key order"],
                // They write YAML 1.1, in which these texts need no quotes.
                "PyYAML" | "psych" => &["read otherwise by YAML 1.2"],
                // JavaScript has one kind of number.
                _ if row.runtime.id() == "node" => &["double to integer"],
                _ => &[],
            };
            if !lost.iter().all(|kind| known.contains(kind)) {
                faults.push(format!("{who}, {what}: lost {:?}", row.losses));
            }
            seen.insert((row.contender.clone(), row.runtime.name()));
        }
        let names = |list: &[Reference]| -> Vec<String> {
            list.iter().map(|one| one.format.clone()).collect()
        };
        assert!(names(&report.references).len() >= 10, "{:?}", report.notes);
    }
    let missing: Vec<_> = report.missing.iter().chain(&catalogue.missing).collect();
    for one in contenders() {
        assert!(
            seen.contains(&(one.name.clone(), one.runtime.name()))
                || missing.iter().any(|gone| gone.contender == one.name),
            "{} took part in nothing",
            one.name
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    println!("{} contenders gave back what they got", seen.len());
}

/// Psych writes bytes under a tag of its own, and each reader's output is read by its own rules.
#[test]
fn bytes_in_yaml_come_back_from_ruby() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.yaml");
    std::fs::write(&input, "bytes: !!binary gIGC\ntext: :a 1,000\n").unwrap();
    let report = measured(folder.path(), input, &["safe_load", "pyyaml (safe)"], &[]);
    for one in &report.missing {
        println!("skipped, not installed: {} ({})", one.contender, one.runtime.name());
    }
    // Psych comes with Ruby, which CI has.
    let has_psych = report.rows.iter().any(|row| row.library == "psych");
    assert!(has_psych || std::env::var_os("CI").is_none(), "{:?}", report.missing);
    for row in &report.rows {
        assert!(row.is_timed() && row.wrong.is_empty(), "{row:?}");
    }
}

#[test]
fn no_loader_that_looks_for_classes_is_given_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.json");
    std::fs::write(&input, r#"{"^o": "Object"}"#).unwrap();
    let report = measured(folder.path(), input, &["oj", "regauge (json)"], &[]);
    assert!(report.rows.iter().all(|row| row.contender != "oj (object)"));
    assert!(
        report.notes.iter().any(|note| note.starts_with("oj (object) (Ruby) was left out")),
        "{:?}",
        report.notes
    );

    // A class of Ruby's, a tag of YAML's: their data stays, and what is lost is told.
    let input = folder.path().join("a.yaml");
    std::fs::write(&input, "made: !ruby/object:Gem::Version {version: '1.0'}\n").unwrap();
    let report = measured(folder.path(), input, &["regauge ("], &[]);
    for format in ["json", "yaml", "marshal", "pickle"] {
        assert_eq!(kinds(&reference(&report, format).losses), [("class or tag", 1)], "{format}");
    }
}
