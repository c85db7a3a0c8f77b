//! Objects, classes, instance variables and methods.

use std::ffi::{CStr, c_int};

use super::container::{array, array_extend};
use super::jump::{Jump, protect, rescue};
use super::text::{bytes_of, is_ascii};
use super::{FALSE, ID, TRUE, VALUE, is_heap};

/// Interns a name permanently: for names of our own.
pub fn id(name: &CStr) -> ID {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_intern(name.as_ptr()) }
}

/// Returns the ID for a string that is the name of an instance variable or a member.
pub fn id_of(string: VALUE) -> Result<ID, Jump> {
    // SAFETY: the lock; under `protect`, because a broken name raises.
    protect(|| unsafe { rb_sys::rb_intern_str(string) as VALUE }).map(|id| id as ID)
}

/// Returns the ID of a symbol.
#[inline(always)]
pub fn symbol_id(symbol: VALUE) -> ID {
    // SAFETY: the lock; no exception for a symbol.
    unsafe { rb_sys::rb_sym2id(symbol) }
}

/// Calls `act` with every instance variable, until it returns `false`. Jumps must not leave it.
pub fn each_variable<F: FnMut(ID, VALUE) -> bool>(object: VALUE, mut act: F) {
    unsafe extern "C" fn step<F: FnMut(ID, VALUE) -> bool>(
        name: ID,
        value: VALUE,
        act: rb_sys::st_data_t,
    ) -> c_int {
        // SAFETY: the address of the closure below, which outlives the loop.
        let act = unsafe { &mut *(act as *mut F) };
        if act(name, value) { 0 } else { 1 }
    }
    let act = &raw mut act as rb_sys::st_data_t;
    // SAFETY: the lock; the function gets the closure that it expects.
    unsafe { rb_sys::rb_ivar_foreach(object, Some(step::<F>), act) };
}

/// Returns an instance variable, or `nil` if there is none.
#[inline]
pub fn variable(object: VALUE, name: ID) -> VALUE {
    // SAFETY: the lock; no exception, and no warning.
    unsafe { rb_sys::rb_attr_get(object, name) }
}

/// Sets an instance variable of an object that was created here.
#[inline]
pub fn set_variable(object: VALUE, name: ID, value: VALUE) {
    // SAFETY: the lock; the object is not frozen.
    unsafe { rb_sys::rb_ivar_set(object, name, value) };
}

/// Returns the number of instance variables of an object.
#[inline]
pub fn variable_count(object: VALUE) -> usize {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ivar_count(object) as usize }
}

/// Returns a value that keeps `name` alive for an instance variable.
pub fn name_of(id: ID) -> VALUE {
    // SAFETY: the lock; no exception. `nil` for a name that is internal.
    unsafe { rb_sys::rb_id2str(id) }
}

