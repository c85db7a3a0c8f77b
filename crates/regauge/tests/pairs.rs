//! No silent loss, over all ordered pairs of formats: a random document goes A → B → A, and either
//! it comes back the same, or the losses were reported, or it was refused.
//!
//! `REGAUGE_DOCUMENTS` sets the total number of documents.

use std::collections::BTreeMap;

use regauge::convert::{Input, convert};
use regauge::documents::Documents;
use regauge::event::{Origin, Type};
use regauge::matrix::same;
use regauge::output::StreamOutput;
use regauge::values::{read_values, write_values};
use regauge::{ErrorKind, Ext, Format, OnLoss, Options, Timestamp, Value};
use regauge_testdata::Random;

/// Number of documents without `REGAUGE_DOCUMENTS`.
const DOCUMENTS: u64 = 20_000;

/// Random documents.
struct Values(Random);

impl Values {
    fn integer(&mut self) -> i64 {
        let bits = self.0.below(64);
        (self.0.bits() >> bits) as i64
    }

    fn text(&mut self) -> String {
        match self.0.below(6) {
            0 => "".into(),
            1 => self.0.of(WORDS).into(),
            2 => format!("{}{}", self.0.of(WORDS), self.0.of(WORDS)),
            3 => "x".repeat(self.0.below(300)),
            4 => (0..self.0.below(12))
                .filter_map(|_| char::from_u32(self.0.below(0x500) as u32))
                .collect(),
            _ => format!("word{}", self.0.below(100)),
        }
    }

    fn key(&mut self, depth: u32) -> Value {
        match self.0.below(20) {
            0 => Value::Int(self.integer()),
            1 => Value::Ext(Ext::Symbol(self.0.of(WORDS)).into()),
            2 if depth > 0 => self.value(depth - 1),
            3 => Value::Bytes(self.0.bytes(20)),
            4 => Value::Text(self.text()),
            _ => Value::Text(format!("key{}", self.0.below(30))),
        }
    }

    fn typed(&mut self, depth: u32) -> Value {
        let number = self.0.below(70_000).to_string();
        let (origin, kind, name) = match self.0.below(12) {
            0 => (Origin::Yaml, "tag", "!mine"),
            1 => (Origin::Yaml, "tag", "tag:example.org,2026:thing"),
            2 => (Origin::Cbor, "tag", number.as_str()),
            3 => (Origin::Ruby, "object", "Shop::Order"),
            4 => (Origin::Python, "set", ""),
            5 => (Origin::Bson, "scope", "f(x)"),
            // Tags that their format's reader converts to another value.
            6 | 7 => (Origin::Cbor, "tag", self.0.of(CBOR_TAGS)),
            8 | 9 => (Origin::Yaml, "tag", self.0.of(YAML_TAGS)),
            10 => (Origin::Ruby, self.0.of(&["object", "struct"]), self.0.of(RUBY_CLASSES)),
            _ => (Origin::Python, "global", self.0.of(&["builtins.set", "datetime.date"])),
        };
        let value = match origin {
            // Types that are defined over one kind of value.
            Origin::Ruby | Origin::Bson => self.map(depth, true),
            Origin::Python if kind == "global" => Value::Null,
            Origin::Python => self.array(depth),
            _ => self.value(depth - 1),
        };
        Value::Typed(Box::new((&Type { origin, kind, name }).into()), Box::new(value))
    }

    fn array(&mut self, depth: u32) -> Value {
        let count = self.0.below(5);
        Value::Array((0..count).map(|_| self.value(depth - 1)).collect())
    }

    fn map(&mut self, depth: u32, text_keys: bool) -> Value {
        let count = self.0.below(6);
        let pairs = (0..count).map(|number| {
            let key = match text_keys {
                true => Value::Text(format!("@k{number}")),
                false => self.key(depth - 1),
            };
            (key, self.value(depth - 1))
        });
        Value::Map(pairs.collect())
    }

