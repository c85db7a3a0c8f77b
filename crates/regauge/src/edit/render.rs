//! New values as text, in the style of the text around them.

use super::source::Source;
use crate::codec::yaml;
use crate::model::error::{Error, ErrorKind, Result};
use crate::model::format::Format;
use crate::model::place::{Form, Place};
use crate::model::value::Value;
use crate::options::Options;
use crate::options::json::Framing;
use crate::sinks::memory::write_values;

/// How a text is written, as far as it shows.
#[derive(Clone)]
pub(super) struct Style<'o> {
    options: Options,
    source: Source<'o>,
    /// What one more level is indented by.
    unit: String,
    /// What stands between a key and its value in brackets, between two values, and inside braces.
    colon: String,
    comma: String,
    pad: &'static str,
}

/// What is seen of the style, of which the first example counts.
#[derive(Default)]
struct Seen<'s> {
    unit: Option<&'s str>,
    colon: Option<&'s str>,
    comma: Option<&'s str>,
    pad: Option<bool>,
    sequences: Option<bool>,
}

impl<'s> Seen<'s> {
    /// Looks at a value and all that is in it. Recurses as deep as the reader lets them nest.
    fn look(&mut self, source: Source<'s>, place: &Place, around: Option<&str>) {
        let Some(first) = place.entries.first() else { return };
        match place.form {
            Form::Flow => self.look_at_flow(source, place),
            Form::Block => self.look_at_block(source, place, around),
            _ => {}
        }
        let is_column = place.form == Form::Block && source.is_first(first.start);
        let here = is_column.then(|| source.line_indent(first.start));
        for entry in &place.entries {
            if self.is_complete() {
                return;
            }
            self.look(source, &entry.value, here);
        }
    }

    fn is_complete(&self) -> bool {
        self.unit.is_some()
            && self.colon.is_some()
            && self.comma.is_some()
            && self.pad.is_some()
            && self.sequences.is_some()
    }

    fn look_at_flow(&mut self, source: Source<'s>, place: &Place) {
        let first = &place.entries[0];
        let is_map = source.bytes.get(place.span.start) == Some(&b'{');
        if let Some(mark) = first.mark
            && source.is_blank(mark, first.value.span.start)
        {
            self.colon.get_or_insert(source.text(mark, first.value.span.start));
        }
        if source.on_one_line(place.span.start, place.span.end) {
            if is_map {
                self.pad.get_or_insert(first.start > place.span.start + 1);
            }
            if let [first, second, ..] = &place.entries[..] {
                let comma = source.skip(first.value.span.end);
                self.comma.get_or_insert(source.text(comma + 1, second.start));
            }
        } else if source.format != Format::Yaml
            && source.is_first(first.start)
            && let indent = source.line_indent(first.start)
            && let Some(unit) = indent.strip_prefix(source.line_indent(place.span.start))
        {
            self.unit.get_or_insert(unit);
        }
    }

    fn look_at_block(&mut self, source: Source<'s>, place: &Place, around: Option<&str>) {
        let first = &place.entries[0];
        let Some(around) = around.filter(|_| source.is_first(first.start)) else { return };
        let unit = source.line_indent(first.start).strip_prefix(around);
        if source.bytes.get(first.start) == Some(&b'-') {
            self.sequences.get_or_insert(unit.is_some_and(|unit| !unit.is_empty()));
        } else if let Some(unit) = unit.filter(|unit| !unit.is_empty()) {
            self.unit.get_or_insert(unit);
        }
    }
}

