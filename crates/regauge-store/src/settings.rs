//! The settings of a collection, as stored in the database.

use data_encoding::BASE64;
use regauge::Format;

use crate::codec::{Codec, Compression, Packer};
use crate::engine::{KeyKind, Layout};
use crate::envelope::{self, Envelope};
use crate::error::{Error, Result};
use crate::store::Entry;

/// The settings of a collection, stored in the database alongside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How new values are stored.
    pub codec: Codec,
    /// The encoding of values without an envelope, in an adopted table.
    pub assume: Option<Assume>,
    /// Its location.
    pub layout: Layout,
}

/// The encoding of values without an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assume {
    /// Its format and compression; for zstd and lz4, only framings that contain their length.
    pub format: Format,
    /// Whether it is in Base64.
    pub base64: bool,
}

impl Settings {
    /// Creates the settings of a new collection of this name.
    ///
    /// # Errors
    /// `Usage` for a name that is not a plain word.
    pub fn new(name: &str, codec: Codec) -> Result<Settings> {
        check_name(name)?;
        let layout = Layout {
            table: name.to_owned(),
            key: "key".to_owned(),
            value: "value".to_owned(),
            key_kind: KeyKind::Bytes,
            text: false,
        };
        Ok(Settings { codec, assume: None, layout })
    }

    /// Opens a stored value: checks its envelope and checksum, and decompresses its document.
    ///
    /// # Errors
    /// `Damaged`.
    pub(crate) fn unseal(&self, packer: &mut Packer, key: &[u8], value: &[u8]) -> Result<Entry> {
        let stored_bytes = value.len() as u64;
        let opened = match Envelope::open(key, value) {
            Err(_) if self.is_bare_bson(value) => None,
            other => other?,
        };
        if let Some((envelope, payload)) = opened {
            let Envelope { codec, created, length } = envelope;
            let document = packer.unpack(key, codec.compression, payload, length)?;
            return Ok(Entry { codec, created: Some(created), stored_bytes, document });
        }
        if self.layout.text && value.starts_with(envelope::BASE64_OF_MAGIC) {
            return Err(Error::damaged(
                key,
                "found text that begins like an envelope, but is not Base64",
            ));
        }
        if envelope::lost_its_magic(value, self.layout.text) {
            return Err(Error::damaged(
                key,
                "found an envelope whose first bytes are corrupted; its checksum \
                 matches once they are restored",
            ));
        }
        let Some(Assume { format, base64 }) = self.assume else {
            return Err(Error::damaged(
                key,
                "the value has no envelope; if another program wrote it, adopt the table and name the \
                 format to assume",
            ));
        };
        let document = match base64 {
            false => value.to_vec(),
            // Ruby's Base64.encode64 inserts line breaks.
            true => {
                let dense: Vec<u8> =
                    value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                BASE64.decode(&dense).map_err(|error| {
                    Error::damaged(key, format!("found a value that is not Base64 ({error})"))
                })?
            }
        };
        let codec = Codec { format, compression: Compression::None };
        Ok(Entry { codec, created: None, stored_bytes, document })
    }

    /// Returns whether this is another program's BSON document, whose length happens to begin like
    /// an envelope. Read as such a length, an envelope would give 17 MB or more.
    fn is_bare_bson(&self, value: &[u8]) -> bool {
        self.assume == Some(Assume { format: Format::Bson, base64: false })
            && value.first_chunk().is_some_and(|head| {
                usize::try_from(i32::from_le_bytes(*head)).is_ok_and(|one| one == value.len())
            })
            && value.last() == Some(&0)
    }

    pub(crate) fn to_note(&self) -> String {
        let Settings { codec, assume, layout } = self;
        let assume = assume.map_or(String::new(), |one| {
            format!("{}{}", if one.base64 { "base64:" } else { "" }, one.format.name())
        });
        let fields = [
            ("codec", codec.to_string()),
            ("assume", assume),
            ("table", layout.table.clone()),
            ("key", layout.key.clone()),
            ("value", layout.value.clone()),
            ("key_kind", layout.key_kind.name().to_owned()),
            ("text", layout.text.to_string()),
        ];
        let lines = fields.iter().filter(|(_, value)| !value.is_empty());
        lines.map(|(name, value)| format!("{name} = {value}\n")).collect()
    }

    pub(crate) fn from_note(name: &str, note: &[u8]) -> Result<Settings> {
        let text = String::from_utf8_lossy(note);
        let field =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
        let need = |key: &str| {
            field(key).ok_or_else(|| {
                Error::usage(format!("the settings of collection {name} have no {key}"))
            })
        };
        let kind = need("key_kind")?;
        Ok(Settings {
            codec: need("codec")?.parse()?,
            assume: field("assume").map(str::parse).transpose()?,
            layout: Layout {
                table: need("table")?.to_owned(),
                key: need("key")?.to_owned(),
                value: need("value")?.to_owned(),
                key_kind: KeyKind::parse(kind)
                    .ok_or_else(|| Error::usage(format!("found key_kind {kind}")))?,
                text: need("text")? == "true",
            },
        })
    }
}

impl std::str::FromStr for Assume {
    type Err = Error;

    /// Parses `marshal`, or `base64:marshal`.
    fn from_str(text: &str) -> Result<Assume> {
        let (base64, format) = match text.strip_prefix("base64:") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let Codec { format, compression } = format.parse()?;
        if compression != Compression::None {
            return Err(Error::usage("a value without an envelope is not compressed by regauge"));
        }
        Ok(Assume { format, base64 })
    }
}

/// Collection names are table names: plain words work with every tool.
pub(crate) fn check_name(name: &str) -> Result {
    let plain = |one: char| one.is_ascii_alphanumeric() || one == '_';
    if name.is_empty()
        || name.len() > 60
        || !name.chars().all(plain)
        || ["regauge_", "sqlite_"].iter().any(|one| name.to_ascii_lowercase().starts_with(one))
    {
        return Err(Error::usage(format!(
            "found \"{name}\" as the name of a collection, expected up to 60 letters, digits and _, \
             not beginning with regauge_"
        )));
    }
    Ok(())
}
