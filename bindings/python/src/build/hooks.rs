//! The caller's functions for `loads`.

use pyo3::prelude::*;

/// The caller's hooks; `None` for those not given.
#[derive(Default)]
pub struct Hooks<'py> {
    /// `object_hook`: called with each dict, and replaces it by the result.
    pub object: Option<Bound<'py, PyAny>>,
    /// `object_pairs_hook`: called with the pairs of each map.
    pub pairs: Option<Bound<'py, PyAny>>,
    /// `ext_hook`: called with the code and the payload of a MessagePack extension.
    pub ext: Option<Bound<'py, PyAny>>,
    /// `tag_hook`: called with the tag and the value of a CBOR or YAML tag.
    pub tag: Option<Bound<'py, PyAny>>,
    /// `types`: constructors by class name, for Marshal and pickle.
    pub types: Option<Bound<'py, PyAny>>,
}

impl<'py> Hooks<'py> {
    /// Returns the hooks, if there are any.
    pub fn some(self) -> Option<Box<Hooks<'py>>> {
        let any = self.object.is_some()
            || self.pairs.is_some()
            || self.ext.is_some()
            || self.tag.is_some()
            || self.types.is_some();
        any.then(|| Box::new(self))
    }

    /// Returns whether a map may become something other than a dict.
    pub fn takes_maps(&self) -> bool {
        self.object.is_some() || self.pairs.is_some()
    }
}
