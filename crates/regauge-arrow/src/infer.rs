//! Infers the schema of a sample of documents.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use regauge::path::Step;
use regauge::{Error, Ext, OnLoss, Result, Value};

use crate::column::DEPTH_MAX;
use crate::decimal::{DIGITS_MAX, Decimal};
use crate::exact::is_plain_type;
use crate::found::found;
use crate::rows::{self, Shape, stop};
use crate::{Words, misfit, moment};

/// Maximum number of columns in a schema, including nested ones: a map whose keys are data is not a
/// struct.
const FIELDS_MAX: usize = 10_000;

/// The types of values seen at one position.
#[derive(Clone, Debug, Default)]
enum Kind {
    #[default]
    Null,
    Bool,
    Int {
        negative: bool,
        unsigned: bool,
        big: bool,
    },
    /// Numbers of single precision.
    Single,
    Float,
    Decimal {
        scale: i32,
    },
    Text,
    Bytes,
    Date,
    Timestamp {
        fine: bool,
    },
    /// Dates and times without a zone.
    Local {
        fine: bool,
    },
    Clock {
        fine: bool,
    },
    Duration {
        fine: bool,
    },
    List(Box<Kind>),
    Struct(Struct),
    /// More than one type, and where that was first seen.
    Mixed(Box<Mixed>),
}

#[derive(Clone, Debug)]
struct Mixed {
    message: String,
    path: Vec<Step>,
    number: u64,
}

#[derive(Clone, Debug, Default)]
struct Struct {
    fields: Vec<(String, Kind)>,
    places: HashMap<String, usize>,
}

/// What was seen in the first documents.
pub struct Seen {
    words: &'static Words,
    left: usize,
    kind: Kind,
    /// Whether all were maps.
    maps: bool,
    fields: usize,
    path: Vec<Step>,
    number: u64,
    full: bool,
}

impl Seen {
    /// Creates an inference over a sample of this many documents.
    pub fn new(sample: usize, words: &'static Words) -> Seen {
        Seen {
            words,
            left: sample,
            kind: Kind::Null,
            maps: true,
            fields: 0,
            path: Vec::new(),
            number: 0,
            full: false,
        }
    }

    /// Returns whether the sample was complete, so that reading was stopped.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Examines one document.
    ///
    /// # Errors
    /// `Limit`; and one that stops the reading when the sample is complete.
    pub fn look(&mut self, row: &Value, number: u64) -> Result {
        self.number = number;
        self.maps &= matches!(row, Value::Map(_));
        let mut kind = std::mem::take(&mut self.kind);
        let done = self.observe(&mut kind, row, 0);
        self.kind = kind;
        done?;
        self.left -= 1;
        if self.left == 0 {
            self.full = true;
            return Err(stop());
        }
        Ok(())
    }

    /// Returns the schema.
    ///
    /// # Errors
    /// `Refused` if values of several types occur at one position, unless the policy allows it.
    pub fn schema(self, on_loss: OnLoss) -> Result<(Schema, Shape)> {
        let (fields, shape) = match self.kind {
            Kind::Struct(inside) if self.maps => {
                (fields(inside, on_loss, self.words)?, Shape::Plain)
            }
            Kind::Null if self.number == 0 => (Fields::empty(), Shape::Plain),
            other => {
                let of = data_type(other, on_loss, self.words)?;
                (Fields::from(vec![Field::new(rows::SINGLE, of, true)]), Shape::Single)
            }
        };
        Ok((Schema::new(fields), shape))
    }

