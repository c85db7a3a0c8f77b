//! Jumps of Ruby's (exceptions, `throw`, `break`) and the interpreter's lock: how they pass through
//! code in Rust without leaving anything behind.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{NIL, VALUE};

/// A jump of Ruby's (an exception, a `throw`, a `break`) that was caught on its way, and has to be
/// sent on with [`resume`] when nothing is left to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump(c_int);

impl Jump {
    /// The state as a number, to be kept where only a number can be.
    pub fn state(self) -> i32 {
        self.0
    }

    /// The jump of a state; `None` for 0.
    pub fn from_state(state: i32) -> Option<Jump> {
        (state != 0).then_some(Jump(state))
    }
}

/// Runs `act`, which may call whatever Ruby code, and catches its jump. What `act` owns must not
/// need dropping while it calls Ruby. The collector is awake meanwhile.
pub fn protect<F: FnOnce() -> VALUE>(act: F) -> Result<VALUE, Jump> {
    struct Frame<F>(Option<F>);
    unsafe extern "C" fn run<F: FnOnce() -> VALUE>(frame: VALUE) -> VALUE {
        // SAFETY: the address of the frame below, which outlives the call.
        let frame = unsafe { &mut *(frame as *mut Frame<F>) };
        frame.0.take().map_or(NIL, |act| act())
    }
    super::collector::wake();
    let mut frame = Frame(Some(act));
    let mut state = 0;
    // SAFETY: the lock; the function gets the frame that it expects.
    let value = unsafe { rb_sys::rb_protect(Some(run::<F>), &raw mut frame as VALUE, &mut state) };
    if state == 0 { Ok(value) } else { Err(Jump(state)) }
}

/// Sends a caught jump on its way.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn resume(jump: Jump) -> ! {
    // SAFETY: the lock; the state is one that `rb_protect` gave, and its exception is still there.
    unsafe { rb_sys::rb_jump_tag(jump.0) }
}

/// The exception of a caught jump, which is then no longer pending; `None` if it is no exception.
pub fn rescue(_jump: Jump) -> Option<VALUE> {
    // SAFETY: the lock; no exception.
    let error = unsafe { rb_sys::rb_errinfo() };
    // SAFETY: the lock; `nil` is always allowed.
    unsafe { rb_sys::rb_set_errinfo(NIL) };
    (error != NIL).then_some(error)
}

/// Raises an exception object.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn raise(exception: VALUE) -> ! {
    // SAFETY: the lock; the value is an exception.
    unsafe { rb_sys::rb_exc_raise(exception) }
}

/// Keeps `value` visible on the machine's stack up to here, so that it is neither freed nor moved.
#[inline(always)]
pub fn keep(value: VALUE) {
    std::hint::black_box(&value);
}

/// Runs `act` on this thread without the interpreter's lock, so that others go on meanwhile. It
/// must not touch a value of Ruby. What interrupts the thread (`Thread#kill`, a `Timeout`) waits
/// until it is done.
///
/// # Errors
/// What interrupted the thread before `act` began.
pub fn without_lock<R: Send, F: FnOnce() -> R + Send>(act: F) -> Result<R, Jump> {
    unlocked(act, None)
}

/// The same for what may take long: `stop` becomes true when something interrupts the thread, and
/// `act` is to look at it.
///
/// # Errors
/// As `without_lock`.
pub fn without_lock_until<R: Send, F: FnOnce() -> R + Send>(
    stop: &AtomicBool,
    act: F,
) -> Result<R, Jump> {
    unlocked(act, Some(stop))
}

fn unlocked<R, F: FnOnce() -> R>(act: F, stop: Option<&AtomicBool>) -> Result<R, Jump> {
    struct Frame<F, R>(Option<F>, Option<std::thread::Result<R>>);
    unsafe extern "C" fn run<F: FnOnce() -> R, R>(frame: *mut c_void) -> *mut c_void {
        // SAFETY: the address of the frame below, which outlives the call.
        let frame = unsafe { &mut *frame.cast::<Frame<F, R>>() };
        if let Some(act) = frame.0.take() {
            frame.1 = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)));
        }
        std::ptr::null_mut()
    }
    unsafe extern "C" fn interrupt(stop: *mut c_void) {
        // SAFETY: the address of the caller's flag, which outlives the call.
        unsafe { (*stop.cast::<AtomicBool>()).store(true, Ordering::Relaxed) };
    }
    let mut frame = Frame(Some(act), None);
    loop {
        // SAFETY: the lock is there to be let go; the functions get what they expect. This one of
        // Ruby's two never jumps itself: it runs nothing where an interrupt is pending.
        unsafe {
            rb_sys::rb_thread_call_without_gvl2(
                Some(run::<F, R>),
                (&raw mut frame).cast(),
                stop.map(|_| interrupt as unsafe extern "C" fn(*mut c_void)),
                stop.map_or(std::ptr::null_mut(), |stop| {
                    std::ptr::from_ref(stop).cast_mut().cast()
                }),
            );
        }
        match frame.1.take() {
            Some(Ok(result)) => return Ok(result),
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => {
                check_interrupts()?;
            }
        }
    }
}

/// Lets happen what interrupts the thread.
///
/// # Errors
/// Its jump.
pub fn check_interrupts() -> Result<(), Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe {
        rb_sys::rb_thread_check_ints();
        NIL
    })
    .map(drop)
}

/// A method in Rust: its result, or the jump to send on.
pub type Method = fn(&[VALUE], VALUE) -> Result<VALUE, Raise>;

/// How a method ends when not with a value.
#[derive(Debug)]
pub enum Raise {
    /// A jump of Ruby's that was caught.
    Jump(Jump),
    /// An exception object.
    Exception(VALUE),
}

impl From<Jump> for Raise {
    fn from(jump: Jump) -> Raise {
        Raise::Jump(jump)
    }
}

/// Runs a method, and raises what it asks for when everything of it was dropped. A panic becomes
/// an exception.
pub fn enter(method: Method, arguments: &[VALUE], receiver: VALUE) -> VALUE {
    let ran = std::panic::catch_unwind(|| method(arguments, receiver));
    let raise = match ran {
        Ok(Ok(value)) => return value,
        Ok(Err(raise)) => raise,
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            let message = message.unwrap_or_default();
            Raise::Exception(exception_text(
                // SAFETY: a global that Ruby sets before anything runs.
                unsafe { rb_sys::rb_eFatal },
                &format!("regauge: a fault of its own, please report it: {message}"),
            ))
        }
    };
    match raise {
        Raise::Jump(jump) => resume(jump),
        Raise::Exception(exception) => self::raise(exception),
    }
}

/// An exception of this class with this message.
pub fn exception_text(class: VALUE, message: &str) -> VALUE {
    // SAFETY: the lock; exceptions of Ruby's own classes and ours take a message.
    unsafe { rb_sys::rb_exc_new(class, message.as_ptr().cast::<c_char>(), message.len() as c_long) }
}

/// An `ArgumentError`.
pub fn argument_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eArgError }, message))
}

/// A `TypeError`.
pub fn type_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eTypeError }, message))
}
