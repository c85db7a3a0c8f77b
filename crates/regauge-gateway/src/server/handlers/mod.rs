//! What each address does; one file per group of addresses.

pub(crate) mod admin;
pub(crate) mod batch;
pub(crate) mod listing;
pub(crate) mod objects;
pub(crate) mod page;
pub(crate) mod series;
