//! What stops a filter that would take all memory, the whole stack or too much time.
//!
//! jaq calls back into our code in places that cannot return an error: where it collects an array, and
//! for every term that it evaluates, and for sums (`range` adds). There, a filter is stopped by unwinding to [`run`], which
//! makes an error of it. A filter cannot catch it.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, Limits};

/// How many elements, keys and values all arrays and maps of a thread may hold at once: some 400
/// MB in arrays, and twice as much while one grows.
pub(crate) const VALUES_MAX: usize = 1 << 24;
/// How deep arrays and maps may nest: as deep as in any input. They are dropped by recursion.
pub(crate) const NESTING_MAX: u16 = Limits::DEPTH_CEILING as u16;
/// The longest text that a filter may make.
pub(crate) const TEXT_MAX: usize = 256 << 20;
/// The largest integer that a filter may make, in bits: some 19,000 digits.
pub(crate) const INTEGER_BITS_MAX: u64 = 1 << 16;

/// The longest text of a filter in bytes.
pub(crate) const FILTER_MAX: usize = 128 << 10;
/// How much stack a byte of a filter may take while it is parsed, which is by recursion: `-----1`
/// takes 2 kB, and a byte of any other filter less.
pub(crate) const PARSE_BYTES: usize = 4 << 10;

/// The stack for parsing a short filter.
pub(crate) const STACK_MIN: usize = 2 << 20;

/// The stack of a thread that runs filters. Only what is used takes memory.
pub(crate) const STACK_BYTES: usize = 256 << 20;
/// How much of an unknown stack a filter may use: half of the smallest default.
const UNKNOWN_STACK_BYTES: usize = 512 << 10;
/// How many steps are taken between two looks at the clock.
const STEPS_PER_LOOK: u32 = 4096;

/// Why a filter is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Values,
    Nesting,
    Stack,
    Time,
}

impl Stop {
    fn into_error(self) -> Error {
        let error = Error::limit(match self {
            Stop::Values => format!("the filter holds more than {VALUES_MAX} values at once"),
            Stop::Nesting => {
                format!("the filter makes values that nest more than {NESTING_MAX} deep")
            }
            Stop::Stack => "the filter recurses too deeply".to_owned(),
            Stop::Time => {
                "the filter takes longer for a document than the limit of time".to_owned()
            }
        });
        if self == Stop::Time { error.hint(Hint::raise(Limit::Time)) } else { error }
    }
}

thread_local! {
    static LIVE: Cell<usize> = const { Cell::new(0) };
    static STACK: Cell<usize> = const { Cell::new(0) };
    static STEPS: Cell<u32> = const { Cell::new(0) };
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn stop(why: Stop) -> ! {
    resume_unwind(Box::new(why))
}

/// Runs code in which a filter may be stopped.
///
/// # Errors
/// `Limit` if it was, and those of `work`.
pub(crate) fn run<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => match payload.downcast::<Stop>() {
            Ok(why) => Err(why.into_error()),
            Err(panic) => resume_unwind(panic),
        },
    }
}

/// Runs code as [`run`] does, and stops a filter that takes longer than `limit`.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_within<T>(
    limit: Option<Duration>,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    DEADLINE.set(limit.and_then(|limit| Instant::now().checked_add(limit)));
    let result = run(work);
    DEADLINE.set(None);
    result
}

/// Counts a step of a filter, and stops it if its time is over.
#[inline(always)]
pub(crate) fn step() {
    let steps = STEPS.get().wrapping_add(1);
    STEPS.set(steps);
    if steps.is_multiple_of(STEPS_PER_LOOK) {
        look_at_clock();
    }
}

#[cold]
fn look_at_clock() {
    if DEADLINE.get().is_some_and(|end| Instant::now() > end) {
        DEADLINE.set(None);
        stop(Stop::Time);
    }
}

/// Counts the values that a container holds.
#[derive(Debug)]
pub(crate) struct Count(usize);

impl Count {
    pub fn of(values: usize) -> Count {
        let mut count = Count(0);
        count.set(values);
        count
    }

    pub fn set(&mut self, values: usize) {
        let live = LIVE.get() - self.0 + values;
        LIVE.set(live);
        self.0 = values;
        if live > VALUES_MAX {
            stop(Stop::Values);
        }
    }
}

impl Clone for Count {
    fn clone(&self) -> Count {
        Count::of(self.0)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        LIVE.set(LIVE.get().saturating_sub(self.0));
    }
}

/// Stops if `more` values beside those that are held are too many.
pub(crate) fn check_room(more: usize) {
    if LIVE.get() + more > VALUES_MAX {
        stop(Stop::Values);
    }
}

/// Stops if a value nests too deeply.
#[inline]
pub(crate) fn check_depth(depth: u16) {
    if depth > NESTING_MAX {
        stop(Stop::Nesting);
    }
}

/// Returns roughly where the stack ends at the moment.
#[inline(always)]
fn here() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&mark)) as usize
}

/// Returns the lowest address that the stack of this thread may reach. Half of it is left for what
/// jaq does between two calls of [`check_stack`].
pub(crate) fn stack_floor() -> usize {
    match STACK.get() {
        0 => here().saturating_sub(UNKNOWN_STACK_BYTES),
        floor => floor,
    }
}

/// Stops if the stack has grown below `floor`, or the time is over.
#[inline(always)]
pub(crate) fn check_stack(floor: usize) {
    step();
    if here() < floor {
        stop(Stop::Stack);
    }
}

/// Declares that the calling thread has just begun, with a stack of [`STACK_BYTES`].
pub(crate) fn begin_thread() {
    STACK.set(here().saturating_sub(STACK_BYTES / 2));
}

/// Runs `work` on a thread with a stack that is large enough for deep recursion.
///
/// # Panics
/// If the system has no more threads.
pub fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    on_stack(STACK_BYTES, || {
        begin_thread();
        work()
    })
}

/// Runs `work` on a thread with a stack of this size.
pub(crate) fn on_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work);
        match thread.expect("the system starts a thread").join() {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    })
}
