//! Detects the format of a file by its name and by its first bytes.
//!
//! A name is trusted unless the first bytes contradict it. MessagePack in particular reads nearly
//! anything as a stream of small integers, so a text file or an image named `.msgpack` would be
//! converted to garbage without an error.

pub use super::contract::Looks;
use super::contract::{is_json_or_yaml, skip_blank, without_mark};
use crate::bytes::reader::{Parse, Status};
use crate::codec::{bson, cbor, json, msgpack, yaml};
use crate::model::ext::Ext;
use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::value::Value;
use crate::policy::event::Sink;
use crate::policy::fidelity::{Fidelity, OnLoss};
use crate::{BigInt, Error, Limits, Result, Type};

/// How much of a file to look at: its first bytes up to here, or all of it.
pub const HEAD_BYTES: usize = 4096;

/// The first bytes of formats that regauge does not read. Each contains a byte that is not text.
const OTHERS: [(&[u8], &str); 17] = [
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89PNG\r\n\x1A\n", "a PNG image"),
    (b"\xFF\xD8\xFF", "a JPEG image"),
    (b"GIF89a\0", "a GIF image"),
    (b"\x89HDF\r\n\x1A\n", "HDF5"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"Rar!\x1A\x07", "a RAR archive"),
    (b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"),
    (b"\x7FELF", "an ELF binary"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1\x15", "Parquet"),
    (b"ARROW1\0\0", "an Arrow file"),
    (b"Obj\x01", "Avro"),
    (b"\x1F\x8B\x08", "gzip"),
    (b"\x28\xB5\x2F\xFD", "zstd"),
    (b"\x04\x22\x4D\x18", "lz4"),
    (b"\xFD7zXZ\0", "xz"),
];

/// Returns the format that a file's name gives, or its first bytes if the name gives none. `head`
/// should hold [`HEAD_BYTES`] of the decompressed file, or all of it if that is shorter.
///
/// # Errors
/// `Syntax` if the first bytes contradict the name.
pub fn detect(name: &str, head: &[u8]) -> Result<Option<Format>> {
    let Some(format) = Format::from_name(name) else { return Ok(from_magic(head)) };
    match looks(head).filter(|looks| format.is_contradicted(*looks, head)) {
        Some(looks) => Err(contradiction(format, looks, head)),
        None => Ok(Some(format)),
    }
}

#[cold]
fn contradiction(format: Format, looks: Looks, head: &[u8]) -> Error {
    let begins = shown(&head[..head.len().min(8)]);
    let title = format.title();
    let error = Error::syntax(format!("looks like {looks} (begins with `{begins}`), not {title}"));
    let named = Hint::from(format).when(format!("it is {title}"));
    error.hint(match looks {
        Looks::Like(other) => Hint::from(other).or(named),
        Looks::Other(_) | Looks::Text => named,
    })
}

/// Returns bytes as a message shows them: `\n` and `\xFF` for what is no printable ASCII.
pub fn shown(bytes: &[u8]) -> String {
    let piece = |byte: &u8| match byte {
        b'"' | b'\'' => char::from(*byte).to_string(),
        byte => byte.escape_ascii().to_string(),
    };
    bytes.iter().map(piece).collect()
}

/// Returns what these first bytes of a file are, if that is known and regauge does not read it: "a PNG image".
pub fn other(head: &[u8]) -> Option<&'static str> {
    OTHERS.iter().find(|(mark, _)| head.starts_with(mark)).map(|(_, name)| *name)
}

/// Judges by magic bytes and delimiters.
fn looks(head: &[u8]) -> Option<Looks> {
    if let Some(name) = other(head) {
        return Some(Looks::Other(name));
    }
    let binary = binary_mark(head);
    if binary.is_some() {
        return binary.map(Looks::Like);
    }
    if let Some(format) = Format::likely(head, head.len() < HEAD_BYTES) {
        return Some(Looks::Like(format));
    }
    let text = skip_blank(head);
    let after = |skip: usize| text[skip..].trim_ascii_start().first();
    let format = match text.first()? {
        b'%' if text.starts_with(b"%YAML ") => Format::Yaml,
        b'-' if text.starts_with(b"---") && matches!(text.get(3), Some(b' ' | b'\n' | b'\r')) => {
            Format::Yaml
        }
        b'<' if text.starts_with(b"<?xml") || text.starts_with(b"<!") => Format::MarcXml,
        b'<' if text.get(1).is_some_and(u8::is_ascii_alphabetic) && text.contains(&b'>') => {
            Format::MarcXml
        }
        b'{' if matches!(after(1), Some(b'"' | b'}' | b'/')) => json_kind(text),
        b'[' if after(1).is_some_and(|byte| b"\"{[]-0123456789tfn/".contains(byte)) => {
            json_kind(text)
        }
        _ => return is_text(head).then_some(Looks::Text),
    };
    Some(Looks::Like(format))
}

/// Returns the binary format that these magic bytes identify.
fn binary_mark(head: &[u8]) -> Option<Format> {
    if looks_like_marc(head) {
        return Some(Format::Marc);
    }
    // Before the others: a length can begin like their magic bytes.
    if bson::is_likely(head) && (head.len() >= HEAD_BYTES || bson::is_whole(head)) {
        return Some(Format::Bson);
    }
    match head {
        // The version (marshal.c) followed by a type.
        [4, 8, kind, ..] if b"0TFi:;I\"'/[]{}fclmMSuUoe@Cd".contains(kind) => Some(Format::Marshal),
        // The protocol (PEP 3154) followed by an opcode, and STOP at the end, if the head holds the
        // end.
        [0x80, 2..=5, opcode, ..]
            if (opcode.is_ascii_graphic() || (0x81..=0x98).contains(opcode))
                && (head.len() >= HEAD_BYTES || head.contains(&b'.')) =>
        {
            Some(Format::Pickle)
        }
        // The tag that marks CBOR (RFC 8949 §3.4.6).
        [0xD9, 0xD9, 0xF7, ..] => Some(Format::Cbor),
        _ => None,
    }
}

/// Returns whether this is a leader: five digits of length, a letter for the type of record, the fixed "22" or the
/// like, and an entry map (ISO 2709 §4.3), unlike a large number, or numbers in columns.
fn looks_like_marc(head: &[u8]) -> bool {
    head.len() >= 24
        && head[..5].iter().all(u8::is_ascii_digit)
        && head[10..17].iter().all(|b| b.is_ascii_digit() || *b == b' ')
        && head[20..22].iter().all(|b| b.is_ascii_digit() || *b == b' ')
        && head[6].is_ascii_alphabetic()
}

/// Returns whether this is two bytes or more of text, the first of them ASCII.
fn is_text(head: &[u8]) -> bool {
    let head = without_mark(head);
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // The last character may be cut off.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    head.len() > 1 && head[0].is_ascii() && !text.is_empty() && !has_controls(text)
}

/// Returns whether a text has control characters other than those of lines and tabs. It is looked for in the bytes, because
/// going from character to character takes several times as long.
fn has_controls(text: &str) -> bool {
    let is_ascii_control =
        |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    let bytes = text.as_bytes();
    // U+0080 to U+009F are the byte C2 and one below A0.
    bytes.iter().any(is_ascii_control)
        || memchr::memchr_iter(0xC2, bytes).any(|at| bytes[at + 1] < 0xA0)
}

/// Returns which of the JSON-based formats this is.
fn json_kind(text: &[u8]) -> Format {
    let probe = &text[..text.len().min(512)];
    let contains = |needle: &[u8]| memchr::memmem::find(probe, needle).is_some();
    if contains(b"\"leader\"") && contains(b"\"fields\"") {
        return Format::MarcJson;
    }
    // A line that is one object or array, followed by another line, is NDJSON.
    let mut lines = text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.next().unwrap_or_default();
    let second = lines.find(|line| !line.is_empty());
    if is_one_container(first) && second.is_some_and(|s| matches!(s[0], b'{' | b'[')) {
        return Format::Ndjson;
    }
    Format::Json
}

/// Returns whether JSON text begins with a bracket that its last byte closes.
fn is_one_container(text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at > 0 && at + 1 == text.len();
        }
    }
    false
}

