//! A value that one thread at a time may use, while others wait their turn.
//!
//! A lock would not do: the user of a stream may run Python code, a hook or a file object's `read`,
//! which releases the GIL, or asks for the next document of the very same stream. So the value is
//! taken out while it is in use. Another thread waits without the GIL; the same thread, which would
//! wait for itself, gets an error.

use std::ops::{Deref, DerefMut};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Length of one wait: Python's signals are checked in between, so that Ctrl-C ends the waiting.
const PATIENCE: Duration = Duration::from_millis(100);

/// A value that threads use in turn, until it is ended.
pub struct Turn<T> {
    state: Mutex<State<T>>,
    freed: Condvar,
    /// A description of the value, for errors: "a stream".
    what: &'static str,
}

struct State<T> {
    place: Place<T>,
    /// Number of waiting threads.
    waiting: usize,
}

enum Place<T> {
    Free(T),
    /// In use, and to be ended afterwards if `ends`.
    Used {
        by: ThreadId,
        ends: bool,
    },
    Ended,
}

impl<T: Send> Turn<T> {
    /// Wraps a value, which errors call `what`.
    pub fn new(value: T, what: &'static str) -> Turn<T> {
        let state = State { place: Place::Free(value), waiting: 0 };
        Turn { state: Mutex::new(state), freed: Condvar::new(), what }
    }

    /// Only this module's code runs while it is held.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the value, until the guard is dropped; `None` if it has ended.
    ///
    /// # Errors
    /// `ValueError` if this thread is using it already; whatever a signal handler raised.
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

    /// Ends it, and returns the value; `None` if it had ended before.
    ///
    /// # Errors
    /// Those of [`take`](Turn::take).
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

    /// If this thread is using it, marks it to end after that: `true`.
    pub fn end_after_use(&self) -> bool {
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

/// A value in use. It is returned when this is dropped, on every exit.
pub struct Taken<'a, T> {
    turn: &'a Turn<T>,
    value: Option<T>,
}

impl<T> Taken<'_, T> {
    /// Ends it: nobody else gets it any more.
    pub fn end(mut self) {
        // Dropped before the next is admitted, and without the lock, because that may run Python
        // code.
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
