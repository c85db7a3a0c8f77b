//! Native contenders and their runner: a child process of the same binary, which speaks the same
//! protocol as the runners for other languages.
//!
//! The runner is `lab/runners/native/bench.rs`, which another program shares.

#[path = "../../../lab/runners/native/bench.rs"]
mod bench;
mod codecs;
mod ordered;
mod ours;
pub mod program;

use std::io::{self, BufRead, Write};

use regauge::Format;
use regauge::tape::Tape;
use regauge::value::Value;

use bench::{Bench, Codec};
use ours::Ours;

use crate::model::wire::{Gives, Wire};

/// What the engine knows of a native contender.
pub(crate) struct Native {
    pub name: &'static str,
    pub wire: Wire,
    pub gives: Gives,
    /// As `usual` in the head of an adapter.
    pub usual: bool,
}

const USUAL: bool = true;
const OTHER: bool = false;

macro_rules! contenders {
    ($($name:literal, $wire:ident, $gives:ident, $usual:expr, $codec:expr;)*) => {
        /// Every native contender.
        pub(crate) const LIST: &[Native] = &[
            $(Native { name: $name, wire: Wire::$wire, gives: Gives::$gives, usual: $usual }),*
        ];

        /// Serves one native contender until the parent says `exit` or goes away.
        ///
        /// Not generic: the libraries are to be compiled with this crate, as it is optimized, and not with its caller.
        ///
        /// # Errors
        /// `NotFound` for a name that is no native contender, and trouble with the pipes.
        pub fn serve(
            name: &str,
            commands: &mut dyn BufRead,
            answers: &mut dyn Write,
        ) -> io::Result<()> {
            match name {
                $($name => Bench::new($codec).serve(commands, answers),)*
                _ => Err(io::Error::new(
                    io::ErrorKind::NotFound,
                    format!("\"{name}\" is no native contender"),
                )),
            }
        }
    };
}

contenders! {
    "regauge (json)", Json, Data, USUAL, Ours::<Value>::new(Format::Json);
    "regauge (msgpack)", Msgpack, Data, USUAL, Ours::<Value>::new(Format::Msgpack);
    "regauge (yaml)", Yaml, Data, USUAL, Ours::<Value>::new(Format::Yaml);
    "regauge (bson)", Bson, Data, USUAL, Ours::<Value>::new(Format::Bson);
    "regauge (cbor)", Cbor, Data, USUAL, Ours::<Value>::new(Format::Cbor);
    "regauge (marshal)", Marshal, Data, OTHER, Ours::<Value>::new(Format::Marshal);
    "regauge (pickle)", Pickle, Data, OTHER, Ours::<Value>::new(Format::Pickle);
    "regauge (marc)", Marc, Data, USUAL, Ours::<Value>::new(Format::Marc);
    "regauge (marcxml)", Marcxml, Data, USUAL, Ours::<Value>::new(Format::MarcXml);
    "regauge (json, tape)", Json, Tree, OTHER, Ours::<Tape>::new(Format::Json);
    "regauge (msgpack, tape)", Msgpack, Tree, OTHER, Ours::<Tape>::new(Format::Msgpack);
    "regauge (marc, tape)", Marc, Tree, OTHER, Ours::<Tape>::new(Format::Marc);
    "bson", Bson, Data, USUAL, codecs::Bson;
    "ciborium", Cbor, Data, USUAL, codecs::Ciborium;
    "rmp-serde", Msgpack, Data, USUAL, codecs::RmpSerde::<serde_json::Value>::default();
    "rmp-serde (preserve_order)", Msgpack, Data, OTHER, codecs::RmpSerde::<ordered::Value>::default();
    "serde-pickle", Pickle, Data, OTHER, codecs::SerdePickle;
    "serde-saphyr", Yaml, Data, USUAL, codecs::SerdeSaphyr;
    "serde_json", Json, Data, USUAL, codecs::SerdeJson::<serde_json::Value>::default();
    "serde_json (preserve_order)", Json, Data, OTHER, codecs::SerdeJson::<ordered::Value>::default();
    "simd-json", Json, Data, OTHER, codecs::SimdJson;
    "sonic-rs", Json, Data, OTHER, codecs::SonicRs;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::protocol::{Command, Op};

    /// Returns the replies of the runner to these commands, line by line.
    fn talk(name: &str, commands: &[Command]) -> Vec<serde_json::Value> {
        let mut input = Vec::new();
        for command in commands {
            serde_json::to_writer(&mut input, command).unwrap();
            input.push(b'\n');
        }
        let mut output = Vec::new();
        serve(name, &mut input.as_slice(), &mut output).unwrap();
        output
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn a_stream_of_documents_is_decoded_written_and_timed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, spans) = (folder.path().join("in"), folder.path().join("in.spans"));
        let out = folder.path().join("out");
        std::fs::write(&path, "{\"a\": 1}\n[2.5, -1.5]\n").unwrap();
        std::fs::write(&spans, "[0,8,9,20]").unwrap();
        for name in [
            "regauge (json)",
            "regauge (json, tape)",
            "serde_json",
            "serde_json (preserve_order)",
            "simd-json",
            "sonic-rs",
        ] {
            let answers = talk(
                name,
                &[
                    Command::Load { path: &path, spans: Some(&spans) },
                    Command::Check { out: &out, lines: true },
                    Command::Hold,
                    Command::Sample { op: Op::Decode, iterations: 3, gc: false },
                    Command::Sample { op: Op::Encode, iterations: 3, gc: false },
                    Command::Exit,
                ],
            );
            assert!(answers.iter().all(|answer| answer["ok"] == true), "{answers:?}");
            assert_eq!(answers[1]["documents"], 2, "{name}");
            assert_eq!(answers[3]["documents"], 2);
            assert!(answers[4]["ns"].as_u64().unwrap() > 0);
            assert_eq!(std::fs::read_to_string(&out).unwrap(), "{\"a\":1}\n[2.5,-1.5]\n", "{name}");
        }
    }

    #[test]
    fn bad_bytes_are_told_in_the_words_of_the_library() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in");
        std::fs::write(&path, "[1,").unwrap();
        let answers =
            talk("serde_json", &[Command::Load { path: &path, spans: None }, Command::Hold]);
        assert_eq!(answers[2]["ok"], false);
        assert_eq!(answers[2]["error"], "EOF while parsing a value at line 1 column 3");
    }

    #[test]
    fn an_unknown_name() {
        let error = serve("nobody", &mut [].as_slice(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
