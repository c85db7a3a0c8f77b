//! What a caller asks for: [`Options`], with a file for what each format takes, and how an option is
//! set by its row in the table.

pub mod bson;
pub mod cbor;
pub mod csv;
mod envelope;
pub mod json;
pub mod marc;
pub mod marshal;
pub mod pickle;
mod secret;
mod set;
pub mod yaml;

use std::borrow::Cow;
use std::sync::Arc;

use self::bson::ExtendedJson;
use crate::model::format::{Format, Framing};
use crate::model::limits::Limits;
pub use crate::model::option::{Language, OPTIONS, Opt, Row, Side, Takes, module, named};
use crate::policy::documents::Documents;
use crate::policy::fidelity::{Fidelity, Objects, OnLoss};
use crate::policy::select::Selection;
use crate::policy::stage::Stage;
pub use envelope::Envelopes;
pub use secret::Secret;
pub use set::Setting;

/// What to convert, and how.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The format of the input.
    pub from: Format,
    /// The format of the output.
    pub to: Format,
    /// What to do with values that the target cannot hold.
    pub on_loss: OnLoss,
    /// Whether the input is in the wrapped notation, which [`OnLoss::Wrap`] writes, and should be
    /// turned back into the original values. Otherwise anything that looks like the notation is
    /// plain data.
    pub unwrap: bool,
    /// How to handle what a framework put around the value. Conversions do not look at it: the command takes the
    /// envelope off before it converts.
    pub envelope: Envelopes,
    /// What the application signed or encrypted the value with. Conversions do not look at it either.
    pub secret: Option<Secret>,
    /// The salt that the application itself passes where it signs or encrypts; `None` stands for those of the
    /// framework.
    pub salt: Option<String>,
    /// What to do with classes, tags and symbols that the target cannot hold; `None` follows
    /// `on_loss`.
    pub objects: Option<Objects>,
    /// The bounds of the reader.
    pub limits: Limits,
    /// How documents of the input become documents of the output.
    pub documents: Documents,
    /// Whether a broken record is skipped (and reported) instead of ending the run.
    pub skip_bad: bool,
    /// Whether the bytes of skipped records are of use to the caller. Without them, a long document
    /// need not stay in memory until it is whole.
    pub keep_bad: bool,
    /// What to do with a key that occurs twice in one map.
    pub duplicate_keys: DuplicateKeys,
    /// Which values are kept, left out and renamed, by their paths in the input.
    pub select: Selection,
    /// How many documents are converted, from the first; the rest of the input is not read. In a
    /// format of one document, and if arrays are split into documents, the elements of an array at
    /// the top count, not the array.
    pub head: Option<u64>,
    /// How many documents are converted, chosen at random; counted as for `head`. The input is read
    /// twice, so it cannot be [`Once`](crate::convert::Input::Once).
    pub sample: Option<u64>,
    /// Which sample is taken: the same number takes the same documents of the same input.
    pub seed: u64,
    /// Whether to record losses with their paths, including duplicate keys and rounded numbers.
    /// Costs time; without it, losses are only counted.
    pub report: bool,
    /// How many threads may convert parts of a record stream. 1 means the calling thread only.
    pub jobs: usize,
    /// What changes the documents on the way, such as a filter. Shared values are repeated for it.
    pub stage: Option<Arc<dyn Stage>>,
    /// How JSON is read.
    pub json_read: json::ReadOptions,
    /// How JSON is written.
    pub json_write: json::WriteOptions,
    /// How MARC is read and written.
    pub marc: marc::Options,
    /// How YAML is read.
    pub yaml: yaml::Options,
    /// How YAML is written.
    pub yaml_write: yaml::WriteOptions,
    /// How BSON is read and written.
    pub bson: bson::Options,
    /// How CBOR is read and written.
    pub cbor: cbor::Options,
    /// How Ruby's Marshal is read and written.
    pub marshal: marshal::Options,
    /// How Python's pickle is read and written.
    pub pickle: pickle::Options,
    /// How CSV and TSV are read and written.
    pub csv: csv::Options,
    /// Converting a format to itself: features that only this format has are read unchanged.
    pub(crate) identity: bool,
}

/// What to do with a key that occurs twice in one map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// Write both, as every format here can. A report counts them.
    #[default]
    Keep,
    /// Stop at the second.
    Refuse,
}

