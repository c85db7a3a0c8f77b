//! Describes what loading a pickle would do: every import, every call, and a plain-language
//! verdict.
//!
//! The survey covers everything that the opcodes create, including what they discard and what comes
//! before an error: loading runs the calls one by one, so a pickle that breaks off after its
//! payload has still run it.

use std::io::{self, Read};

use super::arena::{Arena, Kind, NOTHING, Node, Step};
use super::known;
use super::machine::Machine;
use super::{notorious, understand};
use crate::Error;
use crate::bytes::reader::WINDOW_BYTES;
use crate::model::limits::Limits;
use crate::model::risk::Risk;

/// What loading one or more pickles would do.
#[derive(Debug)]
#[non_exhaustive]
pub struct Survey {
    /// Number of pickles, including a broken one.
    pub pickles: u64,
    /// The highest protocol that they name.
    pub protocol: u8,
    /// Number of instructions read.
    pub instructions: u64,
    /// What would be imported, in order, with one entry per importing instruction.
    pub imports: Vec<Import>,
    /// What would be called, in order.
    pub calls: Vec<Call>,
    /// Number of persistent ids that the loading program would have to resolve.
    pub persistent_ids: u64,
    /// The extension codes that the loading program would have to have registered, in order.
    pub extensions: Vec<i64>,
    /// Number of buffers expected from outside.
    pub buffers: u64,
    /// Number of calls beyond the first [`Survey::LISTED`], which are not listed.
    pub calls_left_out: u64,
    /// The same for imports.
    pub imports_left_out: u64,
    /// Where reading stopped, if not at the end.
    pub error: Option<Error>,
    verdict: Verdict,
    /// The most telling import or call, with its place.
    reason: Option<String>,
    /// Whether that is a call, which says more than an import.
    called: bool,
}

/// One import.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Import {
    /// Offset of the instruction, in bytes from the start of the input.
    pub offset: u64,
    /// The module that would be imported.
    pub module: String,
    /// The name that would be looked up in it, dots included.
    pub name: String,
    /// The risk of the import.
    pub risk: Risk,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Offset of the instruction, in bytes from the start of the input.
    pub offset: u64,
    /// What is called: `module.name`, or a note that it is computed.
    pub callable: String,
    /// The instruction: `REDUCE`, `NEWOBJ`, `NEWOBJ_EX`, `INST or OBJ`, `BUILD`.
    pub instruction: &'static str,
    /// Number of arguments.
    pub arguments: usize,
    /// The call in Python notation, shortened to fit on a line.
    pub shown: String,
    /// The risk of the call.
    pub risk: Risk,
}

/// The verdict on a pickle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No imports and no calls.
    Data,
    /// Only names from the table of harmless constructors.
    HarmlessTypes,
    /// Nothing unknown is called, but the loading program has to supply something, or the end is
    /// missing.
    Incomplete,
    /// Unknown code is imported or called.
    UnknownCode,
    /// Code used in known attacks is called.
    Attack,
}

impl Verdict {
    /// Returns the name used in reports: `"data"`, `"harmless-types"`, `"incomplete"`,
    /// `"unknown-code"`, `"attack"`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Data => "data",
            Verdict::HarmlessTypes => "harmless-types",
            Verdict::Incomplete => "incomplete",
            Verdict::UnknownCode => "unknown-code",
            Verdict::Attack => "attack",
        }
    }

    /// Returns the verdict in plain language.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Data => "plain data: loading it imports and calls nothing",
            Verdict::HarmlessTypes => {
                "harmless: loading it creates dates, decimals, sets and similar values, and calls nothing \
                 else"
            }
            Verdict::Incomplete => {
                "nothing harmful found, but it is broken or relies on the program that \
                 loads it"
            }
            Verdict::UnknownCode => {
                "loading it runs code that is not known to be harmless: load it only if you trust \
                 its author"
            }
            Verdict::Attack => "do not load it: it runs code used in known attacks",
        }
    }
}

