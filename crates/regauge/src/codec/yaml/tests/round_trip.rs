//! Random documents: events to YAML and back to the same events.

use regauge_testdata::Random;

use crate::bytes::buffer::Out;
use crate::codec::yaml::{Parser, Reader, WriteOptions, Writer};
use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::{Ext, Origin, Sink as _, Source as _, Timestamp, Type, Writer as _};
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::policy::tree::Builder;

/// Random documents.
struct Documents {
    random: Random,
    /// How many anchors the document has so far.
    anchors: u64,
}

impl Documents {
    /// Returns text that grammars and schemas could mistake for something else.
    fn text(&mut self) -> String {
        const PIECES: [&str; 48] = [
            "a", "y", "no", "1", "0x", "e3", ".", "-", "+", ":", ": ", " ", "  ", "#", " #", "\n",
            "\n\n", "\t", "\r", "'", "\"", "\\", ",", "[", "]", "{", "}", "?", "!", "&", "*", "|",
            ">", "%", "@", "`", "~", "=", "<<", "---", "...", "é", "日本", "🦀", "\u{85}",
            "\u{2028}", "\u{FEFF}", "\0",
        ];
        match self.random.below(8) {
            0 => self
                .random
                .of(&["yes", "null", "~", "", "1.5", "0o7", "2001-01-01", "<<", "-", "x"])
                .to_owned(),
            1 => "word and ".repeat(self.random.below(300)),
            2 => (0..self.random.below(6)).map(|_| self.text() + "\n").collect(),
            _ => (0..self.random.below(9)).map(|_| self.random.of(&PIECES)).collect(),
        }
    }

    fn leaf(&mut self) -> Value {
        match self.random.below(14) {
            0 => Value::Null,
            1 => Value::Bool(self.random.below(2) == 0),
            2 => Value::Int((self.random.bits() >> self.random.below(64)) as i64),
            3 => Value::Int(!((self.random.bits() >> self.random.below(63) >> 1) as i64)),
            4 => Value::UInt(self.random.bits() | 1 << 63),
            5 => {
                let mut magnitude: Vec<u8> =
                    (0..9 + self.random.below(90)).map(|_| self.random.bits() as u8).collect();
                magnitude.push(1);
                Value::BigInt { negative: self.random.below(2) == 0, magnitude }
            }
            6 => Value::F64(f64::from_bits(self.random.bits())),
            7 => Value::F64(self.random.below(2000) as f64 / 8.0 - 100.0),
            8 => {
                Value::Bytes((0..self.random.below(40)).map(|_| self.random.bits() as u8).collect())
            }
            9 => Value::Timestamp(Timestamp {
                seconds: self.random.below(300_000_000_000) as i64 - 50_000_000_000,
                nanoseconds: if self.random.below(2) == 0 {
                    0
                } else {
                    self.random.below(1_000_000_000) as u32
                },
            }),
            10 => Value::Ext(
                (*[
                    Ext::Date("2026-11-21"),
                    Ext::DateTime("2026-11-21T12:00:00.25"),
                    Ext::OffsetDateTime("2026-11-21T12:00:00+02:00"),
                ]
                .get(self.random.below(3))
                .unwrap())
                .into(),
            ),
            _ => Value::Text(self.text()),
        }
    }

    fn value(&mut self, depth: u32) -> Value {
        if depth == 0 {
            return self.leaf();
        }
        match self.random.below(16) {
            0..6 => self.leaf(),
            6 => {
                let tag = self.random.of(&[
                    "!x",
                    "!a b",
                    "!é!",
                    "tag:example.com,2000:x",
                    "tag:yaml.org,2002:x/y",
                ]);
                let t = Type { origin: Origin::Yaml, kind: "tag", name: tag };
                match self.value(depth - 1) {
                    // A value has at most one tag, which follows its anchor.
                    typed @ Value::Typed(..) => typed,
                    Value::Anchor(id, value) => Value::Anchor(id, value),
                    Value::Alias(_) => Value::Null,
                    value if is_tagged(&value) => value,
                    // Scalars under an unknown tag of YAML's own are text.
                    value if tag.contains("x/y") && is_number(&value) => value,
                    value => Value::Typed(Box::new((&t).into()), Box::new(value)),
                }
            }
            7 => {
                self.anchors += 1;
                let id = self.anchors;
                Value::Anchor(id, Box::new(Value::Array(self.values(depth - 1))))
            }
            8 if self.anchors > 0 => {
                Value::Alias(1 + self.random.below(self.anchors as usize) as u64)
            }
            9..12 => Value::Array(self.values(depth - 1)),
            _ => {
                let count = self.random.below(5);
                Value::Map(
                    (0..count).map(|n| (self.key(n, depth - 1), self.value(depth - 1))).collect(),
                )
            }
        }
    }

