//! CPython's own test literals, and real files.

use std::path::Path;

use regauge_testdata::{needs_data, path};

use super::*;

fn unhex(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Returns the value in the notation of Python's `repr`, as far as the suite needs it.
fn repr(value: &Value) -> String {
    let join = |values: &[Value]| values.iter().map(repr).collect::<Vec<_>>().join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(v) => if *v { "True" } else { "False" }.to_owned(),
        Value::Int(v) => v.to_string(),
        Value::F64(v) => format!("{v:?}"),
        Value::Text(v) => {
            let mut text = String::from("'");
            for c in v.chars() {
                match c {
                    '\n' => text.push_str("\\n"),
                    '\0' => text.push_str("\\x00"),
                    '\\' => text.push_str("\\\\"),
                    c => text.push(c),
                }
            }
            text.push('\'');
            text
        }
        Value::Bytes(v) => {
            let mut text = String::from("b'");
            for byte in v {
                match byte {
                    0x20..=0x7E => text.push(char::from(*byte)),
                    byte => text.push_str(&format!("\\x{byte:02x}")),
                }
            }
            text.push('\'');
            text
        }
        Value::Array(values) => format!("[{}]", join(values)),
        Value::Map(pairs) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(key, value)| format!("{}: {}", repr(key), repr(value)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
        // The suite shows a value at every place where it occurs.
        Value::Anchor(_, value) => repr(value),
        Value::Typed(t, value) => match (t.kind.as_str(), &**value) {
            ("tuple", Value::Array(values)) if values.len() == 1 => format!("({},)", join(values)),
            ("tuple", Value::Array(values)) => format!("({})", join(values)),
            ("set", Value::Array(values)) if values.is_empty() => "set()".to_owned(),
            ("set", Value::Array(values)) => format!("{{{}}}", join(values)),
            ("frozenset", Value::Array(values)) => format!("frozenset({{{}}})", join(values)),
            ("bytearray", bytes) => format!("bytearray({})", repr(bytes)),
            (kind, value) => format!("{kind} {}: {}", t.name, repr(value)),
        },
        Value::Ext(v) => match v.as_ext() {
            Ext::Complex(real, imaginary) => format!("({real:?}{imaginary:+?}j)").replace(".0", ""),
            other => format!("{other:?}"),
        },
        other => format!("{other:?}"),
    }
}

/// Replaces aliases with their values.
fn resolve(value: &mut Value, known: &mut Vec<(u64, Value)>) {
    match value {
        Value::Alias(id) => {
            if let Some((_, found)) = known.iter().find(|(known, _)| known == id) {
                *value = found.clone();
            }
        }
        Value::Anchor(id, inner) => {
            resolve(inner, known);
            known.push((*id, (**inner).clone()));
            *value = (**inner).clone();
        }
        Value::Array(values) => values.iter_mut().for_each(|value| resolve(value, known)),
        Value::Map(pairs) => pairs.iter_mut().for_each(|(_, value)| resolve(value, known)),
        Value::Typed(_, value) => resolve(value, known),
        _ => {}
    }
}

/// Cases in which our answer differs from CPython 3.11: name, bytes, reason.
const DIFFERENT: &[(&str, &[u8], &str)] = &[];

#[test]
fn literals_of_cpython() {
    let suites = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/suites");
    let lines = suites.join("cpython-pickletester/pickletester.jsonl");
    let lines = std::fs::read_to_string(lines).unwrap();
    let (mut cases, mut failed) = (0, Vec::new());
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| case[name].as_str().unwrap_or_default();
        let (name, expect, answer) = (field("name"), field("expect"), field("value"));
        let bytes = unhex(field("hex"));
        cases += 1;
        let listed = DIFFERENT.iter().any(|(one, same, _)| *one == name && *same == bytes);
        let limits = Limits::default();
        let mut builder = Builder::new(&limits);
        let options = Options { exact: true, ..Options::default() };
        let mut reader = Reader::from_slice(Parser::new(options, limits), &bytes);
        let read = match reader.next(&mut builder) {
            Ok(true) => Ok(builder.take().unwrap()),
            Ok(false) => Err(Error::truncated("nothing there")),
            Err(error) => Err(error),
        };
        let shown = match read {
            Ok(mut value) => {
                resolve(&mut value, &mut Vec::new());
                Ok(repr(&value))
            }
            Err(error) => Err(error.to_string()),
        };
        let same = match (expect, &shown) {
            ("error", shown) => shown.is_err(),
            // Python's answer is the class that it did not find, and the rest is unknown.
            ("needs-class", Ok(_)) => {
                let names = |one: &Import| format!("{}.{}", one.module, one.name) == answer;
                survey(&bytes, &limits).imports.iter().any(names)
            }
            ("needs-class", Err(_)) => true,
            ("value", Ok(shown)) if name.starts_with("DATA") => is_data(name, shown),
            ("value", Ok(shown)) => shown == answer,
            _ => false,
        };
        if same == listed {
            failed.push(format!("{name} {}: {expect} {answer} / {shown:?}", bytes.escape_ascii()));
        }
    }
    println!("cpython-pickletester: {cases} cases");
    assert!(failed.is_empty(), "{} of {cases}:\n{}", failed.len(), failed.join("\n"));
    assert_eq!(cases, 239, "the number of cases in the suite has changed");
}

