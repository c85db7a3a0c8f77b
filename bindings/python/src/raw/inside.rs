//! Iterates over a dict, a list or a tuple directly in memory.
//!
//! [`Pairs`] and [`Items`] look up a table once and then walk along it, which is valid until Python
//! code runs: a caller that lets it run must hold whatever it still needs, and call
//! [`renew`](Pairs::renew) before the next item. This avoids a lookup per value, which took a sixth
//! of the time of `dumps`. [`HeldPairs`] and [`item`](super::view::item) do look up each time.

use pyo3::ffi;
use pyo3::prelude::*;

pub use quick::{Items, Pairs};

/// Iterates over the pairs of any dict, holding each. If the dict is changed meanwhile, the pairs
/// may differ or be fewer, which their count reveals.
pub struct HeldPairs<'py> {
    dict: Bound<'py, PyAny>,
    at: isize,
}

impl<'py> HeldPairs<'py> {
    /// Returns the pairs of `dict`, and how many there are; `None` with Python's error.
    pub fn new(dict: &Bound<'py, PyAny>) -> Option<(HeldPairs<'py>, usize)> {
        // Without the GIL, another thread may change it, so iterate over a copy.
        #[cfg(Py_GIL_DISABLED)]
        // SAFETY: a live dict, as the caller knows; a null pointer becomes `None`.
        let dict =
            &unsafe { Bound::from_owned_ptr_or_opt(dict.py(), ffi::PyDict_Copy(dict.as_ptr()))? };
        let count = super::container::dict_len(dict);
        Some((HeldPairs { dict: dict.clone(), at: 0 }, count))
    }

    /// Returns the next pair.
    #[allow(clippy::should_implement_trait)]
    #[inline(always)]
    pub fn next(&mut self) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: a live dict and three places for the results, which are borrowed from it.
        unsafe {
            let (dict, py) = (self.dict.as_ptr(), self.dict.py());
            if ffi::PyDict_Next(dict, &mut self.at, &mut key, &mut value) == 0 {
                return None;
            }
            Some((Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr(py, value)))
        }
    }
}

/// The memory layout of dicts, in 3.11 to 3.14 with the GIL.
#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
mod quick {
    use super::super::switch::reads_memory;
    use super::super::view::{self, Kind};
    use super::*;

    type Raw = *mut ffi::PyObject;

    /// `cpython/dictobject.h`.
    #[repr(C)]
    struct Dict {
        _object: ffi::PyObject,
        _used: isize,
        _version: u64,
        keys: *const DictKeys,
        /// Null except for instance attributes.
        values: *const std::ffi::c_void,
    }

    /// The header of a dict's table (`internal/pycore_dict.h`). The indexes and the entries follow
    /// it.
    #[repr(C)]
    struct DictKeys {
        _references: isize,
        _log2_size: u8,
        log2_index_bytes: u8,
        kind: u8,
        _version: u32,
        _usable: isize,
        entries: isize,
    }

    /// All keys are `str` itself, and an entry is a key and a value.
    const UNICODE_KEYS: u8 = 1;

    /// The pairs of a dict whose keys are all `str`.
    #[derive(Clone)]
    pub struct Pairs<'a, 'py> {
        dict: &'a Bound<'py, PyAny>,
        first: *const [Raw; 2],
        next: *const [Raw; 2],
        end: *const [Raw; 2],
    }

    impl<'a, 'py> Pairs<'a, 'py> {
        /// Returns the pairs of `dict`, which the caller knows to be one; `None` if it has another
        /// layout, or the public API is to be used.
        #[inline(always)]
        pub fn new(dict: &'a Bound<'py, PyAny>) -> Option<Pairs<'a, 'py>> {
            if !reads_memory() {
                return None;
            }
            let nowhere = std::ptr::null();
            let mut pairs = Pairs { dict, first: nowhere, next: nowhere, end: nowhere };
            pairs.renew().then_some(pairs)
        }