    fn values(&mut self, depth: u32) -> Vec<Value> {
        (0..self.random.below(5)).map(|_| self.value(depth)).collect()
    }

    /// Returns a key that differs from all other keys of the map.
    fn key(&mut self, number: usize, depth: u32) -> Value {
        match self.random.below(8) {
            0 => Value::Array(vec![Value::Int(number as i64), self.leaf(), Value::Array(vec![])]),
            1 => Value::Map(vec![(Value::Int(number as i64), self.value(depth.min(1)))]),
            2 => Value::Int(number as i64),
            3 => Value::Bytes(vec![number as u8; 1 + self.random.below(700)]),
            4 => Value::Text(format!("{number}{}", self.text().repeat(40))),
            5 if number == 0 => Value::Text(self.random.of(&["<<", "yes", ""]).to_owned()),
            _ => Value::Text(format!("{}{number}", self.text())),
        }
    }
}

/// Returns whether the value is written with a tag of YAML's own, so that it can have no other.
fn is_tagged(value: &Value) -> bool {
    matches!(value, Value::Bytes(_) | Value::Timestamp(_) | Value::Ext(_))
}

fn is_number(value: &Value) -> bool {
    !matches!(value, Value::Text(_) | Value::Array(_) | Value::Map(_))
}

fn written(documents: &[Value], options: WriteOptions) -> Vec<u8> {
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Yaml);
    let mut writer = Writer::new(Out::in_memory(), options, fidelity);
    for document in documents {
        writer.fidelity().set_record(1);
        document.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
    }
    writer.finish().unwrap();
    writer.into_out().into_vec()
}

fn read(bytes: &[u8]) -> Vec<Value> {
    let mut reader = Reader::from_slice(Parser::new(Default::default(), Limits::default()), bytes);
    let mut documents = Vec::new();
    loop {
        let mut builder = Builder::new(&Limits::default());
        match reader.next(&mut builder) {
            Ok(true) => documents.push(builder.take().expect("a document is one value")),
            Ok(false) => return documents,
            Err(error) => panic!("{error}\n{}", String::from_utf8_lossy(bytes)),
        }
    }
}

#[test]
fn documents_at_random() {
    for seed in 0..5000 {
        let mut made = Documents { random: Random::new(seed), anchors: 0 };
        let count = 1 + made.random.below(3);
        let documents: Vec<Value> = (0..count)
            .map(|_| {
                made.anchors = 0;
                made.value(6)
            })
            .collect();
        let options = WriteOptions {
            indent: 1 + made.random.below(5) as u8,
            indent_sequences: made.random.below(2) == 0,
            document_start: made.random.below(2) == 0,
            ..WriteOptions::default()
        };
        let bytes = written(&documents, options.clone());
        let again = read(&bytes);
        // Compared as debug text, so that NaN equals itself and zeros keep their sign.
        let (wanted, found) = (format!("{documents:?}"), format!("{again:?}"));
        if wanted != found {
            let same = wanted.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
            let near = |text: &str| {
                String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(80)..])
                    .chars()
                    .take(200)
                    .collect::<String>()
            };
            let yaml = String::from_utf8_lossy(&bytes);
            panic!("seed {seed}: found\n{}\nexpected\n{}\n{yaml}", near(&found), near(&wanted));
        }
        assert!(written(&again, options) == bytes, "seed {seed}: written again");
    }
}
