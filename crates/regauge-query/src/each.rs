//! `--each`: runs a filter over the elements at a path while the document is read, so that a
//! document of any size needs no more memory than its largest element.

use std::str::FromStr;

use regauge::model::path;
use regauge::{BigInt, Error, ErrorKind, Ext, Fidelity, Path, Result, Sink, Type, Value, Writer};

use crate::stage::{Through, placed};

/// A path such as `.items[]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Each {
    steps: Vec<Step>,
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// `.name`: what stands under a key.
    Key(String),
    /// `[]`: every element of an array, or every value of a map.
    All,
}

impl Each {
    /// Takes the path off a filter that begins with one that leads to elements: `.items[] | f` is `f`
    /// over each of `.items[]`, and `.items[].name | f` is `.name | f` over each, which gives null where an element
    /// has no name.
    pub fn split(code: &str) -> Option<(Each, &str)> {
        let (mut steps, mut rest) = (Vec::new(), code.trim_start());
        // `[]` is an empty array.
        if !rest.starts_with('.') {
            return None;
        }
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        // What is left for each element, once the path has led to them.
        let mut of_each = None;
        while let Some((step, after)) = Step::take(rest, is_part) {
            // `.5` is a number.
            if matches!(&step, Step::Key(key) if key.starts_with(|c: char| c.is_ascii_digit())) {
                return None;
            }
            if step != Step::All && steps.last() == Some(&Step::All) {
                of_each.get_or_insert(rest);
            }
            if of_each.is_none() {
                steps.push(step);
            }
            rest = after;
        }
        let filter = rest.trim_start().strip_prefix('|')?;
        // `|=` is an update.
        let is_split = steps.contains(&Step::All) && !filter.starts_with('=');
        is_split.then_some((Each { steps }, of_each.unwrap_or(filter)))
    }
}

impl Step {
    /// Takes a step off a text: `.name`, `."any name"`, `[]` or `.[]`.
    fn take(text: &str, is_part: impl Fn(char) -> bool) -> Option<(Step, &str)> {
        if let Some(after) = text.strip_prefix(".[]").or_else(|| text.strip_prefix("[]")) {
            return Some((Step::All, after));
        }
        let name = text.strip_prefix('.')?;
        let (key, after) = match name.strip_prefix('"') {
            // An escape, or an interpolation, is for the parser of filters.
            Some(quoted) => quoted.split_once('"').filter(|(key, _)| !key.contains('\\'))?,
            None => name.split_at(name.find(|c| !is_part(c)).unwrap_or(name.len())),
        };
        (!key.is_empty()).then(|| (Step::Key(key.to_owned()), after))
    }
}

impl FromStr for Each {
    type Err = String;

    /// Parses `.name`, `."any name"` and `[]`, in any sequence; `.` is the whole document.
    fn from_str(text: &str) -> std::result::Result<Each, String> {
        let (mut steps, mut rest) = (Vec::new(), if text == "." { "" } else { text });
        while let Some((step, after)) = Step::take(rest, |c| !matches!(c, '.' | '[')) {
            steps.push(step);
            rest = after;
        }
        match rest {
            "" => Ok(Each { steps }),
            _ => Err(format!(
                "found `{rest}` in the path `{text}`, expected steps such as `.items` and `[]`"
            )),
        }
    }
}

impl std::fmt::Display for Each {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.steps.iter().try_for_each(|step| match step {
            Step::Key(key) => write!(f, ".{key}"),
            Step::All => f.write_str("[]"),
        })
    }
}

/// A container or a type on the path that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// The container that this step goes into.
    Step(usize),
    Typed,
}

/// Sends the elements at a path to the filter, and drops the rest.
pub(crate) struct Walk<'w> {
    each: &'w Each,
    open: Vec<Open>,
    /// Steps that have been taken.
    taken: usize,
    /// Where each of them led.
    place: Vec<path::Step>,
    /// Containers and types that are open in a value beside the path.
    skipping: usize,
    /// Whether the next value is on the path.
    wanted: bool,
    /// Whether the path led somewhere in this document.
    found: bool,
    through: Through<'w>,
}

