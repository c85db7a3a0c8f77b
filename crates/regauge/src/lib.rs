//! Streaming conversion between schema-less data formats, lossless or refused.
//!
//! Every format has a reader (bytes to events) and a writer (events to bytes). They meet in
//! [`policy::event`]; [`mod@convert`] is the loop from one to the other, and [`policy::fidelity`]
//! decides what happens to a value that the target cannot hold. The library uses no terminal and no
//! globals. `unsafe` is denied except in leaf modules that allow it at the top.
//!
//! The modules are rooms on floors: [`model`], [`policy`], one for each format, [`mod@convert`],
//! [`sinks`]. None imports one that is above it, and no format imports another.
//!
//! # Convert
//!
//! ```
//! use regauge::{Format, OnLoss, Options, convert_bytes};
//!
//! let options = Options::new(Format::Yaml, Format::Json);
//! assert_eq!(convert_bytes(b"a: [1, 2.50]", &options)?, b"{\"a\":[1,2.5]}\n");
//!
//! // What the target cannot hold is an error that says where, and what to do.
//! let packed = b"\x81\xa2at\xd6\xff\x00\x00\x00\x00";
//! let mut options = Options::new(Format::Msgpack, Format::Json);
//! let error = convert_bytes(packed, &options).unwrap_err();
//! assert!(error.to_string().contains("at $.at: found the point in time 1970-01-01T00:00:00Z"));
//! // Or it is written in a notation that reading undoes.
//! options.on_loss = OnLoss::Wrap;
//! let json = convert_bytes(packed, &options)?;
//! assert_eq!(json, b"{\"at\":{\"$time\":\"1970-01-01T00:00:00Z\"}}\n");
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! [`convert()`] does the same from file to file, in bounded memory and over several threads.
//!
//! # Look at a document
//!
//! A [`Value`] is a tree, and [`sinks::tape::Tape`] the same in two allocations. The module of each format
//! reads and writes one document; [`read_values`] and [`write_values`] take [`Options`], and any number of
//! them.
//!
//! ```
//! use regauge::{OnLoss, msgpack, yaml};
//!
//! let value = msgpack::from_slice(b"\x81\xa5items\x92\x01\x02")?;
//! assert_eq!(value["items"][1].as_i64(), Some(2));
//! assert_eq!(value.to_string(), r#"{"items":[1,2]}"#);
//! yaml::to_writer(std::io::stdout().lock(), &value, OnLoss::Refuse)?;
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! # Inspect a file
//!
//! [`sinks::shape`] counts what is at each path of a stream of any size. [`pickle::survey`] lists what
//! loading a pickle would import and call, without doing either; [`marshal::survey`] does so for
//! Ruby's Marshal.
//!
//! ```
//! use regauge::{Format, Limits, Options, convert, pickle, sinks::shape::Shape};
//!
//! let lines = b"{\"n\": 1}\n{\"n\": 7}\n";
//! let mut shape = Shape::new(Format::Ndjson);
//! let options = Options::new(Format::Ndjson, Format::Ndjson);
//! convert::read(convert::Input::Bytes(lines), &options, &mut shape, &mut |_| Ok(()))?;
//! assert_eq!(shape.documents(), 2);
//! assert_eq!(shape.integers().map(|range| range.max), Some(7));
//! assert!(shape.paths().iter().any(|path| path.path == "$.n"));
//!
//! let survey = pickle::survey(b"cos\nsystem\n(S'id'\ntR.", &Limits::default());
//! assert_eq!(survey.verdict(), pickle::Verdict::Attack);
//! assert_eq!(survey.calls[0].callable, "os.system");
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! # Read MARC records
//!
//! ```
//! use regauge::marc::{Field, RecordBuilder, iso2709};
//! use regauge::{Fidelity, Format, Limits, OnLoss, Source as _};
//!
//! # let json = br#"{"leader": "00000nam a2200000 a 4500", "fields": [{"001": "12883376"},
//! #     {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": "Transformations"}]}}]}"#;
//! # let options = regauge::Options::new(Format::MarcJson, Format::Marc);
//! # let bytes = regauge::convert_bytes(json, &options)?;
//! let mut reader = iso2709::Reader::from_slice(iso2709::Parser::default(), &bytes);
//! let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcJson);
//! let mut builder = RecordBuilder::new(&Limits::default(), fidelity);
//! let mut titles = Vec::new();
//! while reader.next(&mut builder)? {
//!     for field in builder.record().fields() {
//!         if let Field::Data { tag: "245", subfields, .. } = field {
//!             titles.extend(subfields.filter(|(code, _)| *code == "a").map(|(_, a)| a.to_owned()));
//!         }
//!     }
//! }
//! assert_eq!(titles, ["Transformations"]);
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! # Take the events yourself
//!
//! Every reader drives any [`Sink`]: no tree, no copy of the text.
//!
//! ```
//! use regauge::{Fidelity, Format, OnLoss, Result, Sink, Source as _, json};
//!
//! /// Adds up all integers.
//! struct Sum(i64, Fidelity);
//!
//! impl Sink for Sum {
//!     fn i64(&mut self, v: i64) -> Result {
//!         self.0 += v;
//!         Ok(())
//!     }
//!     # fn null(&mut self) -> Result { Ok(()) }
//!     # fn bool(&mut self, _: bool) -> Result { Ok(()) }
//!     # fn u64(&mut self, _: u64) -> Result { Ok(()) }
//!     # fn f64(&mut self, _: f64) -> Result { Ok(()) }
//!     # fn begin_array(&mut self, _: Option<u64>) -> Result { Ok(()) }
//!     # fn end_array(&mut self) -> Result { Ok(()) }
//!     # fn begin_map(&mut self, _: Option<u64>) -> Result { Ok(()) }
//!     # fn key(&mut self, _: &str) -> Result { Ok(()) }
//!     # fn end_map(&mut self) -> Result { Ok(()) }
//!     fn str(&mut self, _: &str) -> Result {
//!         Ok(())
//!     }
//!     // … and so on for the other events, of which most have a body already.
//!     fn fidelity(&mut self) -> &mut Fidelity {
//!         &mut self.1
//!     }
//! }
//!
//! let mut sum = Sum(0, Fidelity::new(OnLoss::Refuse, Format::Json));
//! let mut reader = json::Reader::from_slice(json::Parser::default(), br#"[1, {"a": 2}, "x"]"#);
//! while reader.next(&mut sum)? {}
//! assert_eq!(sum.0, 3);
//! # Ok::<(), regauge::Error>(())
//! ```
//!
//! # Rust's own types
//!
//! With the feature `serde`, off by default, the module `serde` reads and writes them in every
//! format.
//!
//! ```
//! # #[cfg(feature = "serde")]
//! # {
//! use regauge::Format;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Person {
//!     name: String,
//!     born: Option<i32>,
//! }
//!
//! let ada: Person = regauge::serde::from_slice(b"name: Ada\nborn: 1815\n", Format::Yaml)?;
//! assert_eq!(ada.name, "Ada");
//! let packed = regauge::serde::to_vec(&ada, Format::Cbor)?;
//! assert_eq!(packed, b"\xa2\x64name\x63Ada\x64born\x19\x07\x17");
//! # }
//! # Ok::<(), regauge::Error>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[doc(hidden)]
pub mod bytes;
#[doc(hidden)]
pub mod codec;
pub mod convert;
mod edit;
#[doc(hidden)]
pub mod envelope;
#[doc(hidden)]
pub mod matrix;
pub mod model;
#[doc(hidden)]
pub mod options;
pub mod policy;
#[cfg(feature = "serde")]
pub mod serde;
pub mod sinks;

