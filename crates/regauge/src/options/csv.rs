//! How CSV and TSV are read and written.

/// Options for reading and writing CSV and TSV.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether the first row names the columns. Without a header, a row is an array.
    pub header: bool,
    /// What stands between two fields; `None` is a comma in CSV and a tab in TSV.
    pub delimiter: Option<Delimiter>,
    /// What fields are besides text. It applies to both sides: a writer under [`Types::Infer`] writes for
    /// a reader under it.
    pub types: Types,
    /// Writing: what happens to a map or an array in a row.
    pub nested: Nested,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            header: true,
            delimiter: None,
            types: Types::default(),
            nested: Nested::default(),
        }
    }
}

/// What stands between two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`, which spreadsheets write where the comma is the decimal point.
    Semicolon,
    /// A tab.
    Tab,
    /// `|`
    Pipe,
    /// `:`
    Colon,
    /// A space.
    Space,
}

impl Delimiter {
    /// The delimiters by their names.
    pub const NAMES: [(&'static str, Delimiter); 6] = [
        ("comma", Delimiter::Comma),
        ("semicolon", Delimiter::Semicolon),
        ("tab", Delimiter::Tab),
        ("pipe", Delimiter::Pipe),
        ("colon", Delimiter::Colon),
        ("space", Delimiter::Space),
    ];

    /// Returns the byte in the file.
    pub const fn byte(self) -> u8 {
        match self {
            Delimiter::Comma => b',',
            Delimiter::Semicolon => b';',
            Delimiter::Tab => b'\t',
            Delimiter::Pipe => b'|',
            Delimiter::Colon => b':',
            Delimiter::Space => b' ',
        }
    }
}

/// What fields are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Types {
    /// Text.
    #[default]
    Text,
    /// A field without quotes is a number, true or false if the writer would spell it exactly so; any
    /// other field is text.
    Infer,
}

/// What happens to a map or an array in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nested {
    /// It is refused, unless the policy on losses lets it through.
    #[default]
    Refuse,
    /// Each value in it gets a column, named by its path: `a.b`, `a.0`.
    Flatten,
}
