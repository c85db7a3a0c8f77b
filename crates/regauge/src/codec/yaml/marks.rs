//! Finds what parsers of YAML read differently: flow collections, anchors and tags.

use std::ops::Range;

use super::breaks::Breaks;
use super::event::{Handler, Props, Span, Style};
use super::machine::Machine;
use super::reader::run;
use crate::bytes::reader::Status;
use crate::options::yaml::Schema;
use crate::{Limits, Result};

/// What [`marks`] has found in a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// The lines that the outermost flow collections take, as ranges of bytes.
    pub flow_lines: Vec<Range<usize>>,
    /// The names of the anchors, in order.
    pub anchors: Vec<String>,
    /// Whether there is an alias.
    pub has_alias: bool,
    /// Whether there is a tag.
    pub has_tag: bool,
    /// Whether there is the non-specific tag `!`.
    pub has_bare_tag: bool,
}

/// Returns the marks of a stream. Parsers of YAML agree on the rest far more often than on these.
///
/// # Errors
/// Those of the grammar, as in reading.
pub(super) fn marks(bytes: &[u8], schema: Schema, limits: Limits) -> Result<Marks> {
    let mut machine = Machine::new(limits);
    let mut breaks = schema.is_old().then(Breaks::default);
    let mut finder =
        Finder { bytes, token: 0..0, open: Vec::new(), start: 0, marks: Marks::default() };
    let mut pos = 0;
    while run(&mut machine, &mut breaks, &mut finder, bytes, &mut pos, true)? != Status::End {}
    Ok(finder.marks)
}

struct Finder<'b> {
    bytes: &'b [u8],
    /// Where the last token stands.
    token: Range<usize>,
    /// For each collection that is open, whether it is a flow collection.
    open: Vec<bool>,
    /// Where the outermost flow collection begins.
    start: usize,
    marks: Marks,
}

impl Finder<'_> {
    fn is_in_flow(&self) -> bool {
        self.open.last() == Some(&true)
    }

    fn begin(&mut self, props: &Props, flow: bool) {
        self.props(props);
        if flow && !self.is_in_flow() {
            self.start = self.token.start;
        }
        self.open.push(flow);
    }

    fn end(&mut self) {
        if self.open.pop() == Some(true) && !self.is_in_flow() {
            self.add_lines(self.start, self.token.end);
        }
    }

    fn add_lines(&mut self, start: usize, end: usize) {
        let before = memchr::memrchr(b'\n', &self.bytes[..start]);
        let after = memchr::memchr(b'\n', &self.bytes[end..]);
        let lines = before.map_or(0, |at| at + 1)..after.map_or(self.bytes.len(), |at| end + at);
        match self.marks.flow_lines.last_mut() {
            Some(last) if lines.start <= last.end => last.end = lines.end,
            _ => self.marks.flow_lines.push(lines),
        }
    }

    fn props(&mut self, props: &Props) {
        self.marks.anchors.extend(props.anchor().map(str::to_owned));
        self.marks.has_tag |= props.has_tag;
        self.marks.has_bare_tag |= props.tag() == Some("!");
    }
}

impl Handler for Finder<'_> {
    fn token(&mut self, start: u64, end: u64) {
        self.token = start as usize..end as usize;
    }
    fn begin_document(&mut self, _: bool) -> Result {
        Ok(())
    }
    fn end_document(&mut self, _: bool) -> Result {
        Ok(())
    }
    fn begin_sequence(&mut self, props: &Props, flow: bool, _: bool) -> Result {
        self.begin(props, flow);
        Ok(())
    }
    fn end_sequence(&mut self) -> Result {
        self.end();
        Ok(())
    }
    fn begin_mapping(&mut self, props: &Props, flow: bool, _: bool) -> Result {
        self.begin(props, flow);
        Ok(())
    }
    fn end_mapping(&mut self) -> Result {
        self.end();
        Ok(())
    }
    fn plain(&mut self, _: Span<'_>, _: bool) -> Result {
        Ok(())
    }
    fn quoted(&mut self, _: Span<'_>, _: Style, _: bool) -> Result {
        Ok(())
    }
    fn scalar(&mut self, props: &Props, _: Style, _: &str, _: bool) -> Result {
        self.props(props);
        Ok(())
    }
    fn alias(&mut self, _: &str, _: bool) -> Result {
        self.marks.has_alias = true;
        Ok(())
    }
}
