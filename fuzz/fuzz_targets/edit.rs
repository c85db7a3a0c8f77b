//! Edits of a text in place: the first line names the format and seeds the changes. No panic; a filter
//! that changes nothing changes no byte; and what was edited says what was wanted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::{Format, Options, Value, edit};

fuzz_target!(|data: &[u8]| {
    let Some(line) = data.iter().position(|byte| *byte == b'\n') else { return };
    let text = &data[line + 1..];
    let (format, seed) = match &data[..line] {
        [b'j', seed @ ..] => (Format::Json, seed),
        [b't', seed @ ..] => (Format::Toml, seed),
        [_, seed @ ..] => (Format::Yaml, seed),
        [] => return,
    };
    let options = Options::new(format, format);
    let Ok(same) = edit(text, &options, &mut |document| Ok(document.clone())) else { return };
    assert!(same.is_none());
    let mut random = seed.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    });
    let mut wanted = Vec::new();
    let edited = edit(text, &options, &mut |document| {
        wanted.push(changed(document, &mut random));
        Ok(wanted[wanted.len() - 1].clone())
    });
    let Ok(Some(edited)) = edited else { return };
    let mut wanted = wanted.into_iter();
    let again = edit(&edited, &options, &mut |_| Ok(wanted.next().expect("as many documents")));
    match again {
        Ok(found) => assert!(found.is_none()),
        // A new key of TOML stands before the tables, and keys are not moved.
        Err(error) => assert!(error.message().contains("another order"), "{error}"),
    }
});

/// Returns the value with about every tenth part of it replaced, added or removed.
fn changed(value: &Value, random: &mut u64) -> Value {
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    let roll = *random % 20;
    match value {
        Value::Map(pairs) => {
            let pair = |(key, value): &(Value, Value)| (key.clone(), changed(value, random));
            let mut pairs: Vec<_> = pairs.iter().map(pair).collect();
            match roll {
                0 => drop(pairs.pop()),
                1 if !pairs.is_empty() => drop(pairs.remove(0)),
                2 => pairs.push((Value::from("new key"), Value::from("a: b"))),
                _ => {}
            }
            Value::Map(pairs)
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| changed(item, random)).collect();
            match roll {
                0 => drop(items.pop()),
                1 if !items.is_empty() => drop(items.remove(0)),
                2 => items.insert(items.len() / 2, Value::from(7)),
                _ => {}
            }
            Value::Array(items)
        }
        _ if roll == 0 => Value::from("# text"),
        _ if roll == 1 => Value::Array(vec![Value::from(1), Value::Map(Vec::new())]),
        other => other.clone(),
    }
}
