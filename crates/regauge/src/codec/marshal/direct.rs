//! Both passes in one, where possible: a sink that takes no references needs nothing from a link
//! that does not come before it.
//!
//! Plain data goes straight to the sink: arrays, hashes, text, numbers, and links to text and
//! floats. Any other value is scanned and walked on its own, by the two passes ([`super::scan`],
//! [`super::walk`]); if there are many such values, the two passes process the whole rest.
//!
//! Advice for those who change this file: it creates no errors. Anything that is wrong, or might
//! be, is left to the two passes, starting with its first token. A fault of the document takes
//! precedence over an error of the sink, wherever it is, as it does if the scan comes first; so
//! after an error the rest is scanned. The tables are those that the scanner would have built,
//! except for the links.

mod passes;

use super::links::LEAF_BYTES;
use super::reader::placed;
use super::scan::{Scanner, short_link};
use super::types::*;
use super::walk::{Open, Room, Step};
use super::{Options, float};
use crate::Error;
use crate::model::limits::Limits;
use crate::model::utf8::from_utf8;
use crate::policy::event::{Ext, ShortText, Sink};
use crate::policy::fidelity::LossKind;

/// The state of a document between two calls.
#[derive(Debug)]
pub(super) struct State {
    place: Place,
    /// Events that links may still add.
    budget: u64,
    /// How many of the symbols have been looked at.
    symbols_seen: usize,
    /// How many values and keys went through both passes on their own.
    odd: usize,
    rest: Option<Rest>,
}

/// What to do after the scanner has gone over the rest.
#[derive(Debug)]
enum Rest {
    /// Walk it.
    Walk,
    /// Fail with this error, from the sink or the walk over a value, at this place.
    Failed(Error, usize),
}

impl State {
    /// Creates the state at the beginning of a document whose version has been read and which the
    /// scanner is about to begin.
    pub fn new(limits: &Limits, room: &mut Room) -> State {
        room.steps.clear();
        room.keys.clear();
        State {
            place: Place { at: VERSION.len(), left: 1, between: false },
            budget: limits.aliases,
            symbols_seen: 0,
            odd: 0,
            rest: None,
        }
    }

    /// Emits the events of the document, as far as it has arrived. Returns its length, or `None` if
    /// more bytes are needed.
    ///
    /// # Errors
    /// Those of [`Scanner::run`] and [`Walk::run`](super::walk::Walk::run), with the place in the
    /// document.
    pub fn run<S: Sink + ?Sized>(
        &mut self,
        input: Input<'_>,
        scanner: &mut Scanner,
        room: &mut Room,
        sink: &mut S,
    ) -> std::result::Result<Option<usize>, (Error, usize)> {
        let mut direct = Direct { input, scanner, room, state: self };
        if direct.state.rest.is_none() {
            let rest = match direct.plain(sink) {
                Ended::Whole => return Ok(Some(direct.state.place.at)),
                Ended::More => return Ok(None),
                Ended::Left(from) => {
                    direct.begin_rest(from);
                    Rest::Walk
                }
                Ended::Begun => {
                    direct.put_rest_below();
                    Rest::Walk
                }
                Ended::Failed(error, at, from) => {
                    direct.begin_rest(from);
                    Rest::Failed(error, at)
                }
                Ended::Broken(error) => return Err(placed(error)),
            };
            direct.state.rest = Some(rest);
        }
        let Input { document, last, limits, .. } = input;
        let Some(length) = direct.scanner.run(document, last, limits).map_err(placed)? else {
            return Ok(None);
        };
        match direct.state.rest.take() {
            Some(Rest::Failed(error, at)) => return Err((error, at)),
            _ => direct.walk_rest(length, sink)?,
        }
        Ok(Some(length))
    }

    /// Emits the events of a whole document that is plain data, with links to text and floats only.
    /// Returns `None` for any other document, after the sink may have received a part.
    pub fn plain<S: Sink + ?Sized>(
        &mut self,
        input: Input<'_>,
        scanner: &mut Scanner,
        room: &mut Room,
        sink: &mut S,
    ) -> Option<usize> {
        let mut direct = Direct { input, scanner, room, state: self };
        match direct.plain(sink) {
            Ended::Whole => Some(direct.state.place.at),
            _ => None,
        }
    }
}

/// The bytes of a document so far, and how to read them.
#[derive(Clone, Copy)]
pub(super) struct Input<'d> {
    pub document: &'d [u8],
    /// Nothing follows.
    pub last: bool,
    pub options: &'d Options,
    pub limits: &'d Limits,
    /// Only plain data is read: see [`State::plain`].
    pub only_plain: bool,
}