        /// Looks up the table again, because Python code may have replaced it: `false` if it has
        /// another layout now.
        #[inline(always)]
        pub fn renew(&mut self) -> bool {
            // SAFETY: a live dict of a version with this layout: the header of a table is followed
            // by the index bytes, and then this many entries. The position in it is that of the
            // same index, or the end.
            unsafe {
                let dict = self.dict.as_ptr().cast::<Dict>();
                let keys = (*dict).keys;
                if !(*dict).values.is_null() || (*keys).kind != UNICODE_KEYS {
                    return false;
                }
                let indexes = 1usize << (*keys).log2_index_bytes;
                let done = (self.next as usize - self.first as usize) / size_of::<[Raw; 2]>();
                let count = (*keys).entries as usize;
                self.first = keys.add(1).cast::<u8>().add(indexes).cast();
                self.next = self.first.add(done.min(count));
                self.end = self.first.add(count);
            }
            true
        }

        /// Returns the next pair, whose key is a `str`.
        #[inline(always)]
        pub fn next(&mut self) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
            // SAFETY: no Python code has run since the table was looked up, as the callers
            // guarantee: so all entries up to the end exist. A deleted one has no value.
            unsafe {
                while self.next != self.end {
                    let [key, value] = *self.next;
                    self.next = self.next.add(1);
                    #[cfg(target_arch = "x86_64")]
                    if self.next != self.end {
                        // Prefetches the value of the next pair.
                        let [_, next] = *self.next;
                        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                            next.cast(),
                        );
                    }
                    if !value.is_null() {
                        let py = self.dict.py();
                        return Some((Borrowed::from_ptr(py, key), Borrowed::from_ptr(py, value)));
                    }
                }
            }
            None
        }

        /// Returns the pair that [`next`](Pairs::next) returned last, held, although Python code
        /// has run since; `None` if it does not exist any more.
        #[cold]
        #[inline(never)]
        pub fn again(mut self) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
            if !self.renew() || self.next == self.first {
                return None;
            }
            // SAFETY: an entry before the current position, in the table that was just looked up.
            self.next = unsafe { self.next.sub(1) };
            self.next().map(|(key, value)| (key.to_owned(), value.to_owned()))
        }
    }

    /// The values of a list or tuple.
    #[derive(Clone)]
    pub struct Items<'a, 'py> {
        list: &'a Bound<'py, PyAny>,
        kind: Kind,
        next: *const Raw,
        end: *const Raw,
        count: usize,
    }

    /// Prefetch distance in values: walking a list is faster than memory.
    #[cfg(target_arch = "x86_64")]
    const AHEAD: usize = 4;

    impl<'a, 'py> Items<'a, 'py> {
        /// Returns the values of `list`, which the caller knows to be of this kind, and how many
        /// there are; `None` if the public API is to be used.
        #[inline(always)]
        pub fn new(list: &'a Bound<'py, PyAny>, kind: Kind) -> Option<(Items<'a, 'py>, usize)> {
            if !reads_memory() {
                return None;
            }
            let count = view::count(list, kind);
            let nowhere = std::ptr::null();
            let mut items = Items { list, kind, next: nowhere, end: nowhere, count };
            items.look_up(0);
            Some((items, count))
        }

        #[inline(always)]
        fn look_up(&mut self, done: usize) {
            // SAFETY: a live list or tuple, as the caller of `new` knows, with `count` values.
            unsafe {
                let list = self.list.as_ptr();
                let first: *const Raw = match self.kind {
                    Kind::List => (*list.cast::<ffi::PyListObject>()).ob_item,
                    _ => (&raw const (*list.cast::<ffi::PyTupleObject>()).ob_item).cast(),
                };
                self.next = first.add(done);
                self.end = first.add(self.count);
            }
        }

        /// Returns whether there are more or fewer values now.
        #[inline(always)]
        pub fn has_changed(&self) -> bool {
            view::count(self.list, self.kind) != self.count
        }

        /// Looks up the location of the values again, because Python code may have moved them:
        /// `false` if there are more or fewer now.
        #[inline(always)]
        pub fn renew(&mut self) -> bool {
            if self.has_changed() {
                return false;
            }
            let left = (self.end as usize - self.next as usize) / size_of::<Raw>();
            self.look_up(self.count - left);
            true
        }

        /// Returns the next value.
        #[inline(always)]
        pub fn next(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
            if self.next == self.end {
                return None;
            }
            // SAFETY: no Python code has run since the location was looked up, as the callers
            // guarantee: so all values up to the end exist. Any address may be prefetched.
            unsafe {
                let item = *self.next;
                self.next = self.next.add(1);
                #[cfg(target_arch = "x86_64")]
                if (self.end as usize) - (self.next as usize) >= AHEAD * size_of::<Raw>() {
                    let later = *self.next.add(AHEAD - 1);
                    std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                        later.cast(),
                    );
                }
                Some(Borrowed::from_ptr(self.list.py(), item))
            }
        }

        /// Returns the next value if it is a [constant](Kind::Constant).
        #[inline(always)]
        pub fn next_constant(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
            // SAFETY: as in `next`.
            unsafe {
                if self.next == self.end || !view::is_constant(*self.next) {
                    return None;
                }
                let item = *self.next;
                self.next = self.next.add(1);
                Some(Borrowed::from_ptr(self.list.py(), item))
            }
        }

        /// Returns the index of the value that [`next`](Items::next) returned last.
        #[inline(always)]
        pub fn index(&self) -> u64 {
            let left = (self.end as usize - self.next as usize) / size_of::<Raw>();
            (self.count - left) as u64 - 1
        }

        /// Returns the value that [`next`](Items::next) returned last, held, although Python code
        /// has run since; `None` if it does not exist any more.
        #[cold]
        #[inline(never)]
        pub fn again(mut self) -> Option<Bound<'py, PyAny>> {
            if !self.renew() {
                return None;
            }
            let index = usize::try_from(self.index()).ok()?;
            view::item(self.list, self.kind, index).map(|item| item.to_owned())
        }
    }
}

