//! Selection by paths on events gives the same as on a tree, for random documents and random rules,
//! from every format to itself and to MessagePack and NDJSON.

use regauge::convert::{Action, Rule, Selection};
use regauge::path::{Pattern, Selector};
use regauge::values::{read_values, write_values};
use regauge::{ErrorKind, Ext, Format, OnLoss, Options, Value, convert_bytes};
use regauge_testdata::Random;

/// Random documents and rules.
struct Values(Random);

impl Values {
    fn name(&mut self) -> String {
        ["a", "b", "c", "two words", "", "$x", "1"][self.0.below(7)].to_owned()
    }

    fn key(&mut self, texts: bool) -> Value {
        match self.0.below(12) {
            0 if !texts => Value::Int(self.0.below(3) as i64),
            1 if !texts => Value::Ext(Ext::Symbol(&self.name()).into()),
            _ => Value::Text(self.name()),
        }
    }

    fn value(&mut self, depth: u32, texts: bool) -> Value {
        match self.0.below(if depth == 0 { 7 } else { 16 }) {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => Value::F64(self.0.below(100) as f64 / 4.0),
            3 | 4 => Value::Int(self.0.below(1000) as i64 - 500),
            5 | 6 => Value::Text(self.name()),
            7..11 => {
                let count = self.0.below(5);
                Value::Array((0..count).map(|_| self.value(depth - 1, texts)).collect())
            }
            _ => self.map(depth, texts),
        }
    }

    fn map(&mut self, depth: u32, texts: bool) -> Value {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for _ in 0..self.0.below(6) {
            let key = self.key(texts);
            // Not every format has two equal keys.
            if !pairs.iter().any(|(other, _)| named(other) == named(&key)) {
                pairs.push((key, self.value(depth - 1, texts)));
            }
        }
        Value::Map(pairs)
    }

    /// Returns a row of texts, as CSV requires.
    fn row(&mut self) -> Value {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for _ in 0..1 + self.0.below(6) {
            let key = Value::Text(self.name());
            if !pairs.iter().any(|(other, _)| *other == key) {
                pairs.push((key, Value::Text(self.name())));
            }
        }
        Value::Map(pairs)
    }

    /// Returns a path into the document, or one that may lead nowhere.
    fn path(&mut self, document: &Value) -> Pattern {
        let mut steps = Vec::new();
        let mut at = Some(document);
        while steps.len() < 5 && (steps.is_empty() || self.0.below(3) > 0) {
            let stray = self.0.below(12) == 0;
            at = match at {
                Some(Value::Map(pairs)) if !pairs.is_empty() && !stray => {
                    let (key, value) = &pairs[self.0.below(pairs.len())];
                    steps.push(match self.0.below(8) {
                        0 => Selector::EachKey,
                        _ => Selector::Key(named(key).into()),
                    });
                    Some(value)
                }
                Some(Value::Array(values)) if !values.is_empty() && !stray => {
                    let index = self.0.below(values.len());
                    steps.push(match self.0.below(3) {
                        0 => Selector::Index(index as u64),
                        _ => Selector::Each,
                    });
                    Some(&values[index])
                }
                _ => {
                    steps.push(match self.0.below(3) {
                        0 => Selector::Each,
                        1 => Selector::Index(self.0.below(3) as u64),
                        _ => Selector::Key(self.name().into()),
                    });
                    None
                }
            };
        }
        Pattern(steps)
    }

    fn selection(&mut self, document: &Value) -> Selection {
        let mut selection = Selection::new();
        for _ in 0..1 + self.0.below(4) {
            let path = self.path(document);
            let action = match self.0.below(5) {
                0 | 1 => Action::Only,
                2 | 3 => Action::Drop,
                _ => Action::Rename(self.name().into()),
            };
            // A rename of an element, for one, is refused.
            let _ = selection.add(Rule { action, path });
        }
        selection
    }
}

/// Returns the name of a key in a path.
fn named(key: &Value) -> String {
    match key {
        Value::Text(text) => text.clone(),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Symbol(name) => name.to_owned(),
            _ => key.to_string(),
        },
        other => other.to_string(),
    }
}