pub use bytes::buffer::Out;
pub use bytes::output::{Output, StreamOutput};
pub use bytes::reader::{Parse, Reader};
#[doc(inline)]
pub use codec::{bson, cbor, csv, json, marc, marshal, msgpack, pickle, toml, yaml};
#[doc(inline)]
pub use convert::{convert, convert_bytes};
pub use edit::edit;
#[doc(inline)]
pub use model::error::{Error, ErrorKind, Result};
#[doc(inline)]
pub use model::ext::{BigInt, Ext, ExtBuf, Origin, Timestamp, Type, TypeBuf};
#[doc(inline)]
pub use model::format::Format;
#[doc(inline)]
pub use model::limits::Limits;
#[doc(inline)]
pub use model::path::Path;
#[doc(inline)]
pub use model::value::Value;
pub use options::{DuplicateKeys, Options};
#[doc(inline)]
pub use policy::event::{Sink, Source, Writer};
#[doc(inline)]
pub use policy::fidelity::{Fidelity, Objects, OnLoss};
#[doc(inline)]
pub use sinks::memory::{read_values, write_values};

/// Short paths for the other crates of this workspace and the bindings.
#[doc(hidden)]
pub use self::{
    bytes::{buffer as out, excerpt, memory, output, reader},
    codec::detect,
    convert::parallel,
    model::{
        decimal128, error, ext, format, hint, limits, number, option, path, text, time, value,
    },
    policy::{documents, event, fidelity, notation, stage, track, tree},
    sinks::{compare, memory as values, pull, shape, tape, whole},
};
