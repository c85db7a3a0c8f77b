//! What passes between a reader and a writer, and what may be lost on the way.
//!
//! [`event`] has the vocabulary, whose default bodies are the policy of [`fidelity`]. [`notation`] is the
//! reversible notation; the adapters between a reader and a writer are here as well.

pub mod classes;
pub mod documents;
pub mod event;
pub mod fidelity;
pub mod notation;
pub mod select;
pub mod stage;
pub(crate) mod take;
pub mod track;
pub mod tree;
