//! Walks a range of a collection, page by page.

use std::collections::VecDeque;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use regauge_store::{Entry, KeyKind, Order, Range, Store};

use super::PyStore;
use crate::errors::Way;
use crate::turn::Turn;

/// Values fetched at a time, and the size of documents at which a page ends early.
const PAGE: usize = 1_000;
const PAGE_BYTES: usize = 4 << 20;

/// What a walk yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Keys.
    Keys,
    /// Keys and values.
    Items,
}

/// Iterates over the keys, or keys and values, of a range: the result of `scan`. Threads that share
/// one get different items.
#[pyclass(module = "regauge", name = "Scan", frozen)]
pub struct PyScan {
    store: Py<PyStore>,
    what: What,
    order: Order,
    state: Turn<State>,
}

struct State {
    /// What is still to be fetched; `None` at the end.
    rest: Option<Range>,
    page: VecDeque<(Vec<u8>, Option<Entry>)>,
}

impl PyScan {
    /// Creates a walk over the keys with a prefix, or from one key (inclusive) to another
    /// (exclusive).
    pub fn new(
        store: &Bound<'_, PyStore>,
        what: What,
        prefix: Option<&Bound<'_, PyAny>>,
        from: Option<&Bound<'_, PyAny>>,
        to: Option<&Bound<'_, PyAny>>,
        reverse: bool,
    ) -> PyResult<PyScan> {
        let handle = store.get();
        let key = |key: Option<&Bound<'_, PyAny>>| key.map(|key| handle.key(key)).transpose();
        let range = match (key(prefix)?, key(from)?, key(to)?) {
            (Some(_), _, _) if handle.key_kind == KeyKind::Integer => {
                return Err(PyValueError::new_err(
                    "found a prefix, but the keys are numbers; pass from_ and to",
                ));
            }
            // Both limit the walk: the narrower one wins.
            (Some(prefix), from, to) => {
                let Range { from: first, to: after } = Range::prefix(&prefix);
                let to = match (to, after) {
                    (Some(to), Some(after)) => Some(to.min(after)),
                    (to, after) => to.or(after),
                };
                Range { from: first.max(from), to }
            }
            (None, from, to) => Range { from, to },
        };
        let order = if reverse { Order::Descending } else { Order::Ascending };
        let state = State { rest: Some(range), page: VecDeque::new() };
        Ok(PyScan { store: store.clone().unbind(), what, order, state: Turn::new(state, "a walk") })
    }

    /// Returns the next key, and its entry if wanted.
    fn pull(&self, py: Python<'_>) -> PyResult<Option<(Vec<u8>, Option<Entry>)>> {
        let (what, order) = (self.what, self.order);
        // Others wait while a page is fetched, because it contains their items, too.
        let Some(mut state) = self.state.take(py)? else { return Ok(None) };
        loop {
            if let Some(next) = state.page.pop_front() {
                return Ok(Some(next));
            }
            let Some(rest) = state.rest.take() else { return Ok(None) };
            let store = self.store.bind(py).get();
            let page = store.with(py, Way::Decode, |store| page(store, what, &rest, order))?;
            if let Some((last, _)) = page.last() {
                state.rest = narrow_after(store.key_kind, rest, order, last);
            }
            state.page.extend(page);
        }
    }
}

/// Returns the range after a key that was the last of its page.
fn narrow_after(kind: KeyKind, mut rest: Range, order: Order, last: &[u8]) -> Option<Range> {
    match order {
        Order::Descending => rest.to = Some(last.to_vec()),
        Order::Ascending if kind == KeyKind::Integer => {
            let number = std::str::from_utf8(last).ok()?.parse::<i64>().ok()?;
            rest.from = Some(number.checked_add(1)?.to_string().into_bytes());
        }
        Order::Ascending => rest.from = Some([last, b"\0"].concat()),
    }
    Some(rest)
}

type Page = Vec<(Vec<u8>, Option<Entry>)>;

fn page(store: &mut Store, what: What, range: &Range, order: Order) -> regauge_store::Result<Page> {
    if what == What::Keys {
        let keys = store.keys(range, order, PAGE)?;
        return Ok(keys.into_iter().map(|key| (key, None)).collect());
    }
    let mut page = Vec::new();
    let mut bytes = 0;
    store.scan(range, order, &mut |store, key, value| {
        let entry = store.unseal(key, value)?;
        bytes += entry.document.len();
        page.push((key.to_vec(), Some(entry)));
        Ok(page.len() < PAGE && bytes < PAGE_BYTES)
    })?;
    Ok(page)
}

#[pymethods]
impl PyScan {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((key, entry)) = self.pull(py)? else { return Ok(None) };
        let store = self.store.bind(py).get();
        let name = store.named(py, &key)?;
        match entry {
            None => Ok(Some(name)),
            Some(entry) => {
                let value = store.decoded(py, &key, &entry)?;
                Ok(Some((name, value).into_pyobject(py)?.into_any()))
            }
        }
    }
}
