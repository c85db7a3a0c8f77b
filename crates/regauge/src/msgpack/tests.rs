//! The format's rules, table by table.

use super::*;

/// `bytes` (hexadecimal) is the one encoding that we write of `value`, and reads as it.
#[track_caller]
fn check(bytes: &str, value: Value) {
    let bytes = hex(bytes);
    assert_eq!(from_slice(&bytes).unwrap(), value);
    let written = to_vec(&value, OnLoss::Refuse).unwrap();
    assert_eq!(written.escape_ascii().to_string(), bytes.escape_ascii().to_string());
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn the_home_page_example() {
    check(
        "82 a7 636f6d70616374 c3 a6 736368656d61 00",
        Value::Map(vec![
            (Value::Text("compact".into()), Value::Bool(true)),
            (Value::Text("schema".into()), Value::Int(0)),
        ]),
    );
}