    fn value(&mut self, depth: u32) -> Value {
        let containers = if depth == 0 { 0 } else { 12 };
        let ext = |v: Ext<'_>| Value::Ext(v.into());
        match self.0.below(34 + containers) {
            0..3 => Value::Null,
            3 => Value::Bool(self.0.below(2) == 0),
            4..8 => Value::Int(self.integer()),
            8 => Value::UInt(self.0.bits() | 1 << 63),
            9 => {
                let mut magnitude = vec![self.0.bits() as u8; 9 + self.0.below(9)];
                magnitude.push(1);
                Value::BigInt { negative: self.0.below(2) == 0, magnitude }
            }
            10 => Value::F64(self.0.bits() as i32 as f64 / 8.0),
            11 => Value::F64(f64::from_bits(self.0.bits())),
            12 => Value::F64([0.0, -0.0, 1e16, 1e300, f64::INFINITY, 0.1][self.0.below(6)]),
            13 => Value::F32(self.0.bits() as i16 as f32 / 8.0),
            14..20 => Value::Text(self.text()),
            20 => Value::Bytes(self.0.bytes(20)),
            21 => {
                let nanoseconds = [0, 1, 1_000, 500_000_000][self.0.below(4)];
                let seconds = self.integer() >> self.0.below(40);
                Value::Timestamp(Timestamp { seconds, nanoseconds })
            }
            22 => Value::Decimal(format!("{}.{:020}", self.integer(), self.0.below(1 << 40))),
            23 => Value::BrokenText([&self.0.bytes(20)[..], b"\xFF"].concat()),
            24 => Value::Surrogates(b"a\xED\xA0\x80b".to_vec()),
            25 => Value::MsgpackExt(self.0.below(100) as i8, self.0.bytes(20)),
            26 => ext(Ext::Symbol(&self.text())),
            27 => match self.0.below(4) {
                0 => ext(Ext::Date("2026-11-21")),
                1 => ext(Ext::Time("12:00:00.5")),
                2 => ext(Ext::DateTime("2026-11-21T12:00:00.25")),
                _ => ext(Ext::OffsetDateTime("2026-11-21T12:00:00+02:00")),
            },
            28 => ext(Ext::Duration {
                seconds: self.integer() >> 20,
                nanoseconds: [0, 5, 7_000][self.0.below(3)],
            }),
            29 => ext(Ext::Uuid([self.0.bits() as u8; 16])),
            30 => ext(Ext::ObjectId([self.0.bits() as u8; 12])),
            31 => match self.0.below(6) {
                0 => ext(Ext::MinKey),
                1 => ext(Ext::Undefined),
                2 => ext(Ext::Code("f()")),
                3 => ext(Ext::BsonTimestamp { seconds: self.0.bits() as u32, increment: 1 }),
                4 => ext(Ext::Binary(128, &self.0.bytes(20))),
                _ => ext(Ext::Simple(100)),
            },
            32 => ext(Ext::Regex { pattern: "^a+$", options: self.0.of(&["", "i", "im"]) }),
            33 => ext(Ext::Complex(self.integer() as f64, -0.0)),
            34..38 => self.array(depth),
            38..44 => self.map(depth, false),
            _ => self.typed(depth),
        }
    }

    /// Returns a row of texts, as CSV requires.
    fn row(&mut self) -> Value {
        let count = 1 + self.0.below(5);
        let pairs = (0..count).map(|number| {
            (Value::Text(format!("{number}{}", self.text())), Value::Text(self.text()))
        });
        Value::Map(pairs.collect())
    }

    /// Returns a document: usually a map, as BSON requires, sometimes with a value that occurs
    /// twice.
    fn document(&mut self) -> Value {
        let mut document = match self.0.below(4) {
            0 => self.value(3),
            _ => self.map(3, false),
        };
        if self.0.below(8) == 0
            && let Value::Map(pairs) = &mut document
        {
            let shared = Value::Anchor(1, Box::new(self.array(2)));
            pairs.push((Value::Text("first".into()), shared));
            pairs.push((Value::Text("again".into()), Value::Alias(1)));
        }
        document
    }
}

/// Texts that one format or another could mistake for something else.
const WORDS: &[&str] = &[
    "yes",
    "no",
    "null",
    "~",
    "true",
    "1",
    "1.0",
    "1e3",
    "0x10",
    "012",
    "1:30",
    ".5",
    ".inf",
    "=",
    "<<",
    "2026-11-21",
    "---",
    "...",
    "- a",
    "a: b",
    "a #b",
    "!x",
    "&x",
    "*x",
    "%x",
    "@x",
    "`x",
    "[",
    "{",
    "}",
    "]",
    ",",
    "?",
    ":",
    "|",
    ">",
    "'",
    "\"",
    "\\",
    " lead",
    "trail ",
    "\t",
    "\n",
    "a\nb",
    "a\n\nb\n",
    "\r\n",
    "\u{0}",
    "\u{7F}",
    "\u{85}",
    "\u{2028}",
    "\u{FEFF}x",
    "é",
    "𝄞",
    "$binary",
    "$literal",
    "$key:1",
    "$ruby:object",
    "$anchor",
    "value",
    "__class__",
    "E",
    "@a",
];

