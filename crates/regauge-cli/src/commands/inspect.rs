//! `regauge inspect`: what is in a file.

use std::fmt::{Display, Write as _};
use std::io::{self, Read};
use std::sync::Arc;

use comfy_table::{CellAlignment, Table, presets};
use regauge::convert::{Input, Options, read};
use regauge::envelope::Row;
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::options::Opt;
use regauge::reader::Skipped;
use regauge::shape::{Kinds, PATHS_MAX, Shape};
use regauge::text::{escape_hidden, escape_hidden_in_lines};
use regauge::{Error, Format, Limits, Sink};
use regauge_measure::thousands;

use crate::args::{EnvelopeArg, Inspect, warn_without_effect};
use crate::commands::convert::{open, read_options};
use crate::commands::{enveloped, marshal_survey, pickle_survey};
use crate::failure::{Failure, Result};
use crate::input::Source;
use crate::progress::Meter;
use crate::report::{Unsigned as _, error_fields, print, to_stdout};
use crate::tables::read_table;
use crate::words;

/// Prints what is in a file.
pub fn run(arguments: &Inspect) -> Result {
    let source = open(&arguments.input, &arguments.reading, Meter::new(arguments.progress, false))?;
    warn_without_effect(source.form(), None, false);
    let source = Arc::new(source);
    let mut options = Options::new(source.format, source.format);
    read_options(&mut options, &arguments.reading);
    // Continue if possible: a broken record is exactly what the user wants to see.
    options.skip_bad = Opt::Bad.row().is_for(source.format);
    let mut rows = source.table.map(|table| table.open(&source, &options.limits)).transpose()?;
    options.report = true;
    let mut bad = Bad { count: 0, shown: Vec::new(), most: arguments.top };
    let mut shape = Shape::new(source.format);
    // A pickle that cannot be read again has to be held in memory.
    let waiting = match source.format == Format::Pickle && !source.can_repeat() {
        true => Some(whole(&source, &options)?),
        false => None,
    };
    let failed = |error: io::Error| Failure::data(&source.name, error.into());
    let pickle = match (source.format, &waiting) {
        (Format::Pickle, Some(bytes)) => {
            Some(pickle_survey::take(bytes.as_slice(), &options.limits).map_err(failed)?)
        }
        (Format::Pickle, None) => {
            let read = source.again().map_err(failed)?;
            Some(pickle_survey::take(read, &options.limits).map_err(failed)?)
        }
        _ => None,
    };
    let ran = {
        let mut on_bad = |one: Skipped| {
            bad.take(one);
            Ok(())
        };
        if let Some(rows) = &mut rows {
            read_table(&mut **rows, &options, &mut shape).map(drop)
        } else if let Some(bytes) = &waiting {
            read(Input::Bytes(bytes), &options, &mut shape, &mut on_bad).map(drop)
        } else {
            let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
            read(source.input(&again), &options, &mut shape, &mut on_bad).map(drop)
        }
    };
    source.finish_progress();
    let marshal = match source.format {
        Format::Marshal => marshal_survey::of(&source, &options.limits)
            .map_err(|error| Failure::data(&source.name, error.into()))?,
        _ => None,
    };
    let found = Found {
        source: &source,
        shape: &shape,
        bad: &bad,
        pickle: pickle.as_ref(),
        marshal: marshal.as_ref(),
        facts: rows.map(|rows| rows.facts()).unwrap_or_default(),
        looks: match arguments.reading.envelope {
            EnvelopeArg::None => None,
            _ => source.looks_enveloped(),
        },
        limits: options.limits,
        top: arguments.top,
    };
    // What precedes an error is worth showing, unless there is nothing.
    if ran.is_ok() || shape.kinds().total() > 0 || pickle.is_some() {
        if arguments.json {
            to_stdout(|json| found.json(json, ran.as_ref().err()))?;
        } else {
            print(found.text(ran.is_err()).as_bytes())?;
        }
    }
    ran.map_err(|error| Failure::data(&source.name, error))
}

/// Reads all of a stream that can be read only once, within the limit for one record.
fn whole(source: &Source, options: &Options) -> Result<Vec<u8>> {
    let bound = options.limits.record_bytes;
    let mut bytes = Vec::new();
    let read = source.take().take(bound.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Failure::data(&source.name, error.into()))?;
    if bytes.len() as u64 > bound {
        let error = Error::limit(format!(
            "found more than {bound} bytes, the limit of record_bytes, in a stream that is read twice"
        ))
        .hint(Hint::say("give a file").or(Hint::raise(Limit::RecordBytes)));
        return Err(Failure::data(&source.name, error));
    }
    Ok(bytes)
}

