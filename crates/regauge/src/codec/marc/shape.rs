//! The shape of MARC-in-JSON: a sink that checks it and passes on the parts of a record.
//!
//! All writers of MARC are behind a [`Shape`], so that they agree on what a record is.

use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::record::Charset;
use crate::policy::event::Sink;
use crate::policy::fidelity::Fidelity;
use crate::{BigInt, Error, Ext, Limits, Result, Value};

/// Accepts the parts of one record after another: implemented by the writers of MARC.
///
/// Keys of a map may be in any order, so the leader may come after the fields, and an indicator
/// after the subfields. A fault in a part is kept until the end of the record, where the record can
/// be skipped.
pub trait TakeRecord {
    /// Begins a record; the previous one may not have ended.
    ///
    /// # Errors
    /// `Io` from the output.
    fn begin(&mut self) -> Result;
    /// Sets the leader.
    fn leader(&mut self, text: &str);
    /// Sets the charset that the record carries.
    fn charset(&mut self, charset: Charset);
    /// Begins a field.
    fn tag(&mut self, tag: &str);
    /// Makes the field a text field.
    fn text(&mut self, text: &str);
    /// Makes the field a data field: indicators and subfields follow.
    fn begin_data(&mut self);
    /// Sets the first indicator.
    fn ind1(&mut self, text: &str);
    /// Sets the second indicator.
    fn ind2(&mut self, text: &str);
    /// Begins a subfield.
    fn code(&mut self, code: &str);
    /// Sets the text of the subfield.
    fn value(&mut self, text: &str);
    /// Ends the data field.
    fn end_data(&mut self) {}
    /// Returns about how many bytes of memory the record takes.
    fn weight(&self) -> u64;
    /// Returns the policy and the losses so far.
    fn fidelity(&mut self) -> &mut Fidelity;
}

/// What a [`Shape`] expects next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Record,
    RecordKey,
    Leader,
    Charset,
    Fields,
    Field,
    Tag,
    FieldValue,
    FieldEnd,
    DataKey,
    Ind1,
    Ind2,
    Subfields,
    Subfield,
    Code,
    SubfieldValue,
    SubfieldEnd,
    Done,
}

impl State {
    /// Describes what the sink expects, in words.
    fn expected(self) -> &'static str {
        match self {
            State::Record | State::Done => "a MARC record: a map with leader and fields",
            State::RecordKey => "one of the keys leader, fields and charset",
            State::Leader => "the leader: text of 24 characters",
            State::Charset => "the charset: utf-8 or marc-8",
            State::Fields => "the fields: an array of maps",
            State::Field => "a field: a map from its tag to its content",
            State::Tag => "the tag of a field",
            State::FieldValue => "a control field's text or a data field's map",
            State::FieldEnd => "the end of the field's map, which has one tag",
            State::DataKey => "one of the keys ind1, ind2 and subfields",
            State::Ind1 | State::Ind2 => "an indicator: text of one character",
            State::Subfields => "the subfields: an array of maps",
            State::Subfield => "a subfield: a map from its code to its text",
            State::Code => "the code of a subfield",
            State::SubfieldValue => "a subfield's text",
            State::SubfieldEnd => "the end of the subfield's map, which has one code",
        }
    }
}

/// Checks that documents have the shape of MARC-in-JSON, and passes their parts to `target`.
#[derive(Debug)]
pub(super) struct Shape<T> {
    pub(super) target: T,
    state: State,
    has_leader: bool,
    has_fields: bool,
    has_charset: bool,
    /// Whether the current data field has ind1, ind2, subfields.
    has: [bool; 3],
    /// The current record arrives in parts.
    in_parts: bool,
    bytes_max: u64,
}

impl<T: TakeRecord> Shape<T> {
    /// Creates a sink in front of `target`; [`Limits::record_bytes`] bounds a record.
    pub(super) fn new(target: T, limits: &Limits) -> Shape<T> {
        Shape {
            target,
            state: State::Record,
            has_leader: false,
            has_fields: false,
            has_charset: false,
            has: [false; 3],
            in_parts: false,
            bytes_max: record_limit(limits),
        }
    }

