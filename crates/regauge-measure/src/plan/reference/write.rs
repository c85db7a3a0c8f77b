//! Writes reference bytes of plain documents in one format, and finds what the format itself loses.
//!
//! A format that can hold the data holds it exactly. Otherwise the nearest value that it can hold
//! is written, and the difference is found by reading it back and comparing. So a loss of the
//! format is never mistaken for a loss of a library, and is always reported.

use std::borrow::Cow;
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

/// The documents as they were given.
pub(super) enum Originals<'o> {
    /// Those of a base file.
    Base(&'o Path),
    /// One, read once for all formats: threads that each build a large document wait for memory most of the time.
    One(&'o Document),
}

/// One document.
pub(super) struct Document {
    in_map: Value,
}

impl Document {
    /// Reads the only document of a base file.
    pub(super) fn read(base: &Path) -> Result<Option<Document>, Error> {
        let document = Values::open_base(base)?.next();
        let document = document.map_err(|error| Error::Input(super::told(&error)))?;
        Ok(document.map(|document| Document { in_map: in_map(document) }))
    }

    fn value(&self) -> &Value {
        let Value::Map(pairs) = &self.in_map else { unreachable!("made by in_map") };
        &pairs[0].1
    }
}

/// The documents, one after the other.
enum Given<'o> {
    Base(Values<'static>),
    One(Option<&'o Document>),
}

impl<'o> Originals<'o> {
    fn open(&self) -> Result<Given<'o>, Error> {
        Ok(match self {
            Originals::Base(base) => Given::Base(Values::open_base(base)?),
            Originals::One(document) => Given::One(Some(document)),
        })
    }
}

impl<'o> Given<'o> {
    fn next(&mut self) -> regauge::Result<Option<Cow<'o, Value>>> {
        match self {
            Given::Base(values) => Ok(values.next()?.map(Cow::Owned)),
            Given::One(document) => Ok(document.take().map(|one| Cow::Borrowed(one.value()))),
        }
    }
}

/// Writes documents in a format.
pub(super) fn write_data(
    originals: &Originals,
    target: Target,
    is_stream: bool,
    out: &Path,
) -> Result<Written, Error> {
    let mut strict = attempt(originals, target, is_stream, out, OnLoss::Refuse)?;
    if let Ok(Changes { values: false, into_maps }) = strict {
        return Ok(Written::Done(into_maps.into_iter().collect()));
    }
    if strict.is_err() {
        strict = attempt(originals, target, is_stream, out, OnLoss::Approximate)?;
    }
    match strict {
        Err(reason) => {
            let place = reason.path().map_or(String::new(), |path| format!(" (at {path})"));
            Ok(Written::LeftOut(format!("{}{place}", reason.message())))
        }
        Ok(Changes { into_maps, .. }) => {
            let mut list = losses(originals, out, target.0)?;
            list.splice(0..0, into_maps);
            Ok(Written::Done(list))
        }
    }
}

/// What was changed before documents were written.
#[derive(Default)]
struct Changes {
    /// Whether values in them were.
    values: bool,
    /// The documents that were put into a map, because one of BSON is a map.
    into_maps: Option<Loss>,
}

impl Changes {
    fn put_into_map(&mut self, document: &Value, number: u64) {
        let into_maps = self.into_maps.get_or_insert_with(|| {
            let what = document.type_name();
            let example = Example {
                document: number,
                path: "$".into(),
                before: what.into(),
                after: format!("a map with {what} under the key \"\""),
            };
            Loss { kind: "document to map".into(), count: 0, examples: vec![example] }
        });
        into_maps.count += 1;
    }
}

/// Returns what had to be changed before the documents could be written; or why they cannot be.
fn attempt(
    originals: &Originals,
    (format, protocol): Target,
    is_stream: bool,
    out: &Path,
    on_loss: OnLoss,
) -> Result<regauge::Result<Changes>, Error> {
    let mut documents = originals.open()?;
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
    let (mut changes, mut number) = (Changes::default(), 0);
    let next = || -> regauge::Result<Option<Cow<Value>>> {
        let Some(document) = documents.next()? else { return Ok(None) };
        number += 1;
        let document = prepared(document, format, &mut changes.values)?;
        if format != Format::Bson || matches!(*document, Value::Map(_)) {
            return Ok(Some(document));
        }
        changes.put_into_map(&document, number);
        Ok(Some(match (document, originals) {
            (Cow::Borrowed(_), Originals::One(one)) => Cow::Borrowed(&one.in_map),
            (document, _) => Cow::Owned(in_map(document.into_owned())),
        }))
    };
    match write_each(next, output, &options) {
        Ok(_) => Ok(Ok(changes)),
        Err(error) => match error.kind() {
            ErrorKind::Refused | ErrorKind::Unrepresentable | ErrorKind::Limit => Ok(Err(error)),
            _ => Err(Error::Input(super::told(&error))),
        },
    }
}

