//! Stores of many tenants, protected by tokens.
//!
//! [`tenants`] is the data folder: the tenants, their tokens, and the location of their values,
//! each in a file of its own or all in a shared one. It needs no network, and the command line uses
//! it too. `server` (the feature of that name) is the gateway: a request carries a token, the token
//! names the tenant, and nothing in the request can name another. `docs/gateway.md` has the
//! reference and the threat model.

#![forbid(unsafe_code)]

mod member;
#[cfg(feature = "server")]
pub mod server;
pub mod tenants;
