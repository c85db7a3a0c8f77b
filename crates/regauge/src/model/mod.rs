//! What a document is: values and the facts about formats, and the words for what goes wrong.
//!
//! Nothing here reads, writes or decides; every other room may use it.

pub mod decimal128;
pub mod error;
pub mod ext;
pub(crate) mod faults;
pub mod format;
pub mod hint;
pub mod limits;
pub mod number;
pub mod option;
pub mod path;
pub mod place;
pub mod record;
pub mod risk;
#[doc(hidden)]
pub mod text;
pub mod time;
pub(crate) mod utf8;
pub mod value;
