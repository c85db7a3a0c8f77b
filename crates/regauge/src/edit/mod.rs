//! Changes of values in a text, in place: every byte that need not change stays, and so do comments,
//! blank lines, quotes and the order of keys.
//!
//! The codecs of JSON, YAML and TOML tell where each value stands ([`Place`]). `align` compares the old
//! values with the new ones, and each difference becomes an edit of the bytes there: `flow` edits
//! collections in brackets, `block` those by indentation, `section` tables with headers. What they make
//! is read again. If it does not give exactly the wanted values, the edit is refused, so a wrong
//! edit is never written.

mod align;
mod block;
mod flow;
mod patch;
mod rename;
mod render;
mod section;
mod source;

use std::borrow::Cow;

use self::align::difference;
use self::patch::Patch;
use self::render::Style;
use self::source::Source;
use crate::codec::{json, toml, yaml};
use crate::model::error::{Error, ErrorKind, Result};
use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::path::{Path, Step};
use crate::model::place::{Form, Place};
use crate::model::value::Value;
use crate::options::Options;
use crate::options::json::Framing;
use crate::sinks::memory::{read_values, without_references};

/// Changes the documents of a text in place: every byte that need not change stays, and so do
/// comments, blank lines, quotes and the order of keys. `change` gets each document with its shared
/// values written out, and returns what it shall be. Returns the new text, or `None` if nothing has
/// changed.
///
/// The new text is read again. If it does not give exactly the wanted values, the edit is refused,
/// so a wrong edit is never written.
///
/// ```
/// use regauge::{Format, Options, Value, edit};
///
/// let text = b"# The port\nport:   80   # for now\nhost: 'a'\n";
/// let options = Options::new(Format::Yaml, Format::Yaml);
/// let edited = edit(text, &options, &mut |document| {
///     let mut document = document.clone();
///     if let Value::Map(pairs) = &mut document {
///         pairs[0].1 = Value::from(8080);
///     }
///     Ok(document)
/// })?;
/// assert_eq!(edited.unwrap(), b"# The port\nport:   8080   # for now\nhost: 'a'\n");
/// # Ok::<(), regauge::Error>(())
/// ```
///
/// # Errors
/// Those of the reader and of `change`; `Limit` for a text of more than
/// [`record_bytes`](crate::Limits::record_bytes); `Unsupported` for a format that is not JSON, NDJSON, YAML or
/// TOML; `Refused`, with the path, for a change that cannot be made without changing other bytes.
pub fn edit(
    bytes: &[u8],
    options: &Options,
    change: &mut dyn FnMut(&Value) -> Result<Value>,
) -> Result<Option<Vec<u8>>> {
    let most = options.limits.record_bytes;
    if bytes.len() as u64 > most {
        let message = format!("found a text of more than {most} bytes, the limit of record_bytes");
        let held = Hint::say("what is changed in place is held as a whole");
        return Err(Error::limit(message).hint(held.then(Hint::raise(Limit::RecordBytes))));
    }
    let mut options = options.clone();
    options.to = options.from;
    // As `query` reads it.
    options.json_read.framing = Framing::Concatenated;
    options.json_write.exact_numbers |= options.json_read.exact_numbers;
    if !matches!(options.from, Format::Json | Format::Ndjson | Format::Yaml | Format::Toml) {
        let title = options.from.title();
        let message =
            format!("{title} cannot be changed in place; JSON, NDJSON, YAML and TOML can");
        return Err(Error::new(ErrorKind::Unsupported, message).hint(elsewhere()));
    }
    let old = read(bytes, &options)?;
    let mut new = Vec::with_capacity(old.len());
    for (index, document) in old.iter().enumerate() {
        let changed = change(document);
        new.push(changed.map_err(|error| in_document(old.len(), index, error))?);
    }
    if old.iter().zip(&new).all(|(old, new)| align::same(old, new)) {
        return Ok(None);
    }
    let (text, added) = with_last_break(bytes, options.from);
    let places = places(&text, &options)?;
    let job = Job { text: &text, added, options: &options, old: &old, new: &new, places: &places };
    // An alias may get its new value through its anchor, or has to be replaced by it.
    match job.attempt(false) {
        Err(_) if places.iter().any(has_alias) => job.attempt(true),
        edited => edited,
    }
    .map(Some)
}

/// Returns the text with a line break at its end, so that whole lines can be added and removed there,
/// and the line break if it was added.
fn with_last_break(bytes: &[u8], format: Format) -> (Cow<'_, [u8]>, &'static str) {
    if matches!(bytes, [] | b"\xEF\xBB\xBF" | [.., b'\n']) {
        return (Cow::Borrowed(bytes), "");
    }
    let newline = Source::new(bytes, format).newline;
    (Cow::Owned([bytes, newline.as_bytes()].concat()), newline)
}