/// For builds in which tables are inaccessible, or others may change them meanwhile: never
/// available.
#[cfg(not(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
)))]
mod quick {
    use std::convert::Infallible;
    use std::marker::PhantomData;

    use super::super::view::Kind;
    use super::*;

    #[derive(Clone)]
    pub struct Pairs<'a, 'py>(Infallible, PhantomData<&'a Bound<'py, PyAny>>);

    impl<'a, 'py> Pairs<'a, 'py> {
        pub fn new(_dict: &'a Bound<'py, PyAny>) -> Option<Pairs<'a, 'py>> {
            None
        }
        pub fn renew(&mut self) -> bool {
            match self.0 {}
        }
        pub fn next(&mut self) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
            match self.0 {}
        }
        pub fn again(self) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
            match self.0 {}
        }
    }

    #[derive(Clone)]
    pub struct Items<'a, 'py>(Infallible, PhantomData<&'a Bound<'py, PyAny>>);

    impl<'a, 'py> Items<'a, 'py> {
        pub fn new(_list: &'a Bound<'py, PyAny>, _: Kind) -> Option<(Items<'a, 'py>, usize)> {
            None
        }
        pub fn has_changed(&self) -> bool {
            match self.0 {}
        }
        pub fn renew(&mut self) -> bool {
            match self.0 {}
        }
        pub fn next(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
            match self.0 {}
        }
        pub fn next_constant(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
            match self.0 {}
        }
        pub fn index(&self) -> u64 {
            match self.0 {}
        }
        pub fn again(self) -> Option<Bound<'py, PyAny>> {
            match self.0 {}
        }
    }
}
