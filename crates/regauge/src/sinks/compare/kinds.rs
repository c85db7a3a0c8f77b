//! The closed list of differences that count as losses, and those that are wrong.

/// A kind of difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The same keys and values in another order.
    KeyOrder,
    /// A key occurred twice, and only one of the two is left.
    DuplicateKey,
    /// The same elements of an array in another order.
    ItemOrder,
    /// An integer became the double nearest to it.
    IntegerToDouble,
    /// An integer became its decimal digits as text.
    IntegerToText,
    /// A double became the integer of the same value.
    DoubleToInteger,
    /// A double became one that agrees with it in 15 significant digits, which is what every double
    /// guarantees (C's `DBL_DIG`).
    DoubleRounded,
    /// A decimal became the double nearest to it.
    DecimalToDouble,
    /// A decimal became its text.
    DecimalToText,
    /// A decimal has the same value with other digits: `1.10` became `1.1`.
    DecimalDigits,
    /// -0.0 became 0.
    NegativeZero,
    /// NaN or an infinity became null.
    NonFinite,
    /// Bytes became text: their Base64, or themselves.
    BytesToText,
    /// Bytes lost the subtype that BSON had for them.
    BytesSubtype,
    /// Text that is not UTF-8, or has lone surrogates, got replacement characters (U+FFFD).
    TextRepaired,
    /// A key that is not text became its text.
    KeyToText,
    /// A symbol became its text, as a value or as a key.
    SymbolToText,
    /// A date, a time or a duration became text.
    TimeToText,
    /// A point in time lost digits below the millisecond, or below the microsecond.
    TimeRounded,
    /// A point in time is the same, but its offset from UTC has changed or is gone.
    TimeOffset,
    /// A value that few formats have (a UUID, a regular expression, an extension) became its text,
    /// or null.
    SpecialToText,
    /// A tuple became a list.
    TupleToList,
    /// A set became a list.
    SetToList,
    /// A class or a tag around a value is gone.
    Type,
    /// A value that was shared is a copy in one of its places.
    Sharing,
    /// Text changed its Unicode normalization form.
    Normalization,
    /// A MARC leader differs outside the lengths that every writer computes.
    Leader,
    /// A value has changed to another.
    Value,
    /// A value, a key or a document is gone.
    Missing,
    /// A value, a key or a document appeared.
    Added,
}

impl ChangeKind {
    /// Returns the name in reports: `"key order"`, `"value"`, …
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::KeyOrder => "key order",
            ChangeKind::DuplicateKey => "duplicate key",
            ChangeKind::ItemOrder => "item order",
            ChangeKind::IntegerToDouble => "integer to double",
            ChangeKind::IntegerToText => "integer to text",
            ChangeKind::DoubleToInteger => "double to integer",
            ChangeKind::DoubleRounded => "double rounded",
            ChangeKind::DecimalToDouble => "decimal to double",
            ChangeKind::DecimalToText => "decimal to text",
            ChangeKind::DecimalDigits => "decimal digits",
            ChangeKind::NegativeZero => "negative zero",
            ChangeKind::NonFinite => "non-finite",
            ChangeKind::BytesToText => "bytes to text",
            ChangeKind::BytesSubtype => "subtype of bytes",
            ChangeKind::TextRepaired => "text repaired",
            ChangeKind::KeyToText => "key to text",
            ChangeKind::SymbolToText => "symbol to text",
            ChangeKind::TimeToText => "time to text",
            ChangeKind::TimeRounded => "time rounded",
            ChangeKind::TimeOffset => "offset of a time",
            ChangeKind::SpecialToText => "special value to text",
            ChangeKind::TupleToList => "tuple to list",
            ChangeKind::SetToList => "set to list",
            ChangeKind::Type => "class or tag",
            ChangeKind::Sharing => "sharing",
            ChangeKind::Normalization => "normalization",
            ChangeKind::Leader => "leader",
            ChangeKind::Value => "value",
            ChangeKind::Missing => "missing",
            ChangeKind::Added => "added",
        }
    }

    /// Returns whether the difference makes the result wrong, not just poorer.
    pub fn is_wrong(self) -> bool {
        matches!(self, ChangeKind::Value | ChangeKind::Missing | ChangeKind::Added)
    }
}
