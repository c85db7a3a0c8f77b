//! INT96, the timestamp of Spark, Hive and Impala: nanoseconds over five million years, which no column of ours holds.
//!
//! The crate decodes it into 64 bits, and what overflows wraps around. So such a file is decoded twice, in microseconds
//! and in nanoseconds: the difference shows what each of them has lost.

use arrow_array::cast::AsArray;
use arrow_array::types::{TimestampMicrosecondType, TimestampNanosecondType};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use regauge::{Error, ErrorKind, Result};

/// What the values of a batch need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Needs {
    /// One has a part of a microsecond.
    nanoseconds: bool,
    /// One is before 1677 or after 2262.
    range: bool,
}

/// Returns the batch that holds all values of INT96, of the same rows in microseconds and in nanoseconds.
///
/// # Errors
/// `Refused` if neither does.
pub fn exact(micros: RecordBatch, nanos: RecordBatch) -> Result<RecordBatch> {
    let mut needs = Needs::default();
    for (micros, nanos) in micros.columns().iter().zip(nanos.columns()) {
        compare(micros, nanos, &mut needs);
    }
    match needs {
        Needs { nanoseconds: false, .. } => Ok(micros),
        Needs { range: false, .. } => Ok(nanos),
        _ => Err(Error::new(
            ErrorKind::Refused,
            "found INT96 timestamps that no one unit holds in one batch of rows: some need nanoseconds, and some are before \
             1677 or after 2262, beyond the range of nanoseconds",
        )),
    }
}

/// Looks at the values of two columns that differ in the unit.
fn compare(micros: &ArrayRef, nanos: &ArrayRef, needs: &mut Needs) {
    match (micros.data_type(), nanos.data_type()) {
        (
            DataType::Timestamp(TimeUnit::Microsecond, _),
            DataType::Timestamp(TimeUnit::Nanosecond, _),
        ) => {
            let micros = micros.as_primitive::<TimestampMicrosecondType>();
            let nanos = nanos.as_primitive::<TimestampNanosecondType>();
            for row in (0..micros.len().min(nanos.len())).filter(|row| micros.is_valid(*row)) {
                let whole = micros.value(row);
                // What is left wraps around as the rest does.
                needs.nanoseconds |= nanos.value(row) != whole.wrapping_mul(1_000);
                // The last whole microsecond of the range has no room for a part of it.
                needs.range |= whole.checked_mul(1_000).and_then(|v| v.checked_add(999)).is_none();
            }
        }
        (DataType::Struct(_), DataType::Struct(_)) => {
            let columns = micros.as_struct().columns().iter().zip(nanos.as_struct().columns());
            columns.for_each(|(micros, nanos)| compare(micros, nanos, needs));
        }
        (DataType::List(_), DataType::List(_)) => {
            compare(micros.as_list::<i32>().values(), nanos.as_list::<i32>().values(), needs);
        }
        (DataType::LargeList(_), DataType::LargeList(_)) => {
            compare(micros.as_list::<i64>().values(), nanos.as_list::<i64>().values(), needs);
        }
        (DataType::Map(..), DataType::Map(..)) => {
            compare(micros.as_map().keys(), nanos.as_map().keys(), needs);
            compare(micros.as_map().values(), nanos.as_map().values(), needs);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{TimestampMicrosecondArray, TimestampNanosecondArray};
    use arrow_schema::{Field, Schema};

    use super::*;

    /// A batch of points in time, in microseconds and what is left, as the crate decodes it.
    fn batches(values: &[(i64, i64)]) -> (RecordBatch, RecordBatch) {
        let batch = |array: ArrayRef| {
            let field = Field::new("at", array.data_type().clone(), true);
            RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
        };
        let micros: Vec<_> = values.iter().map(|(micros, _)| *micros).collect();
        let nanos =
            values.iter().map(|(micros, rest)| micros.wrapping_mul(1_000).wrapping_add(*rest));
        let nanos: Vec<_> = nanos.collect();
        (
            batch(Arc::new(TimestampMicrosecondArray::from(micros))),
            batch(Arc::new(TimestampNanosecondArray::from(nanos))),
        )
    }

    #[test]
    fn the_unit_that_holds_all_values() {
        const YEAR_10000: i64 = 253_402_300_800_000_000;
        for (values, unit) in [
            (&[(0, 0), (5, 0)][..], Some(TimeUnit::Microsecond)),
            (&[(YEAR_10000, 0), (-YEAR_10000, 0)], Some(TimeUnit::Microsecond)),
            (&[(5, 7), (-1, 999)], Some(TimeUnit::Nanosecond)),
            (&[(5, 7), (YEAR_10000, 0)], None),
            (&[(YEAR_10000, 7)], None),
        ] {
            let (micros, nanos) = batches(values);
            let found = exact(micros, nanos).ok();
            let found = found.map(|batch| batch.column(0).data_type().clone());
            assert_eq!(found, unit.map(|unit| DataType::Timestamp(unit, None)), "{values:?}");
        }
    }
}
