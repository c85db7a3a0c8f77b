//! Ruby objects that wrap a Rust value.
//!
//! A leaf module: it may use `unsafe`, with a reason for each block.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

use crate::ruby::{self, Raise, VALUE};

/// A value that a Ruby object can wrap.
pub trait Held: Sized + 'static {
    /// The name shown by Ruby's tools.
    const NAME: &'static CStr;
    /// Whether Ractors may share such an object once it is frozen: it never changes.
    const SHAREABLE: bool = false;
    /// Marks every Ruby value it contains for the collector.
    fn mark(&self);
    /// Returns its approximate size in bytes.
    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

/// The type description of such objects for Ruby.
pub struct DataType<T>(rb_sys::rb_data_type_t, PhantomData<fn() -> T>);

// SAFETY: it contains addresses of functions and of text, and never changes.
unsafe impl<T> Sync for DataType<T> {}

impl<T: Held> DataType<T> {
    /// Returns the description of `T`.
    pub const fn new() -> DataType<T> {
        // SAFETY: all zero is a valid description: null pointers, no flags.
        let mut data_type: rb_sys::rb_data_type_t = unsafe { std::mem::zeroed() };
        data_type.wrap_struct_name = T::NAME.as_ptr();
        data_type.function.dmark = Some(mark::<T>);
        data_type.function.dfree = Some(free::<T>);
        data_type.function.dsize = Some(size::<T>);
        // RUBY_TYPED_FREE_IMMEDIATELY, and RUBY_TYPED_FROZEN_SHAREABLE.
        data_type.flags = if T::SHAREABLE { 1 | 1 << 8 } else { 1 };
        DataType(data_type, PhantomData)
    }

    /// Creates an object of `class` that wraps `value`.
    pub fn wrap(&'static self, class: VALUE, value: T) -> VALUE {
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the description is never freed, and the pointer is the one that it frees.
        unsafe { rb_sys::rb_data_typed_object_wrap(class, value.cast(), &self.0) }
    }

    /// Returns what an object wraps.
    ///
    /// # Errors
    /// A `TypeError` for any other object.
    pub fn get<'a>(&'static self, object: VALUE) -> Result<&'a mut T, Raise> {
        let held = self.held(object)?;
        // SAFETY: the pointer from `wrap`. Methods use it for the length of a call, and no method that
        // holds it calls Ruby code that could re-enter: see the callers.
        Ok(unsafe { &mut *held })
    }

    /// Returns what an object wraps that never changes: calls may overlap.
    ///
    /// # Errors
    /// A `TypeError` for any other object.
    pub fn look<'a>(&'static self, object: VALUE) -> Result<&'a T, Raise> {
        const { assert!(T::SHAREABLE) };
        let held = self.held(object)?;
        // SAFETY: the pointer from `wrap`; callers keep the object alive, and nobody changes the value.
        Ok(unsafe { &*held })
    }

    fn held(&'static self, object: VALUE) -> Result<*mut T, Raise> {
        if !ruby::is_heap(object) || ruby::heap_kind(object) != 0x0C {
            return Err(ruby::type_error("found an object that was not created here"));
        }
        // SAFETY: an object of T_DATA, checked just above; its description is compared before the
        // pointer is used.
        unsafe {
            if !rb_sys::macros::RTYPEDDATA_P(object)
                || !std::ptr::eq(rb_sys::macros::RTYPEDDATA_TYPE(object), &self.0)
            {
                return Err(ruby::type_error("found an object that was not created here"));
            }
            Ok(rb_sys::macros::RTYPEDDATA_GET_DATA(object).cast::<T>())
        }
    }
}

unsafe extern "C" fn mark<T: Held>(data: *mut c_void) {
    if !data.is_null() {
        // SAFETY: the pointer from `wrap`; marking only reads.
        unsafe { (*data.cast::<T>()).mark() };
    }
}

unsafe extern "C" fn free<T: Held>(data: *mut c_void) {
    if !data.is_null() {
        // SAFETY: the pointer that `wrap` made from a box; the object is gone, so there is no other
        // owner.
        drop(unsafe { Box::from_raw(data.cast::<T>()) });
    }
}

unsafe extern "C" fn size<T: Held>(data: *const c_void) -> rb_sys::size_t {
    if data.is_null() {
        return 0;
    }
    // SAFETY: the pointer from `wrap`.
    unsafe { (*data.cast::<T>()).size() as rb_sys::size_t }
}
