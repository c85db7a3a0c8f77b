//! A document as a tree: tables may be spread over a file, so both reader and writer hold it whole.
//!
//! Nodes stand in one vector and are linked by their numbers, so that no walk recurses, and dropping
//! a deep document does not either.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::model::path::{Path, Step};

/// The number of a node.
pub(super) type Id = u32;

/// The table at the top.
pub(super) const ROOT: Id = 0;

/// How many nodes a tree has numbers for, the root aside.
pub(super) const NODES_MAX: u64 = NONE as u64 - 1;

/// No node.
pub(super) const NONE: Id = Id::MAX;

/// What a tree is told about its nodes' content.
pub(super) trait Content {
    /// Whether the node is a table, whose children have keys.
    fn is_table(&self) -> bool;
}

/// A value with its place among the others.
#[derive(Debug)]
pub(super) struct Node<'i, C> {
    /// The key in the table around it; empty in an array.
    pub key: Cow<'i, str>,
    pub content: C,
    /// The byte where the value begins.
    pub at: usize,
    /// How many tables and arrays there are down to this node, itself included if it is one.
    pub depth: u32,
    /// How many children it has.
    pub count: u32,
    pub parent: Id,
    pub first: Id,
    pub next: Id,
    last: Id,
}

/// The nodes of a document.
#[derive(Debug)]
pub(super) struct Tree<'i, C> {
    nodes: Vec<Node<'i, C>>,
    /// The node that was added last for each hash of a table and a key. Two keys may share a hash, so
    /// a node found here is compared, and all are looked through if it is another.
    index: HashMap<u64, Id>,
    hasher: RandomState,
}

/// A state of a tree to which [`Tree::rewind`] goes back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    nodes: usize,
    open: Id,
    last: Id,
    count: u32,
}

impl<'i, C: Content> Tree<'i, C> {
    /// A tree of one table, the root.
    pub fn new(root: C) -> Tree<'i, C> {
        let mut tree =
            Tree { nodes: Vec::new(), index: HashMap::new(), hasher: RandomState::new() };
        tree.nodes.push(Node {
            key: Cow::Borrowed(""),
            content: root,
            at: 0,
            depth: 1,
            count: 0,
            parent: NONE,
            first: NONE,
            next: NONE,
            last: NONE,
        });
        tree
    }

    pub fn node(&self, id: Id) -> &Node<'i, C> {
        &self.nodes[id as usize]
    }

    pub fn node_mut(&mut self, id: Id) -> &mut Node<'i, C> {
        &mut self.nodes[id as usize]
    }

    /// The content of every node.
    pub fn contents(&self) -> impl Iterator<Item = &C> {
        self.nodes.iter().map(|node| &node.content)
    }

    /// The number of nodes, without the root.
    pub fn len(&self) -> u64 {
        self.nodes.len() as u64 - 1
    }

    /// Adds the last child of a table or an array. Callers see to it that there are no more than
    /// [`NODES_MAX`].
    pub fn add(&mut self, parent: Id, key: Cow<'i, str>, content: C, at: usize, depth: u32) -> Id {
        debug_assert!(self.len() < NODES_MAX);
        let id = self.nodes.len() as Id;
        if self.node(parent).content.is_table() {
            let hash = self.hasher.hash_one((parent, &*key));
            self.index.insert(hash, id);
        }
        let around = self.node_mut(parent);
        around.count += 1;
        let before = std::mem::replace(&mut around.last, id);
        match before {
            NONE => around.first = id,
            before => self.node_mut(before).next = id,
        }
        self.nodes.push(Node {
            key,
            content,
            at,
            depth,
            count: 0,
            parent,
            first: NONE,
            next: NONE,
            last: NONE,
        });
        id
    }

    /// The child of a table that has this key.
    pub fn find(&self, table: Id, key: &str) -> Option<Id> {
        let found = *self.index.get(&self.hasher.hash_one((table, key)))?;
        let is_it = |id: Id| {
            self.nodes.get(id as usize).is_some_and(|it| it.parent == table && it.key == key)
        };
        match is_it(found) {
            true => Some(found),
            false => self.children(table).find(|id| is_it(*id)),
        }
    }

    /// The child that was added last.
    pub fn last(&self, id: Id) -> Option<Id> {
        Some(self.node(id).last).filter(|last| *last != NONE)
    }

    /// The children in their order.
    pub fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let known = |id: Id| Some(id).filter(|id| *id != NONE);
        std::iter::successors(known(self.node(id).first), move |id| known(self.node(*id).next))
    }

    /// The way from the root to a node.
    pub fn path(&self, id: Id) -> Path {
        let mut steps = Vec::new();
        let mut at = id;
        while self.node(at).parent != NONE {
            let parent = self.node(at).parent;
            steps.push(match self.node(parent).content.is_table() {
                true => Step::Key(self.node(at).key.as_ref().into()),
                false => Step::Index(
                    self.children(parent).position(|child| child == at).unwrap_or(0) as u64,
                ),
            });
            at = parent;
        }
        steps.reverse();
        Path(steps)
    }

    /// The present state, in which `open` is the innermost node that is not whole.
    pub fn mark(&self, open: Id) -> Mark {
        let Node { last, count, .. } = *self.node(open);
        Mark { nodes: self.nodes.len(), open, last, count }
    }

    /// Drops every node since the mark.
    pub fn rewind(&mut self, mark: Mark) {
        self.nodes.truncate(mark.nodes);
        let open = self.node_mut(mark.open);
        (open.last, open.count) = (mark.last, mark.count);
        match mark.last {
            NONE => open.first = NONE,
            last => self.node_mut(last).next = NONE,
        }
    }
}
