//! Keys of one map that are equal in Python: 1, 1.0 and True are, though a document has all three.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use regauge::hint::Hint;
use regauge::options::Opt;
use regauge::path::{Path, Step};
use regauge::{Error, ErrorKind};

use super::{Builder, Frame, Object};

impl<'py> Builder<'py> {
    /// Returns the error for the keys of a map that begins at this place on the stack, if two of them are equal in
    /// Python.
    pub(super) fn twice(&self, keys: &[Object<'py>], begin: usize) -> Option<Error> {
        let seen = PyDict::new(self.py);
        let (first, second) = keys.iter().find_map(|key| match seen.get_item(key) {
            Ok(Some(first)) => Some((first, key)),
            // Keys without a hash are equal to none.
            _ => seen.set_item(key, key).ok().and(None),
        })?;
        let [first, again] = [&first, second].map(shown);
        let message = match first == again {
            true => format!("found the key {again} a second time in one map"),
            false => format!(
                "found the keys {first} and {again} in one map, which are equal in Python, \
                 expected keys that one dict can hold"
            ),
        };
        let error = Error::new(ErrorKind::Refused, message).at_path(self.path(begin, second));
        Some(error.hint(Hint::set(Opt::DuplicateKeys, "keep").to("take the last")))
    }

    /// Returns the path of a key of the map that begins at this place on the stack.
    #[cold]
    fn path(&self, begin: usize, key: &Object<'py>) -> Path {
        let ends = self.frames.iter().skip(1).map(Frame::begin).chain([begin]);
        let outer = self.frames.iter().zip(ends).filter_map(|(frame, end)| match frame.map {
            true => self.stack.get(frame.start..end)?.last().map(step),
            false => Some(Step::Index((end - frame.start) as u64)),
        });
        Path(outer.chain([step(key)]).collect())
    }
}

/// Returns the step of a path to the value of a key.
fn step(key: &Object<'_>) -> Step {
    match key.extract::<String>() {
        Ok(text) => Step::Key(text.into()),
        Err(_) => Step::Key(shown(key).into()),
    }
}

fn shown(key: &Object<'_>) -> String {
    key.repr().map(|repr| repr.to_string()).unwrap_or_default()
}
