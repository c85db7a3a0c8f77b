//! MARCspec: places in a MARC record in the language of cataloguers, such as `245$a`.
//!
//! Source: [MARCspec, version 0.16](https://marcspec.github.io/MARCspec/marc-spec.html). Subspecs
//! (`245{…}`) are not supported. Beyond it, `650[_2]` names indicators: `_` is a blank, `*` any.

use std::ops::RangeInclusive;

use crate::val::{Error, Map, Val};

/// A specification: which fields, and what of them.
#[derive(Debug, PartialEq)]
struct Spec {
    /// Three characters; `.` stands for any. `LDR` is the leader.
    tag: [char; 3],
    fields: Pick,
    indicators: Option<[char; 2]>,
    wanted: Wanted,
}

/// What is wanted of a field.
#[derive(Debug, PartialEq)]
enum Wanted {
    /// All of it, or these characters of its text.
    Field(Option<Pick>),
    Indicator(u8),
    Subfields(Vec<Subfield>),
}

/// Subfields with a code in a range.
#[derive(Debug, PartialEq)]
struct Subfield {
    codes: RangeInclusive<char>,
    pick: Pick,
    characters: Option<Pick>,
}

/// Some of the elements of a sequence: an index, or a range of them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Pick {
    first: Bound,
    last: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    At(usize),
    /// `#`.
    Last,
}

const ALL: Pick = Pick { first: Bound::At(0), last: Bound::Last };

impl Pick {
    /// Parses `0`, `#`, `1-3`, `2-#` or `#-1`, which is the last two.
    fn parse(text: &str) -> Option<Pick> {
        let bound = |text: &str| match text {
            "#" => Some(Bound::Last),
            digits => digits.parse().ok().map(Bound::At),
        };
        match text.split_once('-') {
            Some((first, last)) => Some(Pick { first: bound(first)?, last: bound(last)? }),
            None => bound(text).map(|at| Pick { first: at, last: at }),
        }
    }

    /// Returns the positions in a sequence of this length, as a range without its end.
    fn within(self, length: usize) -> std::ops::Range<usize> {
        let (first, last) = match (self.first, self.last) {
            (Bound::At(first), Bound::At(last)) => (first, last.saturating_add(1)),
            (Bound::At(first), Bound::Last) => (first, length),
            (Bound::Last, Bound::At(before)) => {
                (length.saturating_sub(before.saturating_add(1)), length)
            }
            (Bound::Last, Bound::Last) => (length.saturating_sub(1), length),
        };
        let last = last.min(length);
        first.min(last)..last
    }
}

/// The key of a range of characters that only as many others may replace: in the leader and in control fields, the
/// position of a character says what it means.
const FIXED: &str = "fixed";

/// Returns whether only as many characters may replace those of a range.
pub(crate) fn is_fixed(range: &Map) -> bool {
    range.get(&Val::from(FIXED)).is_some()
}

/// Checks that what replaces the characters of such a range is as long as they are.
pub(crate) fn check_length(range: &Map, new: &Val, expected: usize) -> Result<(), Error> {
    let Some(text) = new.text() else { return Ok(()) };
    let found = text.chars().count();
    if found == expected {
        return Ok(());
    }
    let start = range.get(&Val::from("start")).unwrap_or(&Val::Int(0));
    Err(Error::str(format_args!(
        "found {found} characters at position {start} of a MARC field, expected {expected}: later \
         positions are fixed"
    )))
}

/// What is left of a specification while it is parsed.
struct Rest<'s> {
    whole: &'s str,
    left: &'s str,
}

impl<'s> Rest<'s> {
    fn fail(&self, expected: &str) -> Error {
        let at = self.whole.len() - self.left.len();
        let found = match self.left {
            "" => "the end".to_owned(),
            left => format!("`{left}`"),
        };
        let spec = self.whole;
        Error::str(format_args!(
            "found {found} in the MARCspec `{spec}`, position {at}, expected {expected}"
        ))
    }

    fn take(&mut self, prefix: char) -> bool {
        let rest = self.left.strip_prefix(prefix);
        self.left = rest.unwrap_or(self.left);
        rest.is_some()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.left.chars().next()?;
        self.left = &self.left[next.len_utf8()..];
        Some(next)
    }

    /// Takes everything up to a character, which is dropped.
    fn until(&mut self, end: char) -> Option<&'s str> {
        let (inside, rest) = self.left.split_once(end)?;
        self.left = rest;
        Some(inside)
    }

    /// Takes the positions of characters after a `/`.
    fn characters(&mut self) -> Result<Option<Pick>, Error> {
        if !self.take('/') {
            return Ok(None);
        }
        let end = self.left.find(|c: char| !c.is_ascii_digit() && c != '#' && c != '-');
        let (text, rest) = self.left.split_at(end.unwrap_or(self.left.len()));
        let pick =
            Pick::parse(text).ok_or_else(|| self.fail("positions such as `35-37` or `#`"))?;
        self.left = rest;
        Ok(Some(pick))
    }

    /// Takes an index in brackets.
    fn index(&mut self) -> Result<Pick, Error> {
        if !self.take('[') {
            return Ok(ALL);
        }
        let inside = self.until(']').ok_or_else(|| self.fail("a `]`"))?;
        Pick::parse(inside).ok_or_else(|| self.fail("an index such as `[0]`, `[#]` or `[1-2]`"))
    }
}

