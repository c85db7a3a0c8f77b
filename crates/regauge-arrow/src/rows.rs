//! Turns the documents of a stream into rows, one tree at a time.

use std::sync::Arc;

use crate::events::inside;
use arrow_schema::{DataType, Field, Fields, Schema};
use regauge::event::{BigInt, Ext, Sink, Type, Writer};
use regauge::hint::Hint;
use regauge::option::Opt;
use regauge::tree::Builder;
use regauge::{Error, ErrorKind, Fidelity, OnLoss, Options, Result, Value};

/// The column of documents that are not maps.
pub const SINGLE: &str = "value";

/// How a document becomes a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A map is a row.
    Plain,
    /// Every document is the single value of its row, in the column `value`.
    Single,
    /// A MARC record: leader and fields.
    Marc,
}

impl Shape {
    /// Returns a document as a row.
    pub fn row(self, document: Value) -> Value {
        match self {
            Shape::Plain => document,
            Shape::Single => Value::Map(vec![named(SINGLE, document)]),
            Shape::Marc => marc_row(document),
        }
    }
}

/// Called with each row and its 1-based number.
pub type Take<'t> = dyn FnMut(Value, u64) -> Result + 't;

/// A sink that builds one document at a time, and passes each on as a row.
pub struct Rows<'t> {
    builder: Builder,
    limits: regauge::Limits,
    fidelity: Fidelity,
    shape: Shape,
    /// Whether a MARC record that carries its charset is refused.
    refuses_charset: bool,
    rows: u64,
    take: &'t mut Take<'t>,
}

impl<'t> Rows<'t> {
    /// Creates a sink for documents that are read with these options.
    pub fn new(options: &Options, shape: Shape, take: &'t mut Take<'t>) -> Rows<'t> {
        let fidelity = Fidelity::new(OnLoss::Refuse, options.from).with_holder("columns");
        let limits = options.limits;
        let builder = Builder::new(&limits);
        Rows { builder, limits, fidelity, shape, refuses_charset: false, rows: 0, take }
    }

    /// Refuses a MARC record that carries its charset, for which there is no column.
    #[cfg(feature = "parquet")]
    pub(crate) fn refusing_charset(self) -> Rows<'t> {
        Rows { refuses_charset: self.shape == Shape::Marc, ..self }
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $of:ty)?))*) => {
        $(fn $name(&mut self $(, $argument: $of)?) -> Result {
            self.builder.$name($($argument)?)
        })*
    };
}

