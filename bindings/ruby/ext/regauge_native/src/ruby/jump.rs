//! Ruby's non-local exits (exceptions, `throw`, `break`) and the GVL: how they pass through Rust
//! code without leaking anything.

use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

use super::{NIL, TRUE, VALUE, heap_kind, is_heap};

/// A non-local exit (an exception, a `throw`, a `break`) that was caught on its way, and has to be
/// resumed with [`resume`] once nothing is left to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump(c_int);

impl Jump {
    /// Returns the state as a number, for storage.
    pub fn state(self) -> i32 {
        self.0
    }

    /// Returns the jump of a state; `None` for 0.
    pub fn from_state(state: i32) -> Option<Jump> {
        (state != 0).then_some(Jump(state))
    }
}

/// Runs `act`, which may call any Ruby code, and catches its jump. Anything that `act` owns must
/// not need dropping while it calls Ruby. The collector is enabled meanwhile.
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

/// Resumes a caught jump.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn resume(jump: Jump) -> ! {
    // SAFETY: the lock; the state came from `rb_protect`, and its exception is still pending.
    unsafe { rb_sys::rb_jump_tag(jump.0) }
}

/// Returns the exception of a caught jump, which is then no longer pending; `None` if it is not an
/// exception.
pub fn rescue(_jump: Jump) -> Option<VALUE> {
    // SAFETY: the lock; no exception.
    let error = unsafe { rb_sys::rb_errinfo() };
    // SAFETY: the lock; `nil` is always allowed.
    unsafe { rb_sys::rb_set_errinfo(NIL) };
    (error != NIL).then_some(error)
}

/// Returns whether a caught jump is an exception of this class.
pub fn is_pending(_jump: Jump, class: VALUE) -> bool {
    // SAFETY: the lock; no exception.
    let error = unsafe { rb_sys::rb_errinfo() };
    // What is thrown is no object: exceptions are of the type `T_OBJECT`.
    let is_exception = is_heap(error) && heap_kind(error) == 1;
    // SAFETY: the lock; no exception for an object and a class.
    is_exception && unsafe { rb_sys::rb_obj_is_kind_of(error, class) == TRUE }
}

/// Raises an exception object.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn raise(exception: VALUE) -> ! {
    // SAFETY: the lock; the value is an exception.
    unsafe { rb_sys::rb_exc_raise(exception) }
}

/// Keeps `value` visible on the machine stack up to here, so that it is neither freed nor moved.
#[inline(always)]
pub fn keep(value: VALUE) {
    std::hint::black_box(&value);
}

/// Runs `act` on this thread without the GVL, so that others run meanwhile. It must not touch a
/// Ruby value. Interrupts of the thread (`Thread#kill`, a `Timeout`) wait until it is done.
///
/// # Errors
/// Whatever interrupted the thread before `act` began.
pub fn without_lock<R: Send, F: FnOnce() -> R + Send>(act: F) -> Result<R, Jump> {
    unlocked(act, None)
}

/// The same for long operations: `stop` becomes true when something interrupts the thread, and
/// `act` must check it.
///
/// # Errors
/// Those of `without_lock`.
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
        // SAFETY: the lock is held and can be released; the functions get what they expect. Of
        // Ruby's two variants, this one never jumps itself: it runs nothing if an interrupt is
        // pending.
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

/// Processes pending interrupts of the thread.
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

/// A method's result in Rust: a value, or the jump to resume.
pub type Method = fn(&[VALUE], VALUE) -> Result<VALUE, Raise>;

/// Why a method ends without a value.
#[derive(Debug)]
pub enum Raise {
    /// A Ruby jump that was caught.
    Jump(Jump),
    /// An exception object.
    Exception(VALUE),
}

impl From<Jump> for Raise {
    fn from(jump: Jump) -> Raise {
        Raise::Jump(jump)
    }
}

/// Runs a method, and raises what it returns as an error once everything it owns was dropped. A
/// panic becomes an exception.
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
                &format!("regauge: an internal error, please report it: {message}"),
            ))
        }
    };
    match raise {
        Raise::Jump(jump) => resume(jump),
        Raise::Exception(exception) => self::raise(exception),
    }
}

/// Creates an exception of this class with this message.
pub fn exception_text(class: VALUE, message: &str) -> VALUE {
    // SAFETY: the lock; Ruby's own exception classes and ours accept a message.
    unsafe { rb_sys::rb_exc_new(class, message.as_ptr().cast::<c_char>(), message.len() as c_long) }
}

/// Creates an `ArgumentError`.
pub fn argument_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eArgError }, message))
}

/// Creates the exception of an `errno`, such as `Errno::ENOENT`.
pub fn system_error(number: i32, about: &str) -> Raise {
    let about = std::ffi::CString::new(about).unwrap_or_default();
    // SAFETY: the lock; no exception; the text ends with a zero.
    Raise::Exception(unsafe { rb_sys::rb_syserr_new(number, about.as_ptr()) })
}

/// Creates a `TypeError`.
pub fn type_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eTypeError }, message))
}
