//! Rust's own types through serde: what each becomes in each format, and that it comes back; what
//! serde's model lacks; what messages say.

#![cfg(feature = "serde")]

mod messages;
mod policy;
mod types;
mod values;

use std::collections::HashMap;
use std::fmt::Debug;

use regauge::serde::{Stream, from_slice, to_vec, to_writer};
use regauge::{ErrorKind, Format, OnLoss, Options, Value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The formats that hold any document. BSON's documents are maps, MARC's are records.
const ANY: [Format; 7] = [
    Format::Json,
    Format::Ndjson,
    Format::Yaml,
    Format::Msgpack,
    Format::Cbor,
    Format::Marshal,
    Format::Pickle,
];

/// What reading says is wrong.
#[track_caller]
fn wrong<T: DeserializeOwned + Debug>(json: &str) -> String {
    let error = from_slice::<T>(json.as_bytes(), Format::Json).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data, "{error}");
    error.to_string()
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Person {
    name: String,
    age: u8,
    phones: Vec<String>,
}

#[derive(Serialize, Deserialize, PartialEq, Debug, Clone)]
enum Shape {
    Unit,
    Newtype(u32),
    Tuple(u32, String),
    Struct { x: i32, y: i32 },
}

#[test]
fn shared_values_are_read_again_and_cycles_are_refused() {
    let read: Vec<Vec<u8>> = from_slice(b"[&a [1, 2], *a]", Format::Yaml).unwrap();
    assert_eq!(read, [[1, 2], [1, 2]]);
    assert!(from_slice::<Value>(b"&a [*a]", Format::Yaml).is_err());
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        laughs += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    let error = from_slice::<Value>(laughs.as_bytes(), Format::Yaml).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn documents_of_a_stream_come_one_by_one_or_joined() {
    let lines = b"1\n2\n\"x\"\n3\n";
    let mut stream =
        Stream::<u8>::open(regauge::convert::Input::Bytes(lines), Format::Ndjson).unwrap();
    assert_eq!(stream.next().unwrap().unwrap(), 1);
    assert_eq!(stream.next().unwrap().unwrap(), 2);
    let error = stream.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "ndjson: record 3, at $: found the text \"x\", expected u8");
    assert!(stream.next().is_none());

    let mut options = Options::new(Format::Ndjson, Format::Ndjson);
    options.documents = regauge::documents::Documents::Join;
    assert_eq!(from_slice::<Vec<u8>>(b"1\n2\n", &options).unwrap(), [1, 2]);
    options.documents = regauge::documents::Documents::Split;
    assert_eq!(to_vec(&[1, 2], &options).unwrap(), b"1\n2\n");
}

#[test]
fn options_apply() {
    let mut options = Options::new(Format::Json, Format::Json);
    options.json_read.comments = true;
    options.json_write.indent = Some(2);
    assert_eq!(from_slice::<Vec<u8>>(b"[1] // one", &options).unwrap(), [1]);
    let written = String::from_utf8(to_vec(&[1], &options).unwrap()).unwrap();
    assert_eq!(written.trim_end(), "[\n  1\n]");
    options.limits.depth = 2;
    let error = from_slice::<Value>(b"[[[1]]]", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    options.limits.nodes = 3;
    assert_eq!(from_slice::<Value>(b"[1,2,3,4]", &options).unwrap_err().kind(), ErrorKind::Limit);
    // The losses of an approximation are told.
    options.on_loss = OnLoss::Approximate;
    let mut out = Vec::new();
    let summary = to_writer(&mut out, &[f64::NAN], &options).unwrap();
    assert_eq!((summary.documents, summary.fidelity.count()), (1, 1));
    // The reversible notation, there and back.
    let options = |format| {
        let mut options = Options::new(format, format);
        (options.on_loss, options.unwrap) = (OnLoss::Wrap, true);
        options
    };
    let bytes = serde_bytes::ByteBuf::from(b"\xFF".to_vec());
    let written = to_vec(&bytes, options(Format::Json)).unwrap();
    assert!(written.starts_with(br#"{"$binary""#));
    let mut back = options(Format::Json);
    back.on_loss = OnLoss::Refuse;
    assert_eq!(from_slice::<serde_bytes::ByteBuf>(&written, &back).unwrap(), bytes);
    let mut strict = Options::new(Format::Json, Format::Json);
    strict.duplicate_keys = regauge::convert::DuplicateKeys::Refuse;
    let twice = br#"{"a": {"b": 1, "b": 2}}"#;
    let error = from_slice::<HashMap<String, Value>>(twice, &strict).unwrap_err();
    assert!(error.to_string().starts_with("json: at $.a.b: found the key \"b\""), "{error}");
}

/// The deepest nesting that readers let through by default, in the small stack of a test's thread.
#[test]
fn deep_documents_fit_the_stack() {
    #[derive(Deserialize, Serialize, Debug)]
    struct Chain {
        next: Option<Box<Chain>>,
    }
    #[derive(Deserialize, Debug)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only read")]
    enum Tree {
        Leaf(u8),
        Branch(Vec<Tree>),
    }
    let depth = regauge::Limits::default().depth as usize;
    let nested = "[".repeat(depth) + &"]".repeat(depth);
    from_slice::<Value>(nested.as_bytes(), Format::Json).unwrap();
    from_slice::<Tree>(nested.as_bytes(), Format::Json).unwrap();
    let chain = "{\"next\":".repeat(depth) + "null" + &"}".repeat(depth);
    let chain: Chain = from_slice(chain.as_bytes(), Format::Json).unwrap();
    to_vec(&chain, Format::Json).unwrap();
    assert!(from_slice::<Value>("[".repeat(100_000).as_bytes(), Format::Json).is_err());
}