impl Sink for Rows<'_> {
    forward! {
        null() bool(v: bool) i64(v: i64) u64(v: u64) f64(v: f64) f32(v: f32) str(v: &str)
        bytes(v: &[u8]) big_int(v: BigInt<'_>) ext(v: Ext<'_>) begin_array(v: Option<u64>)
        end_array() begin_map(v: Option<u64>) key(v: &str) key_value(v: &Value) end_map()
        begin_typed(v: &Type<'_>) end_typed()
    }

    // Columns cannot hold references: the value is repeated instead.
    fn holds_references(&mut self) -> bool {
        false
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

impl Writer for Rows<'_> {
    fn end_document(&mut self) -> Result {
        let Some(value) = self.builder.take() else { return Ok(()) };
        self.builder = Builder::new(&self.limits);
        if self.refuses_charset {
            check_charset(&value)?;
        }
        (self.take)(self.shape.row(value), self.rows + 1)?;
        self.rows += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result {
        Ok(())
    }

    fn checkpoint(&mut self) {}

    fn rollback(&mut self) {
        self.builder = Builder::new(&self.limits);
        // A broken record has a number, too.
        self.rows += 1;
    }
}

/// Returns the error that ends a reading early. The input is not read again for its path.
pub fn stop() -> Error {
    Error::new(ErrorKind::Io, "enough was read")
}

/// Returns whether these are the columns of documents that are not maps.
pub fn is_single(schema: &Schema) -> bool {
    matches!(&schema.fields()[..], [only] if only.name() == SINGLE)
}

/// Returns the columns of MARC records, the same as in the Spark data source.
pub fn marc_schema() -> Schema {
    let text = |name: &str, nullable| Field::new(name, DataType::Utf8, nullable);
    let list = |name: &str, fields: Vec<Field>, nullable| {
        let item = Field::new("item", DataType::Struct(Fields::from(fields)), false);
        Field::new(name, DataType::List(Arc::new(item)), nullable)
    };
    let subfields = list("subfields", vec![text("code", false), text("value", false)], true);
    let field = vec![
        text("tag", false),
        text("ind1", true),
        text("ind2", true),
        text("data", true),
        subfields,
    ];
    Schema::new(vec![text("leader", false), list("fields", field, false)])
}

/// Refuses a record that carries the charset that it was in, because its leader says another one.
fn check_charset(record: &Value) -> Result {
    let Some(charset) = record.get("charset").and_then(Value::as_str) else { return Ok(()) };
    let message = format!(
        "found a record in {charset} whose leader/09 declares another charset, expected the one declared: Parquet has \
         no column for it"
    );
    Err(Error::new(ErrorKind::Refused, message)
        .hint(Hint::set(Opt::OnLoss, "approximate").to("leave the charset out")))
}

fn named(name: &str, value: Value) -> (Value, Value) {
    (Value::Text(name.into()), value)
}

/// Converts a record in the shape of MARC-in-JSON to a row of the schema. Anything else is returned
/// unchanged, and the columns report what is missing.
fn marc_row(record: Value) -> Value {
    let Value::Map(mut pairs) = record else { return record };
    for (key, value) in &mut pairs {
        if *key == Value::Text("fields".into())
            && let Value::Array(fields) = value
        {
            for field in fields {
                *field = marc_field(std::mem::replace(field, Value::Null));
            }
        }
    }
    Value::Map(pairs)
}

fn marc_field(field: Value) -> Value {
    let Value::Map(mut pair) = field else { return field };
    if pair.len() != 1 {
        return Value::Map(pair);
    }
    let (tag, content) = pair.remove(0);
    let tag = named("tag", tag);
    let Value::Map(mut parts) = content else {
        return Value::Map(vec![tag, named("data", content)]);
    };
    for (key, value) in &mut parts {
        if *key == Value::Text("subfields".into())
            && let Value::Array(subfields) = value
        {
            for subfield in subfields {
                if let Value::Map(one) = subfield
                    && one.len() == 1
                {
                    let (code, text) = one.remove(0);
                    *one = vec![named("code", code), named("value", text)];
                }
            }
        }
    }
    parts.insert(0, tag);
    Value::Map(parts)
}

/// Returns whether these are the columns of [`marc_schema`], by their names: other writers name and mark
/// the items of lists in their own way.
pub fn is_marc(schema: &Schema) -> bool {
    fn names(fields: &[Field]) -> String {
        let name = |field: &Field| {
            let below = inside(field.data_type());
            // A list has its items inside, and these their fields.
            let below = match &below[..] {
                [item] => inside(item.data_type()),
                _ => below,
            };
            format!("{}({})", field.name(), names(&below))
        };
        fields.iter().map(name).collect()
    }
    let of = |schema: &Schema| {
        names(&schema.fields().iter().map(|field| field.as_ref().clone()).collect::<Vec<_>>())
    };
    of(schema) == of(&marc_schema())
}

/// Converts a row with the columns of [`marc_schema`] to a record in the shape of MARC-in-JSON. A field that has
/// both data and subfields is returned unchanged, and the writer of the record says what is wrong.
pub fn marc_record(row: Value) -> Value {
    let Value::Map(mut columns) = row else { return row };
    for (_, column) in &mut columns {
        if let Value::Array(fields) = column {
            for field in fields {
                *field = record_field(std::mem::replace(field, Value::Null));
            }
        }
    }
    Value::Map(columns)
}

fn record_field(field: Value) -> Value {
    let Value::Map(columns) = field else { return field };
    let filled: Vec<(Value, Value)> =
        columns.into_iter().filter(|(_, value)| *value != Value::Null).collect();
    let names: Vec<&str> = filled.iter().filter_map(|(name, _)| name.as_str()).collect();
    match names[..] {
        ["tag", "data"] => {
            let mut values = filled.into_iter().map(|(_, value)| value);
            Value::Map(values.next().zip(values.next()).into_iter().collect())
        }
        ["tag", "ind1", "ind2", "subfields"] => {
            let mut filled = filled.into_iter();
            let tag = filled.next().map_or(Value::Null, |(_, tag)| tag);
            let parts = filled.map(|(name, value)| match value {
                Value::Array(subfields) => {
                    (name, Value::Array(subfields.into_iter().map(record_subfield).collect()))
                }
                other => (name, other),
            });
            Value::Map(vec![(tag, Value::Map(parts.collect()))])
        }
        _ => Value::Map(filled),
    }
}

fn record_subfield(subfield: Value) -> Value {
    let Value::Map(mut columns) = subfield else { return subfield };
    match &mut columns[..] {
        [(_, code), (_, text)] => {
            let pair = (std::mem::replace(code, Value::Null), std::mem::replace(text, Value::Null));
            Value::Map(vec![pair])
        }
        _ => Value::Map(columns),
    }
}
