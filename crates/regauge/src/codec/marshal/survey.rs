//! Describes what `Marshal.load` would do with a file: which classes it needs, which of their
//! methods it calls, and a plain-language verdict.
//!
//! Loading looks up every class by its name, which can load files (`autoload`, `const_missing`),
//! and creates instances without calling `initialize`. It calls `_load`, `marshal_load` and
//! `_load_data` with data from the file, and `hash` and `eql?` on objects that are keys. Known
//! attacks start at one of those and continue through instances of harmless-looking classes of
//! RubyGems and Rails.

use std::collections::HashMap;

use super::read::Scanned;
use super::scan::Scanner;
use super::skip;
use super::types::*;
use crate::model::limits::Limits;
use crate::model::risk::Risk;
use crate::{Error, Format};

/// What loading a file would do.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Survey {
    /// Number of documents, including the broken one.
    pub documents: u64,
    /// Number of `_dump` payloads that are Marshal themselves, which their `_load` very likely
    /// loads. They are examined too.
    pub nested: u64,
    /// Number of values that have an object number: everything but nil, true, false, small integers
    /// and symbols.
    pub objects: u64,
    /// Number of links to them.
    pub links: u64,
    /// The classes and modules that are looked up, in order of first appearance, once per kind.
    pub classes: Vec<Class>,
    /// The methods that are called, in order of first call.
    pub calls: Vec<Call>,
    /// Where reading stopped, if not at the end.
    pub error: Option<Error>,
}

/// A class or a module that loading looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Class {
    /// Its name; U+FFFD for bytes that are not UTF-8.
    pub name: String,
    /// The kind of type, as listed for [`crate::codec::marshal`]: `object`, `marshal_dump`, …
    pub kind: &'static str,
    /// How many times it occurs.
    pub count: u64,
    /// Offset of the first occurrence, in bytes from the start of the input.
    pub offset: u64,
    /// The risk of the class.
    pub risk: Risk,
}

/// A method that loading calls.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The method in Ruby's notation: `Foo._load`, `Foo#marshal_load`, `Foo#hash`.
    pub method: String,
    /// How many times it is called.
    pub count: u64,
    /// Offset of the first value that it is called for, in bytes from the start of the input.
    pub offset: u64,
    /// The risk of its class.
    pub risk: Risk,
}

/// The verdict on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No classes.
    Data,
    /// Only classes known to be harmless.
    HarmlessTypes,
    /// Nothing unknown is called, but the file is broken.
    Incomplete,
    /// Instances of unknown classes, with no calls to their methods.
    UnknownClasses,
    /// Calls to unknown methods.
    UnknownCode,
    /// Classes used in known attacks.
    Attack,
}

impl Verdict {
    /// Returns the name used in reports: `"data"`, `"harmless-types"`, `"incomplete"`,
    /// `"unknown-classes"`, `"unknown-code"`, `"attack"`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Data => "data",
            Verdict::HarmlessTypes => "harmless-types",
            Verdict::Incomplete => "incomplete",
            Verdict::UnknownClasses => "unknown-classes",
            Verdict::UnknownCode => "unknown-code",
            Verdict::Attack => "attack",
        }
    }

    /// Returns the verdict in plain language.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Data => "plain data: loading it looks up no classes and calls nothing",
            Verdict::HarmlessTypes => {
                "harmless: loading it only creates times, sets, ranges and similar Ruby objects"
            }
            Verdict::Incomplete => "nothing harmful found, but the file is broken",
            Verdict::UnknownClasses => {
                "loading it creates instances of classes that are not part of Ruby and calls none \
                 of their methods; looking up a class may load its file"
            }
            Verdict::UnknownCode => {
                "loading it calls methods that are not part of Ruby with data from the file: load \
                 it only if you trust its author"
            }
            Verdict::Attack => {
                "loading it creates instances of classes used in known attacks: do not load it \
                 unless you know why they are there"
            }
        }
    }
}

impl Survey {
    /// The most classes and calls that are listed individually; a file with more names is described
    /// by its verdict only.
    pub const LISTED: usize = 10_000;

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        let worst_class = self.classes.iter().map(|class| class.risk).max();
        let worst_call = self.calls.iter().map(|call| call.risk).max();
        match (worst_class, worst_call) {
            (Some(Risk::Notorious), _) => Verdict::Attack,
            (_, Some(Risk::Unknown)) => Verdict::UnknownCode,
            (Some(Risk::Unknown), _) => Verdict::UnknownClasses,
            _ if self.error.is_some() => Verdict::Incomplete,
            (None, _) => Verdict::Data,
            _ => Verdict::HarmlessTypes,
        }
    }
}

