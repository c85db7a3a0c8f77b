//! Walks over the keys and values of a range, page by page.

use regauge_store::{Entry, Order, Range};

use super::failure::exception_of;
use super::{key_string, opened, range_of};
use crate::data::{DataType, Held};
use crate::errors::Phase;
use crate::names::names;
use crate::ruby::{self, NIL, Raise, VALUE};

/// Values on the first page: a caller who wants only the first should not wait for many.
const FIRST: usize = 32;
/// Maximum number of values on a later page; the engine ends one early by size.
const MOST: usize = 1_000;

/// `Regauge::Native::Cursor`.
pub struct Cursor {
    /// Taken out while a value is read, because Ruby methods may run meanwhile.
    walk: Option<Walk>,
    store: VALUE,
}

struct Walk {
    page: std::vec::IntoIter<Item>,
    /// `None` at the end.
    rest: Option<Range>,
    order: Order,
    keys_only: bool,
    limit: usize,
}

/// A key, and its value if requested.
type Item = (Vec<u8>, Option<regauge_store::Result<Entry>>);

impl Held for Cursor {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::Cursor";
    fn mark(&self) {
        ruby::mark(self.store);
    }
}

static CURSOR: DataType<Cursor> = DataType::new();

/// `store.cursor(from, to, prefix, reverse, keys only)`.
pub fn open(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[from, to, prefix, reverse, keys_only] = arguments else {
        return Err(ruby::argument_error("cursor takes three keys and two truth values"));
    };
    let truth = |value| value != NIL && value != ruby::FALSE;
    let walk = Walk {
        page: Vec::new().into_iter(),
        rest: Some(range_of(from, to, prefix)?),
        order: if truth(reverse) { Order::Descending } else { Order::Ascending },
        keys_only: truth(keys_only),
        limit: FIRST,
    };
    opened(receiver)?;
    Ok(CURSOR.wrap(names().cursor_class, Cursor { walk: Some(walk), store: receiver }))
}

/// `cursor.advance`: returns `[key, object]`, or only the key; the cursor itself at the end.
pub fn advance(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let cursor = CURSOR.get(receiver)?;
    let handle = cursor.store;
    let Some(mut walk) = cursor.walk.take() else {
        return Err(ruby::argument_error("the cursor is already being read"));
    };
    let next = next(&mut walk, handle);
    // A damaged value may be followed by others.
    CURSOR.get(receiver)?.walk = Some(walk);
    ruby::keep(receiver);
    Ok(next?.unwrap_or(receiver))
}

fn next(walk: &mut Walk, handle: VALUE) -> Result<Option<VALUE>, Raise> {
    let store = opened(handle)?;
    loop {
        if let Some((key, entry)) = walk.page.next() {
            let Some(entry) = entry else { return Ok(Some(key_string(&key))) };
            let entry = entry.map_err(|error| exception_of(error, Phase::Decode))?;
            let object = store.object(&key, &entry)?;
            let pair = ruby::array(&[key_string(&key), object]);
            ruby::keep(object);
            return Ok(Some(pair));
        }
        let Some(range) = walk.rest.take() else { return Ok(None) };
        let (order, keys_only, limit) = (walk.order, walk.keys_only, walk.limit);
        let (page, rest) = store.ask(Phase::Decode, |store| {
            let page: Vec<Item> = if keys_only {
                store.keys(&range, order, limit)?.into_iter().map(|key| (key, None)).collect()
            } else {
                let pairs = store.page(&range, order, limit)?.into_iter();
                let items = pairs.map(|(key, value)| {
                    let entry = store.unseal(&key, &value);
                    (key, Some(entry))
                });
                items.collect()
            };
            let rest = page.last().and_then(|(last, _)| store.range_after(&range, order, last));
            Ok((page, rest))
        })?;
        walk.page = page.into_iter();
        walk.rest = rest;
        walk.limit = (walk.limit * 8).min(MOST);
    }
}