/// Calls a method.
///
/// # Errors
/// What it raises.
pub fn call(receiver: VALUE, method: ID, arguments: &[VALUE]) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`; the arguments are on the caller's stack or marked.
    protect(|| unsafe {
        rb_sys::rb_funcallv(receiver, method, arguments.len() as c_int, arguments.as_ptr())
    })
}

/// Returns whether a method can be called.
pub fn responds(receiver: VALUE, method: ID) -> Result<bool, Jump> {
    // SAFETY: the lock; under `protect`, because `respond_to?` can be custom.
    protect(|| if unsafe { rb_sys::rb_respond_to(receiver, method) } != 0 { TRUE } else { FALSE })
        .map(|answer| answer == TRUE)
}

/// Returns whether a method of this name is defined for an object, and not just answered by `method_missing`.
pub fn defines(object: VALUE, name: ID) -> bool {
    // SAFETY: the lock; no exception for a class.
    is_heap(object) && unsafe { rb_sys::rb_method_boundp(super::heap_class(object), name, 0) != 0 }
}

/// Returns whether an object has a method of this name, even a private one. Checks only the method
/// tables, unless the class has a custom `respond_to?`, which then counts as having it.
pub fn has_method(object: VALUE, name: ID) -> bool {
    // SAFETY: the lock; no exception: only look-ups like `rb_obj_method_basic`, because the class
    // has no custom `respond_to?`.
    unsafe {
        let class = rb_sys::rb_obj_class(object);
        let names = crate::names::names();
        if rb_sys::rb_method_basic_definition_p(class, names.id_respond_to) == 0
            || rb_sys::rb_method_basic_definition_p(class, names.id_respond_to_missing) == 0
        {
            return true;
        }
        rb_sys::rb_method_boundp(class, name, 0) != 0
    }
}

/// Freezes an object that was created here.
#[inline]
pub fn freeze(object: VALUE) {
    // SAFETY: the lock; no exception for objects without a custom `freeze`.
    unsafe { rb_sys::rb_obj_freeze(object) };
}

/// Returns whether a class is another, or a subclass of it.
pub fn is_under(class: VALUE, other: VALUE) -> bool {
    // SAFETY: the lock; no exception for two classes.
    unsafe { rb_sys::rb_class_inherited_p(class, other) == TRUE }
}

/// Returns whether a heap value is frozen.
#[inline(always)]
pub fn is_frozen(object: VALUE) -> bool {
    // SAFETY: callers pass heap objects. `FL_FREEZE`.
    unsafe { (*(object as *const rb_sys::RBasic)).flags & 1 << 11 != 0 }
}

/// Allocates an object without calling `initialize`.
///
/// # Errors
/// If the class has no allocator, or its allocator raises.
pub fn allocate(class: VALUE) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe { rb_sys::rb_obj_alloc(class) })
}

type Allocator = unsafe extern "C" fn(VALUE) -> VALUE;

/// Returns the allocator of a class, if it is the same as another's.
fn allocator_like(class: VALUE, other: VALUE) -> Option<Allocator> {
    // SAFETY: the lock; no exception for a class.
    let [own, other] = [class, other].map(|class| unsafe { rb_sys::rb_get_alloc_func(class) });
    own.filter(|own| other.is_some_and(|other| *own as usize == other as usize))
}

/// Creates an array of a class, with these values, which must be visible to the collector.
///
/// # Errors
/// If the class has no allocator, or its allocator raises.
pub fn array_of_class(class: VALUE, values: &[VALUE]) -> Result<VALUE, Jump> {
    // SAFETY: a global that Ruby sets before anything runs.
    if allocator_like(class, unsafe { rb_sys::rb_cArray }).is_none() {
        let array = allocate(class)?;
        if is_heap(array) && super::heap_kind(array) == 7 {
            array_extend(array, values);
        }
        return Ok(array);
    }
    let array = array(values);
    // SAFETY: the lock; no exception. The allocator of such a class creates an array of this class,
    // and no Ruby code has seen the new one yet.
    Ok(unsafe { rb_sys::rb_obj_reveal(array, class) })
}

/// Returns whether the hashes of a class are allocated like others.
pub fn is_plain_hash_class(class: VALUE) -> bool {
    // SAFETY: a global that Ruby sets before anything runs.
    super::is_class(class) && allocator_like(class, unsafe { rb_sys::rb_cHash }).is_some()
}

/// Makes a hash that nobody has seen yet one of a class for which [`is_plain_hash_class`] holds.
#[inline]
pub fn as_hash_class(hash: VALUE, class: VALUE) -> VALUE {
    // SAFETY: the lock; no exception. The allocator of such a class creates a hash of this class, and no
    // Ruby code has seen the new one yet.
    unsafe { rb_sys::rb_obj_reveal(hash, class) }
}

/// Returns whether the class of symbols has a method `to_json` of its own, which is not that of every
/// object.
#[cold]
pub fn symbols_have_to_json() -> bool {
    // SAFETY: a global that Ruby sets before anything runs.
    let (class, name) = unsafe { (rb_sys::rb_cSymbol, super::text::symbol("to_json")) };
    match call(class, crate::names::names().id_method_defined, &[name, FALSE]) {
        Ok(answer) => answer != FALSE,
        Err(jump) => {
            rescue(jump);
            true
        }
    }
}

/// A class with the default object allocator.
#[derive(Clone, Copy)]
pub struct PlainClass(VALUE, Allocator);

impl PlainClass {
    /// Returns the class, if it is one.
    pub fn of(class: VALUE) -> Option<PlainClass> {
        // SAFETY: a global that Ruby sets before anything runs.
        allocator_like(class, unsafe { rb_sys::rb_cObject }).map(|own| PlainClass(class, own))
    }

    /// Creates an object without variables.
    #[inline(always)]
    pub fn new_object(self) -> VALUE {
        // SAFETY: the lock; no exception: the function that Ruby calls for each object of the
        // class, which only allocates it.
        unsafe { (self.1)(self.0) }
    }
}

/// Returns `FL_EXIVAR`: instance variables of a value that is not a simple object.
#[inline(always)]
pub fn has_extra_variables(object: VALUE) -> bool {
    // SAFETY: callers pass heap objects.
    unsafe { (*(object as *const rb_sys::RBasic)).flags & 1 << 10 != 0 }
}

/// Returns the name of a class or module; `nil` if it has none.
pub fn module_name(module: VALUE) -> VALUE {
    // SAFETY: the lock; callers pass classes and modules.
    unsafe { rb_sys::rb_mod_name(module) }
}

/// Returns the name of a class; it lives as long as the class.
pub fn class_name<'a>(class: VALUE) -> Option<&'a [u8]> {
    let name = module_name(class);
    (is_heap(name) && is_ascii(name)).then(|| bytes_of(name))
}

/// Returns whether a class's name refers to it.
pub fn is_found_under(class: VALUE) -> bool {
    let name = module_name(class);
    // SAFETY: the lock; under `protect`, because the constant may be missing.
    match protect(|| unsafe { rb_sys::rb_path_to_class(name) }) {
        Ok(found) => found == class,
        Err(jump) => {
            rescue(jump);
            false
        }
    }
}

/// Returns a constant of ours, by its path.
///
/// # Errors
/// If there is none.
pub fn constant(path: &CStr) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe { rb_sys::rb_path2class(path.as_ptr()) })
}

/// Keeps a value alive for the rest of the process.
pub fn keep_for_good(value: VALUE) {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_gc_register_mark_object(value) };
}

/// Marks a value for the collector, which then neither frees nor moves it. Only during marking.
#[inline]
pub fn mark(value: VALUE) {
    // SAFETY: called only from mark functions, with values that are alive.
    unsafe { rb_sys::rb_gc_mark(value) };
}

/// Returns the class of plain values of a built-in type.
#[inline(always)]
pub fn core_class(kind: u32) -> VALUE {
    // SAFETY: globals that Ruby sets before anything runs.
    unsafe {
        match kind {
            4 => rb_sys::rb_cFloat,
            5 => rb_sys::rb_cString,
            7 => rb_sys::rb_cArray,
            8 => rb_sys::rb_cHash,
            _ => rb_sys::rb_cInteger,
        }
    }
}

/// Returns `Struct`.
pub fn struct_class() -> VALUE {
    // SAFETY: a global that Ruby sets before anything runs.
    unsafe { rb_sys::rb_cStruct }
}