impl Survey {
    fn new() -> Survey {
        Survey {
            pickles: 0,
            protocol: 0,
            instructions: 0,
            imports: Vec::new(),
            calls: Vec::new(),
            persistent_ids: 0,
            extensions: Vec::new(),
            buffers: 0,
            calls_left_out: 0,
            imports_left_out: 0,
            error: None,
            verdict: Verdict::Data,
            reason: None,
            called: false,
        }
    }

    /// The most imports, and the most calls, that are listed individually.
    pub const LISTED: usize = 10_000;

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the import or the call that decided the verdict, with its place.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn judge(&mut self, risk: Risk, offset: u64, calls: bool, what: impl FnOnce() -> String) {
        let verdict = match risk {
            Risk::Harmless => Verdict::HarmlessTypes,
            Risk::Unknown => Verdict::UnknownCode,
            Risk::Notorious => Verdict::Attack,
        };
        let tells_more = verdict == self.verdict && calls && !self.called;
        if verdict > self.verdict || tells_more {
            self.verdict = verdict;
            if risk > Risk::Harmless {
                self.reason = Some(format!("{} at byte {offset}", what()));
                self.called = calls;
            }
        }
    }

    /// Adds a pickle, which begins at `base` and has ended, perhaps with an error. Returns its length.
    fn end(
        &mut self,
        machine: &mut Machine,
        input: &[u8],
        base: u64,
        error: Option<Error>,
    ) -> usize {
        self.add(machine, input, base);
        if let Some(error) = error {
            let offset = base + error.offset().unwrap_or_default();
            self.error = Some(error.at(offset).in_format(crate::Format::Pickle));
            self.verdict = self.verdict.max(Verdict::Incomplete);
        }
        let length = machine.pos();
        machine.reset();
        length
    }

    /// Adds what the machine created from one pickle, which begins at `base`.
    fn add(&mut self, machine: &Machine, input: &[u8], base: u64) {
        self.pickles += 1;
        self.protocol = self.protocol.max(machine.protocol());
        self.instructions += machine.instructions();
        let arena = &machine.arena;
        for (index, object) in arena.objects.iter().enumerate() {
            let index = index as u32;
            let offset = base + u64::from(object.at);
            match object.kind {
                Kind::Global => self.import(arena, index, input, offset),
                Kind::Call | Kind::New | Kind::NewEx | Kind::Instance => {
                    self.call(arena, index, input, offset);
                }
                Kind::PersistentId => self.persistent_ids += 1,
                Kind::Extension => {
                    if let &[Node::Int(_, code)] = arena.made_of(index)
                        && self.extensions.len() < Survey::LISTED
                    {
                        self.extensions.push(code);
                    }
                }
                Kind::Buffer => self.buffers += 1,
                _ => {}
            }
            let plain = matches!(object.kind, Kind::List | Kind::Dict | Kind::Set);
            if !plain && !object.kind.is_call() && arena.first_chunk(index) != NOTHING {
                self.change(arena, index, input, offset);
            }
        }
        if self.persistent_ids > 0 || self.buffers > 0 {
            self.verdict = self.verdict.max(Verdict::Incomplete);
        }
        if !self.extensions.is_empty() && self.verdict < Verdict::UnknownCode {
            self.verdict = Verdict::UnknownCode;
            self.reason = Some(format!("it uses extension code {}", self.extensions[0]));
        }
    }

    fn import(&mut self, arena: &Arena, index: u32, input: &[u8], offset: u64) {
        let node = Node::Object(0, index);
        let (module, name) = arena.global(node, input).unwrap_or_default();
        let risk = import_risk(&module, &name);
        // As written, so that it can be found in the file.
        let (module, name) = arena.written_global(node, input).unwrap_or((module, name));
        let what = || format!("it imports {}.{}", shorten(&module), shorten(&name));
        self.judge(risk, offset, false, what);
        if self.imports.len() < Survey::LISTED {
            let (module, name) = (shorten(&module), shorten(&name));
            self.imports.push(Import { offset, module, name, risk });
        } else {
            self.imports_left_out += 1;
        }
    }

