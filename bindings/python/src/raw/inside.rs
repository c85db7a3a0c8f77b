//! What is in a dict, a list or a tuple, one after the other, straight from where it lies.
//!
//! [`Pairs`] and [`Items`] look a table up once and then go along it, which is good until Python code
//! runs: whoever lets it run holds what it still needs, and says [`renew`](Pairs::renew) before the
//! next. So nothing is asked again for each value, which took a sixth of the time of `dumps`.
//! [`HeldPairs`] and [`item`](super::view::item) do ask each time.

use pyo3::ffi;
use pyo3::prelude::*;

pub use quick::{Items, Pairs};

/// The pairs of any dict, each held. Whoever changes the dict meanwhile gets fewer or other pairs, and
/// their count tells.
pub struct HeldPairs<'py> {
    dict: Bound<'py, PyAny>,
    at: isize,
}

impl<'py> HeldPairs<'py> {
    /// The pairs of `dict`, and how many there are; `None` with Python's error.
    pub fn new(dict: &Bound<'py, PyAny>) -> Option<(HeldPairs<'py>, usize)> {
        // Without the global lock another thread may change it, so that one is a copy.
        #[cfg(Py_GIL_DISABLED)]
        // SAFETY: a live dict, as the caller knows; a null pointer becomes `None`.
        let dict =
            &unsafe { Bound::from_owned_ptr_or_opt(dict.py(), ffi::PyDict_Copy(dict.as_ptr()))? };
        let count = super::container::dict_len(dict);
        Some((HeldPairs { dict: dict.clone(), at: 0 }, count))
    }

    /// The next pair.
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

/// Dicts as they lie in memory, from 3.11 to 3.14 with the global lock.
#[cfg(all(
    Py_3_11,
    not(Py_3_15),
    not(Py_LIMITED_API),
    not(Py_GIL_DISABLED),
    target_pointer_width = "64"
))]
mod quick {
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
        /// Null but for the attributes of instances.
        values: *const std::ffi::c_void,
    }

    /// The head of a dict's table (`internal/pycore_dict.h`). Behind it stand indexes and the entries.
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
        /// The pairs of `dict`, which the caller knows to be one; `None` where it is of another make.
        #[inline(always)]
        pub fn new(dict: &'a Bound<'py, PyAny>) -> Option<Pairs<'a, 'py>> {
            let nowhere = std::ptr::null();
            let mut pairs = Pairs { dict, first: nowhere, next: nowhere, end: nowhere };
            pairs.renew().then_some(pairs)
        }

        /// Looks the table up anew, as Python code may have replaced it: `false` where it is of another
        /// make now.
        #[inline(always)]
        pub fn renew(&mut self) -> bool {
            // SAFETY: a live dict of a version that has this layout: behind the head of a table stand
            // the bytes of the indexes, and then so many entries. The place in it is that of the same
            // index, or the end.
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

        /// The next pair, of which the key is a `str`.
        #[inline(always)]
        pub fn next(&mut self) -> Option<(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>)> {
            // SAFETY: no Python code has run since the table was looked up, as the callers promise: so
            // all entries up to the end are there. One that was deleted has no value.
            unsafe {
                while self.next != self.end {
                    let [key, value] = *self.next;
                    self.next = self.next.add(1);
                    #[cfg(target_arch = "x86_64")]
                    if self.next != self.end {
                        // The value of the next pair is asked for before it is looked at.
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

        /// The pair that [`next`](Pairs::next) gave last, held, although Python code has run since;
        /// `None` where it is not there any more.
        #[cold]
        #[inline(never)]
        pub fn again(mut self) -> Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
            if !self.renew() || self.next == self.first {
                return None;
            }
            // SAFETY: an entry before the place at hand, in the table that was just looked up.
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

    /// So many values ahead of the one at hand memory is asked for: a list is walked faster than
    /// memory answers.
    const AHEAD: usize = 4;

    impl<'a, 'py> Items<'a, 'py> {
        /// The values of `list`, which the caller knows to be of this kind, and how many there are.
        #[inline(always)]
        pub fn new(list: &'a Bound<'py, PyAny>, kind: Kind) -> Option<(Items<'a, 'py>, usize)> {
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

        /// Looks up anew where the values are, as Python code may have moved them: `false` where there
        /// are more or fewer now.
        #[inline(always)]
        pub fn renew(&mut self) -> bool {
            if view::count(self.list, self.kind) != self.count {
                return false;
            }
            let left = (self.end as usize - self.next as usize) / size_of::<Raw>();
            self.look_up(self.count - left);
            true
        }

        /// The next value.
        #[inline(always)]
        pub fn next(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
            if self.next == self.end {
                return None;
            }
            // SAFETY: no Python code has run since the place was looked up, as the callers promise: so
            // all values up to the end are there. An address of any kind may be asked for.
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

        /// The index of the value that [`next`](Items::next) gave last.
        #[inline(always)]
        pub fn index(&self) -> u64 {
            let left = (self.end as usize - self.next as usize) / size_of::<Raw>();
            (self.count - left) as u64 - 1
        }

        /// The value that [`next`](Items::next) gave last, held, although Python code has run since;
        /// `None` where it is not there any more.
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

/// Where tables cannot be looked into, or others may change them meanwhile: there are none to go along.
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
        pub fn renew(&mut self) -> bool {
            match self.0 {}
        }
        pub fn next(&mut self) -> Option<Borrowed<'a, 'py, PyAny>> {
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
