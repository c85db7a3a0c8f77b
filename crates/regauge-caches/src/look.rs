//! One value: what is around it, its format, and what loading it would do.

use std::collections::BTreeMap;

pub use regauge::model::risk::Risk;

use regauge::detect::HEAD_BYTES;
use regauge::envelope::{self, Opened, Row, Tools};
use regauge::{Error, Format, Limits, Options, values};
use regauge_packing::Values;

use crate::plain::{self, MAGIC, TEXT};
use crate::{coded, compressed, php};

/// How many compressions are undone, one inside the other.
const STEPS_MAX: usize = 3;

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Form {
    /// The envelopes, from the outermost, with what was undone in each: `Rails.cache 7.1, zlib`.
    pub envelopes: Vec<&'static str>,
    /// The names of the envelopes in the table of [`mod@regauge::envelope`].
    pub rows: Vec<&'static str>,
    /// The compressions that are no part of an envelope, from the outermost.
    pub steps: Vec<&'static str>,
    /// What is inside.
    pub codec: Codec,
}

/// What the bytes are, when everything around them is taken off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Codec {
    /// No bytes.
    Empty,
    /// A document of a format.
    Format(Format),
    /// Something that regauge recognises without reading it: the name and the title.
    Plain(&'static str, &'static str),
    /// Text.
    Text,
    /// Encrypted in an envelope whose key is not here.
    Sealed,
    /// Nothing that is known.
    Unknown,
}

impl Codec {
    /// Returns the name in reports: `"marshal"`, `"text"`, `"png"`.
    pub fn name(self) -> &'static str {
        match self {
            Codec::Empty => "empty",
            Codec::Format(format) => format.name(),
            Codec::Plain(name, _) => name,
            Codec::Text => "text",
            Codec::Sealed => "encrypted",
            Codec::Unknown => "unknown",
        }
    }

    /// Returns the name in prose: `"Ruby Marshal"`.
    pub fn title(self) -> &'static str {
        match self {
            Codec::Format(format) => format.title(),
            Codec::Plain(_, title) => title,
            other => other.name(),
        }
    }
}

/// What loading a value would do in the language that wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Danger {
    /// The format has no code.
    #[default]
    None,
    /// The format could run code; this value is plain data.
    Data,
    /// It creates values of the language's own library.
    Harmless,
    /// It is not recognised, or encrypted: nothing is known.
    Unknown,
    /// It is broken, or relies on what the program supplies.
    Incomplete,
    /// It needs classes of the application, or calls code that is not known to be harmless.
    Classes,
    /// It has classes or calls that are known from attacks.
    Attack,
}

impl Danger {
    /// Every danger, from the least.
    pub const ALL: [Danger; 7] = [
        Danger::None,
        Danger::Data,
        Danger::Harmless,
        Danger::Unknown,
        Danger::Incomplete,
        Danger::Classes,
        Danger::Attack,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Danger::None => "no-code",
            Danger::Data => "data",
            Danger::Harmless => "harmless-types",
            Danger::Unknown => "unknown",
            Danger::Incomplete => "incomplete",
            Danger::Classes => "unknown-code",
            Danger::Attack => "attack",
        }
    }
}

/// What was seen in a value.
#[derive(Debug)]
pub struct Look {
    /// What it is.
    pub form: Form,
    /// The classes, modules and functions that it names, each with its risk.
    pub classes: BTreeMap<String, Risk>,
    /// What loading it would do.
    pub danger: Danger,
    /// The bytes inside all envelopes and compressions, if there were any.
    pub inside: Option<Vec<u8>>,
    /// The first bytes, if it is unknown.
    pub begins: Option<[u8; 4]>,
    /// Why it could not be read to its end, although its language would load it, or a part of it.
    pub broken: Option<Error>,
}

/// Looks into values, within limits.
pub struct Looker {
    limits: Limits,
}

impl Looker {
    /// Creates one with these limits for each value.
    pub fn new(limits: Limits) -> Looker {
        Looker { limits }
    }