    /// Changes the bound on a record.
    pub(super) fn set_limits(&mut self, limits: &Limits) {
        self.bytes_max = record_limit(limits);
    }

    /// Returns whether a record is complete.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns the target, to take a whole record of up to `bytes` bytes in another way; `None` if
    /// it is too large, or a record has begun.
    pub(super) fn whole(&mut self, bytes: u64) -> Option<&mut T> {
        if bytes > self.bytes_max || !matches!(self.state, State::Record | State::Done) {
            return None;
        }
        self.state = State::Done;
        Some(&mut self.target)
    }

    /// Returns the target, for the parts of a record in place of its events.
    pub(super) fn parts(&mut self) -> &mut T {
        self.state = State::Done;
        self.in_parts = true;
        &mut self.target
    }

    /// Checks that a record that arrived in parts is within its bound.
    ///
    /// # Errors
    /// `Limit`.
    pub(super) fn end_parts(&mut self) -> Result {
        if std::mem::take(&mut self.in_parts) { self.spend("") } else { Ok(()) }
    }

    /// Expects a record, whatever came before.
    pub(super) fn reset(&mut self) {
        self.in_parts = false;
        self.state = State::Record;
    }

    #[cold]
    #[inline(never)]
    fn unexpected<R>(&self, found: impl std::fmt::Display) -> Result<R> {
        let expected = self.state.expected();
        Err(Error::unrepresentable(format!("found {found}, expected {expected}"))
            .hint("only MARC records can be written as MARC"))
    }

    #[cold]
    fn twice<R>(&self, key: &str) -> Result<R> {
        Err(Error::unrepresentable(format!("found the key {key} twice, expected it once")))
    }

    #[inline]
    fn spend(&self, text: &str) -> Result {
        if self.target.weight() + text.len() as u64 > self.bytes_max {
            return Err(too_long(self.bytes_max));
        }
        Ok(())
    }

    /// Handles a key of the record's own map.
    #[cold]
    fn record_key(&mut self, k: &str) -> Result {
        let (has, state) = match k {
            "leader" => (&mut self.has_leader, State::Leader),
            "fields" => (&mut self.has_fields, State::Fields),
            "charset" => (&mut self.has_charset, State::Charset),
            _ => return self.unexpected(format_args!("the key {k:?}")),
        };
        if std::mem::replace(has, true) {
            return self.twice(k);
        }
        self.state = state;
        Ok(())
    }
}

/// Returns the bound on a record. Parts of a record in memory are addressed by 32 bits.
pub(super) fn record_limit(limits: &Limits) -> u64 {
    limits.record_bytes.min(u64::from(u32::MAX))
}

#[cold]
pub(super) fn too_long(bound: u64) -> Error {
    Error::limit(format!("found a record of more than {bound} bytes, the limit of record_bytes"))
        .hint(Hint::raise(Limit::RecordBytes))
}