/// Returns the format that the first bytes identify without a name, if they do.
pub(crate) fn from_magic(head: &[u8]) -> Option<Format> {
    match looks(head) {
        Some(Looks::Like(format)) if !is_json_or_yaml(format) || format == Format::Yaml => {
            return Some(format);
        }
        Some(Looks::Other(_)) => return None,
        _ => {}
    }
    let text = skip_blank(head);
    match text.first()? {
        b'{' | b'[' => {
            // YAML flow collections begin the same way.
            let lenient = json::ReadOptions {
                comments: true,
                trailing_commas: true,
                non_finite: true,
                exact_numbers: true,
                framing: json::Framing::Concatenated,
                ..json::ReadOptions::default()
            };
            let yaml = || yaml::Parser::new(yaml::Options::default(), limits());
            if Look::at(head, json::Parser::new(lenient, limits())).fits()
                || !Look::at(head, yaml()).fits()
            {
                return Some(json_kind(text));
            }
            // `{a: 1}` is YAML; `{"a": b}` may be broken JSON as well.
            (looks(head) == Some(Looks::Text)).then_some(Format::Yaml)
        }
        b'"' | b'-' | b't' | b'f' | b'n' | b'0'..=b'9' => {
            let lines =
                json::ReadOptions { framing: json::Framing::Lines, ..json::ReadOptions::default() };
            let look = Look::at(head, json::Parser::new(lines, limits()));
            look.fits().then_some(Format::Json)
        }
        _ => msgpack_or_cbor(head),
    }
}

