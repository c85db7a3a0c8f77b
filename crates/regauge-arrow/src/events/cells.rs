//! The values of one column, each of which can be sent.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, GenericListArray, OffsetSizeTrait};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use arrow_schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use regauge::tree::Builder;
use regauge::{Error, ErrorKind, Ext, Limits, Result, Sink};

use super::numbers;
use crate::moment;

/// Sends the value of a row that is not null.
pub(super) type Send = dyn Fn(usize, &mut dyn Sink) -> Result + std::marker::Send;

/// The values of a column.
pub struct Cells {
    nulls: Option<NullBuffer>,
    send: Box<Send>,
}

/// Returns whether documents have values of this type; those inside it aside.
pub fn is_known(of: &DataType) -> bool {
    use DataType as T;
    matches!(
        of,
        T::Null
            | T::Boolean
            | T::Date32
            | T::Date64
            | T::Float16
            | T::Float32
            | T::Float64
            | T::Int8
            | T::Int16
            | T::Int32
            | T::Int64
            | T::UInt8
            | T::UInt16
            | T::UInt32
            | T::UInt64
            | T::Decimal32(..)
            | T::Decimal64(..)
            | T::Decimal128(..)
            | T::Decimal256(..)
            | T::Utf8
            | T::LargeUtf8
            | T::Utf8View
            | T::Binary
            | T::LargeBinary
            | T::BinaryView
            | T::FixedSizeBinary(_)
            | T::Time32(TimeUnit::Second | TimeUnit::Millisecond)
            | T::Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond)
            | T::Timestamp(..)
            | T::Duration(_)
            | T::List(_)
            | T::LargeList(_)
            | T::FixedSizeList(..)
            | T::Struct(_)
            | T::Map(..)
            | T::Dictionary(..)
    )
}

impl Cells {
    /// Creates the values of a column.
    ///
    /// # Errors
    /// `Refused` for a type that [`is_known`] does not know.
    pub fn new(field: &Field, array: &ArrayRef) -> Result<Cells> {
        let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        Ok(Cells { nulls, send: sender(field, array)? })
    }

    /// Sends the value of a row.
    ///
    /// # Errors
    /// The sink's, and `Refused` for a value that documents do not have.
    pub fn send(&self, row: usize, sink: &mut dyn Sink) -> Result {
        match &self.nulls {
            Some(nulls) if nulls.is_null(row) => sink.null(),
            _ => (self.send)(row, sink),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// Returns a sender of numbers of this type.
pub(super) fn plain<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    send: impl Fn(T::Native, &mut dyn Sink) -> Result + std::marker::Send + 'static,
) -> Box<Send> {
    let array = array.as_primitive::<T>().clone();
    Box::new(move |row, sink| send(array.value(row), sink))
}

fn integers<T>(array: &ArrayRef) -> Box<Send>
where
    T: ArrowPrimitiveType,
    i64: From<T::Native>,
{
    plain::<T>(array, |value, sink| sink.i64(value.into()))
}

fn sender(field: &Field, array: &ArrayRef) -> Result<Box<Send>> {
    Ok(match array.data_type() {
        DataType::Null => Box::new(|_, sink| sink.null()),
        DataType::Boolean => {
            let array = array.as_boolean().clone();
            Box::new(move |row, sink| sink.bool(array.value(row)))
        }
        DataType::Int8 => integers::<Int8Type>(array),
        DataType::Int16 => integers::<Int16Type>(array),
        DataType::Int32 => integers::<Int32Type>(array),
        DataType::Int64 => integers::<Int64Type>(array),
        DataType::UInt8 => integers::<UInt8Type>(array),
        DataType::UInt16 => integers::<UInt16Type>(array),
        DataType::UInt32 => integers::<UInt32Type>(array),
        DataType::UInt64 => plain::<UInt64Type>(array, |value, sink| match i64::try_from(value) {
            Ok(value) => sink.i64(value),
            Err(_) => sink.u64(value),
        }),
        DataType::Float16 => plain::<Float16Type>(array, |value, sink| sink.f32(value.to_f32())),
        DataType::Float32 => plain::<Float32Type>(array, |value, sink| sink.f32(value)),
        DataType::Float64 => plain::<Float64Type>(array, |value, sink| sink.f64(value)),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => text(array),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => bytes(field, array),
        DataType::Dictionary(..) => dictionary(field, array)?,
        DataType::Struct(fields) => structs(in_struct(field).unwrap_or(fields), array)?,
        DataType::List(item) => list(in_list(field).unwrap_or(item), array.as_list::<i32>())?,
        DataType::LargeList(item) => list(in_list(field).unwrap_or(item), array.as_list::<i64>())?,
        DataType::FixedSizeList(item, width) => {
            fixed_list(in_list(field).unwrap_or(item), *width, array)?
        }
        DataType::Map(entries, _) => map(in_map(field).unwrap_or(entries), array)?,
        other => match numbers::decimals(other, array).or_else(|| times(other, array)) {
            Some(send) => send,
            None => {
                let message = format!("found a value of type {other}, which documents do not have");
                return Err(Error::new(ErrorKind::Refused, message));
            }
        },
    })
}

/// Returns the field of the items in a field of lists.
fn in_list(field: &Field) -> Option<&FieldRef> {
    match field.data_type() {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item)
        }
        _ => None,
    }
}

