//! Writes reference bytes of plain documents in one format, and finds what the format itself loses.
//!
//! A format that can hold the data holds it exactly. Otherwise the nearest value that it can hold
//! is written, and the difference is found by reading it back and comparing. So a loss of the
//! format is never mistaken for a loss of a library, and is always reported.

use std::fs::File;
use std::path::Path;

use regauge::compare::Comparison;
use regauge::convert;
use regauge::documents::Documents;
use regauge::ext::{Origin, TypeBuf};
use regauge::output::FileOutput;
use regauge::values::{without_references, write_each};
use regauge::{ErrorKind, Format, Limits, Objects, OnLoss, Value};

use super::values::Values;
use crate::model::error::Error;
use crate::model::report::{Example, Loss};

/// The result of writing a format.
pub(super) enum Written {
    /// It holds everything but this.
    Done(Vec<Loss>),
    /// Why it cannot hold the data at all.
    LeftOut(String),
}

/// A format, and the protocol of a pickle if it is not the default.
type Target = (Format, Option<u8>);

/// Writes the documents of a base file in a format.
pub(super) fn write_data(
    base: &Path,
    target: Target,
    is_stream: bool,
    out: &Path,
) -> Result<Written, Error> {
    let strict = match attempt(base, target, is_stream, out, OnLoss::Refuse)? {
        Ok(false) => return Ok(Written::Done(Vec::new())),
        other => other,
    };
    if strict.is_err()
        && let Err(reason) = attempt(base, target, is_stream, out, OnLoss::Approximate)?
    {
        let place = reason.path().map_or(String::new(), |path| format!(" (at {path})"));
        return Ok(Written::LeftOut(format!("{}{place}", reason.message())));
    }
    Ok(Written::Done(losses(base, out, target.0)?))
}

/// Returns whether the documents had to be changed before they could be written; or why they cannot
/// be.
fn attempt(
    base: &Path,
    (format, protocol): Target,
    is_stream: bool,
    out: &Path,
    on_loss: OnLoss,
) -> Result<regauge::Result<bool>, Error> {
    let mut documents = Values::open_base(base)?;
    let file = File::create(out).map_err(Error::io("write", out))?;
    let output = FileOutput::new(file).map_err(Error::io("write", out))?;
    let mut options = convert::Options::new(Format::Msgpack, format);
    options.on_loss = on_loss;
    options.documents = Documents::Keep;
    options.limits = Limits::NONE;
    options.yaml_write.document_start = is_stream;
    options.pickle.protocol = protocol;
    if on_loss == OnLoss::Approximate {
        options.objects = Some(Objects::Data);
    }
    let mut changed = false;
    let next = || -> regauge::Result<Option<Value>> {
        let Some(document) = documents.next()? else { return Ok(None) };
        let (document, is_changed) = prepared(document, format)?;
        changed |= is_changed;
        Ok(Some(document))
    };
    match write_each(next, output, &options) {
        Ok(_) => Ok(Ok(changed)),
        Err(error) => match error.kind() {
            ErrorKind::Refused | ErrorKind::Unrepresentable | ErrorKind::Limit => Ok(Err(error)),
            _ => Err(Error::Input(super::told(&error))),
        },
    }
}

/// Returns a document as the writer gets it, and whether that changes it.
fn prepared(document: Value, format: Format) -> regauge::Result<(Value, bool)> {
    let mut changed = false;
    let mut document = document;
    if matches!(format, Format::Yaml | Format::Marshal | Format::Pickle) {
        drop_classes(&mut document, format, &mut changed);
    }
    // CBOR has references, but as tags of an extension that most libraries hand on as they are.
    if !matches!(format, Format::Yaml | Format::Marshal | Format::Pickle)
        && contains(&document, &|value| matches!(value, Value::Anchor(..) | Value::Alias(_)))
    {
        let (value, count) = without_references(&document, &Limits::default())?;
        document = value;
        changed |= count > 0;
    }
    // Text formats keep the digits of a decimal, but as a number, which all libraries read as a
    // double.
    changed |= format.is_text() && contains(&document, &|value| matches!(value, Value::Decimal(_)));
    if format == Format::Bson && !matches!(document, Value::Map(_)) {
        document = in_map(document);
        changed = true;
    }
    Ok((document, changed))
}

