//! Appends values to Arrow columns: exactly, or according to the policy.

use std::sync::Arc;

use arrow_array::builder::{
    BinaryBuilder, BinaryViewBuilder, BooleanBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder,
    LargeStringBuilder, PrimitiveBuilder, StringBuilder, StringViewBuilder,
};
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type,
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use regauge::{Error, ErrorKind, OnLoss, Result, Value};

use crate::decimal::Decimal;
use crate::exact::{binary, days, double, has_digits, integer, is_plain_type, text, uuid};
use crate::losses::Lost;
use crate::nested::{List, Map, Struct};
use crate::state::State;
use crate::times::Times;
use crate::{Losses, Words};

/// Maximum nesting of columns. Each level is a stack frame of a few hundred bytes.
pub const DEPTH_MAX: usize = 100;
/// The bytes of values after which a batch ends early.
pub const BATCH_BYTES: u64 = 64 << 20;

/// The columns of a table, and the policy for filling them.
pub struct Columns {
    schema: SchemaRef,
    root: Struct,
    state: State,
    rows: usize,
}

/// One column of a table, or of a column.
pub(crate) enum Column {
    Null(usize),
    Bool(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    UInt8(PrimitiveBuilder<UInt8Type>),
    UInt16(PrimitiveBuilder<UInt16Type>),
    UInt32(PrimitiveBuilder<UInt32Type>),
    UInt64(PrimitiveBuilder<UInt64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Decimal32(PrimitiveBuilder<Decimal32Type>, u8, i8),
    Decimal64(PrimitiveBuilder<Decimal64Type>, u8, i8),
    Decimal(PrimitiveBuilder<Decimal128Type>, u8, i8),
    Text(StringBuilder),
    LargeText(LargeStringBuilder),
    TextView(StringViewBuilder),
    Bytes(BinaryBuilder),
    LargeBytes(LargeBinaryBuilder),
    BytesView(BinaryViewBuilder),
    FixedBytes(FixedSizeBinaryBuilder, i32),
    Date(PrimitiveBuilder<Date32Type>),
    /// Dates in milliseconds.
    DateMillis(PrimitiveBuilder<Date64Type>),
    /// Points in time, times of day, durations.
    Times(Times),
    List(List),
    LargeList(List),
    /// Lists of one length.
    FixedList(List, i32),
    Struct(Struct),
    Map(Map),
}

/// Applies one expression to every builder, and another to the remaining columns.
macro_rules! leaves {
    ($column:expr, |$builder:ident| $act:expr, { $($rest:tt)* }) => {
        match $column {
            Column::Bool($builder) => $act,
            Column::Int8($builder) => $act,
            Column::Int16($builder) => $act,
            Column::Int32($builder) => $act,
            Column::Int64($builder) => $act,
            Column::UInt8($builder) => $act,
            Column::UInt16($builder) => $act,
            Column::UInt32($builder) => $act,
            Column::UInt64($builder) => $act,
            Column::Float32($builder) => $act,
            Column::Float64($builder) => $act,
            Column::Decimal32($builder, ..) => $act,
            Column::Decimal64($builder, ..) => $act,
            Column::Decimal($builder, ..) => $act,
            Column::Text($builder) => $act,
            Column::LargeText($builder) => $act,
            Column::TextView($builder) => $act,
            Column::Bytes($builder) => $act,
            Column::LargeBytes($builder) => $act,
            Column::BytesView($builder) => $act,
            Column::FixedBytes($builder, _) => $act,
            Column::Date($builder) => $act,
            Column::DateMillis($builder) => $act,
            $($rest)*
        }
    };
}

impl Columns {
    /// Creates empty columns for a schema.
    ///
    /// # Errors
    /// `Unsupported` for a type that no document contains, `Limit` for excessive nesting.
    pub fn new(
        schema: &SchemaRef,
        on_loss: OnLoss,
        losses: &Losses,
        words: &'static Words,
    ) -> Result<Columns> {
        let root = Struct::new(schema.fields(), 0)?;
        let losses = losses.clone();
        let state = State { on_loss, losses, words, path: Vec::new(), number: 0, bytes: 0 };
        Ok(Columns { schema: Arc::clone(schema), root, state, rows: 0 })
    }

    /// Returns the number of rows since the last batch.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the approximate size of these rows in bytes.
    pub fn bytes(&self) -> u64 {
        self.state.bytes
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `Refused` for a value that does not fit, with path and record.
    pub fn append(&mut self, row: &Value, number: u64) -> Result {
        self.state.number = number;
        self.state.path.clear();
        let Value::Map(pairs) = row else {
            return Err(self.state.misfit(row, "a map, which is a row"));
        };
        self.root.append(pairs, &mut self.state)?;
        self.rows += 1;
        Ok(())
    }

    /// Returns the rows as a batch; the columns are empty afterwards.
    ///
    /// # Errors
    /// Those of Arrow, which no row should cause.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        (self.rows, self.state.bytes) = (0, 0);
        let columns = self.root.columns();
        let columns = columns.and_then(|columns| {
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)
        });
        columns.map_err(failed)
    }
}

fn failed(error: ArrowError) -> Error {
    Error::new(ErrorKind::Unrepresentable, error.to_string())
}

/// Appends an exact value, or, depending on the policy, the nearest or a null.
macro_rules! put {
    ($builder:expr, $value:expr, $state:expr, $expected:expr, $exact:expr, $nearest:expr) => {{
        match $exact {
            Some(exact) => $builder.append_value(exact),
            None => match $nearest {
                Some(nearest) => {
                    $state.lose($crate::losses::Lost::Rounded, $value, $expected)?;
                    $builder.append_value(nearest);
                }
                None => {
                    $state.lose($crate::losses::Lost::Value, $value, $expected)?;
                    $builder.append_null();
                }
            },
        }
        Ok(())
    }};
}
pub(crate) use put;

macro_rules! put_integer {
    ($builder:expr, $value:expr, $state:expr, $expected:literal) => {{
        let exact = integer($value).and_then(|v| v.try_into().ok());
        put!($builder, $value, $state, $expected, exact, None)
    }};
}

macro_rules! put_decimal {
    ($builder:expr, $precision:expr, $scale:expr, $value:expr, $state:expr) => {{
        let most = 10i128.checked_pow(u32::from($precision)).unwrap_or(i128::MAX);
        let fits = |v: &i128| v.unsigned_abs() < most.unsigned_abs();
        let number = Decimal::of($value);
        let exact = number.and_then(|v| v.scaled(i32::from($scale))).filter(fits);
        let nearest = number.and_then(|v| v.rounded(i32::from($scale))).filter(fits);
        if exact.is_some() && !has_digits($value, $scale) {
            $state.converted($value, Lost::Digits);
        }
        let (exact, nearest) =
            (exact.and_then(|v| v.try_into().ok()), nearest.and_then(|v| v.try_into().ok()));
        put!($builder, $value, $state, "a decimal of the column's digits", exact, nearest)
    }};
}

macro_rules! put_bytes {
    ($builder:expr, $value:expr, $state:expr) => {{
        let exact = binary($value);
        $state.add_bytes(exact.map_or(0, <[u8]>::len));
        put!($builder, $value, $state, "binary data", exact, None::<&[u8]>)
    }};
}

macro_rules! put_text {
    ($builder:expr, $value:expr, $state:expr) => {{
        match text($value) {
            Some(text) => {
                $state.add_bytes(text.len());
                $builder.append_value(text);
                if !matches!($value, Value::Text(_)) {
                    $state.converted($value, Lost::Canonical);
                }
            }
            None => $builder.append_value($state.as_json($value)?),
        }
        Ok(())
    }};
}

/// Returns the error for a type of column that no value of a document has.
#[cold]
fn unsupported(of: &DataType) -> Error {
    let message = format!("found a column of type {of}, which no document gives");
    Error::new(ErrorKind::Unsupported, message).hint(
        "use null, bool, int8 to uint64, float32, float64, decimal32 to decimal128, string, \
         large_string, string_view, binary, large_binary, binary_view, fixed_size_binary, date32, \
         date64, timestamp, time32, time64, duration, list, large_list, fixed_size_list, struct or \
         map",
    )
}

/// Adds binary data to a column of one length.
fn put_fixed(
    builder: &mut FixedSizeBinaryBuilder,
    width: i32,
    value: &Value,
    state: &mut State,
) -> Result {
    let fits = |bytes: &&[u8]| i32::try_from(bytes.len()) == Ok(width);
    if let (16, Some(uuid)) = (width, uuid(value)) {
        state.add_bytes(uuid.len());
        state.converted(value, Lost::Type);
        return builder.append_value(uuid).map_err(failed);
    }
    match binary(value).filter(fits) {
        Some(bytes) => {
            state.add_bytes(bytes.len());
            builder.append_value(bytes).map_err(failed)
        }
        None => {
            state.lose(Lost::Value, value, "binary data of the column's length")?;
            state.pad(u64::from(width.unsigned_abs()))?;
            builder.append_null();
            Ok(())
        }
    }
}

impl Column {
    /// Creates an empty column of a type.
    ///
    /// # Errors
    /// Those of [`Columns::new`].
    pub fn new(of: &DataType, depth: usize) -> Result<Column> {
        if depth > DEPTH_MAX {
            return Err(Error::limit(format!("found a schema of more than {DEPTH_MAX} levels")));
        }
        Ok(match of {
            DataType::Null => Column::Null(0),
            DataType::Boolean => Column::Bool(BooleanBuilder::new()),
            DataType::Int8 => Column::Int8(PrimitiveBuilder::new()),
            DataType::Int16 => Column::Int16(PrimitiveBuilder::new()),
            DataType::Int32 => Column::Int32(PrimitiveBuilder::new()),
            DataType::Int64 => Column::Int64(PrimitiveBuilder::new()),
            DataType::UInt8 => Column::UInt8(PrimitiveBuilder::new()),
            DataType::UInt16 => Column::UInt16(PrimitiveBuilder::new()),
            DataType::UInt32 => Column::UInt32(PrimitiveBuilder::new()),
            DataType::UInt64 => Column::UInt64(PrimitiveBuilder::new()),
            DataType::Float32 => Column::Float32(PrimitiveBuilder::new()),
            DataType::Float64 => Column::Float64(PrimitiveBuilder::new()),
            DataType::Decimal32(precision, scale) => {
                let builder = PrimitiveBuilder::new().with_data_type(of.clone());
                Column::Decimal32(builder, *precision, *scale)
            }
            DataType::Decimal64(precision, scale) => {
                let builder = PrimitiveBuilder::new().with_data_type(of.clone());
                Column::Decimal64(builder, *precision, *scale)
            }
            DataType::Decimal128(precision, scale) => {
                let builder = PrimitiveBuilder::new().with_data_type(of.clone());
                Column::Decimal(builder, *precision, *scale)
            }
            DataType::Utf8 => Column::Text(StringBuilder::new()),
            DataType::LargeUtf8 => Column::LargeText(LargeStringBuilder::new()),
            DataType::Utf8View => Column::TextView(StringViewBuilder::new()),
            DataType::Binary => Column::Bytes(BinaryBuilder::new()),
            DataType::LargeBinary => Column::LargeBytes(LargeBinaryBuilder::new()),
            DataType::BinaryView => Column::BytesView(BinaryViewBuilder::new()),
            DataType::Date32 => Column::Date(PrimitiveBuilder::new()),
            DataType::Date64 => Column::DateMillis(PrimitiveBuilder::new()),
            DataType::FixedSizeBinary(width) if *width >= 0 => {
                // Not `new`, which makes room for 1,024 values of any width.
                Column::FixedBytes(FixedSizeBinaryBuilder::with_capacity(0, *width), *width)
            }
            DataType::List(field) => Column::List(List::new(field, depth)?),
            DataType::LargeList(field) => Column::LargeList(List::new(field, depth)?),
            DataType::FixedSizeList(field, length) if *length >= 0 => {
                Column::FixedList(List::new(field, depth)?, *length)
            }
            DataType::Struct(fields) if !fields.is_empty() => {
                Column::Struct(Struct::new(fields, depth)?)
            }
            DataType::Map(field, ordered) => Column::Map(Map::new(field, *ordered, depth)?),
            other => match Times::new(other) {
                Some(times) => Column::Times(times),
                None => return Err(unsupported(other)),
            },
        })
    }

