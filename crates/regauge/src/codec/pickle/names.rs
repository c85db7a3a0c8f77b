//! Names that changed after Python 2. Pickles of protocols below 3 use Python 2's names, even if
//! Python 3 wrote them, and Python 3 translates them to its own.

use std::borrow::Cow;

use super::table_names::{MODULES, MODULES_BACK, NAMES, NAMES_BACK};

/// Returns the Python 3 module and name for a name in a pickle of a protocol below 3.
pub(super) fn renamed<'n>(
    module: Cow<'n, str>,
    name: Cow<'n, str>,
) -> (Cow<'n, str>, Cow<'n, str>) {
    if let Ok(at) = NAMES.binary_search_by(|(old, _)| old.cmp(&(&*module, &*name))) {
        let (_, (module, name)) = NAMES[at];
        return (Cow::Borrowed(module), Cow::Borrowed(name));
    }
    match MODULES.binary_search_by(|(old, _)| old.cmp(&&*module)) {
        Ok(at) => (Cow::Borrowed(MODULES[at].1), name),
        Err(_) => (module, name),
    }
}

/// Returns the Python 2 module and name, as protocols below 3 use them.
pub(super) fn renamed_back<'n>(module: &'n str, name: &'n str) -> (&'n str, &'n str) {
    if let Ok(at) = NAMES_BACK.binary_search_by(|(new, _)| new.cmp(&(module, name))) {
        return NAMES_BACK[at].1;
    }
    match MODULES_BACK.binary_search_by(|(new, _)| new.cmp(&module)) {
        Ok(at) => (MODULES_BACK[at].1, name),
        Err(_) => (module, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_in_order() {
        assert!(MODULES.is_sorted() && MODULES_BACK.is_sorted());
        assert!(NAMES.is_sorted() && NAMES_BACK.is_sorted());
    }

    #[test]
    fn there_and_back() {
        for (old, new) in [
            (("__builtin__", "xrange"), ("builtins", "range")),
            (("__builtin__", "object"), ("builtins", "object")),
            (("copy_reg", "_reconstructor"), ("copyreg", "_reconstructor")),
            (("exceptions", "KeyError"), ("builtins", "KeyError")),
            (("mine", "Thing"), ("mine", "Thing")),
        ] {
            let (module, name) = renamed(old.0.into(), old.1.into());
            assert_eq!((&*module, &*name), new);
            assert_eq!(renamed_back(new.0, new.1), old);
        }
    }
}