    fn call(&mut self, arena: &Arena, index: u32, input: &[u8], offset: u64) {
        let object = arena.object(index);
        let made_of = arena.made_of(index);
        let (Some(&callee), Some(&arguments)) = (made_of.first(), made_of.get(1)) else { return };
        let callable = match arena.global(callee, input) {
            Some((module, name)) => format!("{}.{}", shorten(&module), shorten(&name)),
            None => "a computed value".to_owned(),
        };
        let risk = match arena.global(callee, input) {
            Some((module, name)) if notorious::is(&module, &name) => Risk::Notorious,
            Some((module, name)) if known::find(&module, &name).is_some() => {
                if understand::is_harmless(arena, index, input) {
                    Risk::Harmless
                } else {
                    Risk::Unknown
                }
            }
            _ => Risk::Unknown,
        };
        self.judge(risk, offset, true, || format!("it calls {callable}"));
        if self.calls.len() == Survey::LISTED {
            self.calls_left_out += 1;
            return;
        }
        let arguments = match arguments {
            Node::Object(_, arguments) => arena.made_of(arguments),
            _ => &[],
        };
        let mut shown = callable.clone();
        shown.push('(');
        for (place, argument) in arguments.iter().enumerate() {
            if place > 0 {
                shown.push_str(", ");
            }
            if shown.len() > SHOWN {
                shown.push('…');
                break;
            }
            show(arena, *argument, input, 0, &mut shown);
        }
        shown.push(')');
        let instruction = match object.kind {
            Kind::Call => "REDUCE",
            Kind::New => "NEWOBJ",
            Kind::NewEx => "NEWOBJ_EX",
            _ => "INST or OBJ",
        };
        let arguments = arguments.len();
        self.calls.push(Call { offset, callable, instruction, arguments, shown, risk });
    }

    /// Records a change to something that is neither a container nor an object: items or state were
    /// added to it.
    fn change(&mut self, arena: &Arena, index: u32, input: &[u8], offset: u64) {
        let node = Node::Object(0, index);
        let callable = match arena.global(node, input) {
            Some((module, name)) => format!("{}.{}", shorten(&module), shorten(&name)),
            None => arena.object(index).kind.name().to_owned(),
        };
        self.judge(Risk::Unknown, offset, true, || format!("it changes {callable} in place"));
        let builds = arena.chunks(index).any(|chunk| chunk.step == Step::Build);
        if self.calls.len() < Survey::LISTED {
            self.calls.push(Call {
                offset,
                shown: format!("{callable} is changed in place"),
                callable,
                instruction: if builds { "BUILD" } else { "SETITEMS or APPENDS" },
                arguments: 0,
                risk: Risk::Unknown,
            });
        }
    }
}

/// Describes everything that loading the bytes, one pickle after another, would do, without
/// importing or calling anything.
///
/// ```
/// use regauge::pickle::{Verdict, survey};
/// let survey = survey(b"cos\nsystem\n(S'id'\ntR.", &Default::default());
/// assert_eq!(survey.verdict(), Verdict::Attack);
/// assert_eq!(survey.calls[0].shown, "os.system('id')");
/// ```
///
/// An error is part of the result, in [`Survey::error`], because what comes before it counts.
pub fn survey(bytes: &[u8], limits: &Limits) -> Survey {
    let mut survey = Survey::new();
    let mut machine = Machine::new(limits);
    let mut start = 0;
    while survey.error.is_none() && !super::is_blank(&bytes[start..]) {
        let input = &bytes[start..];
        let ran = machine.run(input, true);
        start += survey.end(&mut machine, input, start as u64, ran.err());
    }
    survey
}