/// Tells two formats without magic bytes apart: picks the one that parses, if the other does not.
fn msgpack_or_cbor(head: &[u8]) -> Option<Format> {
    if is_text(head) {
        return None;
    }
    let first = *head.first()?;
    // The other first bytes are small integers or reserved bytes.
    let msgpack = match first {
        0x80..=0xC0 | 0xC2.. => Look::at(head, msgpack::Parser::new(limits())).plausibility(),
        _ => 0,
    };
    let cbor = match first {
        0x40.. => {
            Look::at(head, cbor::Parser::new(cbor::Options::default(), limits())).plausibility()
        }
        _ => 0,
    };
    match msgpack.cmp(&cbor) {
        std::cmp::Ordering::Greater => Some(Format::Msgpack),
        std::cmp::Ordering::Less => Some(Format::Cbor),
        std::cmp::Ordering::Equal => None,
    }
}

fn limits() -> Limits {
    Limits { aliases: 1000, ..Limits::default() }
}

/// How a reader judges the first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// They are complete documents.
    Whole,
    /// They are cut off inside a document.
    Cut,
    Broken,
}

struct Look {
    reading: Reading,
    /// The bytes are the whole file, so nothing can follow a value that is cut off.
    is_whole_file: bool,
    /// A document was a single number, which proves nothing.
    has_number: bool,
    /// A key was not text.
    has_odd_key: bool,
}

impl Look {
    fn at<P: Parse>(head: &[u8], mut parser: P) -> Look {
        let mut sink = Looker::new(P::FORMAT);
        let (mut pos, mut end) = (0, 0);
        let reading = loop {
            match parser.parse(head, &mut pos, false, &mut sink) {
                Ok(Status::Document) => end = pos,
                Ok(_) if end > 0 && head[end..].trim_ascii().is_empty() => break Reading::Whole,
                Ok(_) => break Reading::Cut,
                Err(_) => break Reading::Broken,
            }
        };
        let is_whole_file = head.len() < HEAD_BYTES;
        Look { reading, is_whole_file, has_number: sink.has_number, has_odd_key: sink.has_odd_key }
    }

    fn fits(&self) -> bool {
        self.reading != Reading::Broken
    }

    /// Returns a score; 0 means implausible.
    fn plausibility(&self) -> u32 {
        if !self.fits() || self.has_number {
            return 0;
        }
        if self.reading == Reading::Cut && self.is_whole_file {
            return 1;
        }
        1 + 2 * u32::from(!self.has_odd_key) + u32::from(self.reading == Reading::Whole)
    }
}

/// Accepts every event and records what a [`Look`] needs.
struct Looker {
    fidelity: Fidelity,
    depth: usize,
    has_number: bool,
    has_odd_key: bool,
}

impl Looker {
    fn new(format: Format) -> Looker {
        let fidelity = Fidelity::new(OnLoss::Approximate, format);
        Looker { fidelity, depth: 0, has_number: false, has_odd_key: false }
    }

    fn number(&mut self) -> Result {
        self.has_number |= self.depth == 0;
        Ok(())
    }

    fn open(&mut self) -> Result {
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self) -> Result {
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }
}

impl Sink for Looker {
    fn null(&mut self) -> Result {
        Ok(())
    }
    fn bool(&mut self, _: bool) -> Result {
        Ok(())
    }
    fn i64(&mut self, _: i64) -> Result {
        self.number()
    }
    fn u64(&mut self, _: u64) -> Result {
        self.number()
    }
    fn f64(&mut self, _: f64) -> Result {
        Ok(())
    }
    fn str(&mut self, _: &str) -> Result {
        Ok(())
    }
    fn bytes(&mut self, _: &[u8]) -> Result {
        Ok(())
    }
    fn big_int(&mut self, _: BigInt<'_>) -> Result {
        Ok(())
    }
    fn ext(&mut self, _: Ext<'_>) -> Result {
        Ok(())
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.open()
    }
    fn end_array(&mut self) -> Result {
        self.close()
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.open()
    }
    fn key(&mut self, _: &str) -> Result {
        Ok(())
    }
    fn key_value(&mut self, _: &Value) -> Result {
        self.has_odd_key = true;
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.close()
    }
    fn begin_typed(&mut self, _: &Type<'_>) -> Result {
        self.open()
    }
    fn end_typed(&mut self) -> Result {
        self.close()
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, _: u64) -> Result {
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        Ok(())
    }
    fn alias(&mut self, _: u64) -> Result {
        Ok(())
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}
