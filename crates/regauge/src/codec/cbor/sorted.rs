//! The core deterministic encoding (RFC 8949 §4.2.1): the keys of every map sorted by their bytes.
//!
//! The order of a map's keys is known only when it ends, so the body of every open container has
//! its own buffer, which is appended to the enclosing container's buffer after its head. A document
//! therefore stays in memory until it is complete, and each byte is copied once per level.

use super::types::*;
use super::writer::{Open, Writer, container};
use crate::bytes::buffer::Out;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::{Error, Result};

/// The largest document held in memory: the default of [`Limits::record_bytes`](crate::Limits),
/// because the whole document has to fit.
pub(super) const SORTED_BYTES: u64 = 64 << 20;

/// State from before an open container.
#[derive(Debug)]
pub(super) struct Body<'o> {
    /// The buffer that the container is appended to when it ends.
    outer: Out<'o>,
    /// Bytes of earlier documents and enclosing containers.
    before: u64,
    /// Where every key of a map begins and ends.
    keys: Vec<(usize, usize)>,
}

impl<'o> Writer<'o> {
    /// Begins a container in the deterministic encoding.
    pub(super) fn begin_held(&mut self, map: bool) -> Result {
        let before = match self.bodies.last() {
            Some(body) => body.before + self.out.held().len() as u64,
            None => 0,
        };
        let outer = std::mem::replace(&mut self.out, Out::in_memory());
        self.bodies.push(Body { outer, before, keys: Vec::new() });
        self.stack.push(Open::held(map, self.count + 1));
        self.count = 0;
        Ok(())
    }

    /// Ends the container: appends its head and its sorted body to the enclosing buffer.
    pub(super) fn end_held(&mut self) -> Result {
        let open = self.stack.pop().expect("begin before end");
        let body = self.bodies.pop().expect("a body for every container");
        let content = std::mem::replace(&mut self.out, body.outer).into_vec();
        let count = std::mem::replace(&mut self.count, open.outer_count);
        self.room(content.len() + HEAD_MAX)?;
        self.head(container(open.map), count);
        let mut keys = body.keys;
        let key = |&(start, end): &(usize, usize)| &content[start..end];
        if keys.is_sorted_by_key(key) {
            self.out.extend(&content);
            return Ok(());
        }
        let ends: Vec<usize> =
            keys.iter().skip(1).map(|key| key.0).chain([content.len()]).collect();
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by_key(|&index| key(&keys[index]));
        for index in order {
            self.out.extend(&content[keys[index].0..ends[index]]);
        }
        keys.clear();
        Ok(())
    }

    /// Writes a key, and records its position.
    pub(super) fn held_key(&mut self, write: impl FnOnce(&mut Self) -> Result) -> Result {
        let start = self.out.held().len();
        write(self)?;
        let end = self.out.held().len();
        if let Some(body) = self.bodies.last_mut() {
            body.keys.push((start, end));
        }
        Ok(())
    }

    /// Drops the containers deeper than `depth`.
    pub(super) fn drop_held(&mut self, depth: usize) {
        while self.bodies.len() > depth {
            let body = self.bodies.pop().expect("there are more");
            self.out = body.outer;
        }
    }

    /// Refuses the document if `n` more bytes would take too much memory.
    pub(super) fn check_held(&self, n: usize) -> Result {
        let Some(body) = self.bodies.last() else { return Ok(()) };
        let keys: usize = self.bodies.iter().map(|body| body.keys.len()).sum();
        let held = body.before
            + self.out.held().len() as u64
            + n as u64
            + (keys * size_of::<(usize, usize)>()) as u64;
        if held > SORTED_BYTES {
            return Err(Error::limit(format!(
                "found a document of more than {SORTED_BYTES} bytes, too large to sort its keys"
            ))
            .hint(
                Hint::without("convert", Opt::CborDeterministic).or(Hint::set(
                    Opt::Documents,
                    "split",
                )
                .to("split the file")),
            ));
        }
        Ok(())
    }
}
