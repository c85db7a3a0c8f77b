//! What the tests of several formats share.

pub(super) mod figures;