    /// Looks into a value. Nothing is loaded or called.
    pub fn look(&self, bytes: &[u8]) -> Look {
        let mut steps = Vec::new();
        let mut inside: Option<Vec<u8>> = None;
        loop {
            let now = inside.as_deref().unwrap_or(bytes);
            if let Some(codec) = short(now) {
                return Look::of(Form::bare(steps, codec), inside);
            }
            let told = told(now);
            let row = envelope::find(now, true, told).or_else(|| {
                // Prose, JSON and HTML, of which there is most, are seen to be none by their first bytes.
                let may_be = told.is_some() && told != Some(Format::Json) || may_be_enveloped(now);
                may_be.then(|| envelope::find(now, true, None)).flatten()
            });
            if let Some(row) = row
                && let Some(look) = self.opened(now, row, &steps)
            {
                return look;
            }
            if steps.len() < STEPS_MAX
                && let Some((unpacked, step)) = compressed::unpacked(now, &self.limits)
            {
                steps.push(step);
                inside = Some(unpacked);
                continue;
            }
            let found = self.named(now, told);
            let unsnapped = (found.form.codec == Codec::Unknown && steps.len() < STEPS_MAX)
                .then(|| compressed::unsnapped(now, &self.limits))
                .flatten();
            let is_snappy = unsnapped.is_some();
            // A block of Snappy has no mark: what is inside has to be something.
            if let Some(unpacked) = unsnapped {
                let again = self.look(&unpacked);
                if again.form.codec != Codec::Unknown {
                    let mut steps = steps;
                    steps.push("snappy");
                    steps.extend(&again.form.steps);
                    return Look { inside: again.inside.or(Some(unpacked)), ..again }
                        .with_steps(steps);
                }
            }
            let found = match found.form.codec {
                Codec::Unknown | Codec::Text => {
                    coded::broken(now, &self.limits, is_snappy).unwrap_or(found)
                }
                _ => found,
            };
            return Look { inside, ..found.with_steps(steps) };
        }
    }

    /// Looks into an envelope; `None` if there is none after all.
    fn opened(&self, bytes: &[u8], row: &'static Row, steps: &[&'static str]) -> Option<Look> {
        let tools = Tools { limits: &self.limits, packer: &Values, keys: None };
        let opened = match envelope::open(bytes.to_vec(), row, false, &tools) {
            Ok(opened) => opened,
            // Its head is there, but no key.
            Err(_) if row.holds.is_empty() && row.is_certain => {
                let form = Form {
                    envelopes: vec![row.title],
                    rows: vec![row.name],
                    steps: steps.to_vec(),
                    codec: Codec::Sealed,
                };
                return Some(Look::of(form, None));
            }
            Err(_) => return None,
        };
        let Opened { layers, format, bytes } = opened;
        let found =
            self.format(&bytes, format).or_else(|| coded::broken(&bytes, &self.limits, false))?;
        let mut found = found.with_steps(steps.to_vec());
        for layer in &layers {
            found.form.rows.push(layer.row.name);
            found.form.envelopes.push(layer.row.title);
            // What undoes base64 is no news; a row that is named after its compression says it.
            let told = |step: &&&str| **step != "base64" && **step != layer.row.title;
            found.form.envelopes.extend(layer.steps.iter().filter(told));
        }
        found.inside = Some(bytes);
        Some(found)
    }

    /// Names bytes that nothing is around.
    fn named(&self, bytes: &[u8], told: Option<Format>) -> Look {
        if let Some(row) = plain::find(&MAGIC, bytes) {
            return Look::of(Form::bare(vec![], Codec::Plain(row.name, row.title)), None);
        }
        let pickle =
            || ends_like_pickle(bytes).then(|| self.format(bytes, Format::Pickle)).flatten();
        let yaml = || is_like_yaml(bytes).then(|| self.format(bytes, Format::Yaml)).flatten();
        let found =
            told.and_then(|format| self.format(bytes, format)).or_else(pickle).or_else(yaml);
        let found = found.or_else(|| {
            // Several lines of JSON, or YAML that begins like JSON.
            let detected = detected(bytes).filter(|format| Some(*format) != told)?;
            self.format(bytes, detected)
        });
        if let Some(found) = found {
            return found;
        }
        let Ok(_) = str::from_utf8(bytes) else {
            let mut look = Look::of(Form::bare(vec![], Codec::Unknown), None);
            let mut begins = [0; 4];
            let length = bytes.len().min(4);
            begins[..length].copy_from_slice(&bytes[..length]);
            look.begins = Some(begins);
            return look;
        };
        let Some(row) = plain::find(&TEXT, bytes) else {
            return Look::of(Form::bare(vec![], Codec::Text), None);
        };
        let mut look = Look::of(Form::bare(vec![], Codec::Plain(row.name, row.title)), None);
        let classes = match row.name {
            "php-serialize" => php::classes(bytes),
            "php-session" => php::session(bytes),
            _ => return look,
        };
        let classes = classes.unwrap_or_default();
        look.danger = if classes.is_empty() { Danger::Data } else { Danger::Classes };
        look.classes = classes.into_iter().map(|class| (class, Risk::Unknown)).collect();
        look
    }

    /// Reads bytes as a format; `None` if they are no whole documents of it.
    fn format(&self, bytes: &[u8], format: Format) -> Option<Look> {
        let form = Form::bare(vec![], Codec::Format(format));
        match format {
            Format::Marshal | Format::Pickle => coded::whole(bytes, format, &self.limits),
            _ => {
                let mut options = Options::new(format, format);
                options.limits = self.limits;
                let tape = values::read_tape(bytes, &options);
                let is_stream = matches!(format, Format::Ndjson | Format::Yaml);
                tape.is_ok_and(|tape| tape.is_some() || is_stream).then(|| Look::of(form, None))
            }
        }
    }
}