    fn observe(&mut self, kind: &mut Kind, value: &Value, depth: usize) -> Result {
        if depth > DEPTH_MAX {
            return Err(Error::limit(format!(
                "found more than {DEPTH_MAX} nested containers, which a table has no columns for"
            ))
            .in_record(self.number));
        }
        if let Value::Typed(of, inside) = value
            && is_plain_type(&of.as_type())
        {
            return self.observe(kind, inside, depth);
        }
        let seen = match value {
            Value::Null => return Ok(()),
            Value::Array(items) => {
                if matches!(kind, Kind::Null) {
                    *kind = Kind::List(Box::default());
                }
                let Kind::List(inside) = kind else { return self.mixed(kind, value) };
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(index as u64));
                    self.observe(inside, item, depth + 1)?;
                    self.path.pop();
                }
                return Ok(());
            }
            Value::Map(pairs) => {
                if matches!(kind, Kind::Null) {
                    *kind = Kind::Struct(Struct::default());
                }
                let Kind::Struct(inside) = kind else { return self.mixed(kind, value) };
                for (key, value) in pairs {
                    let Value::Text(name) = key else {
                        self.mix(kind, &format!("a map with {} as a key", found(key)), "text");
                        return Ok(());
                    };
                    let place = match inside.places.get(name) {
                        Some(place) => *place,
                        None => {
                            self.fields += 1;
                            if self.fields > FIELDS_MAX {
                                return Err(self.too_many());
                            }
                            inside.places.insert(name.clone(), inside.fields.len());
                            inside.fields.push((name.clone(), Kind::Null));
                            inside.fields.len() - 1
                        }
                    };
                    self.path.push(Step::Key(name.as_str().into()));
                    self.observe(&mut inside.fields[place].1, value, depth + 1)?;
                    self.path.pop();
                }
                return Ok(());
            }
            Value::Bool(_) => Kind::Bool,
            Value::Int(v) => Kind::Int { negative: *v < 0, unsigned: false, big: false },
            Value::UInt(_) => Kind::Int { negative: false, unsigned: true, big: false },
            Value::BigInt { .. } if Decimal::of(value).is_some() => {
                Kind::Int { negative: false, unsigned: false, big: true }
            }
            Value::F32(_) => Kind::Single,
            Value::F64(_) => Kind::Float,
            Value::Text(_) => Kind::Text,
            Value::Bytes(_) => Kind::Bytes,
            Value::Timestamp(at) => Kind::Timestamp { fine: is_fine(at.nanoseconds) },
            Value::Decimal(_) => match Decimal::of(value) {
                Some(decimal) => Kind::Decimal { scale: decimal.scale },
                None => {
                    self.mix(kind, &found(value), "one of at most 38 digits");
                    return Ok(());
                }
            },
            Value::Ext(ext) => match ext.as_ext() {
                Ext::Int64(v) => Kind::Int { negative: v < 0, unsigned: false, big: false },
                Ext::Date(_) => Kind::Date,
                Ext::DateTime(text) => match moment::local(text) {
                    Some(at) => Kind::Local { fine: is_fine(at.nanoseconds) },
                    None => return self.mixed(kind, value),
                },
                Ext::Time(text) => match moment::time_of_day(text) {
                    Some(nanoseconds) => Kind::Clock { fine: nanoseconds % 1000 != 0 },
                    None => return self.mixed(kind, value),
                },
                Ext::Duration { nanoseconds, .. } => Kind::Duration { fine: is_fine(nanoseconds) },
                Ext::Uuid(_) | Ext::ObjectId(_) => Kind::Text,
                Ext::Binary(..) => Kind::Bytes,
                Ext::Decimal128(_) => match Decimal::of(value) {
                    Some(decimal) => Kind::Decimal { scale: decimal.scale },
                    None => return self.mixed(kind, value),
                },
                _ => return self.mixed(kind, value),
            },
            _ => return self.mixed(kind, value),
        };
        let merged = merge(kind, &seen);
        match merged {
            Some(merged) => *kind = merged,
            None => return self.mixed(kind, value),
        }
        Ok(())
    }

    fn too_many(&self) -> Error {
        misfit(
            format!(
                "found more than {FIELDS_MAX} names of fields, which are data rather than columns"
            ),
            self.number,
            &self.path,
        )
        .hint(format!(
            "pass {} with a map type, or a column of text and {}",
            self.words.schema, self.words.wrap
        ))
    }

    /// Values of several types, or of one that no column holds.
    fn mixed(&self, kind: &mut Kind, value: &Value) -> Result {
        let before = match kind {
            Kind::Null => "a value that a column can hold",
            Kind::Bool => "a truth value",
            Kind::Int { .. } => "an integer",
            Kind::Single | Kind::Float => "a double",
            Kind::Decimal { .. } => "a decimal",
            Kind::Text => "text",
            Kind::Bytes => "binary data",
            Kind::Date => "a date",
            Kind::Timestamp { .. } => "a point in time",
            Kind::Local { .. } => "a date and time without zone",
            Kind::Clock { .. } => "a time of day",
            Kind::Duration { .. } => "a duration",
            Kind::List(_) => "an array",
            Kind::Struct(_) => "a map with text as keys",
            Kind::Mixed(_) => "",
        };
        self.mix(kind, &found(value), &format!("{before} as before"));
        Ok(())
    }

    fn mix(&self, kind: &mut Kind, found: &str, expected: &str) {
        if matches!(kind, Kind::Mixed(_)) {
            return;
        }
        let message = format!("found {found}, expected {expected}");
        *kind =
            Kind::Mixed(Box::new(Mixed { message, path: self.path.clone(), number: self.number }));
    }
}

