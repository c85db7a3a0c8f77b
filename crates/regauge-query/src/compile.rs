//! From the text of a filter to a filter that runs, and where its text is wrong.

use std::borrow::Cow;
use std::fmt;

use jaq_core::load::{self, Arena, File, Loader, lex};
use jaq_core::{Compiler, compile};
use regauge::Value;

use crate::funs;
use crate::guard;
use crate::needs::Needs;
use crate::run::Kind;
use crate::val::Val;

/// A compiled filter. Any number of threads can run it at once.
pub struct Filter {
    pub(crate) code: jaq_core::Filter<Kind>,
    /// The values of the global variables, in the order of their names.
    pub(crate) variables: Vec<Value>,
    pub(crate) reads_inputs: bool,
    pub(crate) needs: Needs,
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").finish_non_exhaustive()
    }
}

/// The longest excerpt of a line, in characters.
const EXCERPT_MAX: usize = 120;

/// What is wrong in the text of a filter, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    message: String,
    /// The line of the filter, and the column in it, both from 1.
    line: usize,
    column: usize,
    /// The line's text around the place, and the marked characters in it.
    text: String,
    start: usize,
    length: usize,
}

impl Fault {
    fn new(code: &str, place: &str, message: String) -> Fault {
        let whole = code.as_bytes().as_ptr_range();
        // A fault in one of the library's own definitions has no place in the filter.
        let is_here = whole.start <= place.as_ptr() && place.as_ptr() <= whole.end;
        let place = if is_here { place } else { code };
        let span = load::span(code, place);
        let before = &code[..span.start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let text = code[line_start..].lines().next().unwrap_or_default();
        let marked = place.lines().next().unwrap_or_default();
        let column = before[line_start..].chars().count();
        let cut = column.saturating_sub(EXCERPT_MAX / 2);
        let start = column - cut;
        Fault {
            message,
            line: before.matches('\n').count() + 1,
            column: column + 1,
            text: text.chars().skip(cut).take(EXCERPT_MAX).collect(),
            start,
            length: marked.chars().count().clamp(1, EXCERPT_MAX - start),
        }
    }

    /// Returns what is wrong, with the line and the column.
    pub fn message(&self) -> String {
        format!("the filter, line {}, column {}: {}", self.line, self.column, self.message)
    }

    /// Returns the line of the filter, and below it a caret under the place.
    pub fn excerpt(&self) -> String {
        let text = self.text.replace('\t', " ");
        format!("{text}\n{}{}", " ".repeat(self.start), "^".repeat(self.length))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.message(), self.excerpt())
    }
}

impl std::error::Error for Fault {}

impl Filter {
    /// How many values the arrays and maps of a thread may hold at once.
    pub const VALUES_MAX: u64 = guard::VALUES_MAX as u64;

    /// Compiles a filter of the jq language. `variables` are its global variables, named without `$`;
    /// `$ENV` and `$ARGS` are empty maps without one of that name.
    ///
    /// # Errors
    /// What is wrong in the text.
    pub fn compile(code: &str, variables: &[(&str, Value)]) -> Result<Filter, Fault> {
        let mut variables = variables.to_vec();
        for name in ["ENV", "ARGS"] {
            if variables.iter().all(|(other, _)| *other != name) {
                variables.push((name, Value::Map(Vec::new())));
            }
        }
        let code = &*as_jq_reads_it(code);
        if code.len() > guard::FILTER_MAX {
            let message = format!(
                "the filter has {} bytes, at most {} are allowed; pass data as a variable",
                code.len(),
                guard::FILTER_MAX
            );
            return Err(Fault::new(code, &code[..0], message));
        }
        let names: Vec<String> = variables.iter().map(|(name, _)| format!("${name}")).collect();
        // A filter that compiles without the functions that read further inputs takes one document
        // after the other, and can run on several threads.
        let compiled = || {
            let needs = Needs::of(code);
            match compile(code, &names, false) {
                Ok(code) => Ok((code, needs, false)),
                Err(fault) => match compile(code, &names, true) {
                    Ok(code) => Ok((code, needs, true)),
                    Err(_) => Err(fault),
                },
            }
        };
        let stack = guard::STACK_MIN + code.len() * guard::PARSE_BYTES;
        let (code, needs, reads_inputs) = guard::on_stack(stack, compiled)?;
        let variables = variables.into_iter().map(|(_, value)| value).collect();
        Ok(Filter { code, variables, reads_inputs, needs })
    }

    /// Returns whether the filter calls `input` or `inputs`.
    pub fn reads_inputs(&self) -> bool {
        self.reads_inputs
    }

