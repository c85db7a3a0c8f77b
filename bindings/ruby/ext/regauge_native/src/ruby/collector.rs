//! Pauses the garbage collector while large documents are built.
//!
//! A collection in the middle of a document marks everything in it, and frees nothing of it. So the
//! garbage of earlier documents is collected at the beginning of one, once there is enough of it,
//! and then nothing until the document is complete or a Ruby method has to run. A collection covers
//! the whole heap: the threshold grows with it, as Ruby's own does.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use super::TRUE;
use super::jump::{Jump, keep};
use super::object::call;
use super::text::symbol;
use crate::names::names;

/// Size of the smallest document for which this is done.
const LARGE: usize = 128 << 10;
/// Number of objects built before the young ones are collected: this many, or a fraction of the
/// heap's capacity, which grows with what is built.
const OBJECTS: usize = 80_000;
const PART_OF_HEAP: usize = 2;
/// The threshold in bytes of documents (Ruby's `RUBY_GC_MALLOC_LIMIT`).
const BYTES: usize = 16 << 20;

/// Whether we have paused the collector.
static RESTS: AtomicBool = AtomicBool::new(false);
/// The number of collections so far, and of the objects built here since then, and their bytes.
static RUNS: AtomicUsize = AtomicUsize::new(0);
static BUILT: AtomicUsize = AtomicUsize::new(0);
static READ: AtomicUsize = AtomicUsize::new(0);

/// Pauses the collector until this is dropped, or until [`wake`].
pub struct Rest {
    /// Total number of objects allocated at its beginning; `None` if the collector keeps running.
    objects: Option<usize>,
}

impl Rest {
    /// Called before a document of this many bytes is built.
    ///
    /// # Errors
    /// Whatever interrupted the thread while young objects were collected.
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

/// Returns the number of collections so far.
fn runs() -> usize {
    // SAFETY: the lock; no exception.
    (unsafe { rb_sys::rb_gc_count() }) as usize
}

/// Called after a collection.
fn forget() {
    RUNS.store(runs(), Relaxed);
    BUILT.store(0, Relaxed);
    READ.store(0, Relaxed);
}

/// Called before a Ruby method runs: ends our pause.
#[inline]
pub fn wake() {
    if RESTS.load(Relaxed) && RESTS.swap(false, Relaxed) {
        // SAFETY: the lock; no exception.
        unsafe { rb_sys::rb_gc_enable() };
    }
}

/// Returns whether somebody else has disabled the collector.
fn is_asleep() -> bool {
    // SAFETY: the lock; no exception; disabling it returns the previous state.
    unsafe {
        let was_asleep = rb_sys::rb_gc_disable() == TRUE;
        if !was_asleep {
            rb_sys::rb_gc_enable();
        }
        was_asleep
    }
}

/// Returns a statistic of the collector.
fn stat(name: &str) -> usize {
    // SAFETY: the lock; no exception for a name that every Ruby from 2.2 on has.
    (unsafe { rb_sys::rb_gc_stat(symbol(name)) }) as usize
}
