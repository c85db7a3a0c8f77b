//! The caller's functions that `loads` calls.

use pyo3::prelude::*;

/// What the caller wants to be asked about. `None` is: nothing of it.
#[derive(Default)]
pub struct Hooks<'py> {
    /// `object_hook`: called with each dict, and its result stands in the dict's place.
    pub object: Option<Bound<'py, PyAny>>,
    /// `object_pairs_hook`: called with the pairs of each map.
    pub pairs: Option<Bound<'py, PyAny>>,
    /// `ext_hook`: called with the code and the payload of a MessagePack extension.
    pub ext: Option<Bound<'py, PyAny>>,
    /// `tag_hook`: called with the tag and the value of a CBOR or YAML tag.
    pub tag: Option<Bound<'py, PyAny>>,
    /// `types`: constructors by the name of the class, for Marshal and pickle.
    pub types: Option<Bound<'py, PyAny>>,
}

impl<'py> Hooks<'py> {
    /// The hooks, if there are any.
    pub fn some(self) -> Option<Box<Hooks<'py>>> {
        let any = self.object.is_some()
            || self.pairs.is_some()
            || self.ext.is_some()
            || self.tag.is_some()
            || self.types.is_some();
        any.then(|| Box::new(self))
    }

    /// Whether a map may become something other than a dict.
    pub fn takes_maps(&self) -> bool {
        self.object.is_some() || self.pairs.is_some()
    }
}
