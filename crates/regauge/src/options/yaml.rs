//! How YAML is read and written.

/// How plain scalars are interpreted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schema {
    /// The core schema of YAML 1.2 (§10.3): `true`, `1`, `0x1F`, `1.5`, `.inf`, `null`, `~`.
    #[default]
    Core,
    /// The JSON schema (§10.2): plain scalars are JSON literals and numbers; all text must be quoted.
    Json,
    /// The failsafe schema (§10.1): everything is text.
    Failsafe,
    /// YAML 1.1 as PyYAML's SafeLoader reads it: `yes`, `0777`, `1_000`, `1:30`, `2001-12-14`, `<<`
    /// as the merge key.
    Yaml11,
    /// YAML 1.1 as Ruby's Psych reads it: `:name` is a symbol, `1,000` a number, and `yEs` a bool.
    Psych,
}

impl Schema {
    /// The names that [`Schema::from_name`] accepts.
    pub const NAMES: [&str; 5] = ["core", "json", "failsafe", "1.1", "psych"];

    /// Returns the schema of this name.
    pub fn from_name(name: &str) -> Option<Schema> {
        Some(match name {
            "core" => Schema::Core,
            "json" => Schema::Json,
            "failsafe" => Schema::Failsafe,
            "1.1" => Schema::Yaml11,
            "psych" => Schema::Psych,
            _ => return None,
        })
    }

    /// Returns whether the schema is one of YAML 1.1, which has merge keys and three more line breaks.
    pub(crate) fn is_old(self) -> bool {
        matches!(self, Schema::Yaml11 | Schema::Psych)
    }
}

/// How YAML is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How plain scalars are interpreted.
    pub schema: Schema,
    /// Represent a number with a fraction or an exponent as [`Ext::Decimal`](crate::Ext::Decimal),
    /// with its digits.
    pub exact_numbers: bool,
    /// Count the numbers whose digits a double does not keep
    /// ([`LossKind::Rounded`](crate::policy::fidelity::LossKind::Rounded)).
    pub count_rounded: bool,
    /// In YAML 1.1, read a date or a time without a tag as text.
    pub text_times: bool,
}

/// How YAML is written. Lines are never folded, however long they are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// How many spaces a map in a map is indented by, 1 to 16. The content of a sequence item
    /// always begins after its dash and one space.
    pub indent: u8,
    /// Whether sequences in maps are indented like maps, instead of being aligned with their key.
    pub indent_sequences: bool,
    /// Whether the first document begins with `---` too. The others always do.
    pub document_start: bool,
    /// The output's reader keeps the digits of numbers, so a decimal is written as a number even
    /// under [`OnLoss::Wrap`](crate::OnLoss::Wrap), which would otherwise wrap it.
    pub exact_numbers: bool,
    /// The schema of the output's reader. It determines which tags of YAML's own (`!!bool yes`,
    /// `!!set`) are read back as tags: the others would change their value, and follow the policy.
    pub schema: Schema,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions {
            indent: 2,
            indent_sequences: false,
            document_start: false,
            exact_numbers: false,
            schema: Schema::Core,
        }
    }
}