/// Returns a document as the writer gets it, and sets `changed` if that or the format changes it.
fn prepared<'v>(
    mut document: Cow<'v, Value>,
    format: Format,
    changed: &mut bool,
) -> regauge::Result<Cow<'v, Value>> {
    let has_classes = matches!(format, Format::Yaml | Format::Marshal | Format::Pickle);
    let is_class = |value: &Value| matches!(value, Value::Typed(t, _) if !is_harmless(t, format));
    if has_classes && contains(&document, &is_class) {
        drop_classes(document.to_mut(), format);
        *changed = true;
    }
    // CBOR has references, but as tags of an extension that most libraries hand on as they are.
    let is_reference = |value: &Value| matches!(value, Value::Anchor(..) | Value::Alias(_));
    if !has_classes && contains(&document, &is_reference) {
        let (value, count) = without_references(&document, &Limits::default())?;
        document = Cow::Owned(value);
        *changed |= count > 0;
    }
    // Text formats keep the digits of a decimal, but as a number, which all libraries read as a
    // double.
    *changed |=
        format.is_text() && contains(&document, &|value| matches!(value, Value::Decimal(_)));
    Ok(document)
}

/// Wraps a value in a map under the empty key, because a BSON document is a map.
fn in_map(document: Value) -> Value {
    Value::Map(vec![(Value::Text(String::new()), document)])
}

/// Takes away what makes a library look for a class, and perhaps run its code: contenders are
/// given data only. What Python itself has, and Ruby's regular expressions, encodings and defaults
/// of hashes, name no class of the user's.
fn drop_classes(value: &mut Value, format: Format) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| drop_classes(value, format)),
        Value::Map(pairs) => {
            for (key, value) in pairs {
                drop_classes(key, format);
                drop_classes(value, format);
            }
        }
        Value::Anchor(_, inside) => drop_classes(inside, format),
        Value::Typed(t, inside) => {
            drop_classes(inside, format);
            if !is_harmless(t, format) {
                *value = std::mem::replace(inside, Value::Null);
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
            Value::Map(pairs) => {
                pairs.iter().any(|(key, value)| contains(key, kind) || contains(value, kind))
            }
            Value::Typed(_, inside) | Value::Anchor(_, inside) => contains(inside, kind),
            _ => false,
        }
}

/// Returns what the written documents lost from the originals.
fn losses(originals: &Originals, out: &Path, format: Format) -> Result<Vec<Loss>, Error> {
    let (mut before, mut after) = (originals.open()?, Values::open(out, format)?);
    let here = |error: regauge::Error| Error::Input(super::told(&error));
    let mut comparison = Comparison::new();
    while let Some(original) = before.next().map_err(here)? {
        let mut copy = after.next().map_err(here)?;
        if format == Format::Bson && !matches!(*original, Value::Map(_)) {
            copy = match copy {
                Some(Value::Map(mut pairs)) if pairs.len() == 1 => pairs.pop().map(|pair| pair.1),
                other => other,
            };
        }
        comparison.next(Some(&original), copy.as_ref());
    }
    Ok(comparison.changes().iter().map(Loss::of).collect())
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
        match write_data(&Originals::Base(&base), (format, None), true, &out).unwrap() {
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
                let losses = match write_data(&Originals::Base(&base), (format, None), true, &out)
                    .unwrap()
                {
                    Written::Done(losses) => losses,
                    Written::LeftOut(reason) => {
                        // Without references, a cycle has no end.
                        assert_eq!(kind.name, "cycles", "{format}: {reason}");
                        continue;
                    }
                };
                let document = Document::read(&base).unwrap().unwrap();
                let own = folder.path().join("own");
                let one = Originals::One(&document);
                let Written::Done(again) = write_data(&one, (format, None), true, &own).unwrap()
                else {
                    panic!("{}, {format}: left out", kind.name)
                };
                assert!(std::fs::read(&own).unwrap() == std::fs::read(&out).unwrap());
                let kinds = |list: &[Loss]| -> Vec<(String, u64)> {
                    list.iter().map(|loss| (loss.kind.clone(), loss.count)).collect()
                };
                assert_eq!(kinds(&again), kinds(&losses), "{}, {format}", kind.name);
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
