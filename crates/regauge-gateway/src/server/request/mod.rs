//! What a handler gets: the request with its grant, its parameters, its body.

pub(crate) mod body;
mod call;
mod query;

pub(crate) use call::Call;
pub(crate) use query::{KEY_MAX, Query, checked_key};
