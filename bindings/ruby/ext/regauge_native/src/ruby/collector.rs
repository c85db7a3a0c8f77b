//! Large documents are built with the collector at rest.
//!
//! A run in the middle of a document marks all of it that is there, and frees nothing of it. So the garbage of
//! the documents before is collected at the beginning of one, as soon as there is enough of it, and then none
//! until the document is whole or a method of Ruby is to run. A run goes over the whole heap: what is enough
//! grows with it, as Ruby's own measure does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::TRUE;
use super::jump::{Jump, keep};
use super::object::call;
use super::text::symbol;
use crate::names::names;

/// Bytes of the smallest document that is built so.
const LARGE: usize = 128 << 10;
/// How many objects are built before the young ones are collected: so many, or a part of what the heap has room
/// for, which grows with what is built.
const OBJECTS: usize = 80_000;
const PART_OF_HEAP: usize = 2;
/// From how many bytes of documents they are collected (Ruby's `RUBY_GC_MALLOC_LIMIT`).
const BYTES: usize = 16 << 20;

/// Whether the collector rests because of us.
static RESTS: AtomicBool = AtomicBool::new(false);
/// How many runs of the collector there had been, and how many objects were built here since, of how many
/// bytes.
static RUNS: AtomicUsize = AtomicUsize::new(0);
static BUILT: AtomicUsize = AtomicUsize::new(0);
static READ: AtomicUsize = AtomicUsize::new(0);

/// Has the collector rest until this is dropped, or until [`wake`].
pub struct Rest {
    /// How many objects there had ever been at its beginning; nothing where the collector goes on.
    objects: Option<usize>,
}

impl Rest {
    /// Before a document of so many bytes is built.
    ///
    /// # Errors
    /// What interrupted the thread while young objects were collected.
    pub fn during(bytes: usize) -> Result<Rest, Jump> {
        if bytes < LARGE || is_asleep() {
            return Ok(Rest { objects: None });
        }
        if RUNS.load(Relaxed) != runs() {
            forget();
        }
        let enough = OBJECTS.max(stat("heap_available_slots") / PART_OF_HEAP);
        if BUILT.load(Relaxed) > enough || READ.load(Relaxed) > BYTES {
            keep(call(names().build, names().id_collect, &[])?);
            forget();
        }
        READ.fetch_add(bytes, Relaxed);
        // SAFETY: the lock; no exception.
        unsafe { rb_sys::rb_gc_disable() };
        RESTS.store(true, Relaxed);
        Ok(Rest { objects: Some(stat("total_allocated_objects")) })
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(before) = self.objects {
            wake();
            let built = stat("total_allocated_objects").wrapping_sub(before);
            BUILT.fetch_add(built, Relaxed);
        }
    }
}

/// How many runs of the collector there have been.
fn runs() -> usize {
    // SAFETY: the lock; no exception.
    (unsafe { rb_sys::rb_gc_count() }) as usize
}

/// After a run.
fn forget() {
    RUNS.store(runs(), Relaxed);
    BUILT.store(0, Relaxed);
    READ.store(0, Relaxed);
}

/// Before a method of Ruby runs: the collector rests no longer because of us.
#[inline]
pub fn wake() {
    if RESTS.load(Relaxed) && RESTS.swap(false, Relaxed) {
        // SAFETY: the lock; no exception.
        unsafe { rb_sys::rb_gc_enable() };
    }
}

/// Whether somebody has stopped the collector.
fn is_asleep() -> bool {
    // SAFETY: the lock; no exception; it is asked by stopping it.
    unsafe {
        let was_asleep = rb_sys::rb_gc_disable() == TRUE;
        if !was_asleep {
            rb_sys::rb_gc_enable();
        }
        was_asleep
    }
}

/// A number of the collector's.
fn stat(name: &str) -> usize {
    // SAFETY: the lock; no exception for a name that every Ruby from 2.2 on has.
    (unsafe { rb_sys::rb_gc_stat(symbol(name)) }) as usize
}