/// Wraps a value in a map under the empty key, because a BSON document is a map.
fn in_map(document: Value) -> Value {
    Value::Map(vec![(Value::Text(String::new()), document)])
}

/// Takes away what makes a library look for a class, and perhaps run its code: contenders are
/// given data only. What Python itself has, and Ruby's regular expressions, encodings and defaults
/// of hashes, name no class of the user's.
fn drop_classes(value: &mut Value, format: Format, changed: &mut bool) {
    match value {
        Value::Array(values) => {
            values.iter_mut().for_each(|value| drop_classes(value, format, changed));
        }
        Value::Map(pairs) => {
            for (key, value) in pairs {
                drop_classes(key, format, changed);
                drop_classes(value, format, changed);
            }
        }
        Value::Anchor(_, inside) => drop_classes(inside, format, changed),
        Value::Typed(t, inside) => {
            drop_classes(inside, format, changed);
            if !is_harmless(t, format) {
                *value = std::mem::replace(inside, Value::Null);
                *changed = true;
            }
        }
        _ => {}
    }
}

fn is_harmless(t: &TypeBuf, format: Format) -> bool {
    match (format, t.origin) {
        (Format::Marshal, Origin::Ruby) => {
            matches!(t.kind.as_str(), "regexp" | "encoding" | "symbol" | "default" | "identity")
        }
        // All of Python's own containers but `defaultdict`, which names a function.
        (Format::Pickle, Origin::Python) => !matches!(
            t.kind.as_str(),
            "defaultdict"
                | "global"
                | "object"
                | "reconstructed"
                | "instance"
                | "call"
                | "new"
                | "new_ex"
                | "instance_call"
                | "changed"
                | "persistent_id"
                | "extension"
                | "buffer"
                | "readonly_buffer"
        ),
        // Types of other origins no writer takes for its own.
        (Format::Yaml, Origin::Yaml) => false,
        _ => true,
    }
}

/// Returns whether a value somewhere in the document is of a kind.
fn contains(value: &Value, kind: &dyn Fn(&Value) -> bool) -> bool {
    kind(value)
        || match value {
            Value::Array(values) => values.iter().any(|value| contains(value, kind)),
            Value::Map(pairs) => pairs.iter().any(|(_, value)| contains(value, kind)),
            Value::Typed(_, inside) | Value::Anchor(_, inside) => contains(inside, kind),
            _ => false,
        }
}

