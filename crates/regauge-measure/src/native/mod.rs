//! Native contenders, and the runner for them: a child process of the same binary, which speaks
//! the same protocol as the runners of other languages.
//!
//! If you add a command, add it to `lab/runners/*` too: they answer alike.

mod codecs;
mod floor;
mod ours;
pub mod program;

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::contender::{Gives, Wire};
use crate::protocol::{Checked, Counted, Hello, Op, Sampled};

/// A library under test. An error is told in the library's own words.
trait Codec {
    /// What it decodes to.
    type Object;
    /// Whether the bytes are one stream rather than documents one by one.
    const STREAM: bool = false;
    /// Whether this is the floor: encoding is timed as copying the finished bytes.
    const FLOOR: bool = false;
    /// Version of the library.
    fn version() -> String;
    /// Is given the documents before any work; they stay where they are.
    fn loaded(&mut self, _documents: &[Vec<u8>]) -> Result<(), String> {
        Ok(())
    }
    /// Is told whether there are several documents, before any work.
    fn many(&mut self, _many: bool) {}
    /// One document, or, for a stream, all of it: each object goes to `each`.
    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String>;
    /// The bytes of these objects: of one, or, for a stream, of all of them.
    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String>;
}

macro_rules! contenders {
    ($($name:literal, $wire:ident, $gives:ident, $codec:expr;)*) => {
        /// Name, format and kind of every native contender.
        pub(crate) const NAMES: &[(&str, Wire, Gives)] =
            &[$(($name, Wire::$wire, Gives::$gives)),*];

        /// Serves one native contender until the parent says `exit` or goes away.
        ///
        /// # Errors
        /// `NotFound` for a name that is no native contender, and trouble with the pipes.
        pub fn serve(name: &str, commands: impl BufRead, answers: impl Write) -> io::Result<()> {
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
    "regauge (json)", Json, Data, ours::Json::default();
    "regauge (msgpack)", Msgpack, Data, ours::Msgpack;
    "regauge (yaml)", Yaml, Data, ours::Yaml::default();
    "regauge (bson)", Bson, Data, ours::Bson;
    "regauge (cbor)", Cbor, Data, ours::Cbor;
    "regauge (marshal)", Marshal, Data, ours::Marshal;
    "regauge (pickle)", Pickle, Data, ours::Pickle;
    "regauge (marc)", Marc, Data, ours::Marc;
    "regauge (marcxml)", Marcxml, Data, ours::MarcXml;
    "bson", Bson, Data, codecs::Bson;
    "ciborium", Cbor, Data, codecs::Ciborium;
    "rmp-serde", Msgpack, Data, codecs::RmpSerde;
    "serde-pickle", Pickle, Data, codecs::SerdePickle;
    "serde-saphyr", Yaml, Data, codecs::SerdeSaphyr;
    "serde_json", Json, Data, codecs::SerdeJson;
    "sonic-rs", Json, Data, codecs::SonicRs;
    "floor", Json, Data, floor::Floor::default();
}

/// The data that a contender works on.
struct Bench<C: Codec> {
    codec: C,
    documents: Vec<Vec<u8>>,
    objects: Vec<C::Object>,
}

impl<C: Codec> Bench<C> {
    fn new(codec: C) -> Bench<C> {
        Bench { codec, documents: Vec::new(), objects: Vec::new() }
    }

    fn serve(mut self, commands: impl BufRead, mut answers: impl Write) -> io::Result<()> {
        say(
            &mut answers,
            Ok(Hello {
                runtime: "Rust, in regauge".to_owned(),
                version: C::version(),
                gc: "none".to_owned(),
            }),
        )?;
        for line in commands.lines() {
            let line = line?;
            let command = serde_json::from_str::<OwnedCommand>(&line)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            match command {
                OwnedCommand::Exit => return Ok(()),
                OwnedCommand::Load { path, spans } => {
                    let counted = self.load(Path::new(&path), spans.as_deref().map(Path::new));
                    say(&mut answers, counted)?;
                }
                OwnedCommand::Check { out, lines } => {
                    let checked = self.check(Path::new(&out), lines);
                    say(&mut answers, checked)?;
                }
                OwnedCommand::Hold => {
                    let counted = self.hold();
                    say(&mut answers, counted)?;
                }
                OwnedCommand::Sample { op, iterations } => {
                    let sampled = self.sample(op, iterations);
                    say(&mut answers, sampled)?;
                }
            }
        }
        Ok(())
    }

    fn load(&mut self, path: &Path, spans: Option<&Path>) -> Result<Counted, String> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
        };
        let data = read(path)?;
        self.codec.many(spans.is_some());
        self.documents = match spans {
            Some(spans) if !C::STREAM => {
                let ends: Vec<usize> =
                    serde_json::from_slice(&read(spans)?).map_err(|error| error.to_string())?;
                ends.chunks_exact(2)
                    .map(|span| data.get(span[0]..span[1]).map(<[u8]>::to_vec))
                    .collect::<Option<_>>()
                    .ok_or("the spans reach beyond the file")?
            }
            _ => vec![data],
        };
        self.codec.loaded(&self.documents)?;
        Ok(Counted { documents: self.documents.len() as u64 })
    }

    fn check(&mut self, path: &Path, lines: bool) -> Result<Checked, String> {
        let told = |error: io::Error| format!("cannot write {}: {error}", path.display());
        let mut file = BufWriter::new(File::create(path).map_err(told)?);
        let mut checked = Checked { decode_ns: 0, encode_ns: 0 };
        let mut spans: Vec<u64> = Vec::new();
        let mut position = 0;
        for document in &self.documents {
            let mut objects = Vec::new();
            let began = Instant::now();
            self.codec.decode(document, &mut |object| objects.push(object))?;
            checked.decode_ns += nanoseconds(began);
            let began = Instant::now();
            let mut out = self.codec.encode(&objects)?;
            checked.encode_ns += nanoseconds(began);
            if !C::STREAM {
                spans.extend([position, position + out.len() as u64]);
            }
            if lines && !C::STREAM {
                out.push(b'\n');
            }
            position += out.len() as u64;
            file.write_all(&out).map_err(told)?;
        }
        file.flush().map_err(told)?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(".spans");
        let text = serde_json::to_vec(&spans).map_err(|error| error.to_string())?;
        std::fs::write(beside, text).map_err(told)?;
        Ok(checked)
    }

    fn hold(&mut self) -> Result<Counted, String> {
        self.objects.clear();
        for document in &self.documents {
            self.codec.decode(document, &mut |object| self.objects.push(object))?;
        }
        Ok(Counted { documents: self.objects.len() as u64 })
    }

    fn sample(&mut self, op: Op, iterations: u64) -> Result<Sampled, String> {
        let began = Instant::now();
        for _ in 0..iterations {
            match op {
                Op::Decode => {
                    for document in &self.documents {
                        // Dropping the object is part of the price, as it is with a collector.
                        self.codec.decode(document, &mut |object| drop(black_box(object)))?;
                    }
                }
                Op::Encode if C::FLOOR => {
                    for document in &self.documents {
                        drop(black_box(document.clone()));
                    }
                }
                Op::Encode if C::STREAM => drop(black_box(self.codec.encode(&self.objects)?)),
                Op::Encode => {
                    for object in &self.objects {
                        let bytes = self.codec.encode(std::slice::from_ref(object))?;
                        drop(black_box(bytes));
                    }
                }
            }
        }
        Ok(Sampled {
            ns: nanoseconds(began),
            cpu_ns: None,
            gc_ns: None,
            gc_count: None,
            allocations: None,
        })
    }
}

