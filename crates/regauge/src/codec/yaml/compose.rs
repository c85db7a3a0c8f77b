//! Turns the grammar's events into those of the sink: schema, tags, keys, anchors.

use super::event::{Handler, Props, Span, Style};
use super::meaning::{give, wanted};
use super::merge::OpenMaps;
use super::references::{Raw, References};
use super::schema::{self, Meaning};
use super::schema_11;
use super::tags::{self, Content};
use crate::model::hint::Hint;
use crate::model::number;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::options::yaml::{Options, Schema};
use crate::policy::event::{Origin, ShortText, Sink, Type};
use crate::policy::fidelity::LossKind;
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Limits, Result};

/// The state that persists between windows.
#[derive(Debug)]
pub(super) struct Composer {
    pub(super) options: Options,
    pub(super) limits: Limits,
    pub(super) refs: References,
    /// Whether the sink takes anchors and aliases.
    pub(super) holds: bool,
    /// How many collections are open in the input.
    pub(super) level: u32,
    /// How many collections are open for the sink, including those of aliases.
    pub(super) depth: u32,
    /// Open collections with an anchor or a tag around them.
    specials: Vec<Special>,
    /// Keys that are collections, which are sent whole.
    captures: Vec<Capture>,
    /// The keys of open mappings, and what is merged into them (YAML 1.1).
    pub(super) maps: OpenMaps,
    /// The value of a merge key that is recorded instead of sent: its level, and where it begins.
    pub(super) merging: Option<(u32, usize)>,
    pub(super) way: Way,
}

/// How nodes without tag and anchor are sent to the sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In the core schema, with nothing to remember.
    Core,
    /// In a schema of YAML 1.1, which remembers the keys of open mappings.
    Old,
    /// The slow path: something is recorded, a key is a collection, or the schema is another.
    Rare,
}

#[derive(Debug)]
struct Special {
    depth: u32,
    typed: bool,
    anchored: bool,
}

#[derive(Debug)]
struct Capture {
    depth: u32,
    builder: Builder,
}

impl Composer {
    pub(super) fn new(options: Options, limits: Limits) -> Composer {
        let mut composer = Composer {
            options,
            limits,
            refs: References::default(),
            holds: false,
            level: 0,
            depth: 0,
            specials: Vec::new(),
            captures: Vec::new(),
            maps: OpenMaps::default(),
            merging: None,
            way: Way::Core,
        };
        composer.settle();
        composer
    }

    /// Prepares for another document.
    pub(super) fn reset(&mut self) {
        self.refs.reset(&self.limits);
        (self.level, self.depth, self.merging) = (0, 0, None);
        self.specials.clear();
        self.captures.clear();
        self.maps.clear();
        self.settle();
    }

    pub(super) fn settle(&mut self) {
        self.way = match self.options.schema {
            _ if self.refs.recording > 0 || !self.captures.is_empty() => Way::Rare,
            Schema::Core => Way::Core,
            Schema::Yaml11 | Schema::Psych => Way::Old,
            Schema::Json | Schema::Failsafe => Way::Rare,
        };
    }
}

/// A composer and its sink.
pub(super) struct Compose<'c, S: ?Sized> {
    pub(super) c: &'c mut Composer,
    pub(super) sink: &'c mut S,
}

/// Sends an event to its current receiver: a key under construction, or the sink.
macro_rules! target {
    ($self:ident.$($call:tt)*) => {
        match $self.c.captures.last_mut() {
            Some(capture) => capture.builder.$($call)*,
            None => $self.sink.$($call)*,
        }
    };
}

