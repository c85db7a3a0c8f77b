//! Shared by the targets: the checks of the library's own tests.

#[path = "../../crates/regauge/tests/checks/mod.rs"]
pub mod checks;
