//! A step between reader and writer that the library does not know, such as a filter.

use std::fmt::Debug;

use crate::model::format::Format;
use crate::policy::event::Writer;

/// Makes the adapters of a conversion that change its documents: see
/// [`Options::stage`](crate::Options::stage).
pub trait Stage: Debug + Send + Sync {
    /// Returns an adapter in front of `inner`, which writes this format. It receives the documents of
    /// the input, one after the other, and sends any number of documents for each.
    fn open<'w>(&'w self, inner: Box<dyn Writer + 'w>, to: Format) -> Box<dyn Writer + 'w>;

    /// Returns whether each document is handled by itself, so that the parts of a stream can go through
    /// adapters of their own, at the same time.
    fn is_divisible(&self) -> bool;

    /// Returns the size of the stack that its threads need, in bytes.
    fn stack_bytes(&self) -> usize;

    /// Called first on each thread that was made with such a stack.
    fn begin_thread(&self);

    /// Returns whether the errors of its adapters have their path already. To find that of the others, an input that can
    /// be read again goes through the adapters a second time, up to the error.
    fn places_errors(&self) -> bool {
        false
    }
}
