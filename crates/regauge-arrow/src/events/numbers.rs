//! Decimals: without a fraction they are integers.

use arrow_array::ArrayRef;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type};
use arrow_schema::DataType;
use regauge::{BigInt, Ext, Result, Sink};

use super::cells::{Send, plain};

/// Returns a sender of decimals; `None` for another type.
pub fn decimals(of: &DataType, array: &ArrayRef) -> Option<Box<Send>> {
    Some(match of {
        DataType::Decimal32(_, scale) => {
            let scale = *scale;
            plain::<Decimal32Type>(array, move |value, sink| send(value.into(), scale, sink))
        }
        DataType::Decimal64(_, scale) => {
            let scale = *scale;
            plain::<Decimal64Type>(array, move |value, sink| send(value.into(), scale, sink))
        }
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            plain::<Decimal128Type>(array, move |value, sink| send(value, scale, sink))
        }
        DataType::Decimal256(_, scale) => {
            let scale = *scale;
            plain::<Decimal256Type>(array, move |value, sink| match value.to_i128() {
                Some(value) => send(value, scale, sink),
                None => send_text(&value.to_string(), scale, sink),
            })
        }
        _ => return None,
    })
}

fn send(value: i128, scale: i8, sink: &mut dyn Sink) -> Result {
    match (scale, i64::try_from(value), u64::try_from(value)) {
        (0, Ok(value), _) => sink.i64(value),
        (0, _, Ok(value)) => sink.u64(value),
        _ => send_text(&value.to_string(), scale, sink),
    }
}

/// Sends digits and the number of those after the point; below 0, it is the number of zeros that follow.
fn send_text(unscaled: &str, scale: i8, sink: &mut dyn Sink) -> Result {
    let (negative, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, unscaled),
    };
    if scale > 0 {
        return sink.ext(Ext::Decimal(&point(negative, digits, scale.unsigned_abs().into())));
    }
    let zeros = if digits == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
    let digits = format!("{digits}{}", "0".repeat(zeros));
    match (digits.parse::<i128>().ok().map(|value| if negative { -value } else { value }), scale) {
        (Some(value), ..0) if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() => {
            send(value, 0, sink)
        }
        _ => sink.big_int(BigInt::Decimal { negative, digits: &digits }),
    }
}

/// Puts the point into digits.
fn point(negative: bool, digits: &str, scale: usize) -> String {
    let sign = if negative { "-" } else { "" };
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_point_stands_where_the_scale_says() {
        for (digits, scale, text) in
            [("1250", 2, "12.50"), ("5", 2, "0.05"), ("0", 3, "0.000"), ("12", 2, "0.12")]
        {
            assert_eq!(point(false, digits, scale), text);
            assert_eq!(point(true, digits, scale), format!("-{text}"));
        }
    }
}
