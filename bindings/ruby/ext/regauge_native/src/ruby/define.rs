//! Defines modules, classes and methods in Rust.

use std::ffi::{CStr, c_int};

use super::VALUE;

/// Defines a singleton method that takes any number of arguments.
pub fn define(
    module: VALUE,
    name: &CStr,
    method: extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE,
) {
    type Any = unsafe extern "C" fn() -> VALUE;
    // SAFETY: the lock; with arity -1, Ruby calls the function with exactly these arguments.
    unsafe {
        let method =
            std::mem::transmute::<extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE, Any>(method);
        rb_sys::rb_define_singleton_method(module, name.as_ptr(), Some(method), -1);
    }
}

/// Defines a method that takes any number of arguments.
pub fn define_method(
    class: VALUE,
    name: &CStr,
    method: extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE,
) {
    type Any = unsafe extern "C" fn() -> VALUE;
    // SAFETY: as in `define`.
    unsafe {
        let method =
            std::mem::transmute::<extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE, Any>(method);
        rb_sys::rb_define_method(class, name.as_ptr(), Some(method), -1);
    }
}

/// Returns the arguments that Ruby passed to a method.
pub fn arguments<'a>(count: c_int, first: *const VALUE) -> &'a [VALUE] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: Ruby passes as many values as it says, and they live as long as the call.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// Defines the function that Ruby calls around a [`Method`].
macro_rules! method {
    ($method:path) => {{
        extern "C" fn run(
            count: std::ffi::c_int,
            first: *const $crate::ruby::VALUE,
            receiver: $crate::ruby::VALUE,
        ) -> $crate::ruby::VALUE {
            $crate::ruby::enter($method, $crate::ruby::arguments(count, first), receiver)
        }
        run
    }};
}
pub(crate) use method;

/// Defines a module in another.
pub fn module(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point merely ends the `require`.
    unsafe { rb_sys::rb_define_module_under(under, name.as_ptr()) }
}

/// Defines a class in a module.
pub fn class(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point merely ends the `require`.
    unsafe { rb_sys::rb_define_class_under(under, name.as_ptr(), rb_sys::rb_cObject) }
}

/// Defines a top-level module.
pub fn top_module(name: &CStr) -> VALUE {
    // SAFETY: the lock; an exception at this point merely ends the `require`.
    unsafe { rb_sys::rb_define_module(name.as_ptr()) }
}

/// Declares that the extension may be used in any Ractor.
pub fn declare_ractor_safe() {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}

/// Returns whether the last argument of the current method is a keyword hash.
#[inline]
pub fn keywords_given() -> bool {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_keyword_given_p() != 0 }
}

/// Removes `new` and `allocate` from a class whose objects are created here.
pub fn no_allocator(class: VALUE) {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_undef_alloc_func(class) };
}
