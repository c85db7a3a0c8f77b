//! Values that only some formats have, and the types that can wrap a value.

pub use crate::model::time::Timestamp;

/// An integer of any size, in the form its source has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BigInt<'a> {
    /// Decimal digits without leading zeros, and the sign.
    Decimal {
        /// Below zero.
        negative: bool,
        /// ASCII digits; the first is not `0`.
        digits: &'a str,
    },
    /// The magnitude in bytes, least significant first, and the sign.
    Binary {
        /// Below zero.
        negative: bool,
        /// Little-endian magnitude; the last byte is not 0.
        magnitude: &'a [u8],
    },
}

/// Values that only some formats have.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ext<'a> {
    /// A point in time.
    Timestamp(Timestamp),
    /// A number in decimal notation whose digits matter, as JSON writes it
    /// (RFC 8259 §6): `-12.50e3`.
    Decimal(&'a str),
    /// A MessagePack extension type (-128 to 127) and its payload.
    MsgpackExt(i8, &'a [u8]),
    /// Text with lone surrogates, in generalized UTF-8 (WTF-8): what JSON's `"\ud800"` holds.
    Surrogates(&'a [u8]),
    /// A text value whose bytes are not UTF-8.
    BrokenText(&'a [u8]),
    /// An integer that its source declares as 64 bits wide although 32 would do (BSON's `int64`).
    /// To a sink without widths it is a plain integer, and nothing is lost.
    Int64(i64),
    /// A symbol: Ruby's, BSON's.
    Symbol(&'a str),
    /// A date: `2026-11-21` (RFC 3339 `full-date`).
    Date(&'a str),
    /// A time of day without a zone: `12:00:00.5` (RFC 3339 `partial-time`).
    Time(&'a str),
    /// A date and time without a zone: `2026-11-21T12:00:00`.
    DateTime(&'a str),
    /// A date and time with a significant offset from UTC: `2026-11-21T12:00:00+02:00` (RFC 3339
    /// `date-time`; Python also allows seconds in the offset, as `+02:00:30`).
    OffsetDateTime(&'a str),
    /// A duration.
    Duration {
        /// Whole seconds, rounded down.
        seconds: i64,
        /// 0 to 999,999,999, counted up from `seconds`.
        nanoseconds: u32,
    },
    /// A decimal floating-point number of IEEE 754-2008, 128 bits in the binary integer encoding,
    /// least significant byte first, as BSON stores it.
    Decimal128([u8; 16]),
    /// A BSON ObjectId.
    ObjectId([u8; 12]),
    /// A UUID (RFC 9562).
    Uuid([u8; 16]),
    /// A BSON binary with a subtype other than 0; subtype 4 with 16 bytes is a [`Ext::Uuid`].
    Binary(u8, &'a [u8]),
    /// A regular expression and its options as letters.
    Regex {
        /// The text between the slashes.
        pattern: &'a str,
        /// Such as `imsx`.
        options: &'a str,
    },
    /// A BSON timestamp, which MongoDB uses internally.
    BsonTimestamp {
        /// Seconds since 1970.
        seconds: u32,
        /// A counter within the second.
        increment: u32,
    },
    /// BSON's value that sorts below all others.
    MinKey,
    /// BSON's value that sorts above all others.
    MaxKey,
    /// JavaScript's `undefined`: in BSON and in CBOR.
    Undefined,
    /// JavaScript code.
    Code(&'a str),
    /// A BSON DBPointer.
    DbPointer {
        /// Database and collection.
        namespace: &'a str,
        /// The ObjectId.
        id: [u8; 12],
    },
    /// A CBOR simple value other than false, true, null and undefined (RFC 8949 §3.3).
    Simple(u8),
    /// A complex number: real and imaginary parts.
    Complex(f64, f64),
}

impl Ext<'_> {
    /// Returns the kind of value as messages name it: `a point in time`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Ext::Timestamp(_) => "a point in time",
            Ext::Decimal(_) => "a decimal",
            Ext::MsgpackExt(..) => "a MessagePack extension",
            Ext::Surrogates(_) => "text with lone surrogates",
            Ext::BrokenText(_) => "text that is not UTF-8",
            Ext::Int64(_) => "an integer",
            Ext::Symbol(_) => "a symbol",
            Ext::Date(_) => "a date",
            Ext::Time(_) => "a time of day",
            Ext::DateTime(_) => "a date and time without zone",
            Ext::OffsetDateTime(_) => "a date and time with offset",
            Ext::Duration { .. } => "a duration",
            Ext::Decimal128(_) => "a decimal128",
            Ext::ObjectId(_) => "an ObjectId",
            Ext::Uuid(_) => "a UUID",
            Ext::Binary(..) => "binary data with a subtype",
            Ext::Regex { .. } => "a regular expression",
            Ext::BsonTimestamp { .. } => "a BSON timestamp",
            Ext::MinKey => "BSON's MinKey",
            Ext::MaxKey => "BSON's MaxKey",
            Ext::Undefined => "undefined",
            Ext::Code(_) => "JavaScript code",
            Ext::DbPointer { .. } => "a DBPointer",
            Ext::Simple(_) => "a CBOR simple value",
            Ext::Complex(..) => "a complex number",
        }
    }

    /// Returns the size of the value's payload in bytes: its text or binary data.
    pub fn payload_bytes(&self) -> usize {
        match self {
            Ext::Decimal(v) | Ext::Symbol(v) | Ext::Code(v) => v.len(),
            Ext::Date(v) | Ext::Time(v) | Ext::DateTime(v) | Ext::OffsetDateTime(v) => v.len(),
            Ext::MsgpackExt(_, v) | Ext::Binary(_, v) => v.len(),
            Ext::Surrogates(v) | Ext::BrokenText(v) => v.len(),
            Ext::Regex { pattern, options } => pattern.len() + options.len(),
            Ext::DbPointer { namespace, .. } => namespace.len(),
            _ => 0,
        }
    }
}

/// An owned [`Ext`], for the variants that have no variant of their own in [`Value`](crate::Value).
#[derive(Clone, Debug, PartialEq)]
pub struct ExtBuf(Owned);

/// One variant for each kind of payload that an [`Ext`] has.
#[derive(Clone, Debug, PartialEq)]
enum Owned {
    /// No payload outside the value itself.
    Plain(Ext<'static>),
    Text(TextKind, String),
    Bytes(BytesKind, Vec<u8>),
    Regex(String, String),
    DbPointer(String, [u8; 12]),
}

/// Which [`Ext`] a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TextKind {
    Decimal,
    Symbol,
    Date,
    Time,
    DateTime,
    OffsetDateTime,
    Code,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum BytesKind {
    MsgpackExt(i8),
    Surrogates,
    BrokenText,
    Binary(u8),
}

impl From<Ext<'_>> for ExtBuf {
    fn from(v: Ext<'_>) -> ExtBuf {
        let text = |kind, v: &str| Owned::Text(kind, v.to_owned());
        let bytes = |kind, v: &[u8]| Owned::Bytes(kind, v.to_owned());
        ExtBuf(match v {
            Ext::Decimal(v) => text(TextKind::Decimal, v),
            Ext::Symbol(v) => text(TextKind::Symbol, v),
            Ext::Date(v) => text(TextKind::Date, v),
            Ext::Time(v) => text(TextKind::Time, v),
            Ext::DateTime(v) => text(TextKind::DateTime, v),
            Ext::OffsetDateTime(v) => text(TextKind::OffsetDateTime, v),
            Ext::Code(v) => text(TextKind::Code, v),
            Ext::MsgpackExt(kind, v) => bytes(BytesKind::MsgpackExt(kind), v),
            Ext::Surrogates(v) => bytes(BytesKind::Surrogates, v),
            Ext::BrokenText(v) => bytes(BytesKind::BrokenText, v),
            Ext::Binary(subtype, v) => bytes(BytesKind::Binary(subtype), v),
            Ext::Regex { pattern, options } => Owned::Regex(pattern.to_owned(), options.to_owned()),
            Ext::DbPointer { namespace, id } => Owned::DbPointer(namespace.to_owned(), id),
            Ext::Timestamp(v) => Owned::Plain(Ext::Timestamp(v)),
            Ext::Int64(v) => Owned::Plain(Ext::Int64(v)),
            Ext::Duration { seconds, nanoseconds } => {
                Owned::Plain(Ext::Duration { seconds, nanoseconds })
            }
            Ext::Decimal128(v) => Owned::Plain(Ext::Decimal128(v)),
            Ext::ObjectId(v) => Owned::Plain(Ext::ObjectId(v)),
            Ext::Uuid(v) => Owned::Plain(Ext::Uuid(v)),
            Ext::BsonTimestamp { seconds, increment } => {
                Owned::Plain(Ext::BsonTimestamp { seconds, increment })
            }
            Ext::MinKey => Owned::Plain(Ext::MinKey),
            Ext::MaxKey => Owned::Plain(Ext::MaxKey),
            Ext::Undefined => Owned::Plain(Ext::Undefined),
            Ext::Simple(v) => Owned::Plain(Ext::Simple(v)),
            Ext::Complex(real, imaginary) => Owned::Plain(Ext::Complex(real, imaginary)),
        })
    }
}

impl ExtBuf {
    /// Borrows the value.
    pub fn as_ext(&self) -> Ext<'_> {
        match &self.0 {
            Owned::Plain(v) => *v,
            Owned::Text(kind, v) => match kind {
                TextKind::Decimal => Ext::Decimal(v),
                TextKind::Symbol => Ext::Symbol(v),
                TextKind::Date => Ext::Date(v),
                TextKind::Time => Ext::Time(v),
                TextKind::DateTime => Ext::DateTime(v),
                TextKind::OffsetDateTime => Ext::OffsetDateTime(v),
                TextKind::Code => Ext::Code(v),
            },
            Owned::Bytes(kind, v) => match kind {
                BytesKind::MsgpackExt(kind) => Ext::MsgpackExt(*kind, v),
                BytesKind::Surrogates => Ext::Surrogates(v),
                BytesKind::BrokenText => Ext::BrokenText(v),
                BytesKind::Binary(subtype) => Ext::Binary(*subtype, v),
            },
            Owned::Regex(pattern, options) => Ext::Regex { pattern, options },
            Owned::DbPointer(namespace, id) => Ext::DbPointer { namespace, id: *id },
        }
    }
}

/// The system that a type comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// A Ruby class, module or object property.
    Ruby,
    /// A Python class, function or kind of container.
    Python,
    /// A YAML tag.
    Yaml,
    /// A CBOR tag.
    Cbor,
    /// A BSON type.
    Bson,
}

impl Origin {
    /// All origins.
    pub const ALL: [Origin; 5] =
        [Origin::Ruby, Origin::Python, Origin::Yaml, Origin::Cbor, Origin::Bson];

    /// Returns the name in the wrapped notation: `ruby`.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Ruby => "ruby",
            Origin::Python => "python",
            Origin::Yaml => "yaml",
            Origin::Cbor => "cbor",
            Origin::Bson => "bson",
        }
    }
}

/// A type around one value: only names. No class is looked up, nothing is imported, nothing is
/// called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Type<'a> {
    /// The system that the type comes from.
    pub origin: Origin,
    /// The kind of type, in the words of the format's page under `docs/formats`: `object`, `tag`.
    pub kind: &'a str,
    /// The class, the tag, or the tag number; empty if the kind says everything.
    pub name: &'a str,
}

impl std::fmt::Display for Type<'_> {
    /// Writes the type as messages name it: `a Ruby value of kind object (Foo)`,
    /// `a value with the CBOR tag 100`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = self.kind.replace('_', " ");
        let shown = crate::model::text::shorten(self.name);
        match (self.origin, self.name) {
            (Origin::Yaml, _) => write!(f, "a value with the YAML tag {shown}"),
            (Origin::Cbor, _) => write!(f, "a value with the CBOR tag {shown}"),
            (Origin::Bson, _) => write!(f, "JavaScript code with a scope"),
            (Origin::Ruby, "") => write!(f, "a Ruby value of kind {kind}"),
            (Origin::Ruby, _) => write!(f, "a Ruby value of kind {kind} ({shown})"),
            (Origin::Python, "") => write!(f, "a Python value of kind {kind}"),
            (Origin::Python, _) => write!(f, "a Python value of kind {kind} ({shown})"),
        }
    }
}

/// An owned [`Type`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TypeBuf {
    /// The system that the type comes from.
    pub origin: Origin,
    /// The kind of type.
    pub kind: String,
    /// The class or tag.
    pub name: String,
}

impl TypeBuf {
    /// Borrows the type.
    pub fn as_type(&self) -> Type<'_> {
        Type { origin: self.origin, kind: &self.kind, name: &self.name }
    }
}

impl From<&Type<'_>> for TypeBuf {
    fn from(t: &Type<'_>) -> TypeBuf {
        TypeBuf { origin: t.origin, kind: t.kind.to_owned(), name: t.name.to_owned() }
    }
}
