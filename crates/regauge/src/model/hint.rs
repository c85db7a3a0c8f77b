//! What to do about an error, as data: which option, which value, and why.
//!
//! A [`Hint`] is made where the error is. Each surface (this library, the command, the Python package, the
//! Ruby gem) renders it in its own words and leaves out options that the failed function does not take:
//!
//! ```
//! use regauge::model::hint::{Hint, Surface};
//! use regauge::model::option::{Language, Opt};
//!
//! let hint = Hint::set(Opt::OnLoss, "wrap")
//!     .to("keep them as references")
//!     .or(Hint::raise(regauge::model::limits::Limit::Aliases));
//! assert_eq!(
//!     hint.to_string(),
//!     "set `on_loss` to `Wrap` to keep them as references, or `limits.aliases` to raise it"
//! );
//! assert_eq!(
//!     hint.render(&Surface::COMMAND).unwrap(),
//!     "pass --on-loss wrap to keep them as references, or --limit aliases=… to raise it"
//! );
//! let all = |_| true;
//! assert_eq!(
//!     hint.render(&Surface { language: Language::Python, is_generic: false, takes: &all }).unwrap(),
//!     "pass on_loss=\"wrap\" to keep them as references, or limits={\"aliases\": …} to raise it"
//! );
//! let limits_only = |opt| opt == Opt::Limits;
//! assert_eq!(
//!     hint.render(&Surface { language: Language::Ruby, is_generic: false, takes: &limits_only }).unwrap(),
//!     "pass limits: { aliases: … } to raise it"
//! );
//! ```

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use crate::model::format::Format;
use crate::model::limits::Limit;
use crate::model::option::{Language, Opt, Takes, module};