/// A place between two tokens.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// How many values are still to come in the innermost array, or pairs in the innermost hash.
    left: u64,
    /// The key of the next pair has been read, and its value has not.
    between: bool,
}

/// How the plain part of a document ended.
enum Ended {
    Whole,
    /// The current token is incomplete.
    More,
    /// The two passes take over, the scan from here.
    Left(Place),
    /// Like `Left`, with the scanner already inside the current value.
    Begun,
    /// The error of the sink, or of the walk over a value, its place, and what is still to be
    /// scanned.
    Failed(Error, usize, Place),
    /// The scanner's error.
    Broken(Error),
}

struct Direct<'d, 's> {
    input: Input<'d>,
    scanner: &'s mut Scanner,
    /// The arrays and hashes around the current value; what is left of the innermost is in `place`.
    room: &'s mut Room,
    state: &'s mut State,
}

/// Text in its usual form: see [`Walk::common_text`](super::walk::Walk::common_text).
#[derive(Clone, Copy)]
struct Text {
    start: usize,
    length: usize,
    /// Whether it has to be ASCII.
    ascii: bool,
    /// The place after its encoding.
    end: usize,
}

/// Reads text as `I"`, a length, the bytes, and the one instance variable `E`, whose symbol is
/// linked to by this byte.
#[inline(always)]
fn text_at(bytes: &[u8], at: usize, encoding_link: Option<u8>) -> Option<Text> {
    if *bytes.get(at + 1)? != STRING {
        return None;
    }
    let (length, start) = long(bytes, at + 2)?;
    let length = usize::try_from(length).ok()?;
    let tail = bytes.get(start.checked_add(length)?..)?;
    let [6, SYMLINK, name, flag @ (TRUE | FALSE), ..] = *tail else { return None };
    let end = start + length + 4;
    (Some(name) == encoding_link).then_some(Text { start, length, ascii: flag == FALSE, end })
}

/// Does the same for text that a link names, which can be the first of all, with the symbol itself.
#[inline(never)]
fn first_text_at(bytes: &[u8], at: usize) -> Option<Text> {
    if *bytes.get(at + 1)? != STRING {
        return None;
    }
    let (length, start) = long(bytes, at + 2)?;
    let length = usize::try_from(length).ok()?;
    let tail = bytes.get(start.checked_add(length)?..)?;
    let [6, SYMBOL, 6, b'E', flag @ (TRUE | FALSE), ..] = *tail else { return None };
    Some(Text { start, length, ascii: flag == FALSE, end: start + length + 5 })
}

/// Reads an integer of more than 31 bits that fits in 64: whether it is negative, its magnitude,
/// and the place after it.
fn big(bytes: &[u8], at: usize) -> Option<(bool, u64, usize)> {
    let negative = match *bytes.get(at + 1)? {
        b'+' => false,
        b'-' => true,
        _ => return None,
    };
    let (words @ 0..=4, start) = long(bytes, at + 2)? else { return None };
    let digits = bytes.get(start..start + 2 * words as usize)?;
    let mut word = [0; 8];
    word[..digits.len()].copy_from_slice(digits);
    Some((negative, u64::from_le_bytes(word), start + digits.len()))
}