/// Checks the named pickles, of values that have no text in Python's `repr`.
fn is_data(name: &str, shown: &str) -> bool {
    let data = |kind: &str| {
        let fields = match name {
            "DATA3" | "DATA4" => "'bar': 2, 'foo': 1",
            _ => "'foo': 1, 'bar': 2",
        };
        let instance = format!("{kind} __main__.C: {{{fields}}}");
        let tuple = format!("('abc', 'abc', {instance}, {instance})");
        format!(
            "[0, 1, 2.0, (3+0j), 1, -1, 255, -255, -256, 65535, -65535, -65536, 2147483647, \
             -2147483647, -2147483648, {tuple}, {tuple}, 5]"
        )
    };
    shown
        == match name {
            "DATA0" | "DATA1" => data("reconstructed"),
            "DATA2" | "DATA3" | "DATA4" => data("object"),
            "DATA_XRANGE" => "range : [0, 5, 1]".to_owned(),
            "DATA_SET" => "{1, 2}".to_owned(),
            "DATA_SET2" => "{3}".to_owned(),
            // Two objects: the cookie is a dict with an entry of its own class.
            "DATA_COOKIE" => {
                return shown.starts_with("new http.cookies.SimpleCookie: {'args': []");
            }
            "DATA_UEERR" => {
                "call builtins.UnicodeEncodeError: {'args': ['ascii', 'foo', 0, 1, 'bad']}"
                    .to_owned()
            }
            _ => return false,
        }
}

needs_data!(files_of_joblib);
fn files_of_joblib() {
    let (mut whole, mut broken) = (0, 0);
    for entry in std::fs::read_dir(path("pickle/joblib")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|suffix| suffix != "pkl") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let seen = survey(&bytes, &Limits::default());
        assert!(!seen.imports.is_empty(), "{}", path.display());
        // From joblib 0.10 on, the bytes of arrays are between the opcodes.
        let mixed = path.to_string_lossy().contains("0.10.0");
        assert_eq!(seen.error.is_some(), mixed, "{}: {seen:?}", path.display());
        assert_eq!(seen.verdict(), Verdict::UnknownCode, "{}: {seen:?}", path.display());
        if mixed {
            broken += 1;
            continue;
        }
        let strings = Options { strings: Strings::Latin1, exact: true, ..Options::default() };
        let value =
            read_with(&bytes, strings).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(matches!(value, Value::Array(_)), "{}", path.display());
        whole += 1;
    }
    println!("joblib: {whole} read, {broken} broken");
    assert!(whole > 0 && broken > 0);
}
