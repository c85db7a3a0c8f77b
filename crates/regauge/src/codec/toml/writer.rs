//! Events to TOML.
//!
//! The plain values of a table stand before the tables in it, so nothing can be written before a
//! document is whole: the writer holds it as a tree, within the limits on nodes and bytes, and
//! [prints](super::print) it at its end. A value that is not a container is held as its text.

use super::faults;
use super::moment;
use super::print;
use super::tree::{BYTES_MAX, Content, Id, Mark, NODES_MAX, Part, ROOT, Tree};
use crate::bytes::buffer::Out;
use crate::model::hint::Hint;
use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::policy::fidelity::{self, Fidelity, KEY_PREFIX, LossKind, OnLoss};
use crate::policy::notation;
use crate::{Error, Format, Result};

/// The key of a document that is not a map: `{"$value": [1, 2]}` in the wrapped notation.
const VALUE: &str = "$value";

/// The content of a node.
#[derive(Debug)]
pub(super) enum Held {
    Table,
    Array,
    /// The TOML of a value.
    Scalar(Part),
    /// What came later under the same key replaces it.
    Replaced,
}

impl Content for Held {
    fn is_table(&self) -> bool {
        matches!(self, Held::Table)
    }
}

/// A document to be printed.
pub(super) type Document = Tree<'static, Held>;

/// Events to bytes.
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    fidelity: Fidelity,
    limits: Limits,
    document: Document,
    /// The tables and arrays that are open.
    open: Vec<Id>,
    /// The key of the value that comes next.
    key: Option<Part>,
    /// The document is no map, and stands under a key of our own.
    is_single: bool,
    /// The bytes of keys and values so far.
    bytes: u64,
    documents: u64,
    checkpoint: Option<Checkpoint>,
}

#[derive(Clone, Copy, Debug)]
struct Checkpoint {
    mark: Mark,
    open: usize,
    is_single: bool,
    bytes: u64,
    documents: u64,
}

impl<'o> Writer<'o> {
    /// A writer into `out`. What TOML cannot hold goes by the policy of `fidelity`.
    pub fn new(out: Out<'o>, fidelity: Fidelity) -> Writer<'o> {
        Writer {
            out,
            fidelity,
            limits: Limits::default(),
            document: Tree::new("", Held::Table),
            open: Vec::new(),
            key: None,
            is_single: false,
            bytes: 0,
            documents: 0,
            checkpoint: None,
        }
    }

    /// A writer into memory.
    pub fn in_memory(policy: OnLoss) -> Writer<'static> {
        Writer::new(Out::in_memory(), Fidelity::new(policy, Format::Toml))
    }