impl<T: TakeRecord> Sink for Shape<T> {
    fn null(&mut self) -> Result {
        self.unexpected("null")
    }
    fn bool(&mut self, v: bool) -> Result {
        self.unexpected(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.unexpected(format_args!("{} bytes of binary data", v.len()))
    }
    fn big_int(&mut self, _v: BigInt<'_>) -> Result {
        self.unexpected("a number")
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Decimal(text) => self.unexpected(format_args!("the number {text}")),
            other => self.unexpected(other.type_name()),
        }
    }

    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.spend(v)?;
        match self.state {
            State::SubfieldValue => {
                self.target.value(v);
                self.state = State::SubfieldEnd;
            }
            State::Ind1 => {
                self.target.ind1(v);
                self.state = State::DataKey;
            }
            State::Ind2 => {
                self.target.ind2(v);
                self.state = State::DataKey;
            }
            State::FieldValue => {
                self.target.text(v);
                self.state = State::FieldEnd;
            }
            State::Leader => {
                self.target.leader(v);
                self.state = State::RecordKey;
            }
            State::Charset => {
                match Charset::from_name(v) {
                    Some(charset) => self.target.charset(charset),
                    None => return self.unexpected(format_args!("the charset {v:?}")),
                }
                self.state = State::RecordKey;
            }
            _ => return self.unexpected("text"),
        }
        Ok(())
    }

    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.state = match self.state {
            State::Fields => State::Field,
            State::Subfields => State::Subfield,
            _ => return self.unexpected("an array"),
        };
        Ok(())
    }

    #[inline]
    fn end_array(&mut self) -> Result {
        self.state = match self.state {
            State::Subfield => State::DataKey,
            State::Field => State::RecordKey,
            _ => return self.unexpected("the end of an array"),
        };
        Ok(())
    }

    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.state = match self.state {
            State::Subfield => State::Code,
            State::Field => State::Tag,
            State::FieldValue => {
                self.target.begin_data();
                self.has = [false; 3];
                State::DataKey
            }
            State::Record | State::Done => {
                self.target.begin()?;
                (self.has_leader, self.has_fields, self.has_charset) = (false, false, false);
                State::RecordKey
            }
            _ => return self.unexpected("a map"),
        };
        Ok(())
    }

    #[inline]
    fn key(&mut self, k: &str) -> Result {
        self.state = match self.state {
            State::Code => {
                self.spend(k)?;
                self.target.code(k);
                State::SubfieldValue
            }
            State::Tag => {
                self.spend(k)?;
                self.target.tag(k);
                State::FieldValue
            }
            State::DataKey => {
                let (index, state) = match k.as_bytes() {
                    b"ind1" => (0, State::Ind1),
                    b"ind2" => (1, State::Ind2),
                    b"subfields" => (2, State::Subfields),
                    _ => return self.unexpected(format_args!("the key {k:?}")),
                };
                if std::mem::replace(&mut self.has[index], true) {
                    return self.twice(k);
                }
                state
            }
            State::RecordKey => return self.record_key(k),
            State::FieldEnd | State::SubfieldEnd => {
                return self.unexpected(format_args!("a second key {k:?}"));
            }
            _ => return self.unexpected(format_args!("the key {k:?}")),
        };
        Ok(())
    }

    fn key_value(&mut self, k: &Value) -> Result {
        self.unexpected(format_args!("a key that is {}", k.type_name()))
    }

    #[inline]
    fn end_map(&mut self) -> Result {
        self.state = match self.state {
            State::SubfieldEnd => State::Subfield,
            State::FieldEnd => State::Field,
            State::DataKey => {
                if self.has != [true; 3] {
                    let missing = ["ind1", "ind2", "subfields"].into_iter().zip(self.has);
                    let name =
                        missing.into_iter().find(|(_, has)| !has).map_or("", |(name, _)| name);
                    return Err(Error::unrepresentable(format!(
                        "found a data field without {name}, expected ind1, ind2 and subfields"
                    )));
                }
                self.target.end_data();
                State::FieldEnd
            }
            State::RecordKey if self.has_leader && self.has_fields => State::Done,
            State::RecordKey => {
                let missing = if self.has_leader { "fields" } else { "leader" };
                return Err(Error::unrepresentable(format!(
                    "found a map without {missing}, expected a MARC record: \
                     a map with leader and fields"
                ))
                .hint("only MARC records can be written as MARC"));
            }
            _ => return self.unexpected("the end of a map"),
        };
        Ok(())
    }

    #[inline]
    fn text_pair(&mut self, k: &str, v: &str) -> Result {
        if self.state == State::Subfield {
            self.spend(k)?;
            self.spend(v)?;
            self.target.code(k);
            self.target.value(v);
            return Ok(());
        }
        self.begin_map(Some(1))?;
        self.key(k)?;
        self.str(v)?;
        self.end_map()
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        self.target.fidelity()
    }
}
