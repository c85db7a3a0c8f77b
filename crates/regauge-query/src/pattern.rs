//! The functions of regular expressions. jaq's own know ASCII only, leave out groups that took no part in a
//! match, and panic if a group matched before an earlier one.

use std::cell::RefCell;
use std::collections::VecDeque;

use jaq_core::Cv;
use jaq_std::ValT as _;
use regex::bytes::{Captures, Regex, RegexBuilder};

use crate::run::{Kind, error};
use crate::val::{Error, Val, ValR};

/// What the flags of a call say besides what they set in the expression.
#[derive(Clone, Copy, Default)]
struct Flags {
    global: bool,
    ignores_empty: bool,
}

/// What is wanted of a text: the matches, what is between them, or both in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    Matches,
    Between,
    Both,
}

/// Returns the matches of an expression, each as the array of its groups, the first of which is the
/// whole match; and the texts between them.
pub(crate) fn matches(mut cv: Cv<'_, Kind>, wanted: Wanted) -> ValR {
    let (flags, pattern) = (cv.0.pop_var(), cv.0.pop_var());
    let flags = if matches!(flags, Val::Null) { "" } else { text_of(&flags)? };
    let (pattern, flags) = compiled(text_of(&pattern)?, flags)?;
    let text = cv.1.try_as_utf8_bytes()?;
    let part = |from: usize, to: usize| cv.1.as_sub_str(&text[from..to]);
    let mut found = Vec::new();
    // How far the text was handed out, and how many characters come before.
    let (mut end, mut before, mut counted) = (0, 0, 0);
    for captures in pattern.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        if flags.ignores_empty && whole.as_bytes().is_empty() {
            continue;
        }
        before += characters(&text[counted..whole.start()]);
        counted = whole.start();
        if wanted != Wanted::Matches {
            found.push(part(end, whole.start()));
            end = whole.end();
        }
        let start = Start { byte: whole.start(), character: before };
        if wanted != Wanted::Between {
            found.push(groups(&pattern, &captures, text, &start, &part));
        }
        if !flags.global {
            break;
        }
    }
    if wanted != Wanted::Matches {
        found.push(part(end, text.len()));
    }
    Ok(Val::array(found))
}

/// Where a match begins.
struct Start {
    byte: usize,
    character: usize,
}

/// Returns the groups of a match as jq has them: one that took no part is at -1, and null.
fn groups(
    pattern: &Regex,
    captures: &Captures<'_>,
    text: &[u8],
    start: &Start,
    part: &dyn Fn(usize, usize) -> Val,
) -> Val {
    let named = captures.iter().zip(pattern.capture_names()).enumerate();
    let groups = named.map(|(number, (group, name))| {
        let (offset, length, found) = match group {
            Some(group) => (
                Val::from(start.character + characters(&text[start.byte..group.start()])),
                characters(group.as_bytes()),
                part(group.start(), group.end()),
            ),
            None => (Val::Int(-1), 0, Val::Null),
        };
        let fields = [("offset", offset), ("length", Val::from(length)), ("string", found)];
        let name = (number > 0).then(|| ("name", name.map_or(Val::Null, Val::from)));
        Val::map_of(fields.into_iter().chain(name).map(|(key, value)| (Val::from(key), value)))
    });
    Val::array(groups.collect())
}

fn text_of(val: &Val) -> Result<&str, Error> {
    val.text().ok_or_else(|| Error::typ(val.clone(), "string"))
}

/// Counts the characters of UTF-8.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// How many compiled expressions a thread keeps. A filter has few, and calls each for every document.
const KEPT: usize = 16;

/// An expression with its flags as they were given, and what was made of them.
type Kept = (String, String, Regex, Flags);

thread_local! {
    /// The latest first.
    static COMPILED: RefCell<VecDeque<Kept>> = const { RefCell::new(VecDeque::new()) };
}

/// Compiles an expression, or returns what this thread compiled before.
fn compiled(pattern: &str, letters: &str) -> Result<(Regex, Flags), Error> {
    COMPILED.with_borrow_mut(|kept| {
        let found = kept.iter().position(|(one, flags, ..)| one == pattern && flags == letters);
        let entry = match found.and_then(|at| kept.remove(at)) {
            Some(entry) => entry,
            None => {
                let (regex, flags) = compile(pattern, letters)?;
                (pattern.to_owned(), letters.to_owned(), regex, flags)
            }
        };
        let result = (entry.2.clone(), entry.3);
        kept.push_front(entry);
        kept.truncate(KEPT);
        Ok(result)
    })
}

fn compile(pattern: &str, letters: &str) -> Result<(Regex, Flags), Error> {
    let mut flags = Flags::default();
    let mut builder = RegexBuilder::new(pattern);
    for letter in letters.chars() {
        match letter {
            'g' => flags.global = true,
            'n' => flags.ignores_empty = true,
            'i' => _ = builder.case_insensitive(true),
            'm' => _ = builder.multi_line(true),
            // `^` and `$` match only at the ends of the text, as they do without it.
            's' => {}
            'l' => _ = builder.swap_greed(true),
            'x' => _ = builder.ignore_whitespace(true),
            'p' => _ = builder.dot_matches_new_line(true),
            other => {
                let message = format!("found the flag {other:?}, expected some of g i l m n p s x");
                return Err(error(message));
            }
        }
    }
    let regex = builder.build().map_err(|fault| error(format!("invalid regex: {fault}")))?;
    Ok((regex, flags))
}