/// Broken records: all are counted, the first few are kept.
struct Bad {
    count: u64,
    shown: Vec<Error>,
    most: usize,
}

impl Bad {
    fn take(&mut self, one: Skipped) {
        self.count += u64::from(!one.continues);
        if self.shown.len() < self.most {
            self.shown.extend(one.error);
        }
    }
}

struct Found<'a> {
    source: &'a Source,
    shape: &'a Shape,
    bad: &'a Bad,
    pickle: Option<&'a regauge::pickle::Survey>,
    marshal: Option<&'a regauge::marshal::Survey>,
    /// What a table says about itself.
    facts: Vec<(&'static str, String)>,
    /// The envelope that the document looks like, and that was not taken off.
    looks: Option<&'static Row>,
    limits: Limits,
    top: usize,
}

impl Found<'_> {
    fn noun(&self) -> &'static str {
        match self.source.format {
            _ if self.source.table.is_some() => "rows",
            format if format.is_marc() => "records",
            Format::Ndjson => "lines",
            Format::Csv | Format::Tsv => "rows",
            _ => "documents",
        }
    }

    fn text(&self, failed: bool) -> String {
        let Found { source, shape, bad, .. } = self;
        let mut text = String::new();
        let mut line = |name: &str, what: &dyn Display| {
            let _ = writeln!(text, "{name:<11}{}", escape_hidden(&what.to_string()));
        };
        line("file", &source.file);
        if let Some(opened) = &source.opened {
            line("envelope", &opened.words(&self.limits));
        } else if let Some(row) = self.looks {
            let title = row.title;
            line("looks like", &format_args!("{title}; --envelope open reads what is inside"));
        }
        line("format", &format_args!("{}, {}", source.form().title(), source.told_by.words()));
        match source.compression {
            Some(one) => line(
                "packed",
                &format_args!("{}, {} bytes", one.name(), thousands(source.consumed())),
            ),
            None => line("size", &format_args!("{} bytes", thousands(source.consumed()))),
        }
        for (name, fact) in &self.facts {
            line(name, fact);
        }
        line("as JSON", &format_args!("{} bytes, compact", thousands(shape.bytes())));
        let so_far = if failed { " before the error" } else { "" };
        line(self.noun(), &format_args!("{}{so_far}", thousands(shape.documents())));
        if bad.count > 0 {
            line("broken", &format_args!("{}", thousands(bad.count)));
        }
        line("depth", &shape.depth());
        line("values", &kinds(&shape.kinds()));
        if let Some(range) = shape.integers() {
            line("integers", &format_args!("{} to {}", range.min, range.max));
        }
        if let Some(range) = shape.floats() {
            line("floats", &format_args!("{:?} to {:?}", range.min, range.max));
        }
        if let Some(range) = shape.lengths() {
            line("texts", &format_args!("{} to {} bytes long", range.min, thousands(range.max)));
        }
        if shape.duplicate_keys() > 0 {
            line(
                "twice",
                &format_args!(
                    "{} keys occur twice in their map",
                    thousands(shape.duplicate_keys())
                ),
            );
        }
        if shape.keys_not_text() > 0 {
            line("keys", &format_args!("{} are not text", thousands(shape.keys_not_text())));
        }
        if let Some(leaders) = shape.leaders() {
            let charset = |code: &char| match code {
                'a' => "UTF-8 (a)".to_owned(),
                ' ' => "MARC-8 (blank)".to_owned(),
                other => format!("unknown ({other:?})"),
            };
            line("charset", &counts(leaders.charsets.iter().map(|(code, n)| (charset(code), *n))));
            let types = leaders.types.iter().map(|(code, n)| (record_type(*code), *n));
            line("types", &counts(types));
        }
        self.tags(&mut text);
        if let Some(survey) = self.pickle {
            text.push_str(&pickle_survey::text(survey, self.top));
        }
        self.classes(&mut text);
        self.paths(&mut text);
        if let Some(survey) = self.marshal {
            text.push_str(&marshal_survey::text(survey, self.top));
        }
        if !bad.shown.is_empty() {
            let _ = writeln!(text, "\nbroken records:");
            for error in &bad.shown {
                let _ = writeln!(text, "  {}", escape_hidden_in_lines(&words::text(error)));
            }
            let more = bad.count - bad.shown.len() as u64;
            if more > 0 {
                let _ = writeln!(text, "  … and {} more; --top shows them", thousands(more));
            }
        }
        text
    }

    fn tags(&self, text: &mut String) {
        let mut tags = self.shape.tags();
        if tags.is_empty() {
            return;
        }
        let all = tags.len();
        tags.sort_by_key(|(tag, count)| (std::cmp::Reverse(*count), *tag));
        let mut table = table(["tag", "fields"]);
        for (tag, count) in tags.iter().take(self.top) {
            table.add_row([(*tag).to_owned(), thousands(*count)]);
        }
        let _ = writeln!(text, "\n{}", trimmed(&table));
        if all > self.top {
            let _ = writeln!(text, "… and {} more tags; --top shows them", all - self.top);
        }
    }

    /// Lists the classes and tags around values.
    fn classes(&self, text: &mut String) {
        let (types, others) = self.shape.types();
        if types.is_empty() {
            return;
        }
        let mut table = table(["class or tag", "values"]);
        for (one, count) in types.iter().take(self.top) {
            let name = one.as_type().to_string();
            table.add_row([escape_hidden(&name).into_owned(), thousands(*count)]);
        }
        let _ = writeln!(text, "\n{}", trimmed(&table));
        if types.len() > self.top {
            let _ = writeln!(text, "… and {} more; --top shows them", types.len() - self.top);
        }
        if others > 0 {
            let _ = writeln!(text, "{} values have other types", thousands(others));
        }
    }

    fn paths(&self, text: &mut String) {
        let paths = self.shape.paths();
        let mut table = table(["path", "bytes", "values", "types"]);
        for one in paths.iter().take(self.top) {
            let types: Vec<_> = one.kinds.seen().map(|(kind, _)| kind.name()).collect();
            table.add_row([
                one.path.clone(),
                thousands(one.bytes),
                thousands(one.kinds.total()),
                types.join(", "),
            ]);
        }
        let _ = writeln!(text, "\n{}", trimmed(&table));
        if paths.len() > self.top {
            let _ =
                writeln!(text, "… and {} smaller paths; --top shows them", paths.len() - self.top);
        }
        if self.shape.is_summed_up() {
            let _ = writeln!(
                text,
                "Keys beyond 1,000 in one map (or {} paths in total) are summarised as .*",
                thousands(PATHS_MAX as u64)
            );
        }
    }

    fn json(&self, json: &mut dyn Sink, failed: Option<&Error>) -> regauge::Result {
        let Found { source, shape, bad, .. } = self;
        json.begin_map(None)?;
        json.key("name")?;
        json.str(&source.file)?;
        if let Some(opened) = &source.opened {
            json.key("envelopes")?;
            enveloped::json(&opened.layers, json)?;
        } else if let Some(row) = self.looks {
            json.key("looks_like")?;
            json.str(row.name)?;
        }
        json.key("format")?;
        json.str(source.form().name())?;
        json.key("told_by")?;
        json.str(source.told_by.name())?;
        json.key("compression")?;
        match source.compression {
            Some(one) => json.str(one.name())?,
            None => json.null()?,
        }
        for (key, value) in [
            ("bytes", source.consumed()),
            ("json_bytes", shape.bytes()),
            ("documents", shape.documents()),
            ("bad_records", bad.count),
            ("depth", shape.depth() as u64),
            ("duplicate_keys", shape.duplicate_keys()),
            ("keys_not_text", shape.keys_not_text()),
            ("longest_key", shape.longest_key()),
        ] {
            json.key(key)?;
            json.u64_or_i64(value)?;
        }
        json.key("types")?;
        kinds_map(json, &shape.kinds())?;
        self.ranges(json)?;
        if !self.facts.is_empty() {
            json.key("file")?;
            json.begin_map(None)?;
            for (name, fact) in &self.facts {
                json.key(&name.replace(' ', "_"))?;
                json.str(fact)?;
            }
            json.end_map()?;
        }
        if let Some(survey) = self.pickle {
            json.key("survey")?;
            pickle_survey::json(survey, json)?;
        }
        json.key("classes")?;
        json.begin_array(None)?;
        for (one, count) in self.shape.types().0.iter().take(self.top) {
            json.begin_map(None)?;
            for (key, value) in
                [("origin", one.origin.name()), ("kind", &one.kind), ("name", &one.name)]
            {
                json.key(key)?;
                json.str(value)?;
            }
            json.key("values")?;
            json.u64_or_i64(*count)?;
            json.end_map()?;
        }
        json.end_array()?;
        if let Some(leaders) = shape.leaders() {
            for (key, map) in [("leader_06", &leaders.types), ("leader_09", &leaders.charsets)] {
                json.key(key)?;
                json.begin_map(None)?;
                for (code, count) in map {
                    json.key(code.encode_utf8(&mut [0; 4]))?;
                    json.u64_or_i64(*count)?;
                }
                json.end_map()?;
            }
            json.key("tags")?;
            json.begin_map(None)?;
            for (tag, count) in shape.tags() {
                json.key(tag)?;
                json.u64_or_i64(count)?;
            }
            json.end_map()?;
        }
        let paths = shape.paths();
        json.key("paths")?;
        json.begin_array(None)?;
        for one in paths.iter().take(self.top) {
            json.begin_map(None)?;
            json.key("path")?;
            json.str(&one.path)?;
            json.key("bytes")?;
            json.u64_or_i64(one.bytes)?;
            json.key("types")?;
            kinds_map(json, &one.kinds)?;
            json.end_map()?;
        }
        json.end_array()?;
        json.key("paths_left_out")?;
        json.u64_or_i64(paths.len().saturating_sub(self.top) as u64)?;
        json.key("summed_up")?;
        json.bool(shape.is_summed_up())?;
        if let Some(survey) = self.marshal {
            json.key("marshal_load")?;
            marshal_survey::json(survey, json)?;
        }
        json.key("bad")?;
        json.begin_array(None)?;
        for error in &bad.shown {
            error_map(json, error)?;
        }
        json.end_array()?;
        json.key("error")?;
        match failed {
            Some(error) => error_map(json, error)?,
            None => json.null()?,
        }
        json.end_map()
    }

    fn ranges(&self, json: &mut dyn Sink) -> regauge::Result {
        if let Some(range) = self.shape.integers() {
            json.key("integers")?;
            json.begin_map(None)?;
            for (key, value) in [("min", range.min), ("max", range.max)] {
                json.key(key)?;
                match (i64::try_from(value), u64::try_from(value)) {
                    (Ok(value), _) => json.i64(value)?,
                    (_, Ok(value)) => json.u64(value)?,
                    _ => json.str(&value.to_string())?,
                }
            }
            json.end_map()?;
        }
        if let Some(range) = self.shape.floats() {
            json.key("floats")?;
            json.begin_map(None)?;
            json.key("min")?;
            json.f64(range.min)?;
            json.key("max")?;
            json.f64(range.max)?;
            json.end_map()?;
        }
        if let Some(range) = self.shape.lengths() {
            json.key("text_bytes")?;
            json.begin_map(None)?;
            json.key("min")?;
            json.u64_or_i64(range.min)?;
            json.key("max")?;
            json.u64_or_i64(range.max)?;
            json.end_map()?;
        }
        Ok(())
    }
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for index in 1..N.min(3) {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Renders a table without trailing blanks.
pub fn trimmed(table: &Table) -> String {
    let lines: Vec<_> = table.to_string().lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

fn counts(all: impl Iterator<Item = (String, u64)>) -> String {
    let all: Vec<_> = all.map(|(name, count)| format!("{name} {}", thousands(count))).collect();
    if all.is_empty() { "none".into() } else { all.join(", ") }
}

fn kinds(kinds: &Kinds) -> String {
    counts(kinds.seen().map(|(kind, count)| (kind.name().to_owned(), count)))
}

fn kinds_map(json: &mut dyn Sink, kinds: &Kinds) -> regauge::Result {
    json.begin_map(None)?;
    for (kind, count) in kinds.seen() {
        json.key(kind.name())?;
        json.u64_or_i64(count)?;
    }
    json.end_map()
}

fn error_map(json: &mut dyn Sink, error: &Error) -> regauge::Result {
    json.begin_map(None)?;
    error_fields(json, error)?;
    json.end_map()
}

/// Describes Leader/06 (MARC 21 bibliographic, authority, holdings, classification, community).
fn record_type(code: char) -> String {
    let words = match code {
        'a' => "language material",
        'c' => "notated music",
        'd' => "manuscript notated music",
        'e' => "cartographic material",
        'f' => "manuscript cartographic material",
        'g' => "projected medium",
        'i' => "nonmusical sound",
        'j' => "musical sound",
        'k' => "two-dimensional graphic",
        'm' => "computer file",
        'o' => "kit",
        'p' => "mixed materials",
        'q' => "community information",
        'r' => "three-dimensional object",
        't' => "manuscript language material",
        'u' | 'v' | 'x' | 'y' => "holdings",
        'w' => "classification",
        'z' => "authority",
        other => return format!("unknown ({other:?})"),
    };
    format!("{words} ({code})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_thousands() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
