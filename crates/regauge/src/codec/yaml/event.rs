//! The events of the grammar: those of YAML's own serialization tree (YAML 1.2.2 §3.1), before any
//! schema is applied.

use crate::Result;

/// The style of a scalar in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    Double,
    Literal,
    Folded,
}

/// The anchor and the tag of a node.
#[derive(Debug, Default)]
pub(super) struct Props {
    pub(super) anchor: String,
    pub(super) has_anchor: bool,
    /// The full tag: `tag:yaml.org,2002:str`, `!local`, or the non-specific `!`.
    pub(super) tag: String,
    pub(super) has_tag: bool,
    /// The offset of the anchor in the whole input.
    pub(super) offset: u64,
}

impl Props {
    pub(super) const NONE: &'static Props = &Props {
        anchor: String::new(),
        has_anchor: false,
        tag: String::new(),
        has_tag: false,
        offset: 0,
    };

    pub(super) fn any(&self) -> bool {
        self.has_anchor || self.has_tag
    }

    pub(super) fn anchor(&self) -> Option<&str> {
        self.has_anchor.then_some(&self.anchor)
    }

    pub(super) fn tag(&self) -> Option<&str> {
        self.has_tag.then_some(&self.tag)
    }

    pub(super) fn clear(&mut self) {
        (self.has_anchor, self.has_tag) = (false, false);
        self.anchor.clear();
        self.tag.clear();
    }
}

/// Text of the input, and the window that contains it.
#[derive(Clone, Copy)]
pub(super) struct Span<'a> {
    pub(super) window: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'a> Span<'a> {
    pub(super) fn text(self) -> &'a str {
        &self.window[self.start..self.end]
    }

    /// Returns the window from the start of the text on.
    #[inline(always)]
    pub(super) fn tail(self) -> &'a [u8] {
        &self.window.as_bytes()[self.start..]
    }
}

/// Receives the events. `key` says that the node is a mapping's key.
pub(super) trait Handler {
    /// Takes where the token of the next event stands in the whole input. Nodes without content have
    /// none, and neither have the beginnings and ends of collections that no bracket marks.
    #[inline(always)]
    fn token(&mut self, start: u64, end: u64) {
        let _ = (start, end);
    }
    /// Takes where the dash of the next item of a block sequence stands.
    #[inline(always)]
    fn dash(&mut self, at: u64) {
        let _ = at;
    }
    fn begin_document(&mut self, explicit: bool) -> Result;
    fn end_document(&mut self, explicit: bool) -> Result;
    fn begin_sequence(&mut self, props: &Props, flow: bool, key: bool) -> Result;
    fn end_sequence(&mut self) -> Result;
    fn begin_mapping(&mut self, props: &Props, flow: bool, key: bool) -> Result;
    fn end_mapping(&mut self) -> Result;
    /// Handles a plain scalar on one line without anchor and tag, like nearly all scalars.
    fn plain(&mut self, span: Span<'_>, key: bool) -> Result;
    /// Handles a quoted scalar that needs no unescaping or folding.
    fn quoted(&mut self, span: Span<'_>, style: Style, key: bool) -> Result {
        self.scalar(Props::NONE, style, span.text(), key)
    }
    fn scalar(&mut self, props: &Props, style: Style, text: &str, key: bool) -> Result;
    fn alias(&mut self, name: &str, key: bool) -> Result;
}