    /// Runs the filter over a document, and returns its outputs.
    ///
    /// # Errors
    /// That of the filter, as [`regauge::ErrorKind::Data`], or `Limit` if it takes too much memory or
    /// stack.
    pub fn run(&self, document: &Value) -> regauge::Result<Vec<Value>> {
        guard::run(|| {
            let mut outputs = Vec::new();
            self.over_one(false, self.vars(), Val::from(document), &mut |output| {
                outputs.push(Value::from(output));
                Ok(())
            })?;
            Ok(outputs)
        })
    }
}

/// Returns a filter in which jaq's parser finds what jq's does: nothing but comments is `.`, and the two escapes of a
/// surrogate pair are one character (RFC 8259 §7).
fn as_jq_reads_it(code: &str) -> Cow<'_, str> {
    let is_comment = |line: &str| line.is_empty() || line.starts_with('#');
    if code.lines().map(str::trim_start).all(is_comment) {
        return Cow::Borrowed(".");
    }
    if !code.contains("\\u") {
        return Cow::Borrowed(code);
    }
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let pair = |text: &str| {
        let units = [unit(text)?, unit(text.get(6..)?)?];
        char::decode_utf16(units).next()?.ok().filter(|c| !matches!(c, '\0'..='\u{FFFF}'))
    };
    let (mut out, mut rest) = (String::with_capacity(code.len()), code);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match pair(rest) {
            Some(c) => {
                out.push(c);
                12
            }
            // The character after it is escaped, and begins no escape.
            None => {
                let length = rest.chars().take(2).map(char::len_utf8).sum();
                out.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn compile(code: &str, names: &[String], inputs: bool) -> Result<jaq_core::Filter<Kind>, Fault> {
    let arena = Arena::default();
    let file = File { code, path: () };
    let modules = Loader::new(funs::defs(inputs))
        .load(&arena, file)
        .map_err(|errors| load_fault(code, errors))?;
    load::import(&modules, |_| Err("a filter cannot load files".into()))
        .map_err(|errors| load_fault(code, errors))?;
    Compiler::default()
        .with_funs(funs::funs(inputs))
        .with_global_vars(names.iter().map(String::as_str))
        .compile(modules)
        .map_err(|errors| compile_fault(code, errors))
}

fn load_fault(code: &str, errors: load::Errors<&str, ()>) -> Fault {
    let found = |place: &str| match place.split_whitespace().next() {
        None => "the end".to_owned(),
        Some(word) => format!("`{}`", word.chars().take(20).collect::<String>()),
    };
    let first = errors.into_iter().next().map(|(_, error)| error);
    match first {
        Some(load::Error::Io(list)) => match list.into_iter().next() {
            Some((place, message)) => Fault::new(code, place, message),
            None => Fault::new(code, code, "it cannot be loaded".into()),
        },
        Some(load::Error::Lex(list)) => match list.into_iter().next() {
            Some((lex::Expect::Delim(open), "")) => {
                Fault::new(code, &open[..1], format!("found `{open}`, which is not closed"))
            }
            Some((expected, place)) => {
                let one = &place[..place.chars().next().map_or(0, char::len_utf8)];
                let message = format!("found {}, expected {}", found(one), expected.as_str());
                Fault::new(code, one, message)
            }
            None => Fault::new(code, code, "it cannot be read".into()),
        },
        Some(load::Error::Parse(list)) => match list.into_iter().next() {
            Some((expected, place)) => {
                let expected = match expected.as_str() {
                    "nothing" => "the end or an operator".to_owned(),
                    "term" => "a term, such as `.` or `.name`".to_owned(),
                    word => word.to_owned(),
                };
                Fault::new(code, place, format!("found {}, expected {expected}", found(place)))
            }
            None => Fault::new(code, code, "it cannot be read".into()),
        },
        None => Fault::new(code, code, "it cannot be read".into()),
    }
}

fn compile_fault(code: &str, errors: compile::Errors<&str, ()>) -> Fault {
    let first = errors.into_iter().next().and_then(|(_, list)| list.into_iter().next());
    let Some((place, undefined)) = first else {
        return Fault::new(code, code, "it cannot be compiled".into());
    };
    let message = match undefined {
        compile::Undefined::Filter(0) => format!("there is no function `{place}`"),
        compile::Undefined::Filter(1) => format!("there is no function `{place}` with 1 argument"),
        compile::Undefined::Filter(n) => {
            format!("there is no function `{place}` with {n} arguments")
        }
        compile::Undefined::Var => format!("there is no variable `{place}`"),
        other => format!("there is no {} `{place}`", other.as_str()),
    };
    Fault::new(code, place, message)
}
