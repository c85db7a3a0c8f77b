//! Finds where the nodes stand in a stream.

use super::breaks::Breaks;
use super::event::{Handler, Props, Span, Style};
use super::machine::Machine;
use super::reader::run;
use crate::bytes::reader::Status;
use crate::model::place::{Form, Place, Places};
use crate::options::yaml::Options;
use crate::{Limits, Result};

/// Returns the places of the documents of a stream.
///
/// # Errors
/// Those of the grammar, as in reading.
pub(crate) fn places(bytes: &[u8], options: &Options, limits: Limits) -> Result<Vec<Place>> {
    let old = options.schema.is_old();
    let mut machine = Machine::new(limits);
    let mut breaks = old.then(Breaks::default);
    let mut finder = Finder {
        bytes,
        old,
        at: None,
        item: None,
        key_depth: 0,
        key_start: 0,
        places: Places::default(),
    };
    let mut pos = 0;
    while run(&mut machine, &mut breaks, &mut finder, bytes, &mut pos, true)? != Status::End {}
    Ok(finder.places.roots)
}

/// Collects the places.
struct Finder<'b> {
    bytes: &'b [u8],
    /// Whether `<<` is the merge key.
    old: bool,
    /// The token of the next event; `None` if it has none.
    at: Option<(usize, usize)>,
    /// Where the last dash stands, until its item comes.
    item: Option<usize>,
    /// How many collections are open that are a key, or in one, and where the outermost begins.
    key_depth: usize,
    key_start: usize,
    places: Places,
}

impl Finder<'_> {
    /// Begins the entry of a key.
    fn key(&mut self, start: usize, end: usize, merges: bool) {
        let rest = &self.bytes[end..];
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let mark = (rest.get(blanks) == Some(&b':')).then_some(end + blanks + 1);
        self.places.entry(start, mark, merges);
    }

    /// Begins the item of the last dash, unless a key has begun an entry.
    fn begin_item(&mut self) {
        if let Some(dash) = self.item.take() {
            self.places.entry(dash, Some(dash + 1), false);
        }
    }

    fn scalar(&mut self, form: Form, text: &str, key: bool) {
        let at = self.at.take();
        if self.key_depth > 0 {
            return;
        }
        match (at, key) {
            (Some((start, end)), true) => {
                let merges = self.old && form == Form::Plain && text == "<<";
                self.key(start, end, merges);
            }
            // An empty key has no place that could be told from others.
            (None, true) => self.places.entry(usize::MAX, None, false),
            (Some((start, end)), false) => {
                self.begin_item();
                self.places.value(start..end, form);
            }
            (None, false) => {
                self.begin_item();
                self.places.missing(usize::MAX);
            }
        }
    }

    fn begin(&mut self, flow: bool, key: bool) {
        let at = self.at.take();
        if key || self.key_depth > 0 {
            if self.key_depth == 0 {
                self.key_start = at.map_or(usize::MAX, |(start, _)| start);
            }
            self.key_depth += 1;
            return;
        }
        self.begin_item();
        let form = if flow { Form::Flow } else { Form::Block };
        self.places.begin(at.map(|(start, _)| start), form);
    }

    fn end(&mut self) {
        let at = self.at.take();
        if self.key_depth == 0 {
            return self.places.end(at.map(|(_, end)| end));
        }
        self.key_depth -= 1;
        if self.key_depth == 0 {
            match at {
                Some((_, end)) => self.key(self.key_start, end, false),
                None => self.places.entry(usize::MAX, None, false),
            }
        }
    }
}

impl Handler for Finder<'_> {
    fn token(&mut self, start: u64, end: u64) {
        self.at = Some((start as usize, end as usize));
    }
    fn dash(&mut self, at: u64) {
        self.item = Some(at as usize);
    }
    fn begin_document(&mut self, _: bool) -> Result {
        (self.at, self.item) = (None, None);
        Ok(())
    }
    fn end_document(&mut self, _: bool) -> Result {
        Ok(())
    }
    fn begin_sequence(&mut self, _: &Props, flow: bool, key: bool) -> Result {
        self.begin(flow, key);
        Ok(())
    }
    fn end_sequence(&mut self) -> Result {
        self.end();
        Ok(())
    }
    fn begin_mapping(&mut self, _: &Props, flow: bool, key: bool) -> Result {
        self.begin(flow, key);
        Ok(())
    }
    fn end_mapping(&mut self) -> Result {
        self.end();
        Ok(())
    }
    fn plain(&mut self, span: Span<'_>, key: bool) -> Result {
        self.scalar(Form::Plain, span.text(), key);
        Ok(())
    }
    fn scalar(&mut self, _: &Props, style: Style, text: &str, key: bool) -> Result {
        let form = match style {
            Style::Plain => Form::Plain,
            Style::Single => Form::Single,
            Style::Double => Form::Double,
            Style::Literal | Style::Folded => Form::Lines,
        };
        self.scalar(form, text, key);
        Ok(())
    }
    fn alias(&mut self, _: &str, key: bool) -> Result {
        self.scalar(Form::Alias, "", key);
        Ok(())
    }
}
