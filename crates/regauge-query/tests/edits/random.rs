//! Random edits of random documents.

use regauge::{ErrorKind, Format, Options, Value, read_values};
use regauge_query::Filter;
use regauge_testdata::Random;

use crate::{edited_with, options};

/// Values that need quotes, lines or care.
const VALUES: [&str; 16] = [
    "1",
    "-2.5",
    "true",
    "\"\"",
    "\"a\"",
    "\"a: b\"",
    "\"- x\"",
    "\"# no\"",
    "\"x #y\"",
    "\"it's\"",
    "\"two\\nlines\\n\"",
    "\"q\\\"\\\\\"",
    "[]",
    "{}",
    "[1, [\"a\", {}]]",
    "{\"k\": {\"l\": [1, 2]}, \"m\": \"n\"}",
];

/// Lines of YAML, with comments and blank lines, below a column.
fn random_yaml(random: &mut Random, column: usize, depth: usize, text: &mut String) {
    let is_map = random.below(3) > 0;
    let flows = [
        "[1, 'b', {c: d}]",
        "{a: 1, b: [2, 3]}",
        "[]",
        "{ x: \"y\" }",
        "[\n                1, # one\n                2\n                ]",
    ];
    let scalars =
        ["1", "text", "'single'", "\"double\"", "null", "", "a # c", "two\n            words"];
    for entry in 0..1 + random.below(4) {
        if random.below(4) == 0 {
            *text += random.of(&["\n", "# far\n", "\n\n"]);
        }
        if random.below(4) == 0 {
            *text += &format!("{}# near\n", " ".repeat(column));
        }
        *text += &" ".repeat(column);
        *text += &if is_map { format!("k{entry}:") } else { "-".to_owned() };
        match random.below(if depth > 0 { 5 } else { 3 }) {
            0 => *text += &format!(" {}\n", random.of(&flows)),
            1 => *text += &format!(" |\n{0}  block\n{0}   # text\n", " ".repeat(column)),
            3 if !is_map => {
                let start = text.len();
                random_yaml(random, column + 2, depth - 1, text);
                let inner = text.split_off(start);
                // On the line of the dash, if nothing stands above.
                let is_first = inner.starts_with(' ') && !inner.trim_start().starts_with('#');
                *text += &if is_first {
                    format!(" {}", inner.trim_start())
                } else {
                    format!("\n{inner}")
                };
            }
            3 | 4 => {
                *text += random.of(&["\n", " # here\n"]);
                random_yaml(random, column + 2, depth - 1, text);
            }
            _ => *text += &format!(" {}\n", random.of(&scalars)),
        }
    }
}

/// Returns a filter that sets, adds, removes or renames something in a document.
fn random_filter(random: &mut Random) -> String {
    let value = random.of(&VALUES);
    let pick = format!("([paths] | if . == [] then [] else .[{} % length] end)", random.below(50));
    match random.below(6) {
        0 => format!("{pick} as $p | if $p == [] then . else delpaths([$p]) end"),
        1 => format!("{pick} as $p | setpath($p; {value})"),
        2 => format!("if type == \"object\" then .new = {value} else . + [{value}] end"),
        3 => format!("(.. | arrays) |= . + [{value}]"),
        4 => {
            "(.. | objects) |= with_entries(.key |= if . == \"k1\" then \"new\" else . end)".into()
        }
        _ => format!("(.. | objects) |= . + {{new: {value}}}"),
    }
}

/// Edits random documents. Whatever is not refused must read as the filter says, keep what it does not
/// touch, and be left alone the second time.
fn random_edits(format: Format, seeds: u64, make: fn(&mut Random) -> String) -> (usize, usize) {
    let (mut done, mut refusals) = (0, 0);
    for seed in 1..=seeds {
        let mut random = Random::new(seed);
        let text = make(&mut random);
        let options = options(format);
        let old = read_values(text.as_bytes(), &options);
        let old = old.unwrap_or_else(|error| panic!("{seed}: {error}\n{text}")).remove(0);
        let code = random_filter(&mut random);
        let filter = Filter::compile(&code, &[]).unwrap();
        let wanted = filter.run(&old).unwrap().remove(0);
        match edited_with(&options, &code, &text) {
            Ok(edited) => {
                let got = read_values(edited.as_bytes(), &options).unwrap().remove(0);
                assert_eq!(sorted(&got), sorted(&wanted), "{seed}: {code}\n{text}\n{edited}");
                assert_eq!(edited_with(&options, ".", &edited).unwrap(), edited);
                // Comments about other things are still there: those that no change can remove.
                let count = |text: &str| text.matches("# far").count();
                if code.starts_with("if type") {
                    assert_eq!(count(&text), count(&edited), "{seed}: {code}\n{text}\n{edited}");
                    let kept = |line: &&str| line.trim_start().starts_with('#');
                    for line in text.lines().filter(kept) {
                        assert!(edited.contains(line), "{seed}: {code}\n{text}\n{edited}");
                    }
                }
                done += 1;
            }
            Err(error) => {
                assert!(error.kind() == ErrorKind::Refused, "{seed}: {code}: {error}\n{text}");
                if std::env::var_os("SHOW").is_some() {
                    eprintln!("{seed}: {code}: {error}\n{text}----");
                }
                refusals += 1;
            }
        }
    }
    (done, refusals)
}

/// Returns the value with its keys in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        Value::Map(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            pairs.sort_by_key(|(key, _)| key.to_string());
            Value::Map(pairs)
        }
        other => other.clone(),
    }
}

#[test]
fn random_yaml_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        random_yaml(random, 0, 3, &mut text);
        text
    };
    let (done, refusals) = random_edits(Format::Yaml, 1000, make);
    assert!(done > 10 * refusals, "{done} edited, {refusals} refused");
}

#[test]
fn random_json_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        random_yaml(random, 0, 3, &mut text);
        let options = options(Format::Yaml);
        let value = read_values(text.as_bytes(), &options).unwrap().remove(0);
        let mut json = Options::new(Format::Json, Format::Json);
        json.json_write.indent = [None, Some(2), Some(4)][random.below(3)];
        let (bytes, _) = regauge::write_values(&[value], &json).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        if random.below(2) == 0 { text.replace(",\n", ", // note\n") } else { text }
    };
    let (_, refusals) = random_edits(Format::Json, 1000, make);
    assert_eq!(refusals, 0);
}

#[test]
fn random_toml_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        let values = [
            "1",
            "'a'",
            "\"b\" # c",
            "[1, 2]",
            "[\n  1, # one\n  2,\n]",
            "{ a = 1, b = [] }",
            "\"\"\"\nx\n\"\"\"",
        ];
        let headers = ["", "[a]", "[a.b]", "[[c]]", "[[c]]", "[c.d]", "[e.f.g]"];
        for (at, header) in headers.iter().enumerate() {
            if at > 0 {
                text += random.of(&["\n", "", "\n# far\n\n", "\n# about it\n"]);
                text += &format!("{header}\n");
            }
            for key in 0..random.below(4) {
                text += random.of(&["", "", "# near\n", "\n"]);
                text += &format!("k{key} = {}\n", random.of(&values));
            }
        }
        text
    };
    let (done, refusals) = random_edits(Format::Toml, 1000, make);
    assert!(done > refusals, "{done} edited, {refusals} refused");
}
