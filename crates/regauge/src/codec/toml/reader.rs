//! Bytes to events.
//!
//! A table's parts may be anywhere in the file, so nothing is known before its end: the parser waits
//! for all bytes, builds a [tree](super::tree), and then gives its events, each table's pairs in the
//! order in which their keys first appear.

use toml_parser::Source;

use super::build::Builder;
use super::faults::Faults;
use super::lines::{Cut, Expressions};
use super::tree::{BYTES_MAX, Content as _, ROOT, Tree};
use super::types::Item;
use super::{Options, faults, moment, scalars};
use crate::bytes::reader::{Parse, Status};
use crate::model::limits::Limits;
use crate::model::number;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;
use crate::{Error, Format, Result};

/// The reader of TOML: see [`mod@crate::codec::toml`].
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    /// As the caller gave it: the reader is told of the limit on documents instead.
    token_bytes: u64,
    options: Options,
    /// The one document has been given.
    is_done: bool,
}

impl Parser {
    /// A parser at the start of a file.
    pub fn new(options: Options, limits: Limits) -> Parser {
        let token_bytes = limits.token_bytes;
        // A whole document is what the reader's window has to hold.
        let limits = Limits { token_bytes: token_bytes.max(limits.record_bytes), ..limits };
        Parser { limits, token_bytes, options, is_done: false }
    }
}

impl Default for Parser {
    /// With the default limits.
    fn default() -> Parser {
        Parser::new(Options::default(), Limits::default())
    }
}

impl Parse for Parser {
    const FORMAT: Format = Format::Toml;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        let start = *pos;
        if self.is_done {
            return Ok(Status::End);
        }
        let input = bytes.get(start..).unwrap_or_default();
        let most = self.limits.record_bytes.min(BYTES_MAX);
        if input.len() as u64 > most {
            return Err(faults::too_long(most).at(start as u64 + most));
        }
        if !last {
            return Ok(Status::More);
        }
        let limits = Limits { token_bytes: self.token_bytes, ..self.limits };
        let tree = text(input).and_then(|text| read(text, limits)).map_err(|error| {
            let at = error.offset().unwrap_or(0);
            error.at(start as u64 + at)
        })?;
        let mut at = 0;
        let driven = drive(&tree, self.options.count_rounded, sink, &mut at);
        *pos = start + at;
        driven?;
        *pos = bytes.len();
        self.is_done = true;
        Ok(Status::Document)
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}

/// The bytes as text.
fn text(bytes: &[u8]) -> Result<&str> {
    crate::model::utf8::from_utf8(bytes).ok_or_else(|| {
        let error = std::str::from_utf8(bytes).expect_err("seen just before");
        let at = error.valid_up_to();
        let message = match error.error_len() {
            None => "found the end of the file inside a character, expected UTF-8".to_owned(),
            Some(_) => format!("found byte 0x{:02X}, expected UTF-8", bytes[at]),
        };
        let error = if error.error_len().is_none() {
            Error::truncated(message)
        } else {
            Error::syntax(message)
        };
        error.at(at as u64)
    })
}

/// The tree of a document. Errors have their offset in `text`.
pub(super) fn read(text: &str, limits: Limits) -> Result<Tree<'_, Item>> {
    let source = Source::new(text);
    let depth = limits.depth.min(Limits::DEPTH_CEILING);
    let mut expressions = Expressions::new(source, depth);
    let faults = Faults::new(text);
    let mut builder = Builder::new(source, &faults, limits);
    loop {
        let breaks = Faults::new(text);
        let cut = expressions.next(builder.nodes_left(), &mut &breaks);
        let fault_of_breaks = breaks.take();
        let end = match cut {
            Cut::TooMany => {
                let at = expressions.tokens().last().map_or(0, |token| token.span().start());
                faults.put(faults::too_many(limits.nodes).at(at as u64));
                true
            }
            Cut::Expression | Cut::Refused => {
                toml_parser::parser::parse_document(
                    expressions.tokens(),
                    &mut builder,
                    &mut &faults,
                );
                if cut == Cut::Refused {
                    let at = expressions.tokens().last().map_or(0, |token| token.span().start());
                    faults.put(faults::too_deep(depth).at(at as u64));
                }
                cut == Cut::Refused
            }
            Cut::End => true,
        };
        let first = [faults.take(), fault_of_breaks].into_iter().flatten();
        if let Some(error) = first.min_by_key(|error| error.offset()) {
            let path = builder.path();
            return Err(if error.path().is_none() { error.at_path(path) } else { error });
        }
        if end {
            return Ok(builder.into_tree());
        }
    }
}

/// Gives the events of a tree. `at` is the place of the event at hand.
fn drive<S: Sink + ?Sized>(
    tree: &Tree<'_, Item>,
    count_rounded: bool,
    sink: &mut S,
    at: &mut usize,
) -> Result {
    let mut id = ROOT;
    let mut is_keyed = false;
    loop {
        let node = tree.node(id);
        *at = node.at as usize;
        if is_keyed {
            sink.key(tree.text(node.key))?;
        }
        match node.content {
            Item::Table(_) => sink.begin_map(Some(u64::from(node.count)))?,
            Item::Array { .. } => sink.begin_array(Some(u64::from(node.count)))?,
            Item::Text(v) => sink.str(tree.text(v))?,
            Item::Integer(v) => sink.i64(i64::from_ne_bytes(v))?,
            Item::Float(digits) => {
                let digits = tree.text(digits);
                let v = scalars::float(digits).expect("parsed before");
                if count_rounded && v.is_finite() {
                    note_rounded(digits, v, sink);
                }
                sink.f64(v)?;
            }
            Item::Bool(v) => sink.bool(v)?,
            Item::Moment(spelling) => {
                let moment = moment::parse(tree.text(spelling)).expect("parsed before");
                sink.ext(moment.as_ext())?;
            }
        }
        if let Some(first) = tree.children(id).next() {
            is_keyed = node.content.is_table();
            id = first;
            continue;
        }
        if matches!(node.content, Item::Table(_) | Item::Array { .. }) {
            end(&node.content, sink)?;
        }
        // On to the next value, out of all containers that are whole.
        loop {
            if id == ROOT {
                return Ok(());
            }
            let node = tree.node(id);
            let around = &tree.node(node.parent).content;
            if node.next != super::tree::NONE {
                is_keyed = around.is_table();
                id = node.next;
                break;
            }
            end(around, sink)?;
            id = node.parent;
        }
    }
}

fn end<S: Sink + ?Sized>(container: &Item, sink: &mut S) -> Result {
    match container.is_table() {
        true => sink.end_map(),
        false => sink.end_array(),
    }
}

/// Counts a number whose digits say more than the double.
#[cold]
fn note_rounded<S: Sink + ?Sized>(text: &str, v: f64, sink: &mut S) {
    let text = text.trim_start_matches('+');
    if !number::is_value_kept(text, v) {
        let written = zmij::Buffer::new().format_finite(v).to_owned();
        sink.fidelity().note(LossKind::Rounded, crate::model::text::shorten(text), written);
    }
}
