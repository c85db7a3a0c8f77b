//! Events of the grammar to a tree: what TOML asks of a document beyond its grammar.
//!
//! The rules (TOML 1.1, "Keys", "Table", "Inline Table", "Array of Tables"), by how a table came
//! about:
//!
//! | | a header of its own | headers of tables in it | dotted keys into it |
//! |---|---|---|---|
//! | by the header of a table in it | once | yes | once, which define it |
//! | by its own header, or as an item of `[[…]]` | no | yes | no |
//! | by dotted keys | no | yes | yes |
//! | inline | no | no | no |
//!
//! Arrays take more items from `[[…]]` if that is how they came about, and never otherwise.

use std::borrow::Cow;

use toml_parser::decoder::Encoding;
use toml_parser::parser::EventReceiver;
use toml_parser::{ErrorSink, Raw, Source, Span};

use super::faults::{self, Faults};
use super::scalars;
use super::tree::{Content as _, Id, NODES_MAX, Part, ROOT, Tree};
use super::types::{Defined, Item};
use crate::model::limits::Limits;
use crate::model::path::{Path, Step};
use crate::{Error, Result};

/// Builds the tree.
pub(super) struct Builder<'i, 'f> {
    tree: Tree<'i, Item>,
    source: Source<'i>,
    faults: &'f Faults<'i>,
    limits: Limits,
    /// The table that keys outside of braces go to.
    section: Id,
    /// The parts of the key at hand, and where they are.
    keys: Vec<(Part, Span)>,
    /// Arrays and inline tables that are open.
    open: Vec<Id>,
}

impl<'i, 'f> Builder<'i, 'f> {
    pub fn new(source: Source<'i>, faults: &'f Faults<'i>, limits: Limits) -> Builder<'i, 'f> {
        let depth = limits.depth.min(Limits::DEPTH_CEILING);
        let limits = Limits { depth, nodes: limits.nodes.min(NODES_MAX), ..limits };
        Builder {
            tree: Tree::new(source.input(), Item::Table(Defined::Header)),
            source,
            faults,
            limits,
            section: ROOT,
            keys: Vec::new(),
            open: Vec::new(),
        }
    }