    /// Adds a value.
    ///
    /// # Errors
    /// `Refused` for a value that does not fit.
    pub fn append(&mut self, value: &Value, nullable: bool, state: &mut State) -> Result {
        if let Value::Typed(of, inside) = value
            && is_plain_type(&of.as_type())
        {
            state.converted(value, Lost::Type);
            return self.append(inside, nullable, state);
        }
        if matches!(value, Value::Null) {
            if !nullable {
                return Err(state.misfit(value, "a value, as the schema says"));
            }
            state.pad(self.null_bytes())?;
            self.append_null();
            return Ok(());
        }
        if !nullable && state.on_loss == OnLoss::Approximate {
            // A null is not an acceptable substitute.
            let strict = std::mem::replace(&mut state.on_loss, OnLoss::Refuse);
            let done = self.append(value, nullable, state);
            state.on_loss = strict;
            return done;
        }
        state.bytes += 8;
        match self {
            Column::Null(count) => {
                state.lose(Lost::Value, value, "null, as in the documents before")?;
                *count += 1;
                Ok(())
            }
            Column::Bool(builder) => {
                let exact = if let Value::Bool(v) = value { Some(*v) } else { None };
                put!(builder, value, state, "a truth value", exact, None)
            }
            Column::Int8(builder) => put_integer!(builder, value, state, "an integer of 8 bits"),
            Column::Int16(builder) => put_integer!(builder, value, state, "an integer of 16 bits"),
            Column::Int32(builder) => put_integer!(builder, value, state, "an integer of 32 bits"),
            Column::Int64(builder) => put_integer!(builder, value, state, "an integer of 64 bits"),
            Column::UInt8(builder) => {
                put_integer!(builder, value, state, "an integer from 0 to 255")
            }
            Column::UInt16(builder) => {
                put_integer!(builder, value, state, "an integer from 0 to 65,535")
            }
            Column::UInt32(builder) => {
                put_integer!(builder, value, state, "an integer of 32 bits, 0 or above")
            }
            Column::UInt64(builder) => {
                put_integer!(builder, value, state, "an integer of 64 bits, 0 or above")
            }
            Column::Float64(builder) => {
                let nearest = integer(value).map(|v| v as f64);
                let exact = double(value);
                if exact.is_some() {
                    state.doubled(value);
                }
                put!(builder, value, state, "a double", exact, nearest)
            }
            Column::Float32(builder) => {
                let nearest = double(value).map(|v| v as f32);
                let same =
                    |v: &f32| f64::from(*v).to_bits() == double(value).unwrap_or(0.0).to_bits();
                let exact = nearest.filter(|v| same(v) || v.is_nan());
                if exact.is_some() {
                    state.doubled(value);
                }
                put!(builder, value, state, "a number of single precision", exact, nearest)
            }
            Column::Decimal32(builder, precision, scale) => {
                put_decimal!(builder, *precision, *scale, value, state)
            }
            Column::Decimal64(builder, precision, scale) => {
                put_decimal!(builder, *precision, *scale, value, state)
            }
            Column::Decimal(builder, precision, scale) => {
                put_decimal!(builder, *precision, *scale, value, state)
            }
            Column::Text(builder) => put_text!(builder, value, state),
            Column::LargeText(builder) => put_text!(builder, value, state),
            Column::TextView(builder) => put_text!(builder, value, state),
            Column::Bytes(builder) => put_bytes!(builder, value, state),
            Column::LargeBytes(builder) => put_bytes!(builder, value, state),
            Column::BytesView(builder) => put_bytes!(builder, value, state),
            Column::FixedBytes(builder, width) => put_fixed(builder, *width, value, state),
            Column::Date(builder) => put!(builder, value, state, "a date", days(value), None),
            Column::DateMillis(builder) => {
                let millis = days(value).map(|days| i64::from(days) * 86_400_000);
                put!(builder, value, state, "a date", millis, None)
            }
            Column::Times(times) => times.append(value, state),
            Column::List(list) | Column::LargeList(list) => match value {
                Value::Array(items) => list.append(items, state),
                _ => {
                    state.lose(Lost::Value, value, "an array")?;
                    list.append_null();
                    Ok(())
                }
            },
            Column::FixedList(list, length) => match value {
                Value::Array(items) if i32::try_from(items.len()) == Ok(*length) => {
                    list.append(items, state)
                }
                _ => {
                    state.lose(Lost::Value, value, &format!("an array of {length} items"))?;
                    state.pad(list.null_bytes(*length))?;
                    list.append_nulls(*length);
                    Ok(())
                }
            },
            Column::Struct(inside) => match value {
                Value::Map(pairs) => inside.append(pairs, state),
                _ => {
                    state.lose(Lost::Value, value, "a map")?;
                    state.pad(inside.null_bytes())?;
                    inside.append_null();
                    Ok(())
                }
            },
            Column::Map(map) => match value {
                Value::Map(pairs) => map.append(pairs, state),
                _ => {
                    state.lose(Lost::Value, value, "a map")?;
                    map.append_null();
                    Ok(())
                }
            },
        }
    }