const CBOR_TAGS: &[&str] =
    &["0", "1", "2", "3", "4", "5", "24", "28", "29", "35", "37", "39", "1001", "1004", "55799"];

const YAML_TAGS: &[&str] = &[
    "!",
    "tag:yaml.org,2002:int",
    "tag:yaml.org,2002:float",
    "tag:yaml.org,2002:str",
    "tag:yaml.org,2002:null",
    "tag:yaml.org,2002:binary",
    "tag:yaml.org,2002:timestamp",
    "tag:yaml.org,2002:seq",
    "tag:yaml.org,2002:map",
    "tag:yaml.org,2002:set",
];

const RUBY_CLASSES: &[&str] = &["Set", "Range", "Time", "Date", "Complex", "BigDecimal"];

/// Returns the formats that hold any document.
fn formats() -> Vec<Format> {
    Format::ALL.into_iter().filter(|format| !format.is_marc()).collect()
}

fn options(from: Format, to: Format, on_loss: OnLoss) -> Options {
    let mut options = Options::new(from, to);
    options.on_loss = on_loss;
    options.documents = Documents::Keep;
    options.json_read.exact_numbers = true;
    options.yaml.exact_numbers = true;
    options
}

/// Returns the bytes in B, and whether something was lost on the way.
fn converted(bytes: &[u8], options: &Options) -> Result<(Vec<u8>, bool), regauge::Error> {
    let mut output = Vec::new();
    let mut options = options.clone();
    options.report = true;
    let to = StreamOutput::new(&mut output);
    let summary = convert(Input::Bytes(bytes), to, &options, &mut |_| Ok(()))?;
    Ok((output, !summary.fidelity.is_exact()))
}

#[derive(Default)]
struct Tally {
    exact: u64,
    wrapped: u64,
    reported: u64,
    refused: u64,
    /// Documents that the first format cannot hold at all.
    not_held: u64,
}

#[test]
fn nothing_is_lost_in_silence() {
    let documents = std::env::var("REGAUGE_DOCUMENTS").ok().and_then(|text| text.parse().ok());
    let documents: u64 = documents.unwrap_or(DOCUMENTS);
    let formats = formats();
    let mut tallies: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    let mut held: BTreeMap<&str, u64> = BTreeMap::new();
    let mut failures = Vec::new();
    let pairs = (formats.len() * (formats.len() - 1)) as u64;
    let rounds = documents.div_ceil(pairs);
    for round in 0..rounds {
        for &from in &formats {
            for &to in formats.iter().filter(|to| **to != from) {
                let seed = round * 1_000 + (from as u64) * 32 + to as u64;
                let mut random = Values(Random::new(seed));
                // Few documents are rows by chance.
                let document = match (from.is_table() || to.is_table()) && round % 2 == 0 {
                    true => random.row(),
                    false => random.document(),
                };
                let tally = tallies.entry((from.name(), to.name())).or_default();
                match there_and_back(&document, from, to, tally) {
                    Ok(()) => *held.entry(from.name()).or_default() += 1,
                    Err(what) if failures.len() < 20 => {
                        failures.push(format!("{from} → {to}, seed {seed}: {what}"));
                    }
                    Err(_) => {}
                }
            }
        }
    }
    let sum = |of: fn(&Tally) -> u64| tallies.values().map(of).sum::<u64>();
    println!(
        "{} documents over {pairs} pairs: {} exact, {} only wrapped, {} reported, {} refused",
        rounds * pairs,
        sum(|tally| tally.exact),
        sum(|tally| tally.wrapped),
        sum(|tally| tally.reported),
        sum(|tally| tally.refused),
    );
    assert!(failures.is_empty(), "{} or more:\n{}", failures.len(), failures.join("\n"));
    // Every pair was really tested: something went through unchanged, and something could not.
    for ((from, to), tally) in &tallies {
        assert!(tally.exact > 0, "{from} → {to}: nothing was exact");
        let tried = tally.exact + tally.wrapped + tally.reported + tally.refused + tally.not_held;
        assert!(tried >= rounds, "{from} → {to}: {tried} of {rounds} were tried");
    }
}

fn there_and_back(
    document: &Value,
    from: Format,
    to: Format,
    tally: &mut Tally,
) -> Result<(), String> {
    plain_there_and_back(document, from, to, tally)?;
    notation_there_and_back(document, from, to)
}