/// Returns whether bytes that are in no format may be an envelope: binary data, or text that is base64 and
/// what signatures are joined with.
fn may_be_enveloped(bytes: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=-_.:%".contains(byte);
    match bytes.trim_ascii_end() {
        // The mark of cachelib, and that of zlib.
        [b'!' | b'x', ..] => true,
        text => {
            !text.is_ascii()
                || text.first().is_some_and(|byte| *byte < b' ')
                || text.iter().all(is_word)
        }
    }
}

/// Returns the format that bytes are, if they are any. What begins like JSON is taken for it, because it is read
/// to its end anyway.
fn told(bytes: &[u8]) -> Option<Format> {
    match bytes.trim_ascii_start() {
        [b'{' | b'[', ..] => Some(Format::Json),
        _ => detected(bytes),
    }
}

fn detected(bytes: &[u8]) -> Option<Format> {
    Format::from_magic(&bytes[..bytes.len().min(HEAD_BYTES)])
}

/// Returns whether bytes may be a pickle of the first protocols, which have no mark, only STOP at the end.
fn ends_like_pickle(bytes: &[u8]) -> bool {
    bytes.len() > 2 && bytes.ends_with(b".")
}

/// Returns whether a text is like a map in YAML: several lines, the first of which is a word, a colon, and
/// perhaps a value. Prose rarely goes on like this to its end.
fn is_like_yaml(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    let (Some(first), Some([_, ..])) = (lines.next(), lines.next()) else { return false };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let word = first.iter().take_while(|byte| is_word(byte)).count();
    word > 0 && matches!(&first[word..], [b':'] | [b':', b' ', ..])
}

/// Returns what is too short to be anything else.
fn short(bytes: &[u8]) -> Option<Codec> {
    if bytes.is_empty() {
        return Some(Codec::Empty);
    }
    // Counters are the most frequent values of all.
    let is_number = bytes.len() <= 40 && bytes.iter().all(|byte| b"0123456789+-.eE".contains(byte));
    let row = is_number.then(|| plain::find(&TEXT, bytes)).flatten()?;
    Some(Codec::Plain(row.name, row.title))
}

impl Form {
    pub(crate) fn bare(steps: Vec<&'static str>, codec: Codec) -> Form {
        Form { envelopes: vec![], rows: vec![], steps, codec }
    }

    /// Returns the form in words: `Rails.cache 7.1, zlib, Ruby Marshal`.
    pub fn words(&self) -> String {
        let parts = self.steps.iter().chain(&self.envelopes).copied();
        parts.chain([self.codec.title()]).collect::<Vec<_>>().join(", ")
    }
}

impl Look {
    pub(crate) fn of(form: Form, inside: Option<Vec<u8>>) -> Look {
        let danger = match form.codec {
            Codec::Unknown | Codec::Sealed => Danger::Unknown,
            _ => Danger::None,
        };
        Look { form, classes: BTreeMap::new(), danger, inside, begins: None, broken: None }
    }