impl<'w> Walk<'w> {
    pub fn new(each: &'w Each, through: Through<'w>) -> Walk<'w> {
        let (open, place) = (Vec::new(), Vec::new());
        let (taken, skipping, wanted, found) = (0, 0, true, false);
        Walk { each, open, taken, place, skipping, wanted, found, through }
    }

    fn is_inside(&self) -> bool {
        self.through.builder.depth() > 0
    }

    /// Returns whether the next value is an element for the filter, or a part of one.
    fn is_element(&self) -> bool {
        self.is_inside() || (self.wanted && self.taken == self.each.steps.len())
    }

    /// Returns where the current value is.
    fn here(&self) -> Path {
        Path(self.place.clone())
    }

    /// Called after each value on the path or beside it.
    fn after_value(&mut self) {
        if let (Some(Open::Step(_)), Some(path::Step::Index(at))) =
            (self.open.last(), self.place.last_mut())
        {
            *at += 1;
        }
        self.wanted = match self.open.last() {
            Some(Open::Step(step)) => self.each.steps[*step] == Step::All,
            Some(Open::Typed) => false,
            None => true,
        };
    }

    /// Receives a value that is not a container.
    fn leaf(&mut self, found: &str, build: impl FnOnce(&mut Through<'w>) -> Result) -> Result {
        if self.skipping > 0 {
            return Ok(());
        }
        if self.is_element() {
            build(&mut self.through)?;
            return self.settle();
        }
        if self.wanted {
            return Err(self.misses(found));
        }
        self.after_value();
        Ok(())
    }

    /// Runs the filter if an element is complete.
    #[inline]
    fn settle(&mut self) -> Result {
        if self.is_inside() { Ok(()) } else { self.end_element() }
    }

    /// Runs the filter over an element. Each event asks whether to, which this must not slow down.
    #[inline(never)]
    fn end_element(&mut self) -> Result {
        self.found = true;
        self.through.end_value().map_err(|error| placed(error, self.here()))?;
        self.after_value();
        Ok(())
    }

    fn misses(&self, found: &str) -> Error {
        let place = Each { steps: self.each.steps[..self.taken].to_vec() };
        let place = if self.taken == 0 { "at the top".into() } else { format!("at {place}") };
        let step = match &self.each.steps[self.taken] {
            Step::Key(key) => format!("a map with the key `{key}`"),
            Step::All => "an array or a map".to_owned(),
        };
        let message = format!("found {found} {place}, expected {step}");
        Error::new(ErrorKind::Data, message).at_path(self.here())
    }

    /// Opens a container; returns whether it belongs to an element.
    fn begin(&mut self, is_map: bool) -> Result<bool> {
        if self.skipping > 0 || (!self.is_element() && !self.wanted) {
            self.skipping += 1;
            return Ok(false);
        }
        if self.is_element() {
            return Ok(true);
        }
        let step = &self.each.steps[self.taken];
        if !is_map && *step != Step::All {
            return Err(self.misses("an array"));
        }
        self.wanted = *step == Step::All;
        // An empty container is something, too.
        self.found |= self.wanted;
        self.open.push(Open::Step(self.taken));
        self.taken += 1;
        self.place.push(match is_map {
            true => path::Step::Key("".into()),
            false => path::Step::Index(0),
        });
        Ok(false)
    }

    /// Closes a container; returns whether it belongs to an element.
    fn end(&mut self) -> bool {
        if self.skipping > 0 {
            self.skipping -= 1;
            if self.skipping == 0 {
                self.after_value();
            }
            return false;
        }
        if self.is_inside() {
            return true;
        }
        self.open.pop();
        self.place.pop();
        self.taken -= 1;
        self.after_value();
        false
    }
}

impl Sink for Walk<'_> {
    fn null(&mut self) -> Result {
        self.leaf("null", |through| through.null())
    }
    fn bool(&mut self, v: bool) -> Result {
        self.leaf("a boolean", |through| through.bool(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.leaf("an integer", |through| through.i64(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.leaf("an integer", |through| through.u64(v))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.leaf("a number", |through| through.f64(v))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.leaf("a number", |through| through.f32(v))
    }
    fn str(&mut self, v: &str) -> Result {
        self.leaf("a text", |through| through.str(v))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.leaf("binary data", |through| through.bytes(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.leaf("an integer", |through| through.big_int(v))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.leaf(v.type_name(), |through| through.ext(v))
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        if self.begin(false)? { self.through.begin_array(len) } else { Ok(()) }
    }
    fn end_array(&mut self) -> Result {
        if !self.end() {
            return Ok(());
        }
        self.through.end_array()?;
        self.settle()
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        if self.begin(true)? { self.through.begin_map(len) } else { Ok(()) }
    }
    fn key(&mut self, k: &str) -> Result {
        if self.skipping > 0 {
            return Ok(());
        }
        if self.is_inside() {
            return self.through.key(k);
        }
        if let Some(Open::Step(step)) = self.open.last() {
            self.wanted = match &self.each.steps[*step] {
                Step::Key(key) => key == k,
                Step::All => true,
            };
            if let (true, Some(place)) = (self.wanted, self.place.last_mut()) {
                *place = path::Step::Key(k.into());
            }
        }
        Ok(())
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if self.skipping > 0 {
            return Ok(());
        }
        if self.is_inside() {
            return self.through.key_value(k);
        }
        self.key(k.as_str().unwrap_or_default())
    }
    fn end_map(&mut self) -> Result {
        if !self.end() {
            return Ok(());
        }
        self.through.end_map()?;
        self.settle()
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if self.skipping > 0 || (!self.is_element() && !self.wanted) {
            self.skipping += 1;
            return Ok(());
        }
        if self.is_element() {
            return self.through.begin_typed(t);
        }
        self.open.push(Open::Typed);
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        if self.skipping > 0 || self.is_inside() {
            if !self.end() {
                return Ok(());
            }
            self.through.end_typed()?;
            return self.settle();
        }
        self.open.pop();
        self.after_value();
        Ok(())
    }
    fn holds_references(&mut self) -> bool {
        false
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.through.fidelity()
    }
}

impl Writer for Walk<'_> {
    fn end_document(&mut self) -> Result {
        self.wanted = true;
        if std::mem::take(&mut self.found) {
            return Ok(());
        }
        let message = format!("found nothing at {}", self.each);
        Err(Error::new(ErrorKind::Data, message).at_path(Path::default()))
    }

    fn finish(&mut self) -> Result {
        self.through.finish()
    }

    fn checkpoint(&mut self) {
        self.through.checkpoint();
    }

    fn rollback(&mut self) {
        (self.taken, self.skipping, self.wanted, self.found) = (0, 0, true, false);
        self.open.clear();
        self.place.clear();
        self.through.rollback();
    }

    fn columns(&mut self, row: &Value) -> Result {
        self.through.columns(row)
    }
}
