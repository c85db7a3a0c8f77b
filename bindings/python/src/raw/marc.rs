//! Fields of a MARC record as instances of Python classes, created without calling them.
//!
//! `Field` is a class with slots, `Subfield` and `Indicators` are tuples: each is allocated through
//! its type and filled in place, which is several times faster than a call.

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Creates a pair in a tuple subclass.
#[inline(always)]
pub fn pair<'py>(
    class: &Bound<'py, PyType>,
    first: Bound<'py, PyAny>,
    second: Bound<'py, PyAny>,
) -> Option<Bound<'py, PyAny>> {
    // SAFETY: the class is a subclass of tuple without fields of its own, as the caller has
    // checked, so its instances of two hold two pointers, which are null until they are set.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_ptr().cast(), 2);
        if made.is_null() {
            return None;
        }
        ffi::PyTuple_SetItem(made, 0, first.into_ptr());
        ffi::PyTuple_SetItem(made, 1, second.into_ptr());
        Some(Bound::from_owned_ptr(class.py(), made))
    }
}

/// Returns whether instances of the class are plain tuples.
pub fn is_tuple(class: &Bound<'_, PyType>) -> PyResult<bool> {
    let tuple = class.py().get_type::<pyo3::types::PyTuple>();
    let same = |name: &str| -> PyResult<bool> {
        let mine: isize = class.getattr(name)?.extract()?;
        Ok(mine == tuple.getattr(name)?.extract::<isize>()?)
    };
    Ok(class.is_subclass(&tuple)? && same("__basicsize__")? && same("__itemsize__")?)
}

/// The header of a slot descriptor (`descrobject.h`).
#[cfg(not(Py_LIMITED_API))]
#[repr(C)]
struct Member {
    _object: ffi::PyObject,
    _of: *mut ffi::PyTypeObject,
    _name: *mut ffi::PyObject,
    _qualified: *mut ffi::PyObject,
    member: *const ffi::PyMemberDef,
}

/// A slot of a class: the offset of its value in an instance, and its descriptor.
pub struct Slot {
    #[cfg(not(Py_LIMITED_API))]
    offset: isize,
    #[cfg(not(Py_LIMITED_API))]
    descriptor: Py<PyAny>,
    #[cfg(any(Py_GIL_DISABLED, Py_LIMITED_API))]
    name: Py<pyo3::types::PyString>,
}

impl Slot {
    /// Returns the slot of this name.
    ///
    /// # Errors
    /// `TypeError` if the class has no such slot.
    pub fn new(class: &Bound<'_, PyType>, name: &str) -> PyResult<Slot> {
        let member = class.getattr(name)?;
        #[cfg(not(Py_LIMITED_API))]
        // SAFETY: a descriptor of this exact type has this header, and a definition that lives as
        // long as its class.
        unsafe {
            if ffi::Py_TYPE(member.as_ptr()) != &raw mut ffi::PyMemberDescr_Type {
                return Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "found no slot {name} in {class}"
                )));
            }
            // The public way asks the descriptor.
            let offset = match super::switch::reads_memory() {
                true => (*(*member.as_ptr().cast::<Member>()).member).offset,
                false => 0,
            };
            Ok(Slot {
                offset,
                descriptor: member.unbind(),
                #[cfg(Py_GIL_DISABLED)]
                name: pyo3::types::PyString::intern(class.py(), name).unbind(),
            })
        }
        #[cfg(Py_LIMITED_API)]
        {
            let _ = member;
            Ok(Slot { name: pyo3::types::PyString::intern(class.py(), name).unbind() })
        }
    }

    /// Returns the content of a slot, for an instance of the class itself, which the caller has
    /// checked; `None` if it is empty. It is valid until Python code runs.
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    #[inline(always)]
    pub fn read<'a, 'py>(&self, object: &'a Bound<'py, PyAny>) -> Option<Borrowed<'a, 'py, PyAny>> {
        if !super::switch::reads_memory() {
            return self.ask(object);
        }
        // SAFETY: the offset was read from the class of the instance; an empty slot is null.
        unsafe {
            let at = object.as_ptr().cast::<u8>().offset(self.offset);
            Borrowed::from_ptr_or_opt(object.py(), at.cast::<*mut ffi::PyObject>().read())
        }
    }

    /// The same through the slot's descriptor.
    #[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
    #[inline(never)]
    fn ask<'a, 'py>(&self, object: &'a Bound<'py, PyAny>) -> Option<Borrowed<'a, 'py, PyAny>> {
        // SAFETY: a descriptor of this exact type has such a function, which returns a reference to
        // the content of the slot without running Python code, or null with an error. After ours is
        // dropped, the slot still has its own.
        unsafe {
            let descriptor = self.descriptor.as_ptr();
            let class = ffi::Py_TYPE(object.as_ptr());
            let get = ffi::PyType_GetSlot(ffi::Py_TYPE(descriptor), ffi::Py_tp_descr_get);
            let get = std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrgetfunc>>(get);
            let content = get?(descriptor, object.as_ptr(), class.cast());
            if content.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            ffi::Py_DECREF(content);
            Some(Borrowed::from_ptr(object.py(), content))
        }
    }

    /// The same through the attribute.
    #[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
    pub fn read<'py>(&self, object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
        let name = self.name.bind(object.py());
        object.getattr(name).ok()
    }

    /// Fills a slot of an instance that [`empty`] has just created.
    #[inline(always)]
    pub fn fill<'py>(&self, object: &Bound<'py, PyAny>, v: Bound<'py, PyAny>) {
        #[cfg(not(Py_LIMITED_API))]
        if super::switch::reads_memory() {
            // SAFETY: the instance is one of the class that the offset was read from, as the caller
            // guarantees; the slot is empty, and takes over the reference.
            unsafe {
                let at = object.as_ptr().cast::<u8>().offset(self.offset);
                at.cast::<*mut ffi::PyObject>().write(v.into_ptr());
            }
        } else {
            let descriptor = self.descriptor.bind(object.py());
            let _ = descriptor.call_method1("__set__", (object, v));
        }
        #[cfg(Py_LIMITED_API)]
        {
            let _ = object.setattr(self.name.bind(object.py()), v);
        }
    }
}

/// Creates an instance of a class with slots, all of them empty.
#[inline(always)]
pub fn empty<'py>(class: &Bound<'py, PyType>) -> Option<Bound<'py, PyAny>> {
    // SAFETY: a class defined by Python code, whose instances `object.__new__` also allocates this
    // way. The caller passes no other.
    unsafe {
        let made = ffi::PyType_GenericAlloc(class.as_ptr().cast(), 0);
        Bound::from_owned_ptr_or_opt(class.py(), made)
    }
}