    fn with_steps(mut self, steps: Vec<&'static str>) -> Look {
        self.form.steps = steps;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(bytes: &[u8]) -> Look {
        Looker::new(Limits::default()).look(bytes)
    }

    #[test]
    fn values_without_an_envelope() {
        for (bytes, words) in [
            (&b""[..], "empty"),
            (b"17", "an integer"),
            (b"plain text", "text"),
            (b"h\xC3\xA9llo", "text"),
            (b"{\"a\":1}", "JSON"),
            (b"{\"a\":1", "text"),
            (b"\x04\x08[\x06i\x06", "Ruby Marshal"),
            (b"\x80\x04]\x94K\x01a.", "Python pickle"),
            (b"\x81\xA1a\x01", "MessagePack"),
            (b"a:1:{i:0;i:7;}", "PHP serialize"),
            (b"name: Ada\ntags:\n- a\n- b\n", "YAML"),
            (b"Note: a text\nthat goes on, and on", "text"),
            (b"\x89PNG\r\n\x1A\n\0\0", "PNG"),
            (b"\xFE\xFE\x00\xFF", "unknown"),
        ] {
            assert_eq!(look(bytes).form.words(), words, "{}", bytes.escape_ascii());
        }
        assert_eq!(look(b"\xFE\xFE\x00\xFF").begins, Some([0xFE, 0xFE, 0, 0xFF]));
    }

    #[test]
    fn what_loading_would_do() {
        for (bytes, danger, classes) in [
            (&b"\x04\x08[\x06i\x06"[..], Danger::Data, vec![]),
            (b"\x04\x08o:\x08Foo\0", Danger::Classes, vec!["Foo"]),
            (b"cos\nsystem\n(S'id'\ntR.", Danger::Attack, vec!["os.system"]),
            (b"O:3:\"Foo\":0:{}", Danger::Classes, vec!["Foo"]),
            (b"{\"a\":1}", Danger::None, vec![]),
        ] {
            let look = look(bytes);
            assert_eq!(look.danger, danger, "{}", bytes.escape_ascii());
            assert_eq!(look.classes.keys().collect::<Vec<_>>(), classes);
        }
    }

    #[test]
    fn compressed_values() {
        use regauge::envelope::{Packer as _, Packing};
        let text = b"<p>a page of HTML</p>".repeat(20);
        for packing in [Packing::Gzip, Packing::Zstd, Packing::Lz4, Packing::Zlib] {
            let packed = Values.pack(packing, &text).unwrap();
            assert_eq!(look(&packed).form.words(), format!("{}, HTML", packing.name()));
        }
        let twice =
            Values.pack(Packing::Gzip, &Values.pack(Packing::Zstd, b"{}").unwrap()).unwrap();
        assert_eq!(look(&twice).form.words(), "gzip, zstd, JSON");
    }

    #[test]
    fn a_bomb_is_unknown() {
        use regauge::envelope::{Packer as _, Packing};
        let mut limits = Limits::default();
        limits.record_bytes = 1 << 16;
        let packed = Values.pack(Packing::Zstd, &vec![b' '; 1 << 20]).unwrap();
        assert_eq!(Looker::new(limits).look(&packed).form.codec, Codec::Unknown);
    }

    #[test]
    fn a_job_of_active_job_is_named_in_that_of_its_queue() {
        let corpus =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
        for (file, rows, inside) in [
            ("plain.json", &["active-job"][..], "[7,\"h\u{e9}llo\","),
            ("sidekiq-retried.json", &["sidekiq-job", "active-job"], "[7]"),
        ] {
            let found = look(&std::fs::read(corpus.join("activejob-7.1.6").join(file)).unwrap());
            assert_eq!(found.form.rows, rows, "{file}");
            assert_eq!(found.form.codec, Codec::Format(Format::Json), "{file}");
            let bytes = found.inside.unwrap();
            assert!(bytes.starts_with(inside.as_bytes()), "{file}: {}", bytes.escape_ascii());
        }
    }

    /// What the frameworks themselves made, with the names of `corpus/envelopes`.
    #[test]
    fn every_envelope_is_named() {
        let corpus =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
        let mut named = 0;
        for folder in std::fs::read_dir(corpus).unwrap() {
            for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                if path.ends_with("expected.json") {
                    continue;
                }
                let found = look(&std::fs::read(&path).unwrap());
                assert_ne!(
                    found.form.codec,
                    Codec::Unknown,
                    "{}: {:?}",
                    path.display(),
                    found.form
                );
                named += usize::from(!found.form.rows.is_empty());
            }
        }
        assert!(named > 120, "{named}");
    }
}
