//! The measuring engine.
