//! What the targets share: the checks of the library's own tests.

#[path = "../../crates/regauge/tests/checks/mod.rs"]
pub mod checks;
