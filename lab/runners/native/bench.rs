//! Runs one Rust codec for `regauge measure`: part of the `regauge` program itself, and of the
//! small program that the set-up compiles for the machine's own processor (`../native.rs`).
//!
//! Commands arrive on standard input, one JSON object per line; each is answered by one line of
//! JSON. docs/measure.md lists the commands. If you add a command, add it to the other runners too:
//! all answer alike.

use std::fs::File;
use std::hint::black_box;
use std::io::{self, BufRead, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

/// A library under test. Errors are reported in the library's own words.
pub trait Codec {
    /// The type it decodes to.
    type Object;
    /// Returns the version of the library.
    fn version() -> String;
    /// Decodes one document, or, for a stream of MARC records, all of it: passes each object to `each`.
    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String>;
    /// Encodes these objects: one, or, for a stream of MARC records, all of them.
    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String>;
}

/// The data that a contender works on.
pub struct Bench<C: Codec> {
    codec: C,
    documents: Vec<Vec<u8>>,
    /// Whether the documents were loaded one by one.
    is_split: bool,
    objects: Vec<C::Object>,
}

impl<C: Codec> Bench<C> {
    /// Creates a bench without documents.
    pub fn new(codec: C) -> Bench<C> {
        Bench { codec, documents: Vec::new(), is_split: false, objects: Vec::new() }
    }

    /// Answers commands until the parent says `exit` or goes away.
    ///
    /// # Errors
    /// Errors of the pipes, and `InvalidData` for a line that is not a command.
    pub fn serve(mut self, commands: impl BufRead, mut answers: impl Write) -> io::Result<()> {
        say(&mut answers, Ok(Hello { runtime: "Rust", version: C::version(), gc: "none" }))?;
        for line in commands.lines() {
            let line = line?;
            let command = serde_json::from_str::<Command>(&line)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            match command {
                Command::Exit => return Ok(()),
                Command::Load { path, spans } => {
                    let counted = self.load(Path::new(&path), spans.as_deref().map(Path::new));
                    say(&mut answers, counted)?;
                }
                Command::Check { out, lines } => {
                    let checked = self.check(Path::new(&out), lines);
                    say(&mut answers, checked)?;
                }
                Command::Hold => {
                    let counted = self.hold();
                    say(&mut answers, counted)?;
                }
                Command::Sample { op, iterations } => {
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
        // The objects belong to the documents being replaced.
        self.objects.clear();
        let data = read(path)?;
        self.is_split = spans.is_some();
        self.documents = match spans {
            Some(spans) => {
                let ends: Vec<usize> =
                    serde_json::from_slice(&read(spans)?).map_err(|error| error.to_string())?;
                ends.chunks_exact(2)
                    .map(|span| data.get(span[0]..span[1]).map(<[u8]>::to_vec))
                    .collect::<Option<_>>()
                    .ok_or("the spans reach beyond the file")?
            }
            None => vec![data],
        };
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
            if self.is_split {
                spans.extend([position, position + out.len() as u64]);
            }
            if lines && self.is_split {
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
        // One call for each document, and a single one for what was loaded whole.
        let each = if self.is_split { 1 } else { self.objects.len().max(1) };
        let began = Instant::now();
        for _ in 0..iterations {
            match op {
                Op::Decode => {
                    for document in &self.documents {
                        // Dropping the object is part of the cost, as it is with a collector.
                        self.codec.decode(document, &mut |object| drop(black_box(object)))?;
                    }
                }
                Op::Encode => {
                    for objects in self.objects.chunks(each) {
                        drop(black_box(self.codec.encode(objects)?));
                    }
                }
            }
        }
        Ok(Sampled { ns: nanoseconds(began) })
    }
}

#[derive(Serialize)]
struct Hello {
    runtime: &'static str,
    version: String,
    gc: &'static str,
}

#[derive(Serialize)]
struct Counted {
    documents: u64,
}

#[derive(Serialize)]
struct Checked {
    decode_ns: u64,
    encode_ns: u64,
}

#[derive(Serialize)]
struct Sampled {
    ns: u64,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Op {
    Decode,
    Encode,
}

/// A command as received, without the fields that only other runtimes use.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum Command {
    Load { path: String, spans: Option<String> },
    Check { out: String, lines: bool },
    Hold,
    Sample { op: Op, iterations: u64 },
    Exit,
}

pub(crate) fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Answers with one line.
pub(crate) fn say<T: Serialize>(
    answers: &mut impl Write,
    answer: Result<T, String>,
) -> io::Result<()> {
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
        Err(error) => {
            // Some libraries quote the whole document.
            let error = error.chars().take(500).collect();
            serde_json::to_writer(&mut *answers, &Raised { ok: false, error })?;
        }
    }
    answers.write_all(b"\n")?;
    answers.flush()
}
