//! The part of Ruby's C API used here, behind functions that are safe to call on a thread that
//! holds the GVL.
//!
//! A leaf module: it may use `unsafe`, with a reason for each block. If a reason says "the lock",
//! it means: everything in this crate runs in a method that Ruby called, so the thread holds the
//! GVL, or in [`without_lock`], which receives no Ruby values. "No exception" means that the
//! function raises nothing but `NoMemoryError` for the arguments that it gets here; anything that
//! may raise more goes through [`protect`].

mod collector;
mod container;
mod coordinates;
mod define;
mod jump;
mod layout;
mod mold;
mod number;
mod object;
mod pairs;
mod text;
mod variables;

pub use rb_sys::{ID, VALUE};
use rb_sys::{ruby_special_consts as special, ruby_value_type as kind};

pub use collector::*;
pub use container::*;
pub use coordinates::*;
pub use define::*;
pub use jump::*;
pub use layout::*;
pub use mold::*;
pub use number::*;
pub use object::*;
pub use pairs::*;
pub use text::*;
pub use variables::*;

/// `nil`.
pub const NIL: VALUE = special::RUBY_Qnil as VALUE;
/// `true`.
pub const TRUE: VALUE = special::RUBY_Qtrue as VALUE;
/// `false`.
pub const FALSE: VALUE = special::RUBY_Qfalse as VALUE;
/// No value.
pub const UNDEF: VALUE = special::RUBY_Qundef as VALUE;

/// Returns the built-in type of a value.
#[inline(always)]
pub fn kind_of(value: VALUE) -> kind {
    // SAFETY: the value is alive, like everything that methods receive and the stack holds.
    unsafe { rb_sys::macros::RB_TYPE(value) }
}

/// Returns the built-in type of a value that is known to be on the heap.
#[inline(always)]
pub fn heap_kind(value: VALUE) -> u32 {
    // SAFETY: the value is not immediate, so it points to an object that begins with its flags.
    (unsafe { (*(value as *const rb_sys::RBasic)).flags } & 0x1F) as u32
}

/// Returns whether a value is a class rather than a module.
#[inline]
pub fn is_class(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 2
}

/// Returns the class of a heap value, including singleton classes.
#[inline(always)]
pub fn heap_class(value: VALUE) -> VALUE {
    // SAFETY: as above; the class follows the flags.
    unsafe { (*(value as *const rb_sys::RBasic)).klass }
}

/// Returns whether a string, an array or a hash is one of Ruby's own class, without a singleton class.
#[inline(always)]
pub fn is_of_core_class(value: VALUE, kind: u32) -> bool {
    heap_class(value) == core_class(kind)
}

/// Returns whether the value is neither an immediate number, nor `nil`, `true`, `false` or a static
/// symbol.
#[inline(always)]
pub fn is_heap(value: VALUE) -> bool {
    value & 7 == 0 && value & !NIL != 0
}

/// Returns the class of a value, skipping singleton classes.
pub fn class_of(value: VALUE) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_obj_class(value) }
}

/// Returns whether `value` is a kind of `class`.
pub fn is_a(value: VALUE, class: VALUE) -> bool {
    // SAFETY: the lock; no exception for a class.
    unsafe { rb_sys::rb_obj_is_kind_of(value, class) == TRUE }
}

/// Returns whether a value is an integer of any size.
#[inline]
pub fn is_integer(value: VALUE) -> bool {
    value & 1 == 1 || is_heap(value) && heap_kind(value) == 10
}

/// Returns whether a value is a float.
#[inline]
pub fn is_float(value: VALUE) -> bool {
    value & 3 == 2 || is_heap(value) && heap_kind(value) == 4
}