impl<S: Sink + ?Sized> Compose<'_, S> {
    /// Sends a scalar to the sink.
    pub(super) fn give_scalar(
        &mut self,
        style: Style,
        tag: Option<&str>,
        text: &str,
        key: bool,
    ) -> Result {
        self.give_content(tag, tags::scalar(self.c.options.schema, style, tag, text), text, key)
    }

    /// Sends the content of a scalar to the sink.
    fn give_content(
        &mut self,
        tag: Option<&str>,
        content: Content<'_>,
        text: &str,
        key: bool,
    ) -> Result {
        let content = wanted(&self.c.options, tag, content);
        if self.c.options.count_rounded
            && !self.c.options.exact_numbers
            && let Content::Meaning(Meaning::Decimal(digits))
            | Content::Typed(Meaning::Decimal(digits)) = &content
            && let Ok(value) = digits.parse()
            && !number::is_value_kept(&schema::json_decimal(digits), value)
        {
            let written = zmij::Buffer::new().format(value).to_owned();
            self.sink.fidelity().note(
                LossKind::Rounded,
                crate::model::text::shorten(text),
                written,
            );
        }
        if !key {
            return match self.c.captures.last_mut() {
                Some(capture) => {
                    give(&mut capture.builder, &self.c.options, &self.c.limits, tag, content, text)
                }
                None => give(self.sink, &self.c.options, &self.c.limits, tag, content, text),
            };
        }
        if content == Content::Meaning(Meaning::Text) {
            self.c.maps.add_text(text, &self.c.limits);
            return target!(self.key(text));
        }
        let mut builder = Builder::new(&self.c.limits);
        give(&mut builder, &self.c.options, &self.c.limits, tag, content, text)?;
        let value = builder.take().expect("a scalar is a whole value");
        self.give_key(&value)
    }

    /// Sends a key that is not text.
    fn give_key(&mut self, value: &Value) -> Result {
        value.check_key()?;
        self.c.maps.add_value(value, &self.c.limits);
        target!(self.key_value(value))
    }

    /// Sends the beginning of a collection to the sink.
    pub(super) fn give_begin(
        &mut self,
        mapping: bool,
        tag: Option<&str>,
        key: bool,
        id: Option<u64>,
    ) -> Result {
        if key {
            let builder = Builder::new(&self.c.limits);
            self.c.captures.push(Capture { depth: self.c.depth, builder });
            self.c.way = Way::Rare;
        }
        self.c.depth += 1;
        if self.c.depth > self.c.limits.depth.min(Limits::DEPTH_CEILING) {
            // The grammar has counted its own collections; these come from aliases.
            let most = self.c.limits.depth;
            return Err(Error::limit(format!(
                "found an alias that nests collections more than {most} deep, the limit of depth"
            ))
            .hint(Hint::set(Opt::OnLoss, "wrap").to("keep aliases as references")));
        }
        let own = tag.filter(|tag| tags::is_own(tag, mapping));
        if id.is_some() || own.is_some() {
            let special =
                Special { depth: self.c.depth, typed: own.is_some(), anchored: id.is_some() };
            self.c.specials.push(special);
            if let Some(id) = id {
                target!(self.begin_anchor(id))?;
            }
            if let Some(name) = own {
                let tag = Type { origin: Origin::Yaml, kind: "tag", name };
                target!(self.begin_typed(&tag))?;
            }
        }
        if !mapping {
            return target!(self.begin_array(None));
        }
        if self.c.options.schema.is_old() {
            self.c.maps.begin();
        }
        target!(self.begin_map(None))
    }

    pub(super) fn give_end(&mut self, mapping: bool) -> Result {
        if !mapping {
            target!(self.end_array())?;
        } else {
            if self.c.options.schema.is_old() {
                self.give_merged()?;
                self.c.maps.end();
            }
            target!(self.end_map())?;
        }
        if let Some(special) = self.c.specials.pop_if(|special| special.depth == self.c.depth) {
            if special.typed {
                target!(self.end_typed())?;
            }
            if special.anchored {
                target!(self.end_anchor())?;
            }
        }
        self.c.depth -= 1;
        if let Some(mut capture) = self.c.captures.pop_if(|key| key.depth == self.c.depth) {
            self.c.settle();
            let value = capture.builder.take().expect("its collection has ended");
            self.give_key(&value)?;
        }
        Ok(())
    }

    /// Repeats the node of an anchor.
    pub(super) fn give_alias(&mut self, index: usize, key: bool) -> Result {
        let anchor = self.c.refs.anchors[index];
        if let Some(id) = anchor.id {
            return match key {
                true => self.give_key(&Value::Alias(id)),
                false => target!(self.alias(id)),
            };
        }
        let Some(end) = anchor.end else {
            let (why, hint) = self.sink.fidelity().no_cycles();
            return Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "found an alias inside the value that it refers to, whose anchor is at byte {}; {why}",
                    anchor.offset
                ),
            )
            .hint(hint));
        };
        if !anchor.scalar {
            let found = "a shared value";
            self.sink.fidelity().note(LossKind::Reference, found, "a copy");
        }
        self.replay(anchor.start, end, key)
    }

    /// Sends the nodes of `start..end` on the tape again, the first of them as a key if `key` is
    /// set.
    pub(super) fn replay(&mut self, start: usize, end: usize, key: bool) -> Result {
        // The rest of the nodes around that of an alias, still to be sent.
        let mut pending: Vec<(usize, usize)> = Vec::new();
        let (mut at, mut end) = (start, end);
        // Whether the open collections are mappings.
        let mut open: Vec<bool> = Vec::new();
        let mut first = Some(key);
        loop {
            if at == end {
                match pending.pop() {
                    Some((index, last)) => (at, end) = (index, last),
                    None => return Ok(()),
                }
                continue;
            }
            let raw = self.c.refs.tape[at];
            at += 1;
            match raw {
                Raw::Scalar { style, key, tag, start, len } => {
                    let key = first.take().unwrap_or(key);
                    self.c.refs.spend(u64::from(!open.is_empty()), len, &self.c.limits)?;
                    // The tape does not change, but it belongs to the composer.
                    let text = self.c.refs.text(start, len).to_owned();
                    let tag = self.c.refs.tag(tag).map(str::to_owned);
                    if key && self.is_merge(style, tag.as_deref(), &text) {
                        let next = self.c.refs.node_end(at);
                        self.merge_later(at);
                        at = next;
                        continue;
                    }
                    self.give_scalar(style, tag.as_deref(), &text, key)?;
                }
                Raw::Begin { mapping, key, tag } => {
                    let key = first.take().unwrap_or(key);
                    self.c.refs.spend(1, 0, &self.c.limits)?;
                    let tag = self.c.refs.tag(tag).map(str::to_owned);
                    self.give_begin(mapping, tag.as_deref(), key, None)?;
                    open.push(mapping);
                }
                Raw::End => {
                    let mapping = open.pop().expect("a node is whole on the tape");
                    self.give_end(mapping)?;
                }
                Raw::Alias { anchor, key } => {
                    let key = first.take().unwrap_or(key);
                    let named = self.c.refs.anchors[anchor];
                    match named.end {
                        Some(last) if named.id.is_none() => {
                            pending.push((at, end));
                            (at, end) = (named.start, last);
                            first = Some(key);
                        }
                        _ => {
                            self.c.refs.spend(1, 0, &self.c.limits)?;
                            self.give_alias(anchor, key)?;
                        }
                    }
                }
            }
        }
    }

    /// Begins a collection of the input.
    fn begin(&mut self, mapping: bool, props: &Props, key: bool) -> Result {
        self.c.level += 1;
        if self.c.way != Way::Rare && !props.any() && !key {
            self.c.depth += 1;
            if !mapping {
                return self.sink.begin_array(None);
            }
            if self.c.way == Way::Old {
                self.c.maps.begin();
            }
            return self.sink.begin_map(None);
        }
        let given = self.c.merging.is_none();
        let mut id = None;
        if let Some(name) = props.anchor() {
            let sent = self.c.holds && given;
            id = self.c.refs.anchor(name, props.offset, false, sent);
            // A sink that holds references does not need the tape, unless keys merge what is on it.
            if !sent || self.c.options.schema.is_old() {
                self.c.refs.open(self.c.level);
                self.c.way = Way::Rare;
            }
        }
        if self.c.refs.recording > 0 {
            let tag = self.c.refs.push_tag(props.tag());
            self.c.refs.push(Raw::Begin { mapping, key, tag }, &self.c.limits)?;
        }
        if given { self.give_begin(mapping, props.tag(), key, id) } else { Ok(()) }
    }

    /// Ends a collection of the input.
    fn end(&mut self, mapping: bool) -> Result {
        let old = mapping && self.c.way == Way::Old;
        if self.c.way != Way::Rare
            && self.c.specials.is_empty()
            && !(old && self.c.maps.last_merges())
        {
            if old {
                self.c.maps.end();
            }
            (self.c.level, self.c.depth) = (self.c.level - 1, self.c.depth - 1);
            return if mapping { self.sink.end_map() } else { self.sink.end_array() };
        }
        if self.c.refs.recording > 0 {
            self.c.refs.push(Raw::End, &self.c.limits)?;
        }
        self.c.refs.close(self.c.level);
        self.c.level -= 1;
        if self.c.merging.is_none() {
            self.give_end(mapping)?;
        }
        self.node_done();
        self.c.settle();
        Ok(())
    }

    /// Sends text that cannot be anything else.
    #[inline(always)]
    fn give_text(&mut self, span: Span<'_>, key: bool) -> Result {
        let length = span.end - span.start;
        let short = span.tail().first_chunk().and_then(|window| ShortText::ascii(window, length));
        match (short, key) {
            (Some(text), true) => self.sink.short_key(text),
            (Some(text), false) => self.sink.short_str(text),
            (None, true) => self.sink.key(span.text()),
            (None, false) => self.sink.str(span.text()),
        }
    }

    /// Sends a plain scalar if the schema is not the core schema, or a collection needs recording.
    #[inline(never)]
    fn other_plain(&mut self, span: Span<'_>, key: bool) -> Result {
        let text = span.text();
        if self.c.way == Way::Rare {
            return self.rare_scalar(Props::NONE, Style::Plain, text, key);
        }
        if text.as_bytes().first().is_none_or(|first| schema_11::may_mean(*first)) {
            match schema::resolve(self.c.options.schema, text) {
                Meaning::I64(value) if !key => return self.sink.i64(value),
                Meaning::Bool(value) if !key => return self.sink.bool(value),
                Meaning::Null if !key => return self.sink.null(),
                Meaning::Merge if key => {
                    self.begin_merge();
                    return Ok(());
                }
                Meaning::Text => {}
                meaning => return self.give_content(None, Content::Meaning(meaning), text, key),
            }
        }
        if key {
            self.c.maps.add_text(text, &self.c.limits);
        }
        self.give_text(span, key)
    }

    #[inline(never)]
    fn rare_scalar(&mut self, props: &Props, style: Style, text: &str, key: bool) -> Result {
        let given = self.c.merging.is_none();
        if let Some(name) = props.anchor() {
            self.c.refs.anchor(name, props.offset, true, false);
        }
        if self.c.refs.recording > 0 || props.has_anchor {
            self.c.refs.push_scalar(style, props.tag(), text, key, &self.c.limits)?;
            if props.has_anchor {
                self.c.refs.close_scalar();
            }
        }
        if !given {
            self.node_done();
            return Ok(());
        }
        if key && self.is_merge(style, props.tag(), text) {
            self.begin_merge();
            return Ok(());
        }
        self.give_scalar(style, props.tag(), text, key)
    }
}