/// Describes what loading `bytes`, any number of documents, would do, without loading anything. A
/// fault is reported in [`Survey::error`]; the survey covers the complete documents before it.
///
/// ```
/// use regauge::marshal::{Verdict, survey};
/// let survey = survey(b"\x04\x08U:\x08Foo[\x06i\x06", &Default::default());
/// assert_eq!(survey.verdict(), Verdict::UnknownCode);
/// assert_eq!(survey.calls[0].method, "Foo#marshal_load");
/// ```
pub fn survey(bytes: &[u8], limits: &Limits) -> Survey {
    let mut work = Work { survey: Survey::default(), seen: HashMap::new(), calls: HashMap::new() };
    let mut scanner = Scanner::default();
    // Payloads that are Marshal themselves, by place and length. They nest, so each is examined
    // after the document that contains it.
    let mut waiting: Vec<(usize, usize)> = Vec::new();
    let mut start = 0;
    while start < bytes.len() && work.survey.error.is_none() {
        work.survey.documents += 1;
        match work.document(bytes, start, bytes.len(), &mut scanner, limits, &mut waiting) {
            Ok(end) => start = end,
            Err(error) => {
                let at = start as u64 + error.offset().unwrap_or(0);
                work.survey.error = Some(error.at(at).in_format(Format::Marshal));
            }
        }
        while let Some((inner, end)) = waiting.pop() {
            let found = work.document(bytes, inner, end, &mut scanner, limits, &mut waiting);
            work.survey.nested += u64::from(found.is_ok());
        }
    }
    work.survey
}

struct Work {
    survey: Survey,
    seen: HashMap<(String, &'static str), usize>,
    calls: HashMap<String, usize>,
}

impl Work {
    /// Examines the document at `start`, which ends at `end` at the latest. Returns its own end.
    fn document(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        scanner: &mut Scanner,
        limits: &Limits,
        waiting: &mut Vec<(usize, usize)>,
    ) -> Result<usize, Error> {
        let document = &bytes[start..end];
        super::reader::begin(document, true)?;
        scanner.begin();
        let length = scanner.run(document, true, limits)?.unwrap_or(document.len());
        let document = &document[..length];
        let scanned = Scanned { document, tables: &scanner.tables };
        self.survey.objects += scanner.tables.objects.len() as u64;
        self.survey.links += scanner.tables.links;
        skip::each(document, VERSION.len(), |at, key| {
            if let Some((payload, end)) = self.value(scanned, start, at) {
                waiting.push((start + payload, start + end));
            }
            if key {
                self.key(scanned, start, at);
            }
        });
        Ok(start + length)
    }

    /// Records what loading does for one value. Returns the place of a payload that is Marshal.
    fn value(&mut self, scanned: Scanned<'_>, base: usize, at: usize) -> Option<(usize, usize)> {
        let document = scanned.document;
        let kind = document[at];
        let offset = (base + at) as u64;
        let (word, method) = match kind {
            OBJECT => ("object", None),
            STRUCT => ("struct", None),
            USER_CLASS => ("subclass", None),
            EXTENDED => ("extended", None),
            USER_DUMP => ("dump", Some("._load")),
            USER_MARSHAL => ("marshal_dump", Some("#marshal_load")),
            DATA => ("data", Some("#_load_data")),
            CLASS | MODULE | MODULE_OLD => {
                let word = if kind == CLASS { "class" } else { "module" };
                let (raw, _) = skip::bytes(document, at + 1);
                self.class(&String::from_utf8_lossy(raw), word, offset);
                return None;
            }
            _ => return None,
        };
        let (name, end) = scanned.symbol(at + 1);
        let text = String::from_utf8_lossy(name.raw);
        let risk = self.class(&text, word, offset);
        self.call(&text, method?, offset, risk);
        if kind != USER_DUMP {
            return None;
        }
        let (payload, end) = skip::bytes(document, end);
        payload.starts_with(&VERSION).then_some((end - payload.len(), end))
    }

    /// Records the methods that are called for a key.
    fn key(&mut self, scanned: Scanned<'_>, base: usize, at: usize) {
        let offset = (base + at) as u64;
        let mut at = match scanned.document[at] {
            LINK => scanned.target(at),
            _ => at,
        };
        at += usize::from(scanned.document[at] == IVARS);
        if !matches!(
            scanned.document[at],
            OBJECT | STRUCT | USER_CLASS | EXTENDED | USER_DUMP | USER_MARSHAL | DATA
        ) {
            return;
        }
        let (name, _) = scanned.symbol(at + 1);
        let text = String::from_utf8_lossy(name.raw);
        let risk = judge(&text);
        self.call(&text, "#hash", offset, risk);
        self.call(&text, "#eql?", offset, risk);
    }

    fn class(&mut self, name: &str, kind: &'static str, offset: u64) -> Risk {
        let risk = judge(name);
        match self.seen.get(&(name.to_owned(), kind)) {
            Some(index) => self.survey.classes[*index].count += 1,
            None if self.survey.classes.len() < Survey::LISTED || risk == Risk::Notorious => {
                self.seen.insert((name.to_owned(), kind), self.survey.classes.len());
                let name = name.to_owned();
                self.survey.classes.push(Class { name, kind, count: 1, offset, risk });
            }
            None => {}
        }
        risk
    }

