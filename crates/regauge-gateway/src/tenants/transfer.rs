//! Whole tenants: moves between places, and exports.

use regauge::convert::Options;
use regauge::documents::Documents;
use regauge::{Format, OnLoss, Value, values};
use regauge_store::engine::Pair;
use regauge_store::{Engine, KeyKind, Order, Range, Store, shown};

use super::registry::Moving;
use super::{Error, Home, Lock, Place, Result, State, TenantId};

/// Values copied per transaction.
const BATCH: usize = 500;
/// Bytes of documents after which a page of an export ends early.
const PAGE_BYTES: usize = 4 << 20;

/// The outcome of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Values, each compared with its copy.
    pub values: u64,
    /// Their stored size.
    pub bytes: u64,
}

impl Home {
    /// Moves a tenant's values to the other place: copies them, compares each one with its copy,
    /// and only then switches to the new place and empties the old one. If interrupted, the tenant
    /// is in the old place or in the new one, and [`Home::recover`] removes the rest.
    ///
    /// The caller must ensure that nobody writes meanwhile.
    ///
    /// # Errors
    /// `Usage` if it is there already, or has an adopted table; `Engine`.
    pub fn move_tenant(&self, lock: &Lock, id: &TenantId, to: Place) -> Result<Moved> {
        self.recover(lock)?;
        let tenant = self.registry.get(id)?;
        if tenant.state == State::Dropping {
            return Err(Error::Usage(format!("tenant {id} is being dropped")));
        }
        if tenant.place == to {
            return Err(Error::Usage(format!("tenant {id} is {} already", to.name())));
        }
        self.clear(&tenant, to)?;
        self.registry.set_place(tenant.number, tenant.place, Some(Moving::Copying))?;
        let moved = self.copy(&tenant, to);
        if moved.is_err() {
            // Restores the previous state; what matters is the reason, not whether the cleanup
            // worked.
            let _ = self.clear(&tenant, to);
            let _ = self.registry.set_place(tenant.number, tenant.place, None);
            return moved;
        }
        self.registry.set_place(tenant.number, to, Some(Moving::Cleaning))?;
        self.clear(&tenant, tenant.place)?;
        self.registry.set_place(tenant.number, to, None)?;
        moved
    }

    fn copy(&self, tenant: &super::Tenant, to: Place) -> Result<Moved> {
        let source = self.engine(tenant, tenant.place)?;
        let target = self.engine(tenant, to)?;
        let mut moved = Moved::default();
        for name in source.notes("")? {
            target.set_note(&name, source.note(&name)?.as_deref())?;
        }
        for name in Store::collections(&*source)? {
            let opened = Store::with_engine(self.engine(tenant, tenant.place)?, &name, None)?;
            let settings = opened.settings();
            if settings.assume.is_some() || settings.layout.key_kind != KeyKind::Bytes {
                return Err(Error::Usage(format!(
                    "collection {name} of tenant {} is an adopted table, which cannot be moved; \
                     export it",
                    tenant.id
                )));
            }
            let layout = settings.layout.clone();
            target.create(&layout)?;
            walk(&*source, &layout, &mut |pairs| {
                let changes: Vec<_> =
                    pairs.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
                target.apply(&layout, &changes)
            })?;
            let mut copies = 0;
            walk(&*source, &layout, &mut |pairs| {
                let keys: Vec<&[u8]> = pairs.iter().map(|(key, _)| &key[..]).collect();
                let found = target.get_many(&layout, &keys)?;
                for ((key, value), copy) in pairs.iter().zip(found) {
                    if copy.as_deref() != Some(value) {
                        return Err(differs(&shown(key)));
                    }
                    moved.values += 1;
                    moved.bytes += value.len() as u64;
                    copies += 1;
                }
                Ok(())
            })?;
            let (there, _) = target.count(&layout)?;
            if there != copies {
                return Err(differs(&format!("{there} values, expected {copies}")));
            }
        }
        Ok(moved)
    }
}

fn differs(what: &str) -> Error {
    Error::Engine {
        doing: "move a tenant".to_owned(),
        message: format!("a copy differs from its value: {what}; nothing was changed"),
        passing: false,
    }
}

fn walk(
    engine: &dyn Engine,
    layout: &regauge_store::Layout,
    each: &mut dyn FnMut(&[Pair]) -> Result,
) -> Result {
    let mut rest = Range::all();
    loop {
        let pairs = engine.page(layout, &rest, Order::Ascending, BATCH)?;
        let Some((last, _)) = pairs.last() else { return Ok(()) };
        rest.from = Some(key_after(last));
        each(&pairs)?;
    }
}

/// Returns the first key after this one.
fn key_after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// Returns the next documents of a tenant, as a stream of `{"key": …, "value": …}` in `format`, and
/// the key at which more follow.
///
/// # Errors
/// `Damaged` and `Document`, naming the key; `Engine`.
pub fn export(
    store: &mut Store,
    from: Option<Vec<u8>>,
    limit: usize,
    format: Format,
    on_loss: OnLoss,
) -> Result<(Vec<u8>, Option<Vec<u8>>)> {
    let layout = store.settings().layout.clone();
    if !store.engine().has_table(&layout.table)? {
        return Ok((Vec::new(), None));
    }
    let range = Range { from, to: None };
    let pairs = store.engine().page(&layout, &range, Order::Ascending, limit)?;
    let (mut written, mut next) = (Vec::new(), None);
    for (key, value) in &pairs {
        if written.len() >= PAGE_BYTES {
            break;
        }
        next = Some(key_after(key));
        let entry = store.unseal(key, value)?;
        let bad = |error| Error::Document { key: shown(key), error };
        let mut options = Options::new(entry.codec.format, format);
        options.on_loss = on_loss;
        options.documents = Documents::Keep;
        let mut read = values::read_values(&entry.document, &options).map_err(bad)?;
        let value = read.pop().unwrap_or(Value::Null);
        let document = Value::Map(vec![
            (Value::Text("key".to_owned()), key_value(key)),
            (Value::Text("value".to_owned()), value),
        ]);
        let (bytes, _) = values::write_values(&[document], &options).map_err(bad)?;
        written.extend_from_slice(&bytes);
    }
    Ok((written, next))
}

/// Converts a key into a value: text if it is valid text, else bytes.
fn key_value(key: &[u8]) -> Value {
    match std::str::from_utf8(key) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(key.to_vec()),
    }
}
