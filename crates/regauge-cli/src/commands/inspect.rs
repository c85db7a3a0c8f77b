//! `regauge inspect`: what is in a file.

use crate::args::Inspect;
use crate::failure::Result;

/// Says what is in a file.
pub fn run(_: &Inspect) -> Result {
    unimplemented!()
}
