//! The leaf modules that speak to the C API: the only ones with `unsafe`.
//!
//! What is outside of the stable ABI stands beside a plain form of the same function, which the
//! `abi3` wheel is built with.

pub mod arrow;
pub mod bytes;
pub mod collector;
pub mod container;
pub mod inside;
pub mod marc;
pub mod number;
pub mod shape;
pub mod text;
pub mod view;
