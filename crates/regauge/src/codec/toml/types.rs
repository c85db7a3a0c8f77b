//! What TOML has: the values, and the ways in which a table comes about.

use super::tree::{Content, Part, Tree};

/// The content of a node: 12 bytes, aligned to 4.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Table(Defined),
    /// An array, and whether it takes more items.
    Array {
        is_open: bool,
    },
    Text(Part),
    /// The bytes of an `i64`.
    Integer([u8; 8]),
    /// The digits of a double.
    Float(Part),
    Bool(bool),
    /// The spelling of a date or time.
    Moment(Part),
}

/// How a table came about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Defined {
    /// By the header of a table in it.
    Implied,
    /// By a header of its own.
    Header,
    /// By dotted keys.
    Dotted,
    /// By braces.
    Inline,
}

impl Content for Item {
    fn is_table(&self) -> bool {
        matches!(self, Item::Table(_))
    }
}

impl Item {
    /// As messages name it.
    pub fn name(&self) -> &'static str {
        match self {
            Item::Table(Defined::Inline) => "an inline table",
            Item::Table(_) => "a table",
            Item::Array { is_open: true } => "an array of tables",
            Item::Array { is_open: false } => "an array",
            Item::Text(_) => "text",
            Item::Integer(_) => "an integer",
            Item::Float(_) => "a float",
            Item::Bool(_) => "a truth value",
            Item::Moment(_) => "a date or time",
        }
    }
}

impl Tree<'_, Item> {
    /// Whether there is a value beside tables that headers opened.
    pub fn has_values(&self) -> bool {
        self.contents().any(|item| match item {
            Item::Table(defined) => *defined == Defined::Inline,
            Item::Array { is_open } => !is_open,
            _ => true,
        })
    }
}
