//! Reads calls of harmless constructors as the values they represent: see the table in `known.rs`.

use std::borrow::Cow;

use super::arena::{Arena, Kind, NOTHING, Node, Step};
use super::known::{What, find};
use super::numpy::{self, Ndarray};
use super::text::latin1_bytes;
use crate::model::{number, time};
use crate::policy::event::Timestamp;

/// What a call represents.
#[derive(Debug)]
pub(super) enum Meaning<'i> {
    Bytes(Cow<'i, [u8]>),
    ByteArray(Cow<'i, [u8]>),
    Date(String),
    Time {
        text: String,
        fold: bool,
    },
    DateTime {
        text: String,
        fold: bool,
    },
    Timestamp(Timestamp),
    OffsetDateTime {
        text: String,
        fold: bool,
    },
    Duration {
        seconds: i64,
        nanoseconds: u32,
    },
    Decimal(Cow<'i, str>),
    /// NaN and infinities of `Decimal`.
    NoDecimal(Cow<'i, str>),
    Fraction(String),
    Uuid([u8; 16]),
    Complex(f64, f64),
    Range([Node; 3]),
    Slice([Node; 3]),
    Path {
        class: String,
        text: String,
    },
    /// A set of the members of the list with this index, if there is one.
    Set {
        frozen: bool,
        list: Option<u32>,
    },
    /// The items are the object's own.
    Deque {
        maxlen: Option<i64>,
    },
    /// The pairs are the object's own.
    OrderedDict,
    DefaultDict {
        factory: Option<String>,
    },
    /// The pairs are those of the dict with this index.
    Counter {
        dict: Option<u32>,
    },
    Ndarray(Ndarray<'i>),
    Scalar(Ndarray<'i>),
    /// Only within another: [`Meaning::DateTime`].
    TimeZone {
        offset: i64,
    },
}

/// Returns what the call or object with this index represents; `None` if it is not in the table, or
/// not in the form that the table has.
pub(super) fn understand<'i>(arena: &Arena, index: u32, input: &'i [u8]) -> Option<Meaning<'i>> {
    let call = Call::of(arena, index, input)?;
    let (what, arguments) = (call.what, call.arguments);
    // Text of a node, bytes of a node.
    let text = |node: Node| Arena::text(node, input);
    let bytes = |node: Node| bytes(arena, node, input);
    let plain = call.plain;
    Some(match (what, arguments) {
        (What::Bytes, []) if plain => Meaning::Bytes(Cow::Borrowed(&[])),
        (What::Encode, &[value, codec]) if plain && is_latin1(codec, input) => {
            Meaning::Bytes(latin1(value, input)?)
        }
        (What::ByteArray, []) if plain => Meaning::ByteArray(Cow::Borrowed(&[])),
        (What::ByteArray, &[value]) if plain => Meaning::ByteArray(bytes(value)?),
        (What::ByteArray, &[value, codec]) if plain && is_latin1(codec, input) => {
            Meaning::ByteArray(latin1(value, input)?)
        }
        (What::Date, &[value]) if plain => {
            let &[high, low, month, day] = &*bytes(value)? else { return None };
            Meaning::Date(date([high, low], month, day)?)
        }
        (What::Time, &[value]) if plain => {
            let six: [u8; 6] = bytes(value)?.as_ref().try_into().ok()?;
            let (text, fold) = time_of_day(six)?;
            Meaning::Time { text, fold }
        }
        (What::DateTime, &[value, ref zone @ ..]) if plain && zone.len() < 2 => {
            let ten: [u8; 10] = bytes(value)?.as_ref().try_into().ok()?;
            date_time(ten, zone.first().copied(), arena, input)?
        }
        (What::TimeDelta, &[Node::Int(_, days), Node::Int(_, seconds), Node::Int(_, micros)])
            if plain =>
        {
            let fits = days.unsigned_abs() <= 999_999_999
                && (0..86_400).contains(&seconds)
                && (0..1_000_000).contains(&micros);
            // Not computed before it is known to fit.
            fits.then(|| Meaning::Duration {
                seconds: days * 86_400 + seconds,
                nanoseconds: micros as u32 * 1000,
            })?
        }
        (What::TimeZone, &[Node::Object(_, delta)]) if plain => {
            // A time zone's offset is not an offset itself, so this goes down only one level.
            if Call::of(arena, delta, input)?.what != What::TimeDelta {
                return None;
            }
            match understand(arena, delta, input)? {
                Meaning::Duration { seconds, nanoseconds: 0 }
                    if seconds.unsigned_abs() < 86_400 =>
                {
                    Meaning::TimeZone { offset: seconds }
                }
                _ => return None,
            }
        }
        (What::Decimal, &[value]) if plain => {
            let text = text(value)?;
            if number::is_number(&text) {
                Meaning::Decimal(text)
            } else if is_no_decimal(&text) {
                Meaning::NoDecimal(text)
            } else {
                return None;
            }
        }
        (What::Fraction, &[value]) if plain => {
            let text = text(value)?;
            let digits = |part: &str| {
                !part.is_empty() && part.len() < 4300 && part.bytes().all(|b| b.is_ascii_digit())
            };
            let (above, below) = text.split_once('/').unwrap_or((&text, "1"));
            let fits = digits(above.strip_prefix('-').unwrap_or(above))
                && digits(below)
                && below.bytes().any(|b| b != b'0');
            fits.then(|| Meaning::Fraction(text.into_owned()))?
        }
        (What::Fraction, &[Node::Int(_, above), Node::Int(_, below)]) if plain && below > 0 => {
            Meaning::Fraction(if below == 1 {
                above.to_string()
            } else {
                format!("{above}/{below}")
            })
        }
        (What::Uuid, []) => Meaning::Uuid(uuid(&call, arena, input)?),
        (What::Complex, &[Node::Float(_, real), Node::Float(_, imaginary)]) if plain => {
            Meaning::Complex(real, imaginary)
        }
        (What::Range, &[start @ Node::Int(..), stop @ Node::Int(..), step @ Node::Int(_, by)])
            if plain && by != 0 =>
        {
            Meaning::Range([start, stop, step])
        }
        (What::Slice, &[start, stop, step]) if plain => {
            let simple = |node: Node| matches!(node, Node::None(_) | Node::Int(..));
            let fits = simple(start) && simple(stop) && simple(step);
            fits.then_some(Meaning::Slice([start, stop, step]))?
        }
        (What::Set | What::FrozenSet, arguments) if plain => {
            let list = one_of_kind(arena, arguments, Kind::List)?;
            Meaning::Set { frozen: what == What::FrozenSet, list }
        }
        (What::OrderedDict, []) if call.only(Step::SetItems) => Meaning::OrderedDict,
        (What::DefaultDict, arguments) if call.only(Step::SetItems) => {
            let factory = match *arguments {
                [] | [Node::None(_)] => None,
                [factory] => {
                    let (module, name) = arena.global(factory, input)?;
                    if find(&module, &name).is_none() || !arena.is_untouched(factory) {
                        return None;
                    }
                    Some(format!("{module}.{name}"))
                }
                _ => return None,
            };
            Meaning::DefaultDict { factory }
        }
        (What::Counter, arguments) if plain => {
            Meaning::Counter { dict: one_of_kind(arena, arguments, Kind::Dict)? }
        }
        (What::Deque, []) if call.only(Step::Append) => Meaning::Deque { maxlen: None },
        (What::Deque, &[Node::Object(_, items), Node::Int(_, maxlen)])
            if call.only(Step::Append) && maxlen >= 0 =>
        {
            let empty = arena.object(items).kind == Kind::Tuple && arena.count(items) == 0;
            empty.then_some(Meaning::Deque { maxlen: Some(maxlen) })?
        }
        (What::Path, parts) if plain => path(&call, parts, input)?,
        (What::Ndarray | What::Frombuffer, _) => {
            Meaning::Ndarray(numpy::array(&call, arena, input)?)
        }
        (What::Scalar, _) if plain => Meaning::Scalar(numpy::scalar(&call, arena, input)?),
        _ => return None,
    })
}

/// A call of something in the table.
pub(super) struct Call<'a, 'i> {
    pub what: What,
    pub arguments: &'a [Node],
    pub index: u32,
    /// Whether nothing was added to the result.
    pub plain: bool,
    module: Cow<'i, str>,
    name: Cow<'i, str>,
    arena: &'a Arena,
}

impl<'a, 'i> Call<'a, 'i> {
    /// Returns the call with this index, including one through `copyreg._reconstructor`.
    pub fn of(arena: &'a Arena, index: u32, input: &'i [u8]) -> Option<Call<'a, 'i>> {
        let kind = arena.object(index).kind;
        if !matches!(kind, Kind::Call | Kind::New) {
            return None;
        }
        let &[callee, Node::Object(_, arguments)] = arena.made_of(index) else { return None };
        let (mut module, mut name) = arena.global(callee, input)?;
        let mut what = find(&module, &name)?.what;
        let mut arguments = arena.made_of(arguments);
        if !arena.is_untouched(callee) {
            return None;
        }
        if what == What::Reconstructor {
            let &[class, base, Node::None(_)] = arguments else { return None };
            let (base_module, base_name) = arena.global(base, input)?;
            if base_module != "builtins" || base_name != "object" {
                return None;
            }
            (module, name) = arena.global(class, input)?;
            what = find(&module, &name)?.what;
            if what != What::Uuid || !arena.is_untouched(class) || !arena.is_untouched(base) {
                return None;
            }
            arguments = &[];
        } else if (kind == Kind::New) != (what == What::Uuid) {
            return None;
        }
        let plain = arena.first_chunk(index) == NOTHING;
        Some(Call { what, arguments, index, plain, module, name, arena })
    }

    /// Returns whether nothing was added except by this kind of step.
    pub fn only(&self, step: Step) -> bool {
        self.plain || self.arena.chunks(self.index).all(|chunk| chunk.step == step)
    }

    /// Returns what was passed to `BUILD`, if that was the only step and ran once.
    pub fn state(&self) -> Option<Node> {
        let mut chunks = self.arena.chunks(self.index);
        let (Some(chunk), None) = (chunks.next(), chunks.next()) else { return None };
        if chunk.step != Step::Build {
            return None;
        }
        self.arena.slots.get(chunk.start as usize).copied()
    }
}

/// Returns whether a call of something in the table is harmless: it is read as a value, or is part
/// of one that would be.
pub(super) fn is_harmless(arena: &Arena, index: u32, input: &[u8]) -> bool {
    if understand(arena, index, input).is_some() {
        return true;
    }
    let Some(call) = Call::of(arena, index, input) else { return false };
    match call.what {
        What::Dtype | What::Ndarray => numpy::is_harmless(&call, arena, input),
        What::ZoneInfo => match *call.arguments {
            [key] => call.plain && Arena::text(key, input).is_some(),
            _ => false,
        },
        // A zone with a name, and a time in such a zone.
        What::TimeZone | What::DateTime | What::Time if call.plain => {
            let part = |node: &Node| match node {
                Node::Object(_, index) => {
                    let what = Call::of(arena, *index, input).map(|call| call.what);
                    matches!(
                        (call.what, what),
                        (What::TimeZone, Some(What::TimeDelta))
                            | (
                                What::DateTime | What::Time,
                                Some(What::TimeZone | What::ZoneInfo | What::Encode)
                            )
                    )
                }
                _ => true,
            };
            call.arguments.len() < 3 && call.arguments.iter().all(part)
        }
        _ => false,
    }
}

/// Accepts no argument, or a single list (or dict).
fn one_of_kind(arena: &Arena, arguments: &[Node], kind: Kind) -> Option<Option<u32>> {
    match *arguments {
        [] => Some(None),
        [Node::Object(_, index)] if arena.object(index).kind == kind => Some(Some(index)),
        _ => None,
    }
}

/// Returns bytes, whatever the protocol.
pub(super) fn bytes<'i>(arena: &Arena, node: Node, input: &'i [u8]) -> Option<Cow<'i, [u8]>> {
    match node {
        Node::Bytes(_, span) => Some(Cow::Borrowed(span.of(input))),
        Node::Old(..) | Node::OldEscaped(..) => Arena::old_bytes(node, input),
        Node::Object(_, index) => {
            if arena.object(index).kind == Kind::ByteArray {
                let &[Node::Bytes(_, span)] = arena.made_of(index) else { return None };
                return Some(Cow::Borrowed(span.of(input)));
            }
            // Checked first, so that this goes down only one level.
            if !matches!(Call::of(arena, index, input)?.what, What::Encode | What::Bytes) {
                return None;
            }
            match understand(arena, index, input)? {
                Meaning::Bytes(bytes) => Some(bytes),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_latin1(node: Node, input: &[u8]) -> bool {
    Arena::text(node, input).is_some_and(|text| matches!(&*text, "latin1" | "latin-1"))
}

/// Returns the bytes that a text represents in Latin-1.
fn latin1(node: Node, input: &[u8]) -> Option<Cow<'_, [u8]>> {
    match Arena::text(node, input)? {
        Cow::Borrowed(text) => latin1_bytes(text),
        Cow::Owned(text) => Some(Cow::Owned(latin1_bytes(&text)?.into_owned())),
    }
}

fn date(year: [u8; 2], month: u8, day: u8) -> Option<String> {
    let year = u16::from_be_bytes(year);
    let text = format!("{year:04}-{month:02}-{day:02}");
    // That parser knows the calendar; Python's begins with the year 1.
    let valid = year > 0 && time::parse_rfc3339(&format!("{text}T00:00:00Z")).is_some();
    valid.then_some(text)
}

/// Returns the time, and whether it is the second occurrence after a clock was set back.
fn time_of_day([hour, minute, second, us @ ..]: [u8; 6]) -> Option<(String, bool)> {
    let (fold, hour) = (hour >= 0x80, hour & 0x7F);
    clock(hour, minute, second, us).map(|text| (text, fold))
}

fn clock(hour: u8, minute: u8, second: u8, [a, b, c]: [u8; 3]) -> Option<String> {
    let micros = u32::from_be_bytes([0, a, b, c]);
    if hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
        return None;
    }
    let mut text = format!("{hour:02}:{minute:02}:{second:02}");
    if micros > 0 {
        text.push_str(format!(".{micros:06}").trim_end_matches('0'));
    }
    Some(text)
}

fn date_time<'i>(
    [high, low, month, day, hour, minute, second, us @ ..]: [u8; 10],
    zone: Option<Node>,
    arena: &Arena,
    input: &[u8],
) -> Option<Meaning<'i>> {
    let (fold, month) = (month >= 0x80, month & 0x7F);
    let mut text = date([high, low], month, day)?;
    text.push('T');
    text.push_str(&clock(hour, minute, second, us)?);
    let Some(zone) = zone else { return Some(Meaning::DateTime { text, fold }) };
    let Node::Object(_, zone) = zone else { return None };
    if Call::of(arena, zone, input)?.what != What::TimeZone {
        return None;
    }
    let Meaning::TimeZone { offset } = understand(arena, zone, input)? else { return None };
    if offset == 0 && !fold {
        return time::parse_rfc3339(&format!("{text}Z")).map(Meaning::Timestamp);
    }
    let sign = if offset < 0 { '-' } else { '+' };
    let offset = offset.unsigned_abs();
    text.push_str(&format!("{sign}{:02}:{:02}", offset / 3600, offset / 60 % 60));
    if offset % 60 > 0 {
        text.push_str(&format!(":{:02}", offset % 60));
    }
    Some(Meaning::OffsetDateTime { text, fold })
}

/// Returns whether the text is what `str()` of a `Decimal` gives for values that are not numbers.
fn is_no_decimal(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let payload = text.strip_prefix("sNaN").or_else(|| text.strip_prefix("NaN"));
    text == "Infinity"
        || payload.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

fn uuid(call: &Call<'_, '_>, arena: &Arena, input: &[u8]) -> Option<[u8; 16]> {
    let Node::Object(_, state) = call.state()? else { return None };
    if arena.object(state).kind != Kind::Dict {
        return None;
    }
    let &[key, value] = arena.single_run(state)? else { return None };
    if Arena::text(key, input)? != "int" {
        return None;
    }
    let number = match value {
        Node::Int(_, v) => u128::try_from(v).ok()?,
        Node::Long(_, span) => {
            let bytes = span.of(input);
            // A leading zero byte keeps the value positive.
            let bytes = match bytes {
                [bytes @ .., 0] => bytes,
                bytes if bytes.last()? < &0x80 => bytes,
                _ => return None,
            };
            let mut sixteen = [0; 16];
            sixteen.get_mut(..bytes.len())?.copy_from_slice(bytes);
            u128::from_le_bytes(sixteen)
        }
        Node::LongText(_, span) => std::str::from_utf8(span.of(input)).ok()?.parse().ok()?,
        _ => return None,
    };
    Some(number.to_be_bytes())
}

/// Reads a path from its parts, the first of which may be a root, or, from Python 3.14 on, from the
/// whole path as its one part. Only paths that read alike both ways are accepted.
fn path<'i>(call: &Call<'_, '_>, parts: &[Node], input: &[u8]) -> Option<Meaning<'i>> {
    let separator = if call.name.contains("Windows") { '\\' } else { '/' };
    let mut path = String::new();
    for part in parts {
        let part = Arena::text(*part, input)?;
        // A part that starts again would replace those before it.
        if !path.is_empty() && (part.starts_with(separator) || part.contains(':')) {
            return None;
        }
        if !path.is_empty() && !path.ends_with(separator) {
            path.push(separator);
        }
        path.push_str(&part);
    }
    if parts.is_empty() {
        path.push('.');
    }
    let class = format!("{}.{}", call.module, call.name);
    is_normal(&path, separator).then_some(Meaning::Path { class, text: path })
}

/// Returns whether Python would show a path as it is written.
fn is_normal(path: &str, separator: char) -> bool {
    let is_root = match separator {
        '/' => path == "/",
        _ => matches!(path.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\']),
    };
    if is_root || path == "." {
        return true;
    }
    let windows = separator == '\\';
    let inner = if windows { path } else { path.strip_prefix('/').unwrap_or(path) };
    let is_plain = |part: &str| !part.is_empty() && part != ".";
    !path.contains('\0')
        && !(windows && (path.contains('/') || path.ends_with(':')))
        && inner.split(separator).all(is_plain)
}
