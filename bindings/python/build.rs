//! Says which interpreter is built for: `Py_LIMITED_API`, `Py_GIL_DISABLED`.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