fn in_struct(field: &Field) -> Option<&Fields> {
    match field.data_type() {
        DataType::Struct(fields) => Some(fields),
        _ => None,
    }
}

fn in_map(field: &Field) -> Option<&FieldRef> {
    match field.data_type() {
        DataType::Map(entries, _) => Some(entries),
        _ => None,
    }
}

/// Returns a sender of dates and times; `None` for another type.
fn times(of: &DataType, array: &ArrayRef) -> Option<Box<Send>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    const MILLI: i64 = 1_000;
    const MICRO: i64 = 1_000_000;
    const NANO: i64 = 1_000_000_000;
    macro_rules! each {
        ($type:ty, $send:expr) => {
            plain::<$type>(array, $send)
        };
    }
    Some(match of {
        DataType::Date32 => each!(Date32Type, date),
        DataType::Date64 => each!(Date64Type, date_of_milliseconds),
        DataType::Time32(Second) => each!(Time32SecondType, |v, sink| clock(v.into(), 1, sink)),
        DataType::Time32(Millisecond) => {
            each!(Time32MillisecondType, |v, sink| clock(v.into(), MILLI, sink))
        }
        DataType::Time64(Microsecond) => {
            each!(Time64MicrosecondType, |v, sink| clock(v, MICRO, sink))
        }
        DataType::Time64(Nanosecond) => each!(Time64NanosecondType, |v, sink| clock(v, NANO, sink)),
        DataType::Duration(Second) => each!(DurationSecondType, |v, sink| duration(v, 1, sink)),
        DataType::Duration(Millisecond) => {
            each!(DurationMillisecondType, |v, sink| duration(v, MILLI, sink))
        }
        DataType::Duration(Microsecond) => {
            each!(DurationMicrosecondType, |v, sink| duration(v, MICRO, sink))
        }
        DataType::Duration(Nanosecond) => {
            each!(DurationNanosecondType, |v, sink| duration(v, NANO, sink))
        }
        DataType::Timestamp(unit, zone) => {
            let zoned = zone.is_some();
            match unit {
                Second => each!(TimestampSecondType, move |v, sink| point(v, 1, zoned, sink)),
                Millisecond => {
                    each!(TimestampMillisecondType, move |v, sink| point(v, MILLI, zoned, sink))
                }
                Microsecond => {
                    each!(TimestampMicrosecondType, move |v, sink| point(v, MICRO, zoned, sink))
                }
                Nanosecond => {
                    each!(TimestampNanosecondType, move |v, sink| point(v, NANO, zoned, sink))
                }
            }
        }
        _ => return None,
    })
}

#[cold]
fn refused(what: &'static str) -> Error {
    Error::new(ErrorKind::Refused, what)
}

fn date(days: i32, sink: &mut dyn Sink) -> Result {
    match moment::days_text(days) {
        Some(text) => sink.ext(Ext::Date(&text)),
        None => Err(refused("found a date outside of the years 0000 to 9999")),
    }
}

fn date_of_milliseconds(milliseconds: i64, sink: &mut dyn Sink) -> Result {
    const DAY: i64 = 86_400_000;
    match i32::try_from(milliseconds / DAY) {
        Ok(days) if milliseconds % DAY == 0 => date(days, sink),
        _ => Err(refused("found a date that is not a whole number of days")),
    }
}

fn clock(units: i64, per_second: i64, sink: &mut dyn Sink) -> Result {
    let nanoseconds = units.checked_mul(1_000_000_000 / per_second);
    match nanoseconds.and_then(moment::time_of_day_text) {
        Some(text) => sink.ext(Ext::Time(&text)),
        None => Err(refused("found a time of day that no day has")),
    }
}

fn duration(units: i64, per_second: i64, sink: &mut dyn Sink) -> Result {
    let at = moment::timestamp(units, per_second);
    sink.ext(Ext::Duration { seconds: at.seconds, nanoseconds: at.nanoseconds })
}

fn point(units: i64, per_second: i64, has_zone: bool, sink: &mut dyn Sink) -> Result {
    let at = moment::timestamp(units, per_second);
    if has_zone {
        return sink.ext(Ext::Timestamp(at));
    }
    match moment::local_text(at) {
        Some(text) => sink.ext(Ext::DateTime(&text)),
        None => Err(refused("found a date and time outside of the years 0000 to 9999")),
    }
}

/// Returns a function that gives the text of a row, for each of the types of text.
macro_rules! text_of {
    ($array:expr, |$row:ident, $text:ident, $sink:ident| $act:expr) => {{
        macro_rules! sender {
            ($typed:expr) => {{
                let typed = $typed.clone();
                Box::new(move |$row: usize, $sink: &mut dyn Sink| {
                    let $text: &str = typed.value($row);
                    $act
                })
            }};
        }
        match $array.data_type() {
            DataType::Utf8 => sender!($array.as_string::<i32>()),
            DataType::LargeUtf8 => sender!($array.as_string::<i64>()),
            _ => sender!($array.as_string_view()),
        }
    }};
}

