//! What each event becomes.

use regauge::event::ShortText;
use regauge::fidelity::Fidelity;
use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{BigInt, Error, ErrorKind, Ext, Origin, Result, Sink, Type, Value};

use super::{Build, Frame, Kind, Typed};
use crate::plain::{Plain, not_plain};
use crate::ruby::{self, NIL, VALUE};

/// `-0.0`.
const MINUS_ZERO: u64 = 1 << 63;

impl Sink for Build<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.push(NIL)
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.push(if v { ruby::TRUE } else { ruby::FALSE })
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.push(ruby::integer(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.push(ruby::unsigned(v))
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        if v.to_bits() == MINUS_ZERO && self.settings.plain.is_some() {
            // json reads `-0` as an integer.
            return Err(not_plain());
        }
        self.push(ruby::float(v))
    }
    #[inline]
    fn f64_pair(&mut self, x: f64, y: f64) -> Result {
        if let (Some(x), Some(y)) = (ruby::simple_float(x), ruby::simple_float(y))
            && !self.early
        {
            return self.simple_array(&[x, y]);
        }
        self.f64_array(&[x, y])
    }
    #[inline]
    fn f64_array(&mut self, values: &[f64]) -> Result {
        const FEW: usize = 4;
        let mut floats = [NIL; FEW];
        let mut are_simple = !self.early && values.len() <= FEW;
        for (place, v) in floats.iter_mut().zip(values) {
            match ruby::simple_float(*v) {
                Some(float) => *place = float,
                None => are_simple = false,
            }
        }
        if !are_simple {
            self.begin_array(Some(values.len() as u64))?;
            values.iter().try_for_each(|v| self.f64(*v))?;
            return self.end_array();
        }
        self.simple_array(&floats[..values.len()])
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.string(ruby::text(v))
    }
    #[inline]
    fn short_str(&mut self, v: ShortText<'_>) -> Result {
        self.string(ruby::utf8_string(v.as_str(), true))
    }
    #[inline]
    fn bytes(&mut self, v: &[u8]) -> Result {
        if self.settings.plain.is_some_and(Plain::converts) {
            return self.special("binary", &[ruby::integer(0), ruby::binary(v)]);
        }
        self.string(ruby::binary(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let value = match v {
            BigInt::Decimal { negative, digits } => {
                if digits.len() > self.settings.core.limits.integer_digits as usize {
                    return Err(Error::limit(format!(
                        "found an integer of {} digits, more than the limit of integer_digits",
                        digits.len()
                    ))
                    .hint(Hint::raise(Limit::IntegerDigits)));
                }
                ruby::decimal_integer(negative, digits)
            }
            BigInt::Binary { negative, magnitude } => ruby::big_integer(negative, magnitude),
        };
        self.push(value)
    }

    fn ext(&mut self, v: Ext<'_>) -> Result {
        if let Some(plain) = self.settings.plain
            && !(plain.takes_symbols() && matches!(v, Ext::Symbol(_)))
        {
            return match v {
                _ if !plain.converts() => Err(not_plain()),
                Ext::Timestamp(at) => {
                    let nanoseconds = ruby::integer(at.nanoseconds.into());
                    self.special("time", &[ruby::integer(at.seconds), nanoseconds])
                }
                Ext::ObjectId(v) => self.special("object_id", &[ruby::binary(&v)]),
                Ext::Binary(subtype, v) => {
                    self.special("binary", &[ruby::integer(subtype.into()), ruby::binary(v)])
                }
                Ext::Uuid(v) => self.special("uuid", &[ruby::binary(&v)]),
                _ => Err(not_plain()),
            };
        }
        let date = |v: &str| ruby::text(v);
        match v {
            Ext::Symbol(v) => self.push(self.scratch.keys.symbol(v)),
            Ext::Int64(v) => self.i64(v),
            Ext::Timestamp(at) => self.push(ruby::time(at.seconds, at.nanoseconds)),
            Ext::BrokenText(v) | Ext::Surrogates(v) => self.string(ruby::broken_text(v)),
            Ext::Decimal(v) => self.special("decimal", &[ruby::text(v)]),
            Ext::MsgpackExt(kind, v) => {
                self.special("msgpack", &[ruby::integer(kind.into()), ruby::binary(v)])
            }
            Ext::Date(v) => self.special("date", &[date(v)]),
            Ext::Time(v) => self.special("local_time", &[date(v)]),
            Ext::DateTime(v) => self.special("local_date_time", &[date(v)]),
            Ext::OffsetDateTime(v) => self.special("offset_date_time", &[date(v)]),
            Ext::Duration { seconds, nanoseconds } => self
                .special("duration", &[ruby::integer(seconds), ruby::integer(nanoseconds.into())]),
            Ext::Decimal128(v) => match regauge::decimal128::to_text(&v) {
                Some(text) => self.special("decimal128", &[ruby::text(&text), ruby::binary(&v)]),
                None => self.special("decimal128", &[NIL, ruby::binary(&v)]),
            },
            Ext::ObjectId(v) => self.special("object_id", &[ruby::binary(&v)]),
            Ext::Uuid(v) => self.special("uuid", &[ruby::binary(&v)]),
            Ext::Binary(subtype, v) => {
                self.special("binary", &[ruby::integer(subtype.into()), ruby::binary(v)])
            }
            Ext::Regex { pattern, options } => {
                self.special("regex", &[ruby::text(pattern), ruby::text(options)])
            }
            Ext::BsonTimestamp { seconds, increment } => self.special(
                "timestamp",
                &[ruby::integer(seconds.into()), ruby::integer(increment.into())],
            ),
            Ext::MinKey => self.special("min_key", &[]),
            Ext::MaxKey => self.special("max_key", &[]),
            Ext::Undefined => self.special("undefined", &[]),
            Ext::Code(v) => self.special("code", &[ruby::text(v)]),
            Ext::DbPointer { namespace, id } => {
                self.special("db_pointer", &[ruby::text(namespace), ruby::binary(&id)])
            }
            Ext::Simple(v) => self.special("simple", &[ruby::integer(v.into())]),
            Ext::Complex(real, imaginary) => {
                self.special("complex", &[ruby::float(real), ruby::float(imaginary)])
            }
            other => Err(Error::new(
                ErrorKind::Unsupported,
                format!("found {}, which has no object in Ruby", other.type_name()),
            )),
        }
    }

    #[inline]
    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        if self.early {
            return self.begin_early(ruby::array(&[]));
        }
        self.open(Kind::Array);
        Ok(())
    }

    #[inline]
    fn end_array(&mut self) -> Result {
        let Frame { kind, base, .. } = self.frames.pop().expect("a reader begins before it ends");
        let base = base as usize;
        let values = &self.scratch.values;
        let array = if kind == Kind::Array {
            ruby::array(values.from(base))
        } else {
            let array = values.at(base - 1);
            ruby::array_extend(array, values.from(base));
            array
        };
        values.truncate(base - usize::from(kind != Kind::Array));
        if self.settings.freeze {
            ruby::freeze(array);
        }
        self.push(array)
    }

    #[inline]
    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        if self.early {
            return self.begin_early(ruby::hash());
        }
        let pairs = matches!(
            self.frames.last(),
            Some(Frame {
                kind: Kind::Typed(Typed::Object { .. } | Typed::Variables | Typed::Identity { .. }),
                ..
            })
        );
        self.open(match pairs {
            true => Kind::Pairs,
            false if self.identities > 0 && self.is_by_identity() => Kind::ById,
            false => Kind::Map,
        });
        Ok(())
    }

    #[inline]
    fn key(&mut self, k: &str) -> Result {
        let keys = &self.scratch.keys;
        let key = if self.settings.symbolize
            && !matches!(self.frames.last(), Some(Frame { kind: Kind::Pairs, .. }))
        {
            keys.symbol(k)
        } else {
            keys.string(k)
        };
        self.push(key)
    }

    fn key_value(&mut self, k: &Value) -> Result {
        if let Value::Ext(name) = k
            && let Ext::Symbol(name) = name.as_ext()
        {
            if self.settings.plain.is_some_and(|plain| !plain.takes_symbols()) {
                return Err(not_plain());
            }
            return self.push(self.scratch.keys.symbol(name));
        }
        // libyaml refuses an absent key, Psych has one NaN, and msgpack makes a symbol of binary text.
        let is_odd = match k {
            Value::Null => true,
            Value::F64(v) => v.is_nan(),
            _ => self.settings.symbolize,
        };
        if is_odd && self.settings.plain.is_some() {
            return Err(not_plain());
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.plain = false;
        }
        k.drive(self)
    }

    #[inline]
    fn end_map(&mut self) -> Result {
        let frame = self.frames.pop().expect("a reader begins before it ends");
        let base = frame.base as usize;
        match frame.kind {
            Kind::Pairs => Ok(()),
            Kind::ById => {
                let hash = ruby::hash();
                self.fill_by_identity(hash, base)?;
                self.scratch.values.truncate(base);
                self.push(hash)
            }
            Kind::Early => {
                let hash = self.scratch.values.at(base - 1);
                self.hash(hash, base, frame.plain)?;
                self.scratch.values.truncate(base);
                Ok(())
            }
            _ => {
                let hash = if frame.plain {
                    self.plain_hash(base)?
                } else {
                    let hash = ruby::hash();
                    // If methods run, the hash has to be visible too: from this thread's stack.
                    self.hash(hash, base, false)?;
                    ruby::keep(hash);
                    hash
                };
                self.scratch.values.truncate(base);
                self.push(hash)
            }
        }
    }

    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if self.settings.plain.is_some() {
            return Err(not_plain());
        }
        let early = std::mem::take(&mut self.early);
        let name = self.scratch.keys.string(t.name);
        self.push(name)?;
        let typed = match (t.origin, t.kind) {
            (Origin::Ruby, "object") if !is_structural(t.name) => {
                if early {
                    let object = self.new_object(name)?;
                    self.name_early(object);
                    self.push(object)?;
                }
                Typed::Object { early }
            }
            (Origin::Ruby, "identity") => {
                if early {
                    let hash = ruby::hash();
                    self.name_early(hash);
                    self.push(hash)?;
                }
                self.identities += 1;
                Typed::Identity { early }
            }
            (Origin::Ruby, "encoding") => Typed::Encoding,
            (Origin::Ruby, "ivars") => Typed::Variables,
            (origin, kind) => {
                self.push(self.scratch.keys.string(kind))?;
                Typed::Other(origin)
            }
        };
        self.open(Kind::Typed(typed));
        Ok(())
    }

    fn end_typed(&mut self) -> Result {
        let frame = self.frames.pop().expect("a reader begins before it ends");
        let base = frame.base as usize;
        match frame.kind {
            Kind::Typed(Typed::Object { early }) => self.end_object(base, early),
            Kind::Typed(Typed::Identity { early }) => self.end_identity(base, early),
            Kind::Typed(Typed::Encoding) => {
                let values = &self.scratch.values;
                let (name, string) = (values.at(base - 1), values.at(base));
                if !ruby::is_string(string) {
                    return Err(Error::new(ErrorKind::Syntax, "found an encoding of no text"));
                }
                let text = ruby::binary(ruby::bytes_of(string));
                ruby::keep(string);
                let encoding = std::ffi::CString::new(ruby::bytes_of(name)).unwrap_or_default();
                if !ruby::set_encoding(text, &encoding) {
                    return Err(Error::new(
                        ErrorKind::Unsupported,
                        format!(
                            "found text in the encoding {encoding:?}, which Ruby does not know"
                        ),
                    ));
                }
                self.scratch.values.truncate(base - 1);
                self.string(text)
            }
            Kind::Typed(Typed::Variables) => self.end_variables(base),
            Kind::Typed(Typed::Other(origin)) => self.end_other(base, origin),
            _ => unreachable!("a reader ends what it began"),
        }
    }

    fn holds_references(&mut self) -> bool {
        true
    }

    fn begin_anchor(&mut self, id: u64) -> Result {
        if self.settings.plain.is_some() {
            return Err(not_plain());
        }
        self.open(Kind::Anchor(id));
        self.early = true;
        Ok(())
    }

    fn end_anchor(&mut self) -> Result {
        self.early = false;
        if let Some(Frame { kind: Kind::Anchor(id), .. }) = self.frames.pop() {
            let value = self.scratch.values.at(self.scratch.values.len() - 1);
            self.remember(id, value);
        }
        Ok(())
    }

    fn alias(&mut self, id: u64) -> Result {
        let anchors = &self.scratch.anchors;
        let at = id as usize;
        if at < anchors.len() && anchors.at(at) != ruby::UNDEF {
            return self.push(anchors.at(at));
        }
        Err(Error::new(
            ErrorKind::Unsupported,
            "found a value that contains itself, but that Ruby has to create as a whole",
        ))
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// Types of objects that Marshal writes as objects, but that have no plain instance variables.
fn is_structural(name: &str) -> bool {
    name == "Range"
}

impl Build<'_> {
    /// Begins a container that an alias may refer to.
    #[cold]
    fn begin_early(&mut self, container: VALUE) -> Result {
        self.early = false;
        self.name_early(container);
        self.push(container)?;
        self.open(Kind::Early);
        Ok(())
    }

    fn name_early(&mut self, value: VALUE) {
        if let Some(Frame { kind: Kind::Anchor(id), .. }) = self.frames.last() {
            self.remember(*id, value);
        }
    }

    fn remember(&mut self, id: u64, value: VALUE) {
        let anchors = &self.scratch.anchors;
        while anchors.len() <= id as usize {
            anchors.push(ruby::UNDEF);
        }
        anchors.set(id as usize, value);
    }
}