    fn call(&mut self, class: &str, method: &str, offset: u64, risk: Risk) {
        let method = format!("{class}{method}");
        match self.calls.get(&method) {
            Some(index) => self.survey.calls[*index].count += 1,
            None if self.survey.calls.len() < Survey::LISTED => {
                self.calls.insert(method.clone(), self.survey.calls.len());
                self.survey.calls.push(Call { method, count: 1, offset, risk });
            }
            None => {}
        }
    }
}

/// Returns the risk of a class, judged by its name.
fn judge(name: &str) -> Risk {
    if NOTORIOUS.binary_search(&name).is_ok() {
        Risk::Notorious
    } else if HARMLESS.binary_search(&name).is_ok() {
        Risk::Harmless
    } else {
        Risk::Unknown
    }
}

/// Classes of Ruby's standard library whose loading only creates the value, sorted.
const HARMLESS: [&str; 33] = [
    "Array",
    "BasicObject",
    "BigDecimal",
    "Class",
    "Comparable",
    "Complex",
    "Date",
    "DateTime",
    "Encoding",
    "Enumerable",
    "Exception",
    "FalseClass",
    "Float",
    "Hash",
    "Integer",
    "Kernel",
    "Module",
    "NilClass",
    "Numeric",
    "Object",
    "OpenStruct",
    "Random",
    "Range",
    "Rational",
    "Regexp",
    "RuntimeError",
    "Set",
    "StandardError",
    "String",
    "Struct",
    "Symbol",
    "Time",
    "TrueClass",
];

/// Classes used in the published attacks on `Marshal.load`, sorted: universal chains for Ruby 2 and
/// 3 through RubyGems and Net, and those for Rails.
const NOTORIOUS: [&str; 28] = [
    "ActiveModel::AttributeMethods::ClassMethods::CodeGenerator",
    "ActiveSupport::Deprecation::DeprecatedInstanceVariableProxy",
    "ActiveSupport::Deprecation::DeprecatedObjectProxy",
    "ERB",
    "Gem::CommandManager",
    "Gem::DependencyList",
    "Gem::Installer",
    "Gem::Package::TarReader",
    "Gem::Package::TarReader::Entry",
    "Gem::RequestSet",
    "Gem::RequestSet::Lockfile",
    "Gem::Resolver::GitSpecification",
    "Gem::Resolver::IndexSpecification",
    "Gem::Resolver::SpecSpecification",
    "Gem::Source",
    "Gem::Source::Git",
    "Gem::Source::SpecificFile",
    "Gem::SpecFetcher",
    "Gem::StubSpecification",
    "Net::BufferedIO",
    "Net::WriteAdapter",
    "PP::PPMethods",
    "Process::Status",
    "Rack::Response",
    "Sprockets::Context",
    "Sprockets::Manifest",
    "URI::HTTP",
    "UncaughtThrowError",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn look(bytes: &[u8]) -> Survey {
        survey(bytes, &Limits::default())
    }

    #[test]
    fn the_lists_are_in_order() {
        assert!(HARMLESS.is_sorted());
        assert!(NOTORIOUS.is_sorted());
    }

    #[test]
    fn verdicts() {
        for (bytes, verdict) in [
            (&b"\x04\x08[\x06i\x06"[..], Verdict::Data),
            (
                b"\x04\x08o:\x0aRange\x08:\x09exclF:\x0abegini\x06:\x08endi\x07",
                Verdict::HarmlessTypes,
            ),
            (b"\x04\x08[\x07i\x06", Verdict::Incomplete),
            (b"\x04\x08o:\x08Foo\x00", Verdict::UnknownClasses),
            (b"\x04\x08u:\x08Foo\x00", Verdict::UnknownCode),
            (b"\x04\x08{\x06o:\x08Foo\x000", Verdict::UnknownCode),
            (b"\x04\x08o:\x08ERB\x00", Verdict::Attack),
            (b"\x04\x08u:\x08Foo\x0e\x04\x08o:\x08ERB\x00", Verdict::Attack),
        ] {
            let survey = look(bytes);
            assert_eq!(survey.verdict(), verdict, "{bytes:?} {survey:?}");
        }
    }

    #[test]
    fn what_is_counted() {
        let survey = look(
            b"\x04\x08[\x0a{\x06S:\x08Foo\x000@\x07U:\x08Bar[\x00e:\x08Mod[\x00c\x0bString\
              \x04\x08o:\x08Foo\x00",
        );
        let error = survey.error.as_ref().map(ToString::to_string);
        assert_eq!(error, None);
        assert_eq!((survey.documents, survey.links, survey.objects), (2, 1, 8));
        let classes: Vec<_> = survey
            .classes
            .iter()
            .map(|class| (&*class.name, class.kind, class.count, class.offset))
            .collect();
        assert_eq!(
            classes,
            [
                ("Foo", "struct", 1, 6),
                ("Bar", "marshal_dump", 1, 16),
                ("Mod", "extended", 1, 24),
                ("String", "class", 1, 32),
                ("Foo", "object", 1, 42),
            ]
        );
        let calls: Vec<_> =
            survey.calls.iter().map(|call| (&*call.method, call.count, call.offset)).collect();
        assert_eq!(calls, [("Foo#hash", 1, 6), ("Foo#eql?", 1, 6), ("Bar#marshal_load", 1, 16)]);
    }
}