impl Options {
    /// Creates options for converting from one format to the other, strict in everything.
    pub fn new(from: Format, to: Format) -> Options {
        Options {
            from,
            to,
            on_loss: OnLoss::default(),
            unwrap: false,
            envelope: Envelopes::default(),
            secret: None,
            salt: None,
            limits: Limits::default(),
            documents: Documents::default(),
            skip_bad: false,
            keep_bad: true,
            duplicate_keys: DuplicateKeys::default(),
            select: Selection::default(),
            head: None,
            sample: None,
            seed: 0,
            report: false,
            jobs: 1,
            stage: None,
            json_read: json::ReadOptions::default(),
            json_write: json::WriteOptions::default(),
            marc: marc::Options::default(),
            objects: None,
            yaml: yaml::Options::default(),
            yaml_write: yaml::WriteOptions::default(),
            bson: bson::Options::default(),
            cbor: cbor::Options::default(),
            marshal: marshal::Options::default(),
            pickle: pickle::Options::default(),
            csv: csv::Options::default(),
            identity: false,
        }
    }

    /// Returns the policy for classes, tags and symbols.
    pub fn resolved_objects(&self) -> Objects {
        self.objects.unwrap_or(self.on_loss.into())
    }

    /// Returns whether symbols become text: objects are written as their data, and the target has
    /// no symbols.
    pub(crate) fn symbols_become_text(&self) -> bool {
        self.resolved_objects() == Objects::Data && !self.to.info().has_symbols
    }

    /// Returns the form of Extended JSON to write, if any.
    pub(crate) fn writes_extended_json(&self) -> Option<ExtendedJson> {
        self.bson.extended_json.filter(|_| self.to.is_json())
    }

    /// Returns whether the target has two widths of integers, as BSON does.
    pub(crate) fn keeps_int64(&self) -> bool {
        self.identity || self.writes_extended_json() == Some(ExtendedJson::Canonical)
    }

    /// Returns whether the input is Extended JSON.
    pub(crate) fn reads_extended_json(&self) -> bool {
        self.bson.extended_json.is_some() && self.from.is_json()
    }

    /// Returns whether the wrapped notation is written, so that a user's own maps must be guarded
    /// with [`Escape`](crate::policy::notation::Escape). A MARC record is validated as one: none of its keys can be mistaken for the
    /// notation.
    pub fn wraps(&self) -> bool {
        let asked = self.on_loss == OnLoss::Wrap || self.objects == Some(Objects::Wrap);
        asked && !self.to.is_marc()
    }

    /// Returns whether the wrapped notation is read, using [`Unwrap`](crate::policy::notation::Unwrap).
    pub fn unwraps(&self) -> bool {
        self.unwrap && !self.from.is_marc()
    }

    /// Returns whether the source has no decimals besides its doubles, so that a decimal is just
    /// its spelling of a number.
    pub(crate) fn numbers_as_decimals(&self) -> bool {
        self.from.is_json() || self.from == Format::Yaml
    }

    /// Returns how MARC is read: the notation for characters without a MARC-8 code is part of the
    /// wrapped notation.
    pub fn marc_read(&self) -> marc::Options {
        let mut marc = self.marc.clone();
        marc.references |= self.unwrap;
        marc
    }

    /// Returns the policy, with nothing lost yet.
    pub fn fidelity(&self) -> Fidelity {
        Fidelity::new(self.on_loss, self.to).with_objects(self.resolved_objects())
    }

    /// Returns whether the elements of an array at the top count as documents for `head` and
    /// `sample`.
    pub(crate) fn counts_elements(&self) -> bool {
        self.from.framing() == Framing::Single
            || self.from == Format::MarcJson
            || self.resolved_documents() == Documents::Split
    }

    /// Returns the options for reading into memory, where Python's tuples are told apart from lists.
    pub(crate) fn for_trees(&self) -> Cow<'_, Options> {
        if self.to != Format::Pickle || self.pickle.exact {
            return Cow::Borrowed(self);
        }
        let mut options = self.clone();
        options.pickle.exact = true;
        Cow::Owned(options)
    }

    /// Returns what happens to documents on the way, with `Auto` resolved.
    pub(crate) fn resolved_documents(&self) -> Documents {
        if self.documents != Documents::Auto {
            return self.documents;
        }
        match (self.from.framing(), self.to.framing()) {
            // An array is not a record: it can only be a file of records.
            _ if self.from == Format::MarcJson || self.to.is_marc() => match self.to.framing() {
                Framing::Single => Documents::Join,
                // These readers produce only records.
                _ if self.from.gives_records() => Documents::Keep,
                _ => Documents::Split,
            },
            (Framing::Single, Framing::Records) => Documents::Split,
            (Framing::Records, Framing::Single) => Documents::Join,
            _ => Documents::Keep,
        }
    }
}
