//! What one thread at a time may use, while others wait for their turn.
//!
//! A lock would not do: whoever uses a stream may run Python code, a hook or a file object's `read`,
//! which gives up the global lock, or asks for the next document of the very same stream. So the value
//! is taken out while it is used. Another thread waits without the global lock; the same thread, which
//! would wait for itself, gets an error.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// How long is waited at a time: then Python's signals are seen to, so that Ctrl-C ends the waiting.
const PATIENCE: Duration = Duration::from_millis(100);

/// A value that threads use by turns, until it is ended.
pub struct Turn<T> {
    state: Mutex<State<T>>,
    freed: Condvar,
    /// What the value is, for an error: "a stream".
    what: &'static str,
}

struct State<T> {
    place: Place<T>,
    /// How many threads wait.
    waiting: usize,
}

enum Place<T> {
    Free(T),
    /// In use, and to be ended then if `ends`.
    Used {
        by: ThreadId,
        ends: bool,
    },
    Ended,
}

impl<T: Send> Turn<T> {
    /// Of a value, which errors call `what`.
    pub fn new(value: T, what: &'static str) -> Turn<T> {
        let state = State { place: Place::Free(value), waiting: 0 };
        Turn { state: Mutex::new(state), freed: Condvar::new(), what }
    }

    /// Nothing but this module's code runs while it is held.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value, until what comes back is dropped; `None` where it has ended.
    ///
    /// # Errors
    /// `ValueError` where this thread uses it already; what a signal's handler raised.
    pub fn take(&self, py: Python<'_>) -> PyResult<Option<Taken<'_, T>>> {
        let me = thread::current().id();
        loop {
            {
                let mut state = self.lock();
                let used = Place::Used { by: me, ends: false };
                match std::mem::replace(&mut state.place, used) {
                    Place::Free(value) => {
                        return Ok(Some(Taken { turn: self, value: Some(value) }));
                    }
                    other => state.place = other,
                }
                match state.place {
                    Place::Used { by, .. } if by == me => return Err(self.busy()),
                    Place::Used { .. } => (),
                    _ => return Ok(None),
                }
            }
            self.wait(py)?;
        }
    }

    /// Ends it, and gives the value; `None` where it has ended before.
    ///
    /// # Errors
    /// As [`take`](Turn::take).
    pub fn end(&self, py: Python<'_>) -> PyResult<Option<T>> {
        let me = thread::current().id();
        loop {
            {
                let mut state = self.lock();
                match &mut state.place {
                    Place::Used { by, .. } if *by == me => return Err(self.busy()),
                    Place::Used { .. } => (),
                    place => match std::mem::replace(place, Place::Ended) {
                        Place::Free(value) => return Ok(Some(value)),
                        _ => return Ok(None),
                    },
                }
            }
            self.wait(py)?;
        }
    }

    /// Where this thread uses it, it ends as soon as that is done: `true`.
    pub fn end_behind(&self) -> bool {
        let me = thread::current().id();
        match &mut self.lock().place {
            Place::Used { by, ends } if *by == me => {
                *ends = true;
                true
            }
            _ => false,
        }
    }

    /// Waits for a while, or until it is free.
    #[cold]
    fn wait(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            let mut state = self.lock();
            if matches!(state.place, Place::Used { .. }) {
                state.waiting += 1;
                let waited = self.freed.wait_timeout(state, PATIENCE);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                state.waiting -= 1;
            }
        });
        py.check_signals()
    }

    #[cold]
    fn busy(&self) -> PyErr {
        let what = self.what;
        PyValueError::new_err(format!(
            "found {what} in use by this very thread, expected an idle one"
        ))
    }
}

/// A value while it is used. It goes back when this is dropped, on every way out.
pub struct Taken<'a, T> {
    turn: &'a Turn<T>,
    value: Option<T>,
}

impl<T> Taken<'_, T> {
    /// Ends it: nobody else gets it any more.
    pub fn end(mut self) {
        // Dropped before the next is let in, and without the lock, as Python code may run for that.
        self.value = None;
    }
}

impl<T> Deref for Taken<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        match &self.value {
            Some(value) => value,
            None => unreachable!("taken until the end"),
        }
    }
}

impl<T> DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.value {
            Some(value) => value,
            None => unreachable!("taken until the end"),
        }
    }
}

impl<T> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        let value = self.value.take().filter(|_| !thread::panicking());
        let mut state = self.turn.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = matches!(state.place, Place::Used { ends: true, .. });
        let left = match value {
            Some(value) if !ends => {
                state.place = Place::Free(value);
                None
            }
            other => {
                state.place = Place::Ended;
                other
            }
        };
        if state.waiting > 0 {
            match state.place {
                Place::Free(_) => self.turn.freed.notify_one(),
                _ => self.turn.freed.notify_all(),
            }
        }
        drop(state);
        drop(left);
    }
}