/// Returns what the written documents lost from the originals.
fn losses(base: &Path, out: &Path, format: Format) -> Result<Vec<Loss>, Error> {
    let (mut before, mut after) = (Values::open_base(base)?, Values::open(out, format)?);
    let here = |error: regauge::Error| Error::Input(super::told(&error));
    let mut comparison = Comparison::new();
    let mut put_into_maps = Loss { kind: "document to map".into(), count: 0, examples: Vec::new() };
    let mut number = 0;
    while let Some(original) = before.next().map_err(here)? {
        number += 1;
        let mut copy = after.next().map_err(here)?;
        if format == Format::Bson && !matches!(original, Value::Map(_)) {
            copy = match copy {
                Some(Value::Map(mut pairs)) if pairs.len() == 1 => pairs.pop().map(|pair| pair.1),
                other => other,
            };
            put_into_maps.count += 1;
            if put_into_maps.examples.is_empty() {
                let what = original.type_name();
                put_into_maps.examples.push(Example {
                    document: number,
                    path: "$".into(),
                    before: what.into(),
                    after: format!("a map with {what} under the key \"\""),
                });
            }
        }
        comparison.next(Some(&original), copy.as_ref());
    }
    let mut list: Vec<Loss> = comparison.changes().iter().map(Loss::of).collect();
    if put_into_maps.count > 0 {
        list.insert(0, put_into_maps);
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use regauge::matrix;

    /// Writes a base file of these documents, in its own folder.
    fn base(documents: &[Value]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("base");
        let mut options = convert::Options::new(Format::Msgpack, Format::Ndjson);
        options.on_loss = OnLoss::Wrap;
        let (bytes, _) = regauge::values::write_values(documents, &options).unwrap();
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    /// Returns, kind by kind, what each format lost from a document that holds one value of every
    /// kind.
    fn of(format: Format, documents: &[Value]) -> Vec<(String, u64)> {
        let (folder, base) = base(documents);
        let out = folder.path().join("out");
        match write_data(&base, (format, None), true, &out).unwrap() {
            Written::Done(losses) => {
                losses.into_iter().map(|loss| (loss.kind, loss.count)).collect()
            }
            Written::LeftOut(reason) => panic!("{format}: {reason}"),
        }
    }

    const FORMATS: [Format; 7] = [
        Format::Ndjson,
        Format::Yaml,
        Format::Msgpack,
        Format::Bson,
        Format::Cbor,
        Format::Marshal,
        Format::Pickle,
    ];

    #[test]
    fn every_kind_of_value_is_held_or_its_loss_is_told() {
        for kind in matrix::kinds() {
            let (folder, base) = base(std::slice::from_ref(&kind.example));
            for format in FORMATS {
                let out = folder.path().join("out");
                let losses = match write_data(&base, (format, None), true, &out).unwrap() {
                    Written::Done(losses) => losses,
                    Written::LeftOut(reason) => {
                        // Without references, a cycle has no end.
                        assert_eq!(kind.name, "cycles", "{format}: {reason}");
                        continue;
                    }
                };
                // What the format itself can hold round-trips; everything else is reported.
                let read = |path: &Path, format| {
                    let mut values = Values::open(path, format).unwrap();
                    values.next().unwrap().unwrap()
                };
                let before = Values::open_base(&base).unwrap().next().unwrap().unwrap();
                let same = matrix::same(&[before], &[read(&out, format)]);
                assert!(
                    same || !losses.is_empty() || kind.name.starts_with("shared"),
                    "{}, {format}: changed without a word",
                    kind.name
                );
                let wrong: Vec<&Loss> = losses
                    .iter()
                    .filter(|loss| ["value", "missing", "added"].contains(&loss.kind.as_str()))
                    .collect();
                assert!(wrong.is_empty(), "{}, {format}: {wrong:?}", kind.name);
            }
        }
    }

    #[test]
    fn losses_are_of_the_format() {
        let text = |v: &str| Value::Text(v.to_owned());
        let ext = |v: regauge::Ext<'_>| Value::Ext(v.into());
        let typed = |origin, kind: &str, name: &str, inside: Value| {
            let t = TypeBuf { origin, kind: kind.into(), name: name.into() };
            Value::Typed(Box::new(t), Box::new(inside))
        };
        let document = Value::Map(vec![
            (text("symbol"), ext(regauge::Ext::Symbol("red"))),
            (text("bytes"), Value::Bytes(vec![0, 255])),
            (text("day"), ext(regauge::Ext::Date("2026-11-21"))),
            (text("nan"), Value::F64(f64::NAN)),
            (text("tuple"), typed(Origin::Python, "tuple", "", Value::Array(vec![Value::Int(1)]))),
            (text("class"), typed(Origin::Ruby, "object", "Point", Value::Map(vec![]))),
            (Value::Int(1), text("one")),
            (
                text("big"),
                Value::BigInt { negative: false, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] },
            ),
        ]);
        let told = |format| -> String {
            let list = of(format, std::slice::from_ref(&document));
            list.iter()
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        assert_eq!(
            told(Format::Ndjson),
            "non-finite 1, bytes to text 1, key to text 1, symbol to text 1, time to text 1, \
             tuple to list 1, class or tag 1"
        );
        assert_eq!(told(Format::Yaml), "symbol to text 1, tuple to list 1, class or tag 1");
        assert_eq!(
            told(Format::Msgpack),
            "integer to double 1, symbol to text 1, time to text 1, tuple to list 1, class or tag 1"
        );
        assert_eq!(
            told(Format::Bson),
            "integer to double 1, key to text 1, time to text 1, tuple to list 1, class or tag 1"
        );
        assert_eq!(told(Format::Cbor), "tuple to list 1, class or tag 1");
        // The class would run code of the user's when it is loaded.
        assert_eq!(told(Format::Marshal), "tuple to list 1, class or tag 1");
        assert_eq!(told(Format::Pickle), "symbol to text 1, class or tag 1");
        assert_eq!(
            of(Format::Bson, &[Value::Array(vec![Value::Int(1)])]),
            [("document to map".to_owned(), 1)]
        );
    }
}
