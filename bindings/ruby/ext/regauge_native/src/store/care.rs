//! Settings, counting, verifying and re-encoding.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use regauge_store::reencode::{self, Plan};
use regauge_store::verify;
use regauge_store::{Assume, Error, KeyKind, Layout, Settings as Collection, Store};

use super::failure::{exception_of, text_of};
use super::{HANDLE, Opened, codec_of, opened, range_of};
use crate::convert::table;
use crate::errors::Phase;
use crate::options::{Settings, word};
use crate::ruby::{self, NIL, Raise, VALUE};

/// Values that are named one by one; more are only counted.
const NAMED_MAX: usize = 1_000;

impl Opened {
    /// Runs a long operation on a separate connection, so that others can use this one, and until
    /// the thread is interrupted.
    fn at_length<R: Send>(
        &self,
        act: impl FnOnce(&mut Store) -> regauge_store::Result<R> + Send,
    ) -> Result<R, Raise> {
        let stop = Arc::new(AtomicBool::new(false));
        let (shared, place) = (&self.shared, &self.place);
        let run = || {
            if shared.is_temporary {
                let mut store = shared.lock();
                store.stop = Some(Arc::clone(&stop));
                let result = act(&mut store);
                store.stop = None;
                return result;
            }
            let mut store = place.open()?;
            store.stop = Some(Arc::clone(&stop));
            act(&mut store)
        };
        match ruby::without_lock_until(&stop, run)? {
            Err(error @ Error::Stopped) => {
                ruby::check_interrupts()?;
                Err(exception_of(error, Phase::Decode))
            }
            other => other.map_err(|error| exception_of(error, Phase::Decode)),
        }
    }

    /// Updates the handle to another codec of the collection.
    fn renew(&self, receiver: VALUE) -> Result<(), Raise> {
        let format = self.ask(Phase::Decode, |store| {
            if !store.engine().is_temporary() {
                *store = self.place.open()?;
            }
            Ok(store.settings().codec.format)
        })?;
        let settings = Settings::storing(format, self.options)?;
        HANDLE.get(receiver)?.settings = Arc::new(settings);
        Ok(())
    }
}

/// `store.info`: describes the collection.
pub fn info(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let store = opened(receiver)?;
    let (collection, engine, atomic) = store.ask(Phase::Decode, |store| {
        Ok((store.settings().clone(), store.engine().name(), store.engine().is_atomic()))
    })?;
    let assume = collection.assume.map_or(NIL, |assume| {
        let base64 = if assume.base64 { "base64:" } else { "" };
        ruby::text(&format!("{base64}{}", assume.format.name()))
    });
    ruby::keep(assume);
    let layout = &collection.layout;
    table(&[
        ("engine", ruby::text(&engine)),
        ("collection", ruby::text(&store.place.collection)),
        ("codec", ruby::text(&collection.codec.to_string())),
        ("assume", assume),
        ("atomic", if atomic { ruby::TRUE } else { ruby::FALSE }),
        ("table", ruby::text(&layout.table)),
        ("key_kind", ruby::symbol(layout.key_kind.name())),
        ("text", if layout.text { ruby::TRUE } else { ruby::FALSE }),
    ])
}

/// `store.count`: the number of values, and their size in the database.
pub fn count(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let (values, bytes) = opened(receiver)?.ask(Phase::Decode, Store::count)?;
    Ok(ruby::array(&[ruby::integer(values as i64), ruby::integer(bytes as i64)]))
}

/// Errors to report: the first few, and how many there are.
#[derive(Default)]
struct Named(Vec<String>);

impl Named {
    fn add(&mut self, error: &Error) {
        if self.0.len() < NAMED_MAX {
            self.0.push(text_of(error));
        }
    }

    fn list(&self) -> VALUE {
        let list = ruby::array(&[]);
        self.0.iter().for_each(|text| ruby::array_extend(list, &[ruby::text(text)]));
        list
    }
}

