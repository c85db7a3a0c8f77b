//! The measuring engine.

pub mod sample;
