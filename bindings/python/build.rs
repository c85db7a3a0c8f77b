//! Sets the configuration flags of the target interpreter: `Py_LIMITED_API`, `Py_GIL_DISABLED`.

use pyo3_build_config::{PythonImplementation, get};

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
    if get().implementation() != PythonImplementation::CPython {
        println!(
            "cargo::error=regauge builds objects by CPython's own C API, which this interpreter \
             lacks: take CPython 3.10 or later, or the command"
        );
    }
}