impl<'d> Direct<'d, '_> {
    /// Processes plain data.
    fn plain<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Ended {
        let Input { document, last, options, limits, .. } = self.input;
        let bound = usize::try_from(limits.record_bytes).unwrap_or(usize::MAX);
        let bytes = &document[..document.len().min(bound).min(u32::MAX as usize)];
        let most_open = limits.depth.min(Limits::DEPTH_CEILING) as usize;
        let token_bytes = usize::try_from(limits.token_bytes).unwrap_or(usize::MAX);
        let mut encoding_link = self.scanner.tables.encoding_flag.and_then(short_link);
        let Place { mut at, mut left, mut between } = self.state.place;
        let mut in_map = matches!(self.room.steps.last(), Some(Open { step: Step::Map(_), .. }));

        // Hands over to the two passes from here on.
        macro_rules! leave {
            ($between:expr) => {{
                self.state.place = Place { at, left, between: $between };
                return Ended::Left(self.state.place);
            }};
        }
        // The bytes end here: those that have arrived, or the limit.
        macro_rules! cut {
            ($between:expr) => {{
                if !last && bytes.len() == document.len() {
                    self.state.place = Place { at, left, between: $between };
                    return Ended::More;
                }
                leave!($between)
            }};
        }
        // Emits an event, of a token that has been consumed and that began at `$start`.
        macro_rules! emit {
            ($start:expr, $between:expr, $event:expr) => {
                if let Err(error) = $event {
                    return Ended::Failed(error, $start, Place { at, left, between: $between });
                }
            };
        }
        // The current value is not plain: it goes through both passes on its own.
        macro_rules! odd {
            ($between:expr, $is_key:expr) => {{
                self.state.place = Place { at, left, between: $between };
                // The first text counts as one, because its encoding includes its name.
                if self.input.only_plain && first_text_at(bytes, at).is_none() {
                    return Ended::Left(self.state.place);
                }
                if let Some(ended) = self.one($is_key, sink) {
                    return ended;
                }
                at = self.state.place.at;
                encoding_link = self.scanner.tables.encoding_flag.and_then(short_link);
            }};
        }

        loop {
            while left == 0 {
                if self.room.steps.pop().is_none() {
                    self.state.place.at = at;
                    return Ended::Whole;
                }
                let end = if in_map { sink.end_map() } else { sink.end_array() };
                (left, in_map) = match self.room.steps.last() {
                    Some(Open { step: Step::Map(left), .. }) => (*left, true),
                    Some(Open { step: Step::Array(left), .. }) => (*left, false),
                    // Nothing encloses the document.
                    _ => (0, false),
                };
                emit!(at, false, end);
            }

            if in_map && !std::mem::take(&mut between) {
                let Some(&kind) = bytes.get(at) else { cut!(false) };
                let text = match kind {
                    IVARS => text_at(bytes, at, encoding_link),
                    LINK => self.linked_text(bytes, at, encoding_link),
                    _ => None,
                };
                match text {
                    Some(text) if text.length <= token_bytes => {
                        let start = at;
                        let window = bytes[text.start..].first_chunk();
                        if let Some(window) = window
                            && let Some(short) = ShortText::ascii(window, text.length)
                        {
                            if kind == IVARS {
                                self.scanner.tables.objects.push(start as u32);
                            }
                            at = text.end;
                            emit!(start, true, sink.short_key(short));
                        } else if let Some(long) = self.long_text(bytes, text, kind) {
                            if kind == IVARS {
                                self.scanner.tables.objects.push(start as u32);
                            }
                            at = text.end;
                            emit!(start, true, sink.key(long));
                        } else {
                            odd!(false, true);
                        }
                    }
                    _ if kind == SYMLINK && options.data => match self.linked_symbol(bytes, at) {
                        Some((text, end)) => {
                            let (found, written) = ("a symbol as a key", "its text");
                            sink.fidelity().note(LossKind::Symbol, found, written);
                            let start = at;
                            at = end;
                            emit!(start, true, sink.key(text));
                        }
                        None => odd!(false, true),
                    },
                    _ => odd!(false, true),
                }
            }

            let Some(&kind) = bytes.get(at) else { cut!(in_map) };
            let start = at;
            // Emits a leaf whose token ends at `$end`. A `$numbered` one is added to the tables.
            macro_rules! leaf {
                ($end:expr, $numbered:expr, $event:expr) => {{
                    if $numbered {
                        self.scanner.tables.objects.push(start as u32);
                    }
                    at = $end;
                    left -= 1;
                    emit!(start, false, $event);
                    continue;
                }};
            }
            if kind == IVARS || kind == LINK {
                let text = match kind {
                    IVARS => text_at(bytes, at, encoding_link),
                    _ => self.linked_text(bytes, at, encoding_link),
                };
                if let Some(text) = text
                    && text.length <= token_bytes
                {
                    if let Some(window) = bytes[text.start..].first_chunk()
                        && let Some(short) = ShortText::ascii(window, text.length)
                    {
                        leaf!(text.end, kind == IVARS, sink.short_str(short));
                    }
                    if let Some(long) = self.long_text(bytes, text, kind) {
                        leaf!(text.end, kind == IVARS, sink.str(long));
                    }
                }
                if kind == LINK
                    && let Some((target, v, end)) = self.linked_float(bytes, at)
                {
                    at = end;
                    left -= 1;
                    emit!(target, false, sink.f64(v));
                    continue;
                }
            } else if kind == FLOAT {
                if token_bytes >= 64
                    && let Some((length @ 0..=64, text)) = long(bytes, at + 1)
                    && let Some(v) = float::read_at(bytes, text, text + length as usize)
                {
                    leaf!(text + length as usize, true, sink.f64(v));
                }
            } else if kind == FIXNUM {
                if let Some((v, end)) = long(bytes, at + 1) {
                    leaf!(end, false, sink.i64(v));
                }
            } else if kind == ARRAY || kind == HASH {
                let Some((count, end)) = long(bytes, at + 1) else { cut!(in_map) };
                let each = if kind == HASH { 2 } else { 1 };
                let after = (document.len() - end) as u64;
                match u64::try_from(count) {
                    Ok(count)
                        if (count * each <= after || !last)
                            && self.room.steps.len() < most_open =>
                    {
                        self.scanner.tables.objects.push(start as u32);
                        at = end;
                        left -= 1;
                        if let Some(open) = self.room.steps.last_mut() {
                            open.step = if in_map { Step::Map(left) } else { Step::Array(left) };
                        }
                        let step = match kind {
                            HASH => Step::Map(count),
                            _ => Step::Array(count),
                        };
                        self.room.steps.push(Open { step, start: start as u32 });
                        (left, in_map) = (count, kind == HASH);
                        let event = match kind {
                            HASH => sink.begin_map(Some(count)),
                            _ => sink.begin_array(Some(count)),
                        };
                        emit!(start, false, event);
                        continue;
                    }
                    _ => leave!(in_map),
                }
            } else if kind == NIL {
                leaf!(at + 1, false, sink.null());
            } else if kind == TRUE || kind == FALSE {
                leaf!(at + 1, false, sink.bool(kind == TRUE));
            } else if kind == BIGNUM {
                if token_bytes >= 8
                    && let Some((negative, magnitude, end)) = big(bytes, at)
                {
                    let small = match negative {
                        false => i64::try_from(magnitude).ok(),
                        true => 0i64.checked_sub_unsigned(magnitude),
                    };
                    match small {
                        Some(v) => leaf!(end, true, sink.i64(v)),
                        None if !negative => leaf!(end, true, sink.u64(magnitude)),
                        None => {}
                    }
                }
            } else if kind == SYMLINK
                && let Some((text, end)) = self.linked_symbol(bytes, at)
            {
                leaf!(end, false, sink.ext(Ext::Symbol(text)));
            }
            odd!(in_map, false);
            left -= 1;
        }
    }

    /// Returns the text that the link at `at` names; its `end` is that of the link.
    #[inline(always)]
    fn linked_text(&self, bytes: &[u8], at: usize, encoding_link: Option<u8>) -> Option<Text> {
        let (target, end) = self.target(bytes, at)?;
        if *bytes.get(target)? != IVARS {
            return None;
        }
        let text =
            text_at(bytes, target, encoding_link).or_else(|| first_text_at(bytes, target))?;
        Some(Text { end, ..text })
    }

    /// Returns the float that the link at `at` names, its place, and the place after the link.
    #[inline]
    fn linked_float(&self, bytes: &[u8], at: usize) -> Option<(usize, f64, usize)> {
        let (target, end) = self.target(bytes, at)?;
        if *bytes.get(target)? != FLOAT {
            return None;
        }
        let (length, text) = long(bytes, target + 1)?;
        let v = float::read_at(bytes, text, text + usize::try_from(length).ok()?)?;
        Some((target, v, end))
    }

    /// Returns the place of the object that the link at `at` names, and the place after the link.
    #[inline(always)]
    fn target(&self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        let (index, end) = long(bytes, at + 1)?;
        let target = *self.scanner.tables.objects.get(usize::try_from(index).ok()?)?;
        Some((target as usize, end))
    }

    /// Reads text of any length, if it is valid in its encoding. A repeat of it is charged to the
    /// budget.
    #[inline(never)]
    fn long_text(&mut self, bytes: &'d [u8], text: Text, kind: u8) -> Option<&'d str> {
        let found = from_utf8(&bytes[text.start..text.start + text.length])?;
        if text.ascii && !found.is_ascii() {
            return None;
        }
        if kind == LINK {
            self.state.budget = self.state.budget.checked_sub(text.length as u64 / LEAF_BYTES)?;
        }
        Some(found)
    }

    /// Returns the symbol that the link at `at` names, if it is ASCII and has no instance
    /// variables.
    #[inline]
    fn linked_symbol(&self, bytes: &'d [u8], at: usize) -> Option<(&'d str, usize)> {
        let (index, end) = long(bytes, at + 1)?;
        let symbol = self.scanner.tables.symbols.get(usize::try_from(index).ok()?)?;
        let start = symbol.at as usize;
        let raw = bytes.get(start..start + symbol.length as usize)?;
        let text = from_utf8(raw).filter(|text| text.is_ascii() && !symbol.ivars)?;
        Some((text, end))
    }
}