impl<S: Sink + ?Sized> Handler for Compose<'_, S> {
    fn begin_document(&mut self, _explicit: bool) -> Result {
        self.c.reset();
        self.c.holds = self.sink.holds_references();
        Ok(())
    }
    fn end_document(&mut self, _explicit: bool) -> Result {
        Ok(())
    }
    #[inline]
    fn begin_sequence(&mut self, props: &Props, _flow: bool, key: bool) -> Result {
        self.begin(false, props, key)
    }
    #[inline]
    fn end_sequence(&mut self) -> Result {
        self.end(false)
    }
    #[inline]
    fn begin_mapping(&mut self, props: &Props, _flow: bool, key: bool) -> Result {
        self.begin(true, props, key)
    }
    #[inline]
    fn end_mapping(&mut self) -> Result {
        self.end(true)
    }
    #[inline(always)]
    fn plain(&mut self, span: Span<'_>, key: bool) -> Result {
        if self.c.way != Way::Core {
            return self.other_plain(span, key);
        }
        if span.tail().first().is_none_or(|first| schema::may_mean(*first)) {
            match schema::core(span.text()) {
                // The usual case.
                Meaning::I64(value) if !key => return self.sink.i64(value),
                Meaning::Bool(value) if !key => return self.sink.bool(value),
                Meaning::Null if !key => return self.sink.null(),
                Meaning::Text => {}
                _ => return self.give_scalar(Style::Plain, None, span.text(), key),
            }
        }
        self.give_text(span, key)
    }
    #[inline(always)]
    fn quoted(&mut self, span: Span<'_>, style: Style, key: bool) -> Result {
        match self.c.way {
            Way::Core => {}
            Way::Rare => return self.rare_scalar(Props::NONE, style, span.text(), key),
            Way::Old if key => self.c.maps.add_text(span.text(), &self.c.limits),
            Way::Old => {}
        }
        self.give_text(span, key)
    }
    #[inline]
    fn scalar(&mut self, props: &Props, style: Style, text: &str, key: bool) -> Result {
        if self.c.way == Way::Rare || props.any() || style == Style::Plain {
            return self.rare_scalar(props, style, text, key);
        }
        if !key {
            return self.sink.str(text);
        }
        if self.c.way == Way::Old {
            self.c.maps.add_text(text, &self.c.limits);
        }
        self.sink.key(text)
    }
    fn alias(&mut self, name: &str, key: bool) -> Result {
        let Some(anchor) = self.c.refs.find(name) else {
            let shown = crate::model::text::shorten(name);
            return Err(Error::syntax(format!(
                "found the alias *{shown}, which no earlier anchor of this document defines"
            ))
            .hint("quote the text if it is meant literally"));
        };
        if self.c.refs.recording > 0 {
            self.c.refs.push(Raw::Alias { anchor, key }, &self.c.limits)?;
        }
        if self.c.merging.is_some() {
            self.node_done();
            return Ok(());
        }
        self.give_alias(anchor, key)
    }
}