/// `store.verify(from, to, prefix)`: the result of verifying every value.
pub fn verify(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[from, to, prefix] = arguments else {
        return Err(ruby::argument_error("verify takes three keys"));
    };
    let range = range_of(from, to, prefix)?;
    let (found, bad) = opened(receiver)?.at_length(|store| {
        let mut bad = Named::default();
        let mut on_bad = |error: &Error| {
            bad.add(error);
            Ok(())
        };
        let found = verify::verify(store, &range, &mut on_bad, &mut |_| ())?;
        Ok((found, bad))
    })?;
    let codecs = ruby::hash();
    for (codec, values, bytes) in &found.codecs {
        let numbers = [ruby::integer(*values as i64), ruby::integer(*bytes as i64)];
        let pair = [ruby::interned(&codec.to_string()), ruby::array(&numbers)];
        ruby::hash_insert(codecs, &pair, true)?;
    }
    let errors = bad.list();
    let number = |v: u64| ruby::integer(v as i64);
    let answer = table(&[
        ("values", number(found.values)),
        ("stored_bytes", number(found.stored_bytes)),
        ("document_bytes", number(found.document_bytes)),
        ("bare", number(found.bare)),
        ("bad", number(found.bad)),
        ("codecs", codecs),
        ("errors", errors),
    ]);
    ruby::keep(codecs);
    ruby::keep(errors);
    answer
}

/// `store.reencode(codec, dry run, values per second or nil)`.
pub fn reencode(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[to, dry_run, rate] = arguments else {
        return Err(ruby::argument_error("reencode takes a codec, a truth value and a rate"));
    };
    let rate = match rate {
        NIL => None,
        rate if ruby::is_float(rate) => Some(ruby::float_value(rate)),
        _ => return Err(ruby::argument_error("rate: takes a number of values per second")),
    };
    let dry_run = dry_run != NIL && dry_run != ruby::FALSE;
    let plan = Plan { to: codec_of(to)?, dry_run, rate };
    let store = opened(receiver)?;
    let done = store.at_length(|store| {
        let mut refused = Named::default();
        let mut on_refused = |error: &Error| {
            refused.add(error);
            Ok(())
        };
        let outcome = reencode::reencode(store, &plan, &mut on_refused, &mut |_| ())?;
        Ok((outcome, refused))
    });
    // Even if it was interrupted, new values have to use the new codec.
    if !dry_run {
        store.renew(receiver)?;
    }
    let (outcome, refused) = done?;
    let errors = refused.list();
    let number = |v: u64| ruby::integer(v as i64);
    let answer = table(&[
        ("values", number(outcome.values)),
        ("changed", number(outcome.changed)),
        ("already", number(outcome.already)),
        ("overtaken", number(outcome.overtaken)),
        ("refused", number(outcome.refused)),
        ("bytes_before", number(outcome.bytes_before)),
        ("bytes_after", number(outcome.bytes_after)),
        ("errors", errors),
    ]);
    ruby::keep(errors);
    ruby::keep(receiver);
    answer
}

/// `store.train(samples, bytes)`: the size of the new dictionary.
pub fn train(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[samples, size] = arguments else {
        return Err(ruby::argument_error("train takes two numbers"));
    };
    let number = |value| ruby::small_integer(value).and_then(|v| usize::try_from(v).ok());
    let (Some(samples), Some(size)) = (number(samples), number(size)) else {
        return Err(ruby::argument_error("train takes two numbers"));
    };
    let bytes = opened(receiver)?.ask(Phase::Decode, |store| store.train(samples, size))?;
    Ok(ruby::integer(bytes as i64))
}

/// `store.adopt(table, key column, value column, assume, key kind, text)`.
pub fn adopt(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[table, key, value, assume, kind, text] = arguments else {
        return Err(ruby::argument_error("adopt takes six arguments"));
    };
    let words: Option<Vec<String>> =
        [table, key, value, assume, kind].into_iter().map(word).collect();
    let Some([table, key, value, assume, kind]) =
        words.and_then(|words| <[String; 5]>::try_from(words).ok())
    else {
        return Err(ruby::type_error("adopt takes names"));
    };
    let kinds = [KeyKind::Bytes, KeyKind::Text, KeyKind::Integer];
    let Some(key_kind) = kinds.into_iter().find(|one| one.name() == kind) else {
        return Err(ruby::argument_error("key_kind: takes :bytes, :text, :integer"));
    };
    let text = text != NIL && text != ruby::FALSE;
    let assume = assume
        .replace('_', "-")
        .parse::<Assume>()
        .map_err(|error: Error| ruby::argument_error(&error.to_string()))?;
    opened(receiver)?.ask(Phase::Decode, |store| {
        let layout = Layout { table, key, value, key_kind, text };
        let codec = store.settings().codec;
        store.adopt(Collection { codec, assume: Some(assume), layout })
    })?;
    Ok(NIL)
}