/// A remedy for an error: one action, or a choice of several.
///
/// Its text must not name an option, because option names differ between surfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(Vec<Clause>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Clause {
    does: Does,
    why: Option<Why>,
    /// Whether the clause is a separate statement rather than an alternative to the one before.
    apart: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Does {
    Say(Cow<'static, str>),
    /// Text that only the command shows.
    Command(&'static str),
    Pass(Opt, Value),
    /// An action, such as "read", and the option to leave out.
    Without(&'static str, Opt, Value),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    On,
    /// A word or a number.
    Word(&'static str),
    /// Any of several.
    AnyOf(&'static [&'static str]),
    Format(Format),
    /// A limit, to be raised.
    Raised(Limit),
    NoLimit(Limit),
    /// A value that the user must choose.
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Why {
    To(Cow<'static, str>),
    If(Cow<'static, str>),
}

/// Who reads a hint, and which options are available there.
#[derive(Clone, Copy)]
pub struct Surface<'a> {
    /// Determines the names and the syntax of options.
    pub language: Language,
    /// Whether the failed function is one whose format is an argument, where an option of a format has
    /// the format's name in front.
    pub is_generic: bool,
    /// Whether the failed function takes an option.
    pub takes: &'a dyn Fn(Opt) -> bool,
}

impl Surface<'_> {
    /// This library.
    pub const RUST: Surface<'static> =
        Surface { language: Language::Rust, is_generic: false, takes: &|_| true };

    /// The gateway.
    pub const HTTP: Surface<'static> =
        Surface { language: Language::Http, is_generic: false, takes: &|_| true };

    /// The command, with the options of all subcommands.
    pub const COMMAND: Surface<'static> =
        Surface { language: Language::Command, is_generic: false, takes: &|_| true };

    /// Returns the name of an option that the failed function takes.
    fn name(&self, opt: Opt) -> Option<&'static str> {
        opt.row().spelled(self.language, self.is_generic).filter(|_| (self.takes)(opt))
    }
}

impl Hint {
    /// Creates a hint of plain text that names no option, such as "JSON writes numbers without a
    /// plus sign". [`crate::Error::hint`] also accepts such text directly.
    #[cold]
    pub fn say(text: impl Into<Cow<'static, str>>) -> Hint {
        Hint::of(Does::Say(text.into()))
    }

    /// Creates a hint of text that only the command shows.
    #[cold]
    pub fn command(text: &'static str) -> Hint {
        Hint::of(Does::Command(text))
    }

    /// Suggests turning an option on.
    #[cold]
    pub fn on(opt: Opt) -> Hint {
        debug_assert_eq!(opt.row().takes, Takes::Switch, "{opt:?}");
        Hint::of(Does::Pass(opt, Value::On))
    }

    /// Suggests setting an option to this word or number.
    #[cold]
    pub fn set(opt: Opt, value: &'static str) -> Hint {
        check(opt, value);
        Hint::of(Does::Pass(opt, Value::Word(value)))
    }

    /// Suggests setting an option to one of these words or numbers.
    #[cold]
    pub fn set_any(opt: Opt, values: &'static [&'static str]) -> Hint {
        values.iter().for_each(|value| check(opt, value));
        Hint::of(Does::Pass(opt, Value::AnyOf(values)))
    }

    /// Suggests setting an option to a value that the user must choose.
    #[cold]
    pub fn give(opt: Opt) -> Hint {
        Hint::of(Does::Pass(opt, Value::Open))
    }

    /// Suggests reading in this format; in a binding that may mean another module.
    #[cold]
    pub fn from(format: Format) -> Hint {
        Hint::of(Does::Pass(Opt::From, Value::Format(format)))
    }

    /// Suggests writing in this format; in a binding that may mean another module.
    #[cold]
    pub fn into(format: Format) -> Hint {
        Hint::of(Does::Pass(Opt::To, Value::Format(format)))
    }

    /// Suggests raising a limit: "pass --limit depth=… to raise it".
    #[cold]
    pub fn raise(limit: Limit) -> Hint {
        Hint::of(Does::Pass(Opt::Limits, Value::Raised(limit))).to("raise it")
    }

    /// Suggests removing a limit.
    #[cold]
    pub fn unlimited(limit: Limit) -> Hint {
        Hint::of(Does::Pass(Opt::Limits, Value::NoLimit(limit)))
    }

    /// Suggests an action ("read", "convert") without a switch, or without an option of any value.
    #[cold]
    pub fn without(doing: &'static str, opt: Opt) -> Hint {
        Hint::of(Does::Without(doing, opt, Value::On))
    }

    /// Suggests an action ("read", "convert") without this value of an option.
    #[cold]
    pub fn without_value(doing: &'static str, opt: Opt, value: &'static str) -> Hint {
        check(opt, value);
        Hint::of(Does::Without(doing, opt, Value::Word(value)))
    }

    /// Adds what the hint achieves: "to …".
    #[must_use]
    pub fn to(self, purpose: impl Into<Cow<'static, str>>) -> Hint {
        self.because(Why::To(purpose.into()))
    }

    /// Adds when the hint helps: "if …".
    #[must_use]
    pub fn when(self, condition: impl Into<Cow<'static, str>>) -> Hint {
        self.because(Why::If(condition.into()))
    }

    /// Adds an alternative.
    #[must_use]
    pub fn or(mut self, other: impl Into<Hint>) -> Hint {
        self.0.extend(other.into().0);
        self
    }

    /// Adds another hint as a separate statement.
    #[must_use]
    pub fn then(self, mut other: Hint) -> Hint {
        if let Some(first) = other.0.first_mut() {
            first.apart = true;
        }
        self.or(other)
    }

    fn of(does: Does) -> Hint {
        Hint(vec![Clause { does, why: None, apart: false }])
    }

    fn because(mut self, why: Why) -> Hint {
        if let Some(last) = self.0.last_mut() {
            last.why = Some(why);
        }
        self
    }

    /// Returns the hint in the words of a surface; `None` if nothing of it applies there.
    pub fn render(&self, surface: &Surface<'_>) -> Option<String> {
        let mut out = String::new();
        // "pass" and "set" cover the alternatives after them.
        let mut passing = false;
        let mut apart = false;
        for clause in &self.0 {
            apart |= clause.apart;
            let Some((verb, text)) = clause.does.render(surface) else { continue };
            if !out.is_empty() {
                out.push_str(if apart { "; " } else { ", or " });
            }
            let passes = verb.is_some_and(|verb| verb == PASS || verb == SET);
            let said = passing && !apart && passes;
            if let Some(verb) = verb.filter(|_| !said) {
                let _ = write!(out, "{verb} ");
            }
            out.push_str(&text);
            (passing, apart) = (passes, false);
            match &clause.why {
                Some(Why::To(purpose)) => _ = write!(out, " to {purpose}"),
                Some(Why::If(condition)) => _ = write!(out, " if {condition}"),
                None => {}
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

const PASS: &str = "pass";
const SET: &str = "set";

impl Does {
    /// Returns a verb and the rest; `None` if it does not apply.
    fn render<'t>(&'t self, surface: &Surface<'_>) -> Option<(Option<&'static str>, Cow<'t, str>)> {
        let language = surface.language;
        match self {
            Does::Say(text) => Some((None, Cow::Borrowed(text))),
            Does::Command(text) if language == Language::Command => Some((None, (*text).into())),
            Does::Command(_) => None,
            Does::Pass(opt, Value::Format(format)) if !(surface.takes)(*opt) => {
                module(language, *format).map(|module| (Some("use"), module.into()))
            }
            Does::Pass(opt, value) => {
                let verb = if language == Language::Rust { SET } else { PASS };
                spelled(*opt, value, surface).map(|it| (Some(verb), it.into()))
            }
            Does::Without(doing, opt, value) => {
                let option = match value {
                    Value::On => bare(*opt, surface)?,
                    Value::Word(word) if language == Language::Rust => {
                        let field = bare(*opt, surface)?;
                        format!("{} in {field}", literal(*opt, word, surface))
                    }
                    value => spelled(*opt, value, surface)?,
                };
                Some((Some(doing), format!("without {option}").into()))
            }
        }
    }
}

/// Returns the name of an option.
fn bare(opt: Opt, surface: &Surface<'_>) -> Option<String> {
    let name = surface.name(opt)?;
    Some(match surface.language {
        Language::Command => format!("--{name}"),
        Language::Python => name.to_owned(),
        Language::Ruby => format!("{name}:"),
        Language::Http => format!("?{name}"),
        Language::Rust => ticked(name),
    })
}

/// Returns code in a text: fields or values, between which a comma stands.
fn ticked(code: &str) -> String {
    format!("`{}`", code.replace(", ", "` and `"))
}

/// Returns an option with its value as written: `--on-loss wrap`, `on_loss="wrap"`,
/// `on_loss: :wrap`, `?on_loss=wrap`, "`on_loss` to `Wrap`".
fn spelled(opt: Opt, value: &Value, surface: &Surface<'_>) -> Option<String> {
    let language = surface.language;
    let name = surface.name(opt)?;
    let value = match value {
        Value::On if language == Language::Command => return Some(format!("--{name}")),
        Value::On | Value::Open if language == Language::Rust => return Some(ticked(name)),
        Value::Raised(limit) if language == Language::Rust => {
            return Some(format!("`{name}.{}`", limit.name()));
        }
        Value::NoLimit(limit) if language == Language::Rust => {
            return Some(format!("`{name}.{}` to its `MAX`", limit.name()));
        }
        Value::On => truth(language, true).to_owned(),
        Value::Word(word) => literal(opt, word, surface),
        Value::AnyOf(words) => {
            let mut words: Vec<_> = words.iter().map(|it| literal(opt, it, surface)).collect();
            let last = words.pop().unwrap_or_default();
            format!("{} or {last}", words.join(", "))
        }
        Value::Format(format) => format_literal(*format, language),
        Value::Raised(limit) => limit_literal(*limit, "…", language),
        Value::NoLimit(limit) => limit_literal(*limit, NO_LIMIT[language as usize], language),
        Value::Open => "…".to_owned(),
    };
    Some(match language {
        Language::Command => format!("--{name} {value}"),
        Language::Python => format!("{name}={value}"),
        Language::Ruby => format!("{name}: {value}"),
        Language::Http => format!("?{name}={value}"),
        Language::Rust => format!("{} to {value}", ticked(name)),
    })
}

/// The spelling of "no limit" in each language.
const NO_LIMIT: [&str; 5] = ["none", "None", "nil", "none", "MAX"];

fn limit_literal(limit: Limit, value: &str, language: Language) -> String {
    let name = limit.name();
    match language {
        Language::Command | Language::Http | Language::Rust => format!("{name}={value}"),
        Language::Python => format!("{{\"{name}\": {value}}}"),
        Language::Ruby => format!("{{ {name}: {value} }}"),
    }
}

fn truth(language: Language, on: bool) -> &'static str {
    match (language, on) {
        (Language::Python, true) => "True",
        (Language::Python, false) => "False",
        (_, true) => "true",
        (_, false) => "false",
    }
}

/// Returns a word or a number as a literal, in a hint.
fn literal(opt: Opt, word: &'static str, surface: &Surface<'_>) -> String {
    match opt {
        // A conversion builds no maps: it writes both keys.
        Opt::DuplicateKeys if (surface.takes)(Opt::To) => quoted(opt, word, surface.language),
        _ => quoted(opt, opt.row().word(surface.language, word), surface.language),
    }
}

/// Returns a word or a number as a literal of a language.
fn quoted(opt: Opt, word: &'static str, language: Language) -> String {
    let row = opt.row();
    let is_symbol = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    match language {
        Language::Command | Language::Http => word.to_owned(),
        _ if matches!(row.takes, Takes::Number(..)) => word.to_owned(),
        Language::Rust => ticked(&variant(opt, word)),
        Language::Ruby if is_symbol && !word.as_bytes()[0].is_ascii_digit() => format!(":{word}"),
        _ => format!("{word:?}"),
    }
}

/// Returns the value of a word in the option's field: its variant, or true or false.
fn variant(opt: Opt, word: &'static str) -> String {
    let name = match (opt, word) {
        (Opt::Bad, "skip") | (Opt::Numbers, "exact") | (Opt::CsvHeader, "yes") => "true",
        (Opt::Bad | Opt::Numbers | Opt::CsvHeader, _) => "false",
        (Opt::Envelope, "none") => "Never",
        (Opt::YamlSchema, "1.1") => "Yaml11",
        _ => word,
    };
    match name.split_at_checked(1) {
        Some((first, rest)) if !matches!(name, "true" | "false") => {
            first.to_ascii_uppercase() + rest
        }
        _ => name.to_owned(),
    }
}

/// Returns every value of an option that takes few, or else the extremes, as written in a language;
/// a switch of the command has the empty value. For the tests of each surface.
pub fn literals(opt: Opt, language: Language) -> Vec<String> {
    match opt.row().takes {
        Takes::Switch | Takes::File if language == Language::Command => vec![String::new()],
        Takes::Switch | Takes::File => {
            [true, false].map(|on| truth(language, on).to_owned()).to_vec()
        }
        Takes::Words(words) => {
            let row = opt.row();
            words.iter().map(|word| quoted(opt, row.word(language, word), language)).collect()
        }
        Takes::Number(least, most) => vec![least.to_string(), most.min(1 << 20).to_string()],
        Takes::Format => Format::ALL.iter().map(|of| format_literal(*of, language)).collect(),
        Takes::Paths if language == Language::Command => vec!["a.b".to_owned()],
        Takes::Paths => vec!["[\"a.b\"]".to_owned()],
        Takes::Renames => vec![
            match language {
                Language::Command | Language::Http | Language::Rust => "a.b=c",
                Language::Python => "{\"a.b\": \"c\"}",
                Language::Ruby => "{ \"a.b\" => \"c\" }",
            }
            .to_owned(),
        ],
        Takes::Secret | Takes::Text if language == Language::Command => vec!["a.txt".to_owned()],
        Takes::Secret | Takes::Text => vec!["\"a b\"".to_owned()],
        Takes::Limit => {
            let names = [
                Limit::Depth,
                Limit::TokenBytes,
                Limit::RecordBytes,
                Limit::IntegerDigits,
                Limit::Nodes,
                Limit::Expansion,
                Limit::Aliases,
                Limit::WindowBytes,
                Limit::Time,
            ];
            let values = ["1000", NO_LIMIT[language as usize]];
            let each = |limit| values.map(|value| limit_literal(limit, value, language));
            names.into_iter().flat_map(each).collect()
        }
    }
}

fn format_literal(format: Format, language: Language) -> String {
    match language {
        Language::Command | Language::Http => format.name().to_owned(),
        Language::Rust => format!("`Format::{format:?}`"),
        Language::Python => format!("{:?}", format.name()),
        Language::Ruby => format!(":{}", format.name().replace('-', "_")),
    }
}

/// Panics on a value that the option does not take: a bug in the source, which no input can
/// trigger.
fn check(opt: Opt, value: &str) {
    let is_known = match opt.row().takes {
        Takes::Words(words) => words.contains(&value),
        Takes::Number(least, most) => value.parse().is_ok_and(|it| (least..=most).contains(&it)),
        _ => false,
    };
    debug_assert!(is_known, "{opt:?} does not take {value}");
}

impl<T: Into<Cow<'static, str>>> From<T> for Hint {
    fn from(text: T) -> Hint {
        Hint::say(text)
    }
}

impl fmt::Display for Hint {
    /// Renders the hint in the words of this library.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Surface::RUST).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