    pub fn into_tree(self) -> Tree<'i, Item> {
        self.tree
    }

    /// How many more nodes there may be.
    pub fn nodes_left(&self) -> u64 {
        self.limits.nodes.saturating_sub(self.tree.len())
    }

    /// The path of the value at hand.
    pub fn path(&self) -> Path {
        let table = self.table();
        let mut path = self.tree.path(table);
        if !self.is_in_array() {
            let key = |(key, _): &(Part, Span)| Step::Key(self.tree.text(*key).into());
            path.0.extend(self.keys.iter().map(key));
        } else {
            path.0.push(Step::Index(u64::from(self.tree.node(table).count)));
        }
        path
    }

    /// The array or table that the value at hand goes to.
    fn table(&self) -> Id {
        self.open.last().copied().unwrap_or(self.section)
    }

    fn is_in_array(&self) -> bool {
        self.open.last().is_some_and(|open| !self.tree.node(*open).content.is_table())
    }

    fn input(&self) -> &'i str {
        self.source.input()
    }

    fn raw(&self, span: Span, encoding: Option<Encoding>) -> Raw<'i> {
        let text = self.input().get(span.start()..span.end()).unwrap_or_default();
        Raw::new_unchecked(text, encoding, span)
    }

    /// Does something that may fail, unless something has failed before.
    fn attempt<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T>) -> Option<T> {
        if self.faults.is_some() {
            return None;
        }
        match act(self) {
            Ok(done) => Some(done),
            Err(error) => {
                let path = self.path();
                let error = if error.path().is_none() { error.at_path(path) } else { error };
                self.faults.put(error);
                None
            }
        }
    }

    fn add(&mut self, parent: Id, key: Part, item: Item, at: usize) -> Result<Id> {
        if self.nodes_left() == 0 {
            return Err(faults::too_many(self.limits.nodes).at(at as u64));
        }
        let mut depth = self.tree.node(parent).depth;
        if matches!(item, Item::Table(_) | Item::Array { .. }) {
            depth += 1;
            if depth > self.limits.depth {
                return Err(faults::too_deep(self.limits.depth).at(at as u64));
            }
        }
        Ok(self.tree.add(parent, key, item, at, depth))
    }

    /// Adds the value at hand to its table or array.
    fn place(&mut self, item: Item, at: usize) -> Result<Id> {
        let mut table = self.table();
        if self.is_in_array() {
            return self.add(table, Part::default(), item, at);
        }
        let mut keys = std::mem::take(&mut self.keys);
        let Some((last, last_span)) = keys.pop() else {
            // Only after a fault of the grammar.
            return Err(Error::syntax("found a value, expected a key").at(at as u64));
        };
        for (key, span) in keys {
            table = self.dotted(table, key, span)?;
        }
        let name = self.tree.text(last);
        if let Some(first) = self.tree.find(table, name) {
            let error = faults::twice(self.input(), name, self.tree.node(first).at);
            return Err(error.at(last_span.start() as u64).at_path(self.tree.path(first)));
        }
        self.add(table, last, item, at)
    }

    /// The table that a part of a dotted key names.
    fn dotted(&mut self, table: Id, key: Part, span: Span) -> Result<Id> {
        let name = self.tree.text(key);
        let Some(child) = self.tree.find(table, name) else {
            return self.add(table, key, Item::Table(Defined::Dotted), span.start());
        };
        let first = self.tree.node(child);
        let error = match first.content {
            Item::Table(Defined::Dotted | Defined::Implied) => {
                self.tree.node_mut(child).content = Item::Table(Defined::Dotted);
                return Ok(child);
            }
            Item::Table(Defined::Header) => faults::redefined(self.input(), name, first.at),
            item => faults::closed(self.input(), name, item, first.at),
        };
        Err(error.at(span.start() as u64).at_path(self.tree.path(child)))
    }

    /// The table that a header names, which keys go to from here on.
    fn header(&mut self, is_item: bool) -> Result<Id> {
        self.section = ROOT;
        let mut keys = std::mem::take(&mut self.keys);
        let Some((last, span)) = keys.pop() else { return Ok(ROOT) };
        let mut table = ROOT;
        for (key, span) in keys {
            table = self.implied(table, key, span)?;
        }
        let at = span.start();
        let name = self.tree.text(last);
        let Some(child) = self.tree.find(table, name) else {
            if !is_item {
                return self.add(table, last, Item::Table(Defined::Header), at);
            }
            let array = self.add(table, last, Item::Array { is_open: true }, at)?;
            return self.add(array, Part::default(), Item::Table(Defined::Header), at);
        };
        let first = self.tree.node(child);
        let error = match first.content {
            Item::Array { is_open: true } if is_item => {
                return self.add(child, Part::default(), Item::Table(Defined::Header), at);
            }
            Item::Table(Defined::Implied) if !is_item => {
                self.tree.node_mut(child).content = Item::Table(Defined::Header);
                return Ok(child);
            }
            Item::Table(Defined::Header | Defined::Dotted | Defined::Implied) => {
                faults::redefined(self.input(), name, first.at)
            }
            item => faults::closed(self.input(), name, item, first.at),
        };
        Err(error.at(at as u64).at_path(self.tree.path(child)))
    }

    /// The table that a part of a header names before the last.
    fn implied(&mut self, table: Id, key: Part, span: Span) -> Result<Id> {
        let name = self.tree.text(key);
        let Some(child) = self.tree.find(table, name) else {
            return self.add(table, key, Item::Table(Defined::Implied), span.start());
        };
        let first = self.tree.node(child);
        match first.content {
            Item::Table(Defined::Implied | Defined::Header | Defined::Dotted) => Ok(child),
            Item::Array { is_open: true } => Ok(self.tree.last(child).unwrap_or(child)),
            item => {
                let error = faults::closed(self.input(), name, item, first.at);
                Err(error.at(span.start() as u64).at_path(self.tree.path(child)))
            }
        }
    }

    fn check_token(&self, span: Span) -> Result {
        let most = self.limits.token_bytes;
        match span.end() as u64 - span.start() as u64 > most {
            true => Err(faults::token_too_long(most).at(span.start() as u64)),
            false => Ok(()),
        }
    }

    fn begin(&mut self, span: Span, item: Item) -> bool {
        match self.attempt(|it| it.place(item, span.start())) {
            Some(id) => {
                self.open.push(id);
                true
            }
            None => false,
        }
    }

    fn end(&mut self) {
        if !self.faults.is_some() {
            self.open.pop();
        }
    }

    fn end_header(&mut self, is_item: bool) {
        if let Some(table) = self.attempt(|it| it.header(is_item)) {
            self.section = table;
        }
    }
}

impl EventReceiver for Builder<'_, '_> {
    fn std_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.section = ROOT;
    }
    fn array_table_open(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.section = ROOT;
    }
    fn std_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end_header(false);
    }
    fn array_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end_header(true);
    }
    fn simple_key(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.attempt(|it| {
            it.check_token(span)?;
            if it.keys.len() as u64 > u64::from(it.limits.depth) {
                return Err(faults::too_deep(it.limits.depth).at(span.start() as u64));
            }
            let mut key = Cow::Borrowed("");
            let mut faults = it.faults;
            it.raw(span, encoding).decode_key(&mut key, &mut faults);
            if !it.faults.is_some() {
                let key = it.tree.keep(key);
                it.keys.push((key, span));
            }
            Ok(())
        });
    }
    fn scalar(&mut self, span: Span, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.attempt(|it| {
            it.check_token(span)?;
            let (input, raw) = (it.input(), it.raw(span, encoding));
            let item = scalars::decode(&mut it.tree, input, raw, span, it.faults)?;
            if it.faults.is_some() {
                return Ok(());
            }
            it.place(item, span.start()).map(|_| ())
        });
    }
    fn inline_table_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.begin(span, Item::Table(Defined::Inline))
    }
    fn inline_table_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end();
    }
    fn array_open(&mut self, span: Span, _: &mut dyn ErrorSink) -> bool {
        self.begin(span, Item::Array { is_open: false })
    }
    fn array_close(&mut self, _: Span, _: &mut dyn ErrorSink) {
        self.end();
    }
    fn newline(&mut self, span: Span, _: &mut dyn ErrorSink) {
        // A pair in braces may stand on any line, but on one.
        if !self.open.is_empty() && !self.is_in_array() && !self.keys.is_empty() {
            self.attempt(|_| {
                let message = "found the end of the line, expected a key and its value on one line";
                Err::<(), _>(Error::syntax(message).at(span.start() as u64))
            });
        }
    }
}