    /// The same with these bounds for the document that is held.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Writer<'o> {
        self.limits = *limits;
        self
    }

    /// The buffer, for the bytes that are in memory: see [`Out::into_vec`].
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Everything that was written and not handed on.
    pub fn into_vec(self) -> Vec<u8> {
        self.out.into_vec()
    }

    fn spend(&mut self, bytes: usize) -> Result {
        self.bytes += bytes as u64;
        let most = self.limits.record_bytes.min(BYTES_MAX);
        if self.bytes > most {
            return Err(faults::too_long(most));
        }
        Ok(())
    }

    /// Adds a value to the container that is open.
    fn place(&mut self, held: Held) -> Result<Id> {
        if self.document.len() >= self.limits.nodes.min(NODES_MAX) {
            return Err(faults::too_many(self.limits.nodes));
        }
        let parent = *self.open.last().expect("a document is open");
        let key = self.key.take().unwrap_or_default();
        Ok(self.document.add(parent, key, held, 0, 0))
    }

    /// Keeps the key of the value that comes next.
    fn keep_key(&mut self, key: &str) {
        self.key = Some(self.document.keep_with(|held| held.push_str(key)));
    }

    fn scalar(&mut self, text: &str) -> Result {
        self.scalar_with(|held| held.push_str(text))
    }

    fn scalar_with(&mut self, write: impl FnOnce(&mut String)) -> Result {
        self.begin_single("a single value")?;
        let text = self.document.keep_with(write);
        self.spend(text.len())?;
        self.place(Held::Scalar(text))?;
        self.end_single();
        Ok(())
    }

    /// A value begins that is no map: if it is a whole document, it goes under a key.
    fn begin_single(&mut self, what: &str) -> Result {
        if !self.open.is_empty() {
            return Ok(());
        }
        let key = match self.fidelity.policy() {
            OnLoss::Wrap => VALUE,
            OnLoss::Approximate => {
                let written = "a table with it under the key `value`";
                self.fidelity.note(LossKind::Special, format!("{what} as a document"), written);
                "value"
            }
            OnLoss::Refuse => {
                let found = format!("{what} as a whole document");
                let nearest = "a table with it under the key `value`";
                return Err(self.fidelity.refusal(&found, r#"{"$value": …}"#, nearest));
            }
        };
        self.open.push(ROOT);
        self.is_single = true;
        self.keep_key(key);
        Ok(())
    }

    fn end_single(&mut self) {
        if self.is_single && self.open.len() == 1 {
            self.open.clear();
        }
    }

    fn begin(&mut self, held: Held) -> Result {
        let id = self.place(held)?;
        self.open.push(id);
        Ok(())
    }

    fn end(&mut self) -> Result {
        self.open.pop();
        self.end_single();
        Ok(())
    }

    fn is_in_array(&self) -> bool {
        self.open.last().is_some_and(|id| matches!(self.document.node(*id).content, Held::Array))
    }

    /// A key that the table has already.
    #[cold]
    fn key_again(&mut self, k: &str, first: Id) -> Result {
        match self.fidelity.policy() {
            OnLoss::Refuse => {
                let shown = crate::model::text::shorten(k);
                let found = format!("the key {shown:?} a second time in one map");
                let nearest = "the last of its values";
                Err(self.fidelity.refusal(&found, r#"{"$key:…": …}"#, nearest))
            }
            OnLoss::Approximate => {
                let found = format!("the key {:?} again", crate::model::text::shorten(k));
                self.fidelity.note(LossKind::Key, found, "the last of its values");
                self.document.node_mut(first).content = Held::Replaced;
                self.keep_key(k);
                Ok(())
            }
            // The notation of a key is JSON, in front of which there may be any number of spaces: so
            // each of the equal keys is spelled in a way of its own.
            OnLoss::Wrap => {
                let table = *self.open.last().expect("a key stands in a table");
                let mut spelled = match k.strip_prefix(KEY_PREFIX) {
                    Some(notation) => format!("{KEY_PREFIX} {notation}"),
                    None => format!("{KEY_PREFIX}{}", Value::Text(k.to_owned())),
                };
                while self.document.find(table, &spelled).is_some() {
                    spelled.insert(KEY_PREFIX.len(), ' ');
                }
                self.spend(spelled.len())?;
                self.keep_key(&spelled);
                Ok(())
            }
        }
    }

    /// Null: TOML has no value for it.
    #[cold]
    fn no_null(&mut self) -> Result {
        let in_array = self.is_in_array();
        let nearest = if in_array { "the text \"null\"" } else { "nothing, and leave its key out" };
        match self.fidelity.policy() {
            OnLoss::Refuse => Err(self.fidelity.refusal("null", r#"{"$null": true}"#, nearest)),
            OnLoss::Wrap => {
                self.begin_map(Some(1))?;
                self.key("$null")?;
                self.bool(true)?;
                self.end_map()
            }
            OnLoss::Approximate => {
                let written = if in_array { "the text \"null\"" } else { "nothing" };
                self.fidelity.note(LossKind::Null, "null", written);
                match in_array {
                    true => self.str("null"),
                    false => {
                        self.key = None;
                        self.end_single();
                        Ok(())
                    }
                }
            }
        }
    }
}

impl Sink for Writer<'_> {
    fn null(&mut self) -> Result {
        self.begin_single("null")?;
        self.no_null()
    }
    fn bool(&mut self, v: bool) -> Result {
        self.scalar(if v { "true" } else { "false" })
    }
    fn i64(&mut self, v: i64) -> Result {
        self.scalar(itoa::Buffer::new().format(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        match i64::try_from(v) {
            Ok(v) => self.i64(v),
            Err(_) => {
                let mut buffer = itoa::Buffer::new();
                let digits = buffer.format(v);
                fidelity::big_int(self, BigInt::Decimal { negative: false, digits })
            }
        }
    }
    fn f64(&mut self, v: f64) -> Result {
        if v.is_finite() {
            return self.scalar(zmij::Buffer::new().format_finite(v));
        }
        if notation::has_payload(v) && fidelity::nan_payload(self, v)? {
            return Ok(());
        }
        self.scalar(match v {
            _ if v.is_nan() => "nan",
            _ if v > 0.0 => "inf",
            _ => "-inf",
        })
    }
    fn str(&mut self, v: &str) -> Result {
        self.scalar_with(|held| print::push_text(held, v))
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.begin_single("an array")?;
        self.begin(Held::Array)
    }
    fn end_array(&mut self) -> Result {
        self.end()
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        match self.open.is_empty() {
            true => {
                self.open.push(ROOT);
                Ok(())
            }
            false => self.begin(Held::Table),
        }
    }
    fn key(&mut self, k: &str) -> Result {
        self.spend(k.len())?;
        let table = *self.open.last().expect("a key stands in a table");
        if let Some(first) = self.document.find(table, k) {
            return self.key_again(k, first);
        }
        self.keep_key(k);
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.end()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match moment::spelled(v) {
            Some(text) => self.scalar(&text),
            None => fidelity::ext(self, v),
        }
    }
}

impl crate::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        if self.documents > 0 {
            return Err(Error::unrepresentable("found a second document, TOML holds one")
                .hint(Hint::into(Format::Yaml).or(Hint::into(Format::Ndjson))));
        }
        let document = std::mem::replace(&mut self.document, Tree::new("", Held::Table));
        print::document(&document, &mut self.out)?;
        (self.is_single, self.bytes) = (false, 0);
        self.documents += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result {
        if self.documents == 0 {
            return Err(Error::unrepresentable("found no document, TOML holds one"));
        }
        self.out.finish()
    }

    fn checkpoint(&mut self) {
        let open = self.open.last().copied().unwrap_or(ROOT);
        self.checkpoint = Some(Checkpoint {
            mark: self.document.mark(open),
            open: self.open.len(),
            is_single: self.is_single,
            bytes: self.bytes,
            documents: self.documents,
        });
        self.out.checkpoint();
    }

    fn rollback(&mut self) {
        let Some(checkpoint) = self.checkpoint else { return };
        self.document.rewind(checkpoint.mark);
        self.open.truncate(checkpoint.open);
        self.key = None;
        self.is_single = checkpoint.is_single;
        self.bytes = checkpoint.bytes;
        self.documents = checkpoint.documents;
        self.out.rollback();
        self.fidelity.close_all();
    }
}
