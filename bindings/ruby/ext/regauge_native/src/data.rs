//! Objects of Ruby that hold a value of Rust.
//!
//! A leaf module: it may use `unsafe`, each block with its reason.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

use crate::ruby::{self, Raise, VALUE};

/// What an object of Ruby can hold.
pub trait Held: Sized + 'static {
    /// The name that Ruby's own tools show.
    const NAME: &'static CStr;
    /// Shows every value of Ruby in it to the collector.
    fn mark(&self);
    /// About how many bytes it holds.
    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

/// The class of such objects, as Ruby wants to know it.
pub struct DataType<T>(rb_sys::rb_data_type_t, PhantomData<fn() -> T>);

// SAFETY: it holds addresses of functions and of text, and is never changed.
unsafe impl<T> Sync for DataType<T> {}

impl<T: Held> DataType<T> {
    /// The description of `T`.
    pub const fn new() -> DataType<T> {
        // SAFETY: all zero is a valid description: null pointers, no flags.
        let mut data_type: rb_sys::rb_data_type_t = unsafe { std::mem::zeroed() };
        data_type.wrap_struct_name = T::NAME.as_ptr();
        data_type.function.dmark = Some(mark::<T>);
        data_type.function.dfree = Some(free::<T>);
        data_type.function.dsize = Some(size::<T>);
        data_type.flags = 1; // RUBY_TYPED_FREE_IMMEDIATELY
        DataType(data_type, PhantomData)
    }

    /// A new object of `class` that holds `value`.
    pub fn wrap(&'static self, class: VALUE, value: T) -> VALUE {
        let value = Box::into_raw(Box::new(value));
        // SAFETY: the description lives for good, and the pointer is the one that it frees.
        unsafe { rb_sys::rb_data_typed_object_wrap(class, value.cast(), &self.0) }
    }

    /// What an object holds.
    ///
    /// # Errors
    /// A `TypeError` for any other object.
    pub fn get<'a>(&'static self, object: VALUE) -> Result<&'a mut T, Raise> {
        if !ruby::is_heap(object) || ruby::heap_kind(object) != 0x0C {
            return Err(ruby::type_error("found another object than was made here"));
        }
        // SAFETY: an object of T_DATA, checked just above; its description is compared before the
        // pointer is taken for what it is. Methods use it for the length of a call, and no method
        // that holds it calls Ruby code that could come back to it: see the callers.
        unsafe {
            if !rb_sys::macros::RTYPEDDATA_P(object)
                || !std::ptr::eq(rb_sys::macros::RTYPEDDATA_TYPE(object), &self.0)
            {
                return Err(ruby::type_error("found another object than was made here"));
            }
            Ok(&mut *rb_sys::macros::RTYPEDDATA_GET_DATA(object).cast::<T>())
        }
    }
}

unsafe extern "C" fn mark<T: Held>(data: *mut c_void) {
    if !data.is_null() {
        // SAFETY: the pointer that `wrap` gave; marking reads only.
        unsafe { (*data.cast::<T>()).mark() };
    }
}

unsafe extern "C" fn free<T: Held>(data: *mut c_void) {
    if !data.is_null() {
        // SAFETY: the pointer that `wrap` made of a box; the object is gone, so nobody else has it.
        drop(unsafe { Box::from_raw(data.cast::<T>()) });
    }
}

unsafe extern "C" fn size<T: Held>(data: *const c_void) -> rb_sys::size_t {
    if data.is_null() {
        return 0;
    }
    // SAFETY: the pointer that `wrap` gave.
    unsafe { (*data.cast::<T>()).size() as rb_sys::size_t }
}
