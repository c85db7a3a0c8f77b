//! The walk over plain data as a flat sequence: see [`crate::codec::pickle::flat`].

use super::Walk;
use crate::Result;
use crate::codec::pickle::arena::Node;
use crate::codec::pickle::cell::{Cell, Kind};
use crate::policy::event::Sink;

impl Walk<'_> {
    /// Emits the events of all cells, which make up one value.
    ///
    /// # Errors
    /// The walk's own, with their place, and the sink's.
    pub fn flat<S: Sink + ?Sized>(&mut self, cells: &[Cell], sink: &mut S) -> Result {
        // Whether the containers around the current one are maps.
        let mut outer: Vec<bool> = Vec::new();
        let mut in_map = false;
        let mut cells = cells.iter();
        while let Some(cell) = cells.next() {
            let mut value = cell;
            if in_map {
                match *cell {
                    Cell::Leaf(Node::Text(at, span)) => self.key(at, span, sink)?,
                    Cell::Leaf(key) => self.key_value(key, sink)?,
                    Cell::End { .. } => {
                        in_map = outer.pop().unwrap_or_default();
                        self.end_map(sink)?;
                        continue;
                    }
                    Cell::Gap | Cell::Begin { .. } => continue,
                }
                let Some(next) = cells.next() else { break };
                value = next;
            }
            match *value {
                Cell::Leaf(node) => self.leaf(node, sink)?,
                Cell::Begin { kind, at, count } => {
                    self.at = at;
                    self.enter()?;
                    if kind == Kind::Dict {
                        sink.begin_map(Some(u64::from(count / 2)))?;
                        if count == 0 {
                            self.end_map(sink)?;
                            continue;
                        }
                    } else {
                        sink.begin_array(Some(u64::from(count)))?;
                        if count == 0 {
                            self.end_array(sink)?;
                            continue;
                        }
                    }
                    outer.push(in_map);
                    in_map = kind == Kind::Dict;
                }
                Cell::End { .. } => {
                    in_map = outer.pop().unwrap_or_default();
                    self.end_array(sink)?;
                }
                Cell::Gap => {}
            }
        }
        Ok(())
    }
}
