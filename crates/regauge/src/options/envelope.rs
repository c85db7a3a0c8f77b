//! What happens to what a framework put around a value.

/// What to do with an envelope: what Rails, Django or Celery put around a value in a cache, a session or
/// a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Envelopes {
    /// Take it off if the bytes can be nothing else: if no format is detected in them, or the one that is
    /// cannot read them. A document stays what it is.
    #[default]
    Auto,
    /// Leave it.
    Never,
    /// Take off what is recognised, and refuse an input without any.
    Open,
    /// Same as `Open`, and put the same envelope around the output, if the framework reads the output's
    /// format in it.
    Keep,
}