impl Spec {
    fn parse(text: &str) -> Result<Spec, Error> {
        let mut rest = Rest { whole: text, left: text };
        let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let mut tag = [' '; 3];
        for place in &mut tag {
            let next = rest.left.chars().next().filter(|c| is_tag(*c));
            *place = next.ok_or_else(|| rest.fail("a tag of three characters"))?;
            rest.next();
        }
        let mut spec = Spec { tag, fields: ALL, indicators: None, wanted: Wanted::Field(None) };
        if let Some(inside) = rest.left.strip_prefix('[').and_then(|left| left.split_once(']')) {
            match (inside.0.chars().collect::<Vec<_>>().as_slice(), Pick::parse(inside.0)) {
                (_, Some(pick)) => spec.fields = pick,
                ([first, second], None) => spec.indicators = Some([*first, *second]),
                _ => return Err(rest.fail("an index such as `[0]`, or indicators such as `[_2]`")),
            }
            rest.left = inside.1;
        }
        spec.wanted = match rest.left.chars().next() {
            None => Wanted::Field(None),
            Some('/') => Wanted::Field(rest.characters()?),
            Some('^') => {
                rest.next();
                match ['1', '2'].into_iter().find(|which| rest.take(*which)) {
                    Some(which) => Wanted::Indicator(which as u8 - b'0'),
                    None => return Err(rest.fail("`^1` or `^2`")),
                }
            }
            Some('$') => Wanted::Subfields(subfields(&mut rest)?),
            Some(_) => return Err(rest.fail("`[`, `$`, `^`, `/` or the end")),
        };
        match rest.left {
            "" => Ok(spec),
            _ => Err(rest.fail("the end; subspecs are not supported")),
        }
    }

    fn has_tag(&self, tag: &str) -> bool {
        let mut letters = tag.chars();
        let same = |wanted: &char| letters.next().is_some_and(|c| *wanted == '.' || *wanted == c);
        self.tag.iter().all(same) && letters.next().is_none()
    }

    fn has_indicators(&self, field: &Val) -> bool {
        let Some(wanted) = self.indicators else { return true };
        ["ind1", "ind2"].iter().zip(wanted).all(|(name, wanted)| {
            let found = field.at(&Val::from(*name)).ok().flatten();
            let found = found.as_ref().and_then(Val::text).and_then(|text| text.chars().next());
            match wanted {
                '*' => true,
                '_' | '#' => found.is_none_or(|c| c == ' '),
                wanted => found == Some(wanted),
            }
        })
    }
}

/// Takes one or more of `$a`, `$a-f` and `$a[0]/0-3`.
fn subfields(rest: &mut Rest<'_>) -> Result<Vec<Subfield>, Error> {
    let mut all = Vec::new();
    while rest.take('$') {
        let first = rest.next().ok_or_else(|| rest.fail("the code of a subfield"))?;
        let last = match rest.take('-') {
            true => rest.next().ok_or_else(|| rest.fail("the last code of a range"))?,
            false => first,
        };
        let (pick, characters) = (rest.index()?, rest.characters()?);
        all.push(Subfield { codes: first..=last, pick, characters });
    }
    Ok(all)
}