/// One step of a path in a document.
#[derive(Clone)]
enum At {
    Key(String),
    Index(u64),
}

/// Returns whether the first steps of a pattern are these.
fn begins(pattern: &Pattern, path: &[At]) -> bool {
    let fits = |(selector, at): (&Selector, &At)| match (selector, at) {
        (Selector::Key(key), At::Key(name)) => **key == **name,
        (Selector::Index(index), At::Index(at)) => index == at,
        (Selector::EachKey, At::Key(_)) | (Selector::Each, At::Index(_)) => true,
        _ => false,
    };
    pattern.0.len() >= path.len() && pattern.0.iter().zip(path).all(fits)
}

/// Two keys of one map have the same name.
struct Collision;

/// Selects on a tree; `None` if the value is left out.
fn select(
    value: &Value,
    path: &mut Vec<At>,
    selection: &Selection,
) -> Result<Option<Value>, Collision> {
    let of = |wanted: fn(&Action) -> bool| {
        selection.rules().iter().filter(move |rule| wanted(&rule.action)).map(|rule| &rule.path)
    };
    let only = || of(|action| *action == Action::Only);
    let is_at =
        |pattern: &Pattern, path: &[At]| pattern.0.len() == path.len() && begins(pattern, path);
    if of(|action| *action == Action::Drop).any(|pattern| is_at(pattern, path)) {
        return Ok(None);
    }
    let is_inside = only().next().is_none()
        || (0..=path.len()).any(|length| only().any(|pattern| is_at(pattern, &path[..length])));
    let is_root = path.is_empty();
    let leads = |into: fn(&Selector) -> bool| {
        only().any(|pattern| begins(pattern, path) && pattern.0.get(path.len()).is_some_and(into))
    };
    match value {
        Value::Map(pairs) => {
            let into = |step: &Selector| matches!(step, Selector::Key(_) | Selector::EachKey);
            if !is_inside && !is_root && !leads(into) {
                return Ok(None);
            }
            let mut kept: Vec<(Value, Value)> = Vec::new();
            let mut names: Vec<(String, bool)> = Vec::new();
            for (key, value) in pairs {
                path.push(At::Key(named(key)));
                let new = selection.rules().iter().find_map(|rule| match &rule.action {
                    Action::Rename(name) if is_at(&rule.path, path) => Some(name.to_string()),
                    _ => None,
                });
                let selected = select(value, path, selection)?;
                path.pop();
                let Some(selected) = selected else { continue };
                let name = new.clone().unwrap_or_else(|| named(key));
                let clash = |(other, renamed): &(String, bool)| {
                    *other == name && (*renamed || new.is_some())
                };
                if names.iter().any(clash) {
                    return Err(Collision);
                }
                names.push((name, new.is_some()));
                let key = match (key, new) {
                    (key, None) => key.clone(),
                    (Value::Ext(_), Some(new)) => Value::Ext(Ext::Symbol(&new).into()),
                    (_, Some(new)) => Value::Text(new),
                };
                kept.push((key, selected));
            }
            Ok(Some(Value::Map(kept)))
        }
        Value::Array(values) => {
            let into = |step: &Selector| matches!(step, Selector::Index(_) | Selector::Each);
            if !is_inside && !is_root && !leads(into) {
                return Ok(None);
            }
            let mut kept = Vec::new();
            for (index, value) in values.iter().enumerate() {
                path.push(At::Index(index as u64));
                kept.extend(select(value, path, selection)?);
                path.pop();
            }
            Ok(Some(Value::Array(kept)))
        }
        _ if is_inside => Ok(Some(value.clone())),
        _ if is_root => Ok(Some(Value::Null)),
        _ => Ok(None),
    }
}

