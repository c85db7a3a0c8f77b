//! The table of addresses, what surrounds every request, and the listening socket.

mod routes;
mod run;
mod watch;

pub use routes::{Route, routes};
pub use run::{Running, serve, start};