    /// Returns the bytes that a null takes, if a type of one length is in the column.
    pub fn null_bytes(&self) -> u64 {
        match self {
            Column::FixedBytes(_, width) => u64::from(width.unsigned_abs()),
            Column::FixedList(list, length) => list.null_bytes(*length),
            Column::Struct(inside) => inside.null_bytes(),
            _ => 0,
        }
    }

    /// Adds a null; [`State::pad`] has counted what it takes.
    pub fn append_null(&mut self) {
        leaves!(self, |builder| builder.append_null(), {
            Column::Null(count) => *count += 1,
            Column::Times(times) => times.append_null(),
            Column::List(list) | Column::LargeList(list) => list.append_null(),
            Column::FixedList(list, length) => list.append_nulls(*length),
            Column::Struct(inside) => inside.append_null(),
            Column::Map(map) => map.append_null(),
        });
    }

    /// Returns the values as an array; the column is empty afterwards.
    ///
    /// # Errors
    /// Arrow's, which no value should cause.
    pub fn finish(&mut self) -> std::result::Result<ArrayRef, ArrowError> {
        let array: ArrayRef = leaves!(self, |builder| Arc::new(builder.finish()), {
            Column::Null(count) => Arc::new(NullArray::new(std::mem::take(count))),
            Column::Times(times) => times.finish(),
            Column::List(list) => Arc::new(list.finish::<i32>()?),
            Column::LargeList(list) => Arc::new(list.finish::<i64>()?),
            Column::FixedList(list, length) => Arc::new(list.finish_fixed(*length)?),
            Column::Struct(inside) => Arc::new(inside.finish()?),
            Column::Map(map) => Arc::new(map.finish()?),
        });
        Ok(array)
    }
}