/// Returns how many selections were compared, and how many were refused for two keys of one name.
fn compare(from: Format, to: Format, rounds: u64) -> (u64, u64) {
    let mut random = Values(Random::new(0x5EED ^ u64::from(from.name().len() as u8) << 8));
    let (mut compared, mut refused) = (0, 0);
    for round in 0..rounds {
        let texts = from.is_json() || from == Format::Toml || from == Format::Bson;
        let document = match from {
            Format::Toml | Format::Bson => random.map(5, texts),
            from if from.is_table() => random.row(),
            _ => random.value(5, texts),
        };
        let mut plain = Options::new(from, from);
        plain.documents = regauge::documents::Documents::Keep;
        // A value that the format cannot hold, such as null in TOML.
        let Ok((bytes, _)) = write_values(std::slice::from_ref(&document), &plain) else {
            continue;
        };
        let document = read_values(&bytes, &plain).unwrap().remove(0);
        let selection = random.selection(&document);
        if selection.check().is_err() {
            continue;
        }
        let mut options = Options::new(from, to);
        options.documents = plain.documents;
        options.select = selection;
        options.on_loss = if from == to { OnLoss::Refuse } else { OnLoss::Wrap };
        options.report = round % 3 == 0;
        let shown = || {
            let rules: Vec<_> =
                options.select.rules().iter().map(|rule| format!("{rule:?}")).collect();
            format!("{from} to {to}: {document}\n{}", rules.join("\n"))
        };
        let output = convert_bytes(&bytes, &options);
        let selected = match select(&document, &mut Vec::new(), &options.select) {
            Ok(selected) => selected.expect("a document is never left out"),
            Err(Collision) => {
                let error = output.expect_err(&shown());
                assert_eq!(error.kind(), ErrorKind::Refused, "{error}\n{}", shown());
                refused += 1;
                continue;
            }
        };
        let mut back = Options::new(to, to);
        back.documents = plain.documents;
        back.on_loss = options.on_loss;
        let (expected, _) = match write_values(std::slice::from_ref(&selected), &back) {
            Ok(expected) => expected,
            // The document itself, which is null now.
            Err(_) => {
                assert!(output.is_err(), "{}", shown());
                continue;
            }
        };
        let output = output.unwrap_or_else(|error| panic!("{error}\n{}", shown()));
        assert_eq!(
            read_values(&output, &back).unwrap(),
            read_values(&expected, &back).unwrap(),
            "{}",
            shown()
        );
        compared += 1;
    }
    (compared, refused)
}

#[test]
fn selection_on_events_is_selection_on_a_tree() {
    let mut collisions = 0;
    for from in Format::ALL.into_iter().filter(|format| !format.is_marc()) {
        for to in [from, Format::Msgpack, Format::Ndjson] {
            let (compared, refused) = compare(from, to, 1500);
            // Few random documents fit TOML, which has no null; a row may lose all its fields.
            let least = if from == Format::Toml || from.is_table() { 200 } else { 1000 };
            assert!(compared >= least, "{from} to {to}: {compared}");
            collisions += refused;
        }
    }
    assert!(collisions > 100, "{collisions}");
}

/// Parts of a stream that are converted on several threads give the same as one.
#[test]
fn jobs_select_the_same() {
    use regauge::StreamOutput;
    use regauge::convert::{Input, convert};
    let line = |n: u64| format!("{{\"id\":{n},\"user\":{{\"name\":\"n{n}\",\"mail\":\"m\"}}}}\n");
    let mut text: String = (0..60_000).map(line).collect();
    text += "{\"rare\":1}\n";
    let run = |jobs: usize| {
        let mut options = Options::new(Format::Ndjson, Format::Json);
        options.jobs = jobs;
        options.select.only("user.name").unwrap();
        options.select.only("rare").unwrap();
        options.select.drop("never").unwrap();
        options.select.rename("user.name", "called").unwrap();
        let mut output = Vec::new();
        let input = Input::Once(Box::new(text.as_bytes()));
        let out = StreamOutput::new(&mut output);
        let summary = convert(input, out, &options, &mut |_| Ok(())).unwrap();
        let unmatched: Vec<_> =
            summary.matches.unmatched(&options.select).map(ToString::to_string).collect();
        assert_eq!(unmatched, ["drop $.never"], "{jobs} jobs");
        assert_eq!(summary.documents, 60_001);
        output
    };
    let one = run(1);
    let start = b"[{\"user\":{\"called\":\"n0\"}},{\"user\":{\"called\":\"n1\"}},";
    assert!(one.starts_with(start) && one.ends_with(b"},{\"rare\":1}]\n"));
    assert!(one == run(3));
}