fn text(array: &ArrayRef) -> Box<Send> {
    text_of!(array, |row, text, sink| sink.str(text))
}

/// The type of UUIDs, as Arrow's list of extension types names it.
pub(crate) const EXTENSION: &str = "ARROW:extension:name";
pub(crate) const UUID: &str = "arrow.uuid";

fn bytes(field: &Field, array: &ArrayRef) -> Box<Send> {
    macro_rules! sender {
        ($typed:expr) => {{
            let typed = $typed.clone();
            Box::new(move |row: usize, sink: &mut dyn Sink| sink.bytes(typed.value(row)))
        }};
    }
    match array.data_type() {
        DataType::Binary => sender!(array.as_binary::<i32>()),
        DataType::LargeBinary => sender!(array.as_binary::<i64>()),
        DataType::BinaryView => sender!(array.as_binary_view()),
        _ if field.metadata().get(EXTENSION).is_some_and(|name| name == UUID) => {
            let typed = array.as_fixed_size_binary().clone();
            Box::new(move |row, sink| match typed.value(row).try_into() {
                Ok(uuid) => sink.ext(Ext::Uuid(uuid)),
                Err(_) => sink.bytes(typed.value(row)),
            })
        }
        _ => sender!(array.as_fixed_size_binary()),
    }
}

fn dictionary(field: &Field, array: &ArrayRef) -> Result<Box<Send>> {
    let typed = array.as_any_dictionary();
    let values = Field::new("values", typed.values().data_type().clone(), true)
        .with_metadata(field.metadata().clone());
    let values = Cells::new(&values, typed.values())?;
    // Rows of an empty dictionary are all null.
    let keys = if typed.values().is_empty() { Vec::new() } else { typed.normalized_keys() };
    Ok(Box::new(move |row, sink| values.send(keys[row], sink)))
}

fn structs(fields: &Fields, array: &ArrayRef) -> Result<Box<Send>> {
    let typed = array.as_struct();
    let fields = fields.iter().zip(typed.columns());
    let fields: Vec<(String, Cells)> = fields
        .map(|(field, array)| Ok((field.name().clone(), Cells::new(field, array)?)))
        .collect::<Result<_>>()?;
    Ok(Box::new(move |row, sink| {
        sink.begin_map(Some(fields.len() as u64))?;
        for (name, cells) in &fields {
            sink.key(name)?;
            cells.send(row, sink)?;
        }
        sink.end_map()
    }))
}

fn list<O: OffsetSizeTrait>(field: &Field, array: &GenericListArray<O>) -> Result<Box<Send>> {
    let items = Cells::new(field, array.values())?;
    let offsets = array.offsets().clone();
    Ok(Box::new(move |row, sink| {
        let range = offsets[row].as_usize()..offsets[row + 1].as_usize();
        sink.begin_array(Some(range.len() as u64))?;
        range.into_iter().try_for_each(|item| items.send(item, sink))?;
        sink.end_array()
    }))
}

fn fixed_list(field: &Field, width: i32, array: &ArrayRef) -> Result<Box<Send>> {
    let array = array.as_fixed_size_list();
    let items = Cells::new(field, array.values())?;
    let width = usize::try_from(width).unwrap_or_default();
    Ok(Box::new(move |row, sink| {
        sink.begin_array(Some(width as u64))?;
        let start = row * width;
        (start..start + width).try_for_each(|item| items.send(item, sink))?;
        sink.end_array()
    }))
}

fn map(entries: &Field, array: &ArrayRef) -> Result<Box<Send>> {
    let array = array.as_map();
    let fields = in_struct(entries).unwrap_or(array.entries().fields());
    let [key_field, value_field] = &fields[..] else {
        return Err(refused("found a map without key and value"));
    };
    let keys = Cells::new(key_field, array.keys())?;
    let send_key = key(array.keys(), key_field)?;
    let values = Cells::new(value_field, array.values())?;
    let offsets = array.offsets().clone();
    Ok(Box::new(move |row, sink| {
        let range = offsets[row].as_usize()..offsets[row + 1].as_usize();
        sink.begin_map(Some(range.len() as u64))?;
        for pair in range {
            if keys.is_null(pair) {
                return Err(refused("found null as the key of a map"));
            }
            send_key(pair, sink)?;
            values.send(pair, sink)?;
        }
        sink.end_map()
    }))
}

/// Returns a sender of keys: text, or any other value.
fn key(array: &ArrayRef, field: &Field) -> Result<Box<Send>> {
    if matches!(array.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
        return Ok(text_of!(array, |row, text, sink| sink.key(text)));
    }
    let cells = Cells::new(field, array)?;
    Ok(Box::new(move |row, sink| {
        let mut builder = Builder::new(&Limits::default());
        cells.send(row, &mut builder)?;
        match builder.take() {
            Some(key) => {
                key.check_key()?;
                sink.key_value(&key)
            }
            None => Ok(()),
        }
    }))
}
