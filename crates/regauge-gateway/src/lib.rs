//! Stores of many tenants behind tokens.
//!
//! [`tenants`] is the data folder: who the tenants are, which tokens they have, and where their
//! values lie, each in a file of its own or all in a shared one. It needs no network, and the
//! command line works on it too. `server` (the feature of that name) is the gateway: a
//! request carries a token, the token names the tenant, and nothing in the request can name
//! another. `docs/gateway.md` has the reference and what it guards against.

#![forbid(unsafe_code)]

mod member;
#[cfg(feature = "server")]
pub mod server;
pub mod tenants;