/// [`crate::protocol::Command`] as it arrives: owned, and without what only other runtimes are asked.
#[derive(serde::Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum OwnedCommand {
    Load { path: String, spans: Option<String> },
    Check { out: String, lines: bool },
    Hold,
    Sample { op: Op, iterations: u64 },
    Exit,
}

fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn say<T: Serialize>(answers: &mut impl Write, answer: Result<T, String>) -> io::Result<()> {
    #[derive(Serialize)]
    struct Done<T> {
        ok: bool,
        #[serde(flatten)]
        value: T,
    }
    #[derive(Serialize)]
    struct Raised {
        ok: bool,
        error: String,
    }
    match answer {
        Ok(value) => serde_json::to_writer(&mut *answers, &Done { ok: true, value })?,
        Err(error) => serde_json::to_writer(&mut *answers, &Raised { ok: false, error })?,
    }
    answers.write_all(b"\n")?;
    answers.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Command;

    /// What the runner says to these commands, line by line.
    fn talk(name: &str, commands: &[Command]) -> Vec<serde_json::Value> {
        let mut input = Vec::new();
        for command in commands {
            serde_json::to_writer(&mut input, command).unwrap();
            input.push(b'\n');
        }
        let mut output = Vec::new();
        serve(name, input.as_slice(), &mut output).unwrap();
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
        for name in ["serde_json", "sonic-rs"] {
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
            assert_eq!(answers[1]["documents"], 2);
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
        let error = serve("nobody", [].as_slice(), Vec::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
