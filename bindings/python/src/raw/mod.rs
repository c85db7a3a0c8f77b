//! The leaf modules that call the C API: the only ones with `unsafe`.
//!
//! Everything outside of the stable ABI has a portable variant of the same function next to it,
//! which the `abi3` wheel is built with. What reads memory whose layout is not part of the API is
//! behind one [`switch`].

pub mod arrow;
pub mod bytes;
pub mod call;
pub mod collector;
pub mod container;
pub mod growing;
pub mod idle;
pub mod inside;
pub mod marc;
pub mod number;
pub mod registered;
pub mod shape;
pub mod switch;
pub mod text;
pub mod view;
#[cfg(not(Py_LIMITED_API))]
mod wide;
