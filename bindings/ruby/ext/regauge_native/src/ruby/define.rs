//! Defining modules, classes and methods in Rust.

use std::ffi::{CStr, c_int};

use super::VALUE;

/// Defines a singleton method that takes any number of arguments.
pub fn define(
    module: VALUE,
    name: &CStr,
    method: extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE,
) {
    type Any = unsafe extern "C" fn() -> VALUE;
    // SAFETY: the lock; with the arity -1 Ruby calls the function with just these arguments.
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

/// The arguments that Ruby gave a method.
pub fn arguments<'a>(count: c_int, first: *const VALUE) -> &'a [VALUE] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: Ruby gives as many values as it says, and they live as long as the call.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// Writes the function that Ruby calls around a [`Method`].
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

/// A module in another.
pub fn module(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_module_under(under, name.as_ptr()) }
}

/// A class in a module.
pub fn class(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_class_under(under, name.as_ptr(), rb_sys::rb_cObject) }
}

/// A module at the top.
pub fn top_module(name: &CStr) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_module(name.as_ptr()) }
}

/// Says that the extension may be used in any Ractor.
pub fn declare_ractor_safe() {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}

/// Whether the last argument of the method at hand is a hash of keywords.
#[inline]
pub fn keywords_given() -> bool {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_keyword_given_p() != 0 }
}

/// Takes `new` and `allocate` from a class whose objects are made here.
pub fn no_allocator(class: VALUE) {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_undef_alloc_func(class) };
}
