//! The gateway: checks tokens, and gives each request access to one tenant's values and no other's.
//!
//! A connection is accepted in `serve/run.rs`. Each request passes `serve/watch.rs` and the table in
//! `serve/routes.rs`, which admits it and calls one of the `handlers`. From the bottom up; each room
//! uses only those before it:
//!
//! | room | content |
//! |---|---|
//! | `http` | errors, media types, entity tags |
//! | `operate` | configuration, certificates, log, metrics |
//! | `gateway` | what all requests share, and the way from a token to one tenant's values |
//! | `request` | what a handler gets: the request with its grant, its parameters, its body |
//! | `handlers` | what each address does |
//! | `serve` | the table of addresses, what surrounds every request, the listening socket |
//!
//! If you change this: a handler never sees a request before [`routes`] has checked its token.

mod gateway;
mod handlers;
mod http;
mod operate;
mod request;
mod serve;

pub use gateway::Gateway;
pub use handlers::page::OPENAPI;
pub use operate::{Config, ask_ready, start_log};
pub use serve::{Route, Running, routes, serve, start};
