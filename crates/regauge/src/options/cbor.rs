//! How CBOR is read and written.

/// Options for reading and writing CBOR.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Reading: keep every tag as a type, even those with an event of their own, except bignums and
    /// references. Writing: write those types as the same tags. Conversions from CBOR to CBOR set
    /// this. Without it, the writer leaves such tags to the policy, because a reader would take
    /// their content for a date, a decimal, ….
    pub keep_tags: bool,
    /// Writing: use the core deterministic encoding of RFC 8949 §4.2.1. Lengths are definite;
    /// integers, lengths and floats are shortest; the keys of a map are in the order of their
    /// bytes. Each document is held in memory until it is complete; references are not written.
    pub deterministic: bool,
    /// Writing: give arrays and maps of unknown length an indefinite length, so that nothing waits
    /// in memory.
    pub indefinite: bool,
}