/// Returns the kind that can hold both.
fn merge(one: &Kind, other: &Kind) -> Option<Kind> {
    Some(match (one, other) {
        (Kind::Null, kind) => kind.clone(),
        (
            Kind::Int { negative, unsigned, big },
            Kind::Int { negative: negative2, unsigned: unsigned2, big: big2 },
        ) => Kind::Int {
            negative: *negative || *negative2,
            unsigned: *unsigned || *unsigned2,
            big: *big || *big2,
        },
        // An integer that no double holds is an error when its row is read.
        (Kind::Single, Kind::Single) => Kind::Single,
        (
            Kind::Int { .. } | Kind::Single | Kind::Float,
            Kind::Int { .. } | Kind::Single | Kind::Float,
        ) => Kind::Float,
        (Kind::Int { .. }, Kind::Decimal { scale })
        | (Kind::Decimal { scale }, Kind::Int { .. }) => Kind::Decimal { scale: *scale },
        (Kind::Decimal { scale }, Kind::Decimal { scale: other }) => {
            Kind::Decimal { scale: *scale.max(other) }
        }
        (Kind::Timestamp { fine }, Kind::Timestamp { fine: other }) => {
            Kind::Timestamp { fine: *fine || *other }
        }
        (Kind::Local { fine }, Kind::Local { fine: other }) => {
            Kind::Local { fine: *fine || *other }
        }
        (Kind::Clock { fine }, Kind::Clock { fine: other }) => {
            Kind::Clock { fine: *fine || *other }
        }
        (Kind::Duration { fine }, Kind::Duration { fine: other }) => {
            Kind::Duration { fine: *fine || *other }
        }
        (Kind::Bool, Kind::Bool) => Kind::Bool,
        (Kind::Text, Kind::Text) => Kind::Text,
        (Kind::Bytes, Kind::Bytes) => Kind::Bytes,
        (Kind::Date, Kind::Date) => Kind::Date,
        (Kind::Mixed(mixed), _) => Kind::Mixed(mixed.clone()),
        _ => return None,
    })
}

/// Returns whether a time needs more than microseconds.
fn is_fine(nanoseconds: u32) -> bool {
    !nanoseconds.is_multiple_of(1000)
}

fn unit(fine: bool) -> TimeUnit {
    if fine { TimeUnit::Nanosecond } else { TimeUnit::Microsecond }
}

fn fields(inside: Struct, on_loss: OnLoss, words: &Words) -> Result<Fields> {
    let fields = inside
        .fields
        .into_iter()
        .map(|(name, kind)| Ok(Field::new(name, data_type(kind, on_loss, words)?, true)));
    fields.collect()
}

fn data_type(kind: Kind, on_loss: OnLoss, words: &Words) -> Result<DataType> {
    Ok(match kind {
        Kind::Null => DataType::Null,
        Kind::Bool => DataType::Boolean,
        Kind::Int { big: true, .. } | Kind::Int { negative: true, unsigned: true, .. } => {
            DataType::Decimal128(DIGITS_MAX, 0)
        }
        Kind::Int { unsigned: true, .. } => DataType::UInt64,
        Kind::Int { .. } => DataType::Int64,
        Kind::Single => DataType::Float32,
        Kind::Float => DataType::Float64,
        Kind::Decimal { scale } => {
            DataType::Decimal128(DIGITS_MAX, i8::try_from(scale).unwrap_or(i8::MAX).min(38))
        }
        Kind::Text => DataType::Utf8,
        Kind::Bytes => DataType::Binary,
        Kind::Date => DataType::Date32,
        Kind::Timestamp { fine } => DataType::Timestamp(unit(fine), Some("UTC".into())),
        Kind::Local { fine } => DataType::Timestamp(unit(fine), None),
        Kind::Clock { fine } => DataType::Time64(unit(fine)),
        Kind::Duration { fine } => DataType::Duration(unit(fine)),
        Kind::List(inside) => {
            DataType::List(Arc::new(Field::new("item", data_type(*inside, on_loss, words)?, true)))
        }
        // Its JSON: other libraries reject a struct without fields.
        Kind::Struct(inside) if inside.fields.is_empty() => DataType::Utf8,
        Kind::Struct(inside) => DataType::Struct(fields(inside, on_loss, words)?),
        Kind::Mixed(mixed) if on_loss == OnLoss::Refuse => {
            let Words { wrap, schema, .. } = words;
            return Err(misfit(mixed.message, mixed.number, &mixed.path).hint(format!(
                "pass {wrap} to get such columns as text of JSON, or {schema} with a type for it"
            )));
        }
        Kind::Mixed(_) => DataType::Utf8,
    })
}
