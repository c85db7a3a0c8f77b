//! Columns that count units of time: points in time, times of day, durations.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::PrimitiveBuilder;
use arrow_array::types::{
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_schema::{DataType, TimeUnit};
use regauge::{Result, Value};

use crate::column::put;
use crate::exact::{clock, duration, units};
use crate::state::State;

/// The values of a column, in the unit of its type.
pub enum Times {
    /// Points in time in one zone, or dates and times without a zone.
    Seconds(PrimitiveBuilder<TimestampSecondType>, bool),
    Millis(PrimitiveBuilder<TimestampMillisecondType>, bool),
    Micros(PrimitiveBuilder<TimestampMicrosecondType>, bool),
    Nanos(PrimitiveBuilder<TimestampNanosecondType>, bool),
    ClockSeconds(PrimitiveBuilder<Time32SecondType>),
    ClockMillis(PrimitiveBuilder<Time32MillisecondType>),
    ClockMicros(PrimitiveBuilder<Time64MicrosecondType>),
    ClockNanos(PrimitiveBuilder<Time64NanosecondType>),
    DurationSeconds(PrimitiveBuilder<DurationSecondType>),
    DurationMillis(PrimitiveBuilder<DurationMillisecondType>),
    DurationMicros(PrimitiveBuilder<DurationMicrosecondType>),
    DurationNanos(PrimitiveBuilder<DurationNanosecondType>),
}

/// Applies one expression to the builder, whichever it is.
macro_rules! builder {
    ($times:expr, |$builder:ident| $act:expr) => {
        match $times {
            Times::Seconds($builder, _) => $act,
            Times::Millis($builder, _) => $act,
            Times::Micros($builder, _) => $act,
            Times::Nanos($builder, _) => $act,
            Times::ClockSeconds($builder) => $act,
            Times::ClockMillis($builder) => $act,
            Times::ClockMicros($builder) => $act,
            Times::ClockNanos($builder) => $act,
            Times::DurationSeconds($builder) => $act,
            Times::DurationMillis($builder) => $act,
            Times::DurationMicros($builder) => $act,
            Times::DurationNanos($builder) => $act,
        }
    };
}

/// Appends a number of units and whether it is exact.
macro_rules! put_units {
    ($builder:expr, $value:expr, $state:expr, $units:expr, $expected:expr) => {{
        let units: Option<(i64, bool)> = $units;
        let nearest = units.and_then(|(v, _)| v.try_into().ok());
        let exact = if units.is_some_and(|(_, exact)| exact) { nearest } else { None };
        put!($builder, $value, $state, $expected, exact, nearest)
    }};
}

impl Times {
    /// Creates an empty column of a type that counts time; `None` for another type.
    pub fn new(of: &DataType) -> Option<Times> {
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        macro_rules! new {
            () => {
                PrimitiveBuilder::new().with_data_type(of.clone())
            };
        }
        Some(match of {
            DataType::Timestamp(Second, zone) => Times::Seconds(new!(), zone.is_some()),
            DataType::Timestamp(Millisecond, zone) => Times::Millis(new!(), zone.is_some()),
            DataType::Timestamp(Microsecond, zone) => Times::Micros(new!(), zone.is_some()),
            DataType::Timestamp(Nanosecond, zone) => Times::Nanos(new!(), zone.is_some()),
            DataType::Time32(Second) => Times::ClockSeconds(new!()),
            DataType::Time32(Millisecond) => Times::ClockMillis(new!()),
            DataType::Time64(Microsecond) => Times::ClockMicros(new!()),
            DataType::Time64(Nanosecond) => Times::ClockNanos(new!()),
            DataType::Duration(Second) => Times::DurationSeconds(new!()),
            DataType::Duration(Millisecond) => Times::DurationMillis(new!()),
            DataType::Duration(Microsecond) => Times::DurationMicros(new!()),
            DataType::Duration(Nanosecond) => Times::DurationNanos(new!()),
            _ => return None,
        })
    }

    /// Adds a value.
    ///
    /// # Errors
    /// `Refused` for a value that does not fit.
    pub fn append(&mut self, value: &Value, state: &mut State) -> Result {
        const ZONED: [&str; 4] = [
            "a point in time in whole seconds",
            "a point in time in milliseconds",
            "a point in time in microseconds",
            "a point in time from 1677 to 2262",
        ];
        const LOCAL: [&str; 4] = [
            "a date and time without zone in whole seconds",
            "a date and time without zone in milliseconds",
            "a date and time without zone in microseconds",
            "a date and time without zone from 1677 to 2262",
        ];
        const CLOCK: &str = "a time of day in the column's unit";
        const DURATION: &str = "a duration in the column's unit";
        let point = |has_zone: bool, unit: usize| if has_zone { ZONED[unit] } else { LOCAL[unit] };
        match self {
            Times::Seconds(builder, zone) => {
                let units = units(value, 1, *zone);
                put_units!(builder, value, state, units, point(*zone, 0))
            }
            Times::Millis(builder, zone) => {
                let units = units(value, 1_000, *zone);
                put_units!(builder, value, state, units, point(*zone, 1))
            }
            Times::Micros(builder, zone) => {
                let units = units(value, 1_000_000, *zone);
                put_units!(builder, value, state, units, point(*zone, 2))
            }
            Times::Nanos(builder, zone) => {
                let units = units(value, 1_000_000_000, *zone);
                put_units!(builder, value, state, units, point(*zone, 3))
            }
            Times::ClockSeconds(b) => put_units!(b, value, state, clock(value, 1), CLOCK),
            Times::ClockMillis(b) => put_units!(b, value, state, clock(value, 1_000), CLOCK),
            Times::ClockMicros(b) => put_units!(b, value, state, clock(value, 1_000_000), CLOCK),
            Times::ClockNanos(b) => put_units!(b, value, state, clock(value, 1_000_000_000), CLOCK),
            Times::DurationSeconds(b) => put_units!(b, value, state, duration(value, 1), DURATION),
            Times::DurationMillis(b) => {
                put_units!(b, value, state, duration(value, 1_000), DURATION)
            }
            Times::DurationMicros(b) => {
                put_units!(b, value, state, duration(value, 1_000_000), DURATION)
            }
            Times::DurationNanos(b) => {
                put_units!(b, value, state, duration(value, 1_000_000_000), DURATION)
            }
        }
    }

    /// Adds a null.
    pub fn append_null(&mut self) {
        builder!(self, |builder| builder.append_null());
    }

    /// Returns the values as an array; the column is empty afterwards.
    pub fn finish(&mut self) -> ArrayRef {
        builder!(self, |builder| Arc::new(builder.finish()))
    }
}