/// Checks what the format itself holds, under each policy.
fn plain_there_and_back(
    document: &Value,
    from: Format,
    to: Format,
    tally: &mut Tally,
) -> Result<(), String> {
    let given = std::slice::from_ref(document);
    let source = match write_values(given, &options(from, from, OnLoss::Refuse)) {
        // Numbers in a row are written as text, and counted.
        Ok((_, summary)) if from.is_table() && !summary.fidelity.is_exact() => {
            tally.not_held += 1;
            return Ok(());
        }
        Ok((source, _)) => source,
        Err(error) if is_refusal(&error) => {
            tally.not_held += 1;
            return Ok(());
        }
        Err(error) => return Err(format!("here: {error}; {document:?}")),
    };
    let before = read(&source, from, false)?;
    if !alike(&before, given) {
        return Err(format!("{from} gives {before:?}\nof {document:?}"));
    }
    for on_loss in [OnLoss::Refuse, OnLoss::Wrap, OnLoss::Approximate] {
        let (there, lost) = match converted(&source, &options(from, to, on_loss)) {
            Ok(there) => there,
            Err(error) if is_refusal(&error) && on_loss != OnLoss::Wrap => {
                tally.refused += u64::from(on_loss == OnLoss::Refuse);
                continue;
            }
            // A format whose documents are maps cannot hold anything else.
            Err(error) if error.kind() == ErrorKind::Unrepresentable => {
                tally.refused += 1;
                continue;
            }
            Err(error) => return Err(format!("{on_loss:?} there: {error}; {document:?}")),
        };
        if lost {
            tally.reported += 1;
            continue;
        }
        // Whatever came from the format goes back to it exactly, without help from the policy.
        let mut undone = options(to, from, OnLoss::Refuse);
        undone.unwrap = on_loss == OnLoss::Wrap;
        let (back, lost) = converted(&there, &undone)
            .map_err(|error| format!("{on_loss:?} back: {error}; {document:?}"))?;
        if lost {
            return Err(format!("{on_loss:?} back: exact on the way there; {document:?}"));
        }
        let after = read(&back, from, false)?;
        if !same(&before, &after) {
            return Err(format!("{on_loss:?}: {after:?}\nof {before:?}"));
        }
        match on_loss {
            OnLoss::Refuse => tally.exact += 1,
            OnLoss::Wrap => tally.wrapped += 1,
            OnLoss::Approximate => {}
        }
    }
    Ok(())
}

/// Checks any document in the notation, from one format to the other in the notation, and back.
fn notation_there_and_back(document: &Value, from: Format, to: Format) -> Result<(), String> {
    let given = std::slice::from_ref(document);
    let source = match write_values(given, &options(from, from, OnLoss::Wrap)) {
        Ok((source, _)) => source,
        Err(error) if error.kind() == ErrorKind::Unrepresentable => return Ok(()),
        Err(error) => return Err(format!("in the notation here: {error}; {document:?}")),
    };
    let before = read(&source, from, true)?;
    if !alike(&before, given) {
        return Err(format!("{from} gives, in the notation, {before:?}\nof {document:?}"));
    }
    let both = |from, to| {
        let mut options = options(from, to, OnLoss::Wrap);
        options.unwrap = true;
        options
    };
    let there = match converted(&source, &both(from, to)) {
        Ok((there, _)) => there,
        Err(error) if error.kind() == ErrorKind::Unrepresentable => return Ok(()),
        Err(error) => return Err(format!("in the notation there: {error}; {document:?}")),
    };
    let (back, _) = converted(&there, &both(to, from))
        .map_err(|error| format!("in the notation back: {error}; {document:?}"))?;
    let after = read(&back, from, true)?;
    match alike(&before, &after) {
        true => Ok(()),
        false => Err(format!("in the notation: {after:?}\nof {before:?}")),
    }
}

/// Compares values, treating a CBOR tag over the right content as the value it represents: they are
/// the same in CBOR.
fn alike(one: &[Value], other: &[Value]) -> bool {
    let in_cbor = |values: &[Value]| {
        let options = options(Format::Cbor, Format::Cbor, OnLoss::Wrap);
        let (bytes, _) = write_values(values, &options).ok()?;
        read(&bytes, Format::Cbor, true).ok()
    };
    same(one, other)
        || in_cbor(one).is_some_and(|one| in_cbor(other).is_some_and(|other| same(&one, &other)))
}

fn read(bytes: &[u8], format: Format, unwrap: bool) -> Result<Vec<Value>, String> {
    let mut options = options(format, format, OnLoss::Refuse);
    options.unwrap = unwrap;
    read_values(bytes, &options).map_err(|error| format!("{format} is not read back: {error}"))
}

fn is_refusal(error: &regauge::Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unrepresentable)
}
