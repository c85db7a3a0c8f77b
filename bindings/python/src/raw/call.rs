//! Functions of one argument and any keyword arguments, which are called without a tuple.
//!
//! `#[pyfunction]` takes `**options` as a dict, and then Python has to make a tuple of the other arguments. Making it and
//! taking it apart took some 300 of the 2,300 instructions of `loads(b"{}")`.

use std::ffi::CStr;
use std::marker::PhantomData;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::impl_::pyfunction::{PyFunctionDef, PyMethodDef, WrapPyFunctionArg};
use pyo3::impl_::trampoline::{MethodDef, fastcall_cfunction_with_keywords};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A function of a module.
pub trait Function {
    /// Its name.
    const NAME: &CStr;
    /// Its signature and its documentation, in the form of CPython's own.
    const DOC: &CStr;

    /// Returns its result, with the keyword arguments if there are any.
    ///
    /// # Errors
    /// The function's own.
    fn call<'py>(
        argument: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>>;
}

/// Adds a function to a module.
///
/// # Errors
/// Python's, if memory runs out.
pub fn add<F: Function>(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let call = fastcall_cfunction_with_keywords::<Definition<F>>;
    let definition = PyMethodDef::fastcall_cfunction_with_keywords(F::NAME, call, F::DOC);
    // Python refers to it as long as the function exists.
    let definition = Box::leak(Box::new(PyFunctionDef::from_method_def(definition)));
    module.add_function(module.wrap_pyfunction(definition)?)
}

struct Definition<F>(PhantomData<F>);

impl<F: Function> MethodDef<fastcall_cfunction_with_keywords::Func> for Definition<F> {
    const METH: fastcall_cfunction_with_keywords::Func = called::<F>;
}

/// Called by Python with `count` arguments, followed by the values of the keyword arguments, whose names are a tuple.
unsafe fn called<F: Function>(
    py: Python<'_>,
    _module: *mut ffi::PyObject,
    arguments: *const *mut ffi::PyObject,
    count: isize,
    names: *mut ffi::PyObject,
) -> PyResult<*mut ffi::PyObject> {
    if count != 1 {
        return Err(miscounted(F::NAME, count));
    }
    // SAFETY: as Python's calling convention says, `arguments` has one argument, which the caller holds, and as many
    // values as there are names.
    unsafe {
        let argument = Borrowed::from_ptr(py, *arguments);
        if names.is_null() {
            return F::call(&argument, None).map(Bound::into_ptr);
        }
        let options = PyDict::new(py);
        for index in 0..ffi::PyTuple_Size(names) {
            let name = Borrowed::from_ptr(py, ffi::PyTuple_GetItem(names, index));
            let value = Borrowed::from_ptr(py, *arguments.add(1 + index as usize));
            options.set_item(name, value)?;
        }
        F::call(&argument, Some(&options)).map(Bound::into_ptr)
    }
}

#[cold]
fn miscounted(name: &CStr, count: isize) -> PyErr {
    let name = name.to_string_lossy();
    PyTypeError::new_err(format!(
        "found {count} positional arguments of {name}(), expected 1; options are passed by name"
    ))
}