/// Returns the name and the value of a map with one pair, as fields and subfields are.
fn only_pair(val: &Val) -> Option<(&str, &Val)> {
    match val.untyped() {
        Val::Map(map) => match map.pairs() {
            [(name, value)] => Some((name.text()?, value)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the paths to what a specification names in a record, each an array.
///
/// # Errors
/// If the specification is wrong, or the value is not a record.
pub(crate) fn paths(record: &Val, spec: &Val) -> Result<Val, Error> {
    let text = spec.text().ok_or_else(|| Error::typ(spec.clone(), "MARCspec"))?;
    let spec = Spec::parse(text)?;
    let mut found = Found { paths: Vec::new(), path: Vec::new() };
    if spec.tag == ['L', 'D', 'R'] {
        if let (Wanted::Field(characters), Some(leader)) =
            (&spec.wanted, record.at(&Val::from("leader"))?)
        {
            found.inside(Val::from("leader"), |found| found.text(&leader, *characters, true));
        }
        return Ok(Val::array(found.paths));
    }
    let fields = record.at(&Val::from("fields"))?;
    let Some(Val::Array(fields)) = fields.as_ref().map(Val::untyped) else {
        return Err(Error::typ(record.clone(), "MARC record: a map with an array `fields`"));
    };
    let matching: Vec<_> = (fields.values.iter().enumerate())
        .filter_map(|(at, field)| only_pair(field).map(|(tag, value)| (at, tag, value)))
        .filter(|(_, tag, value)| spec.has_tag(tag) && spec.has_indicators(value))
        .collect();
    found.inside(Val::from("fields"), |found| {
        for (at, tag, value) in &matching[spec.fields.within(matching.len())] {
            found.inside(Val::from(*at), |found| {
                found.inside(Val::from(*tag), |found| found.field(value, &spec.wanted));
            });
        }
    });
    Ok(Val::array(found.paths))
}

/// Returns how many steps of a path lead to a record, if the path goes on to its fields.
pub(crate) fn steps_to_record(val: &Val, path: &[Val]) -> Option<usize> {
    let is_record = |at: &usize| {
        let record = path[..*at].iter().try_fold(val.clone(), |val, step| val.at(step).ok()?);
        let part = |name: &str| record.as_ref()?.at(&Val::from(name)).ok()?;
        part("leader").is_some_and(|leader| leader.text().is_some())
            && part("fields").is_some_and(|fields| matches!(fields.untyped(), Val::Array(_)))
    };
    let mut to_fields = (0..path.len()).filter(|at| path[*at].text() == Some("fields"));
    to_fields.find(is_record)
}

/// Returns a record without the fields and subfields that a filter has emptied: `{}` in an array, and a field with
/// nothing but such subfields.
pub(crate) fn without_emptied(record: &Val) -> Val {
    if !has_emptied(record) {
        return record.clone();
    }
    match record {
        Val::Array(list) => {
            list.values.iter().filter(|one| !is_emptied(one)).map(without_emptied).collect()
        }
        Val::Map(map) => {
            let pairs = map.pairs().iter();
            Val::map(pairs.map(|(key, value)| (key.clone(), without_emptied(value))).collect())
        }
        _ => record.clone(),
    }
}

fn has_emptied(val: &Val) -> bool {
    match val {
        Val::Array(list) => list.values.iter().any(|one| is_emptied(one) || has_emptied(one)),
        Val::Map(map) => map.pairs().iter().any(|(_, value)| has_emptied(value)),
        _ => false,
    }
}

fn is_emptied(val: &Val) -> bool {
    let is_empty = |val: &Val| matches!(val, Val::Map(map) if map.pairs().is_empty());
    let subfields = only_pair(val).and_then(|(_, field)| match field {
        Val::Map(field) => field.get(&Val::from("subfields")),
        _ => None,
    });
    is_empty(val)
        || matches!(subfields, Some(Val::Array(list))
            if !list.values.is_empty() && list.values.iter().all(is_empty))
}

/// The paths that were found, and the one that is being followed.
struct Found {
    paths: Vec<Val>,
    path: Vec<Val>,
}

impl Found {
    fn inside(&mut self, step: Val, follow: impl FnOnce(&mut Found)) {
        self.path.push(step);
        follow(self);
        self.path.pop();
    }

    fn add(&mut self) {
        self.paths.push(Val::array(self.path.clone()));
    }

    /// Adds a text, or some of its characters; `fixed` if only as many may replace them.
    fn text(&mut self, text: &Val, characters: Option<Pick>, fixed: bool) {
        let Some(pick) = characters else { return self.add() };
        let length = text.text().map_or(0, |text| text.chars().count());
        let range = pick.within(length);
        if !range.is_empty() {
            let bounds = [("start", range.start), ("end", range.end)];
            let slice = bounds.map(|(name, at)| (Val::from(name), Val::from(at)));
            let fixed = fixed.then(|| (Val::from(FIXED), Val::Bool(true)));
            self.inside(Val::map_of(slice.into_iter().chain(fixed)), Found::add);
        }
    }

    fn field(&mut self, field: &Val, wanted: &Wanted) {
        match wanted {
            Wanted::Field(None) => self.add(),
            Wanted::Field(Some(_)) if field.text().is_none() => {}
            Wanted::Field(characters) => self.text(field, *characters, true),
            Wanted::Indicator(which) => {
                let name = Val::from(format!("ind{which}"));
                if field.text().is_none() {
                    self.inside(name, Found::add);
                }
            }
            Wanted::Subfields(specs) => {
                let Ok(Some(list)) = field.at(&Val::from("subfields")) else { return };
                let Val::Array(list) = list.untyped() else { return };
                self.inside(Val::from("subfields"), |found| {
                    specs.iter().for_each(|spec| found.subfields(&list.values, spec));
                });
            }
        }
    }

    fn subfields(&mut self, list: &[Val], spec: &Subfield) {
        let has_code = |code: &str| {
            let mut letters = code.chars();
            letters.next().is_some_and(|c| spec.codes.contains(&c)) && letters.next().is_none()
        };
        let matching: Vec<_> = (list.iter().enumerate())
            .filter_map(|(at, one)| only_pair(one).map(|(code, text)| (at, code, text)))
            .filter(|(_, code, _)| has_code(code))
            .collect();
        for (at, code, text) in &matching[spec.pick.within(matching.len())] {
            self.inside(Val::from(*at), |found| {
                found.inside(Val::from(*code), |found| found.text(text, spec.characters, false));
            });
        }
    }
}