impl<'o> Style<'o> {
    /// Finds the style of a text.
    pub fn of(source: Source<'o>, places: &[Place], options: &Options) -> Style<'o> {
        let mut seen = Seen::default();
        places.iter().for_each(|place| seen.look(source, place, None));
        let is_toml = source.format == Format::Toml;
        let unit = seen.unit.filter(|unit| !unit.is_empty());
        let unit = unit.unwrap_or(if is_toml { "    " } else { "  " }).to_owned();
        let colon = seen.colon.filter(|colon| !colon.contains('\n')).unwrap_or(" ");
        let comma =
            seen.comma.filter(|comma| source.format == Format::Yaml || comma.trim().is_empty());
        let comma = comma.unwrap_or(if colon.is_empty() { "" } else { " " });
        let mut options = options.clone();
        options.json_read.framing = Framing::Single;
        options.yaml_write.indent = unit.len().clamp(1, 16) as u8;
        options.yaml_write.indent_sequences = seen.sequences.unwrap_or(false);
        Style {
            options,
            source,
            colon: if is_toml { " ".to_owned() } else { colon.to_owned() },
            comma: comma.to_owned(),
            pad: if seen.pad.unwrap_or(is_toml) { " " } else { "" },
            unit,
        }
    }

    /// Writes a value as its format's writer does, without the last line break.
    pub fn written(&self, value: &Value) -> Result<String> {
        let written = write_values(std::slice::from_ref(value), &self.options);
        let (bytes, _) = written.map_err(|error| refused(error.message()))?;
        let mut text = String::from_utf8(bytes).unwrap_or_default();
        if text.ends_with('\n') {
            text.pop();
        }
        Ok(text)
    }

    /// Writes a key.
    pub fn key(&self, key: &Value) -> Result<String> {
        let (value, sign) = match self.source.format {
            Format::Yaml => (Value::Bool(true), ": true"),
            Format::Toml => (Value::Bool(true), " = true"),
            _ => return self.written(key),
        };
        let pair = self.written(&Value::Map(vec![(key.clone(), value)]))?;
        match pair.strip_suffix(sign) {
            Some(key) if !key.contains('\n') => Ok(key.to_owned()),
            _ => Err(refused("a key needs lines of its own")),
        }
    }

    /// Writes a key between brackets.
    fn flow_key(&self, key: &Value) -> Result<String> {
        let written = self.key(key)?;
        Ok(match key {
            Value::Text(text)
                if self.source.format == Format::Yaml
                    && !written.starts_with(['\'', '"'])
                    && yaml::separates(text) =>
            {
                double(text)
            }
            _ => written,
        })
    }

    /// Writes a key in the place of another, in the quotes of that one.
    pub fn key_like(&self, key: &Value, was: &str, in_flow: bool) -> Result<String> {
        let quotes = match was.as_bytes().first() {
            Some(b'"') => Some(Form::Double),
            Some(b'\'') => Some(Form::Single),
            _ => None,
        };
        match key {
            // The writer tags this key, because some readers merge its value even if it is quoted.
            Value::Text(text) if quotes.is_some() && text != "<<" => {
                self.leaf(key, quotes, in_flow)
            }
            _ if in_flow => self.flow_key(key),
            _ => self.key(key),
        }
    }

    fn is_toml(&self) -> bool {
        self.source.format == Format::Toml
    }

    /// Writes a value as its format's writer does, on one line.
    fn line(&self, value: &Value) -> Result<String> {
        let line = match self.is_toml() {
            // The writer would make a document of it.
            true => {
                let pair = self.written(&Value::Map(vec![(Value::from("k"), value.clone())]))?;
                pair.strip_prefix("k = ").unwrap_or(&pair).to_owned()
            }
            false => self.written(value)?,
        };
        match line.contains('\n') {
            true => Err(refused("a value with a type needs lines of its own")),
            false => Ok(line),
        }
    }

    /// Writes a value without values in it on one line, in the quotes of what stood there before if
    /// they can hold it.
    pub fn leaf(&self, value: &Value, quotes: Option<Form>, in_flow: bool) -> Result<String> {
        let Value::Text(text) = value else { return self.line(value) };
        match quotes {
            Some(Form::Single) if self.source.format == Format::Yaml && is_plain(text) => {
                return Ok(format!("'{}'", text.replace('\'', "''")));
            }
            Some(Form::Single) if self.is_toml() && is_plain(text) && !text.contains('\'') => {
                return Ok(format!("'{text}'"));
            }
            Some(Form::Double) if self.source.format == Format::Yaml && is_plain(text) => {
                return Ok(double(text));
            }
            _ if self.is_toml() => return self.line(value),
            _ => {}
        }
        let written = self.written(value)?;
        let is_quoted = written.starts_with(['\'', '"']);
        let fits = !written.contains('\n') && (is_quoted || !in_flow || !yaml::separates(&written));
        Ok(if fits || self.source.format != Format::Yaml { written } else { double(text) })
    }

    /// Writes a value between brackets: on one line, or each part on its own below a line that is
    /// indented by `indent`. TOML 1.0 has no line breaks between braces.
    pub fn flow(
        &self,
        value: &Value,
        quotes: Option<Form>,
        indent: Option<&str>,
    ) -> Result<String> {
        let indent = indent.filter(|_| !self.is_toml() || !matches!(value, Value::Map(_)));
        let inner = indent.map(|indent| self.inner(indent));
        let parts: Vec<String> = match value {
            Value::Array(values) => {
                let part = |value: &Value| self.flow(value, quotes, inner.as_deref());
                values.iter().map(part).collect::<Result<_>>()?
            }
            Value::Map(pairs) => {
                let part = |(key, value): &(Value, Value)| {
                    self.flow_pair(key, value, quotes, inner.as_deref())
                };
                pairs.iter().map(part).collect::<Result<_>>()?
            }
            leaf => return self.leaf(leaf, quotes, true),
        };
        let (open, close, pad) = match value {
            Value::Array(_) => ('[', ']', ""),
            _ => ('{', '}', self.pad),
        };
        if parts.is_empty() {
            return Ok(format!("{open}{close}"));
        }
        Ok(match (indent, inner) {
            (Some(indent), Some(inner)) => {
                let newline = self.source.newline;
                let parts = parts.join(&format!(",{newline}{inner}"));
                format!("{open}{newline}{inner}{parts}{newline}{indent}{close}")
            }
            _ => format!("{open}{pad}{}{pad}{close}", parts.join(&format!(",{}", self.comma))),
        })
    }

    /// Writes a key and its value between brackets.
    pub fn flow_pair(
        &self,
        key: &Value,
        value: &Value,
        quotes: Option<Form>,
        indent: Option<&str>,
    ) -> Result<String> {
        let (key, value) = (self.flow_key(key)?, self.flow(value, quotes, indent)?);
        Ok(match self.source.format {
            Format::Toml => format!("{key} = {value}"),
            // YAML needs the space after a key without quotes.
            Format::Yaml if self.colon.is_empty() => format!("{key}: {value}"),
            _ => format!("{key}:{}{value}", self.colon),
        })
    }

    /// Returns the indentation of what is in a value on a line that is indented by `indent`.
    pub fn inner(&self, indent: &str) -> String {
        format!("{indent}{}", self.unit)
    }

    /// Returns what separates two values on one line.
    pub fn comma(&self) -> &str {
        &self.comma
    }

    /// Writes what stands after a key's colon or a dash: the rest of its line, and the lines below,
    /// which are indented by `indent` like the key or the dash.
    pub fn block(
        &self,
        is_item: bool,
        value: &Value,
        quotes: Option<Form>,
        indent: &str,
    ) -> Result<(String, String)> {
        if let Value::Text(text) = value
            && !text.contains('\n')
        {
            return Ok((format!(" {}", self.leaf(value, quotes, false)?), String::new()));
        }
        let written = match is_item {
            true => self.written(&Value::Array(vec![value.clone()]))?,
            false => self.written(&Value::Map(vec![(Value::from("k"), value.clone())]))?,
        };
        let written = written.strip_prefix(if is_item { "-" } else { "k:" }).unwrap_or(&written);
        let (head, rest) = written.split_once('\n').unwrap_or((written, ""));
        if written.len() == head.len() {
            return Ok((head.to_owned(), String::new()));
        }
        let indented =
            |line: &str| if line.is_empty() { String::new() } else { format!("{indent}{line}") };
        let lines = rest.split('\n').map(indented).collect::<Vec<_>>().join(self.source.newline);
        Ok((head.to_owned(), lines))
    }
}

fn refused(reason: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("cannot be changed in place: {reason}"))
}

/// Returns whether text can stand between quotes without an escape.
fn is_plain(text: &str) -> bool {
    let escaped = |char: char| {
        char.is_control()
            || matches!(char, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    };
    !text.contains(escaped)
}

/// Writes text in double quotes. It must be printable.
fn double(text: &str) -> String {
    Value::Text(text.to_owned()).to_string()
}