/// Returns the documents, with shared values written out.
fn read(bytes: &[u8], options: &Options) -> Result<Vec<Value>> {
    let values = read_values(bytes, options)?;
    if options.from != Format::Yaml {
        return Ok(values);
    }
    values.iter().map(|value| Ok(without_references(value, &options.limits)?.0)).collect()
}

fn places(bytes: &[u8], options: &Options) -> Result<Vec<Place>> {
    Ok(match options.from {
        Format::Yaml => yaml::places::places(bytes, &options.yaml, options.limits)?,
        Format::Toml => vec![toml::places::places(std::str::from_utf8(bytes).unwrap_or_default())],
        _ => json::places::places(bytes),
    })
}

fn has_alias(place: &Place) -> bool {
    place.form == Form::Alias || place.entries.iter().any(|entry| has_alias(&entry.value))
}

/// Returns the block scalar of YAML that ends a text, unless its value has no line break at its end.
fn last_block_scalar<'t>(text: &'t [u8], places: &[Place]) -> Option<&'t [u8]> {
    let last = last_in(places.last()?);
    let ends_text = text.get(last.span.end..).unwrap_or_default().trim_ascii().is_empty();
    let scalar = text.get(last.span.start..)?;
    let header = scalar.split(|byte| matches!(byte, b'\n' | b'#')).next().unwrap_or_default();
    (last.form == Form::Lines && ends_text && !header.contains(&b'-')).then_some(scalar)
}

/// Returns the last of the values in a value; itself if there are none.
fn last_in(mut place: &Place) -> &Place {
    while let Some(entry) = place.entries.last() {
        place = &entry.value;
    }
    place
}

/// Returns what to do about a refused edit.
fn elsewhere() -> Hint {
    Hint::command("leave out --in-place and name another file to write")
}

/// Returns the refusal of a change at a path.
fn refusal(steps: &[Step], reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Refused, format!("cannot be changed in place: {reason}"))
        .at_path(Path(steps.to_vec()))
        .hint(elsewhere())
}

/// Adds the path to the error of a writer.
fn with_path(error: Error, steps: &[Step]) -> Error {
    match error.path() {
        Some(_) => error,
        None => error.at_path(Path(steps.to_vec())).hint(elsewhere()),
    }
}

/// Adds the number of the document to an error, if there are several.
fn in_document(count: usize, index: usize, error: Error) -> Error {
    if count == 1 { error } else { error.in_record(index as u64 + 1) }
}

/// An edit of a text.
struct Job<'a> {
    text: &'a [u8],
    /// The line break at its end, if it was added for the edit.
    added: &'static str,
    options: &'a Options,
    old: &'a [Value],
    new: &'a [Value],
    places: &'a [Place],
}

impl Job<'_> {
    /// Makes the edited text, and checks what it says.
    fn attempt(&self, replaces_aliases: bool) -> Result<Vec<u8>> {
        if self.places.len() != self.old.len() {
            return Err(refusal(&[], "its documents have no places of their own"));
        }
        let is_empty = |place: &Place| place.form == Form::Missing;
        if !self.places.iter().all(|place| is_empty(place) || place.is_known()) {
            return Err(refusal(
                &[],
                "some of its values have no place of their own, as in `{a, b}`",
            ));
        }
        let source = Source::new(self.text, self.options.from);
        let tall = source.tall_scalars(self.places);
        let source = Source { tall: &tall, ..source };
        let mut editor = Editor {
            source,
            style: Style::of(source, self.places, self.options),
            patch: Patch::default(),
            headers: self.places.first().map(section::headers).unwrap_or_default(),
            steps: Vec::new(),
            replaces_aliases,
        };
        for (index, place) in self.places.iter().enumerate() {
            editor.steps.clear();
            let edited = editor.root(place, &self.old[index], &self.new[index]);
            edited.map_err(|error| {
                in_document(self.old.len(), index, with_path(error, &editor.steps))
            })?;
        }
        let edited = editor.patch.apply(self.text).ok_or_else(|| {
            refusal(&[], "two of the changes are at the same place; make one after the other")
        })?;
        let edited = self.without_added_break(edited);
        self.check(&edited)?;
        Ok(edited)
    }

    /// Removes the line break that was added for the edit. It stays after a new block scalar of YAML,
    /// which ends in a line break for us, but not for PyYAML and libyaml without the one in the text.
    fn without_added_break(&self, mut edited: Vec<u8>) -> Vec<u8> {
        let is_yaml = self.options.from == Format::Yaml;
        if is_yaml
            && !self.added.is_empty()
            && let Ok(places) = places(&edited, self.options)
            && let Some(scalar) = last_block_scalar(&edited, &places)
            && last_block_scalar(self.text, self.places) != Some(scalar)
        {
            return edited;
        }
        if edited.ends_with(self.added.as_bytes()) {
            edited.truncate(edited.len() - self.added.len());
        }
        edited
    }

    /// Checks that the edited text gives the wanted values.
    fn check(&self, edited: &[u8]) -> Result {
        let unread = |reason| Err(refusal(&[], format!("the edited text would {reason}")));
        let got = match read(edited, self.options) {
            Ok(got) => got,
            Err(error) => return unread(format!("not be read: {}", error.message())),
        };
        if got.len() != self.new.len() {
            return unread(format!("have {} documents instead of {}", got.len(), self.new.len()));
        }
        for (index, (got, wanted)) in got.iter().zip(self.new).enumerate() {
            let mut steps = Vec::new();
            if difference(got, wanted, &mut steps) {
                let reason = match self.places.iter().any(has_alias) {
                    true => {
                        "the edited text would say something else here; aliases and merge keys \
                             repeat what stands at their anchors"
                    }
                    false => "the edited text would say something else here",
                };
                return Err(in_document(self.old.len(), index, refusal(&steps, reason)));
            }
        }
        Ok(())
    }
}