/// Does the same for a stream, holding one pickle in memory at a time.
///
/// # Errors
/// I/O errors from reading. An error in the pickles is part of the result.
pub fn survey_stream(mut read: impl Read, limits: &Limits) -> io::Result<Survey> {
    let mut survey = Survey::new();
    let mut machine = Machine::new(limits);
    let (mut buffer, mut filled, mut start, mut base, mut last) = (Vec::new(), 0, 0, 0_u64, false);
    while survey.error.is_none() {
        let input = &buffer[start..filled];
        let is_blank = super::is_blank(input);
        if last && is_blank {
            break;
        }
        let ran = if is_blank { Ok(None) } else { machine.run(input, last) };
        if matches!(ran, Ok(None)) {
            buffer.copy_within(start..filled, 0);
            (filled, base, start) = (filled - start, base + start as u64, 0);
            if buffer.len() < 2 * filled + WINDOW_BYTES {
                buffer.resize(2 * filled + WINDOW_BYTES, 0);
            }
            let got = match read.read(&mut buffer[filled..]) {
                Ok(got) => got,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            last = got == 0;
            filled += got;
            continue;
        }
        start += survey.end(&mut machine, input, base + start as u64, ran.err());
    }
    Ok(survey)
}

/// Returns the risk of an import on its own. Naming a class or a function from the table is
/// harmless, because naming it does nothing.
fn import_risk(module: &str, name: &str) -> Risk {
    if notorious::is(module, name) {
        Risk::Notorious
    } else if known::find(module, name).is_some() {
        Risk::Harmless
    } else {
        Risk::Unknown
    }
}

/// The most bytes of a call that are shown.
const SHOWN: usize = 120;

fn shorten(text: &str) -> String {
    crate::model::text::shorten(text)
}

/// Formats a value briefly in Python notation.
fn show(arena: &Arena, node: Node, input: &[u8], depth: u32, shown: &mut String) {
    use std::fmt::Write as _;
    if shown.len() > SHOWN {
        shown.push('…');
        return;
    }
    let _ = match node {
        Node::None(_) => write!(shown, "None"),
        Node::Bool(_, v) => write!(shown, "{}", if v { "True" } else { "False" }),
        Node::Int(_, v) => write!(shown, "{v}"),
        Node::Float(_, v) => write!(shown, "{v:?}"),
        Node::Long(_, span) => write!(shown, "an integer of {} bytes", span.length),
        Node::LongText(_, span) => write!(shown, "an integer of {} digits", span.length),
        Node::Bytes(_, span) => {
            let bytes = span.of(input);
            let start = &bytes[..bytes.len().min(40)];
            let more = if bytes.len() > 40 { "…" } else { "" };
            write!(shown, "b'{}{more}'", start.escape_ascii())
        }
        Node::Text(..) | Node::Escaped(..) | Node::Old(..) | Node::OldEscaped(..) => {
            match Arena::text(node, input) {
                Some(text) => {
                    let start: String = text.chars().take(80).collect();
                    let more = if start.len() < text.len() { "…" } else { "" };
                    write!(shown, "'{}{more}'", start.escape_debug())
                }
                None => write!(shown, "a text"),
            }
        }
        Node::Object(_, index) => {
            let object = arena.object(index);
            let nodes = arena.made_of(index);
            let brackets = match object.kind {
                Kind::List => ('[', ']'),
                Kind::Tuple => ('(', ')'),
                Kind::Global => {
                    let (module, name) = arena.global(node, input).unwrap_or_default();
                    let _ = write!(shown, "{}.{}", shorten(&module), shorten(&name));
                    return;
                }
                Kind::Call | Kind::New => {
                    match nodes.first().and_then(|callee| arena.global(*callee, input)) {
                        Some((module, name)) => {
                            let _ = write!(shown, "{}.{}(…)", shorten(&module), shorten(&name));
                        }
                        None => shown.push_str("a computed value"),
                    }
                    return;
                }
                kind => {
                    let _ = write!(shown, "{}", kind.name());
                    return;
                }
            };
            if depth > 2 {
                shown.push('…');
                return;
            }
            shown.push(brackets.0);
            for (place, inner) in nodes.iter().enumerate() {
                if place > 0 {
                    shown.push_str(", ");
                }
                if shown.len() > SHOWN {
                    shown.push('…');
                    break;
                }
                show(arena, *inner, input, depth + 1, shown);
            }
            shown.push(brackets.1);
            Ok(())
        }
        Node::Hole => Ok(()),
    };
}