/// Collects the edits of a text.
struct Editor<'a> {
    source: Source<'a>,
    style: Style<'a>,
    patch: Patch,
    /// Where the headers of TOML's tables stand.
    headers: Vec<usize>,
    /// The path of the value at hand.
    steps: Vec<Step>,
    replaces_aliases: bool,
}

impl Editor<'_> {
    fn refuse<T>(&self, reason: impl std::fmt::Display) -> Result<T> {
        Err(refusal(&self.steps, reason))
    }

    /// Changes a document.
    fn root(&mut self, place: &Place, old: &Value, new: &Value) -> Result {
        if self.inside(place, old, new)? {
            return Ok(());
        }
        let new = same_types(old, new).1;
        match (self.source.format, place.form) {
            (Format::Toml, _) => self.refuse("TOML holds one table"),
            (_, Form::Missing) => self.refuse("the document is empty"),
            (Format::Yaml, Form::Block | Form::Lines) => self.replace_block_root(place, new),
            (Format::Yaml, Form::Plain | Form::Single | Form::Double) if !is_leaf(new) => {
                self.replace_block_root(place, new)
            }
            _ => self.replace_in_flow(place, false, new),
        }
    }

    /// Makes the changes inside a collection that stays one. Returns `false` if the value must be
    /// replaced instead.
    fn inside(&mut self, place: &Place, old: &Value, new: &Value) -> Result<bool> {
        let (old, new) = same_types(old, new);
        if align::same(old, new) {
            return Ok(true);
        }
        if place.form == Form::Alias && !self.replaces_aliases {
            return Ok(true);
        }
        let alike = matches!(
            (old, new),
            (Value::Array(_), Value::Array(_)) | (Value::Map(_), Value::Map(_))
        );
        if !alike {
            return Ok(false);
        }
        let is_table = matches!(place.form, Form::Section | Form::Implied);
        let is_empty = |value: &Value| {
            matches!(value, Value::Array(a) if a.is_empty())
                || matches!(value, Value::Map(a) if a.is_empty())
        };
        if place.form == Form::Flow && is_empty(old) && self.holds_comment(place) {
            return self.fill_flow(place, new).map(|()| true);
        }
        if !is_table && (is_empty(old) || is_empty(new)) {
            return Ok(false);
        }
        match place.form {
            Form::Alias => self.refuse("it is an alias of a value elsewhere"),
            Form::Dotted if self.source.bytes.get(place.span.start) == Some(&b'{') => {
                self.refuse("keys of several parts stand in braces here")
            }
            Form::Flow => self.change_flow(place, old, new).map(|()| true),
            Form::Block => self.change_block(place, old, new).map(|()| true),
            Form::Section | Form::Implied | Form::Sections | Form::Dotted => {
                self.change_section(place, old, new).map(|()| true)
            }
            _ => self.refuse("its place in the text is not known"),
        }
    }
}

/// Returns the values without the types that both have.
fn same_types<'v>(mut old: &'v Value, mut new: &'v Value) -> (&'v Value, &'v Value) {
    while let (Value::Typed(a, inside_old), Value::Typed(b, inside_new)) = (old, new)
        && a == b
    {
        (old, new) = (inside_old, inside_new);
    }
    (old, new)
}

/// Returns whether a value is written on one line: it is no collection, or an empty one.
fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.is_empty(),
        Value::Map(pairs) => pairs.is_empty(),
        Value::Typed(_, inside) => is_leaf(inside),
        _ => true,
    }
}
