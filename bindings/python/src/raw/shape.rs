//! Builds dicts with the keys of a previous one: as a copy of it, with the values filled in.
//!
//! The maps of a document have few shapes: the same keys in the same order, map after map.
//! Inserting pair by pair takes Python about 25 ns per pair, because each key is looked up and the
//! table grows on the way; copying a dict takes 40 ns with five keys, and 110 ns with forty. So the
//! keys of a shape that occurred twice are kept in a dict per thread, with `None` for values, and
//! further maps are copies of that.
//!
//! The location of a dict's values is not part of the C API. So nothing is taken for granted: for
//! each shape, the keys and values of the kept dict are located in its table, and in that of a
//! copy, and unless each pair is where the first two predict, the shape is built pair by pair
//! forever. The same applies to keys that are not `str`, to the stable ABI, to builds without the
//! GIL, and if the public API is to be used ([`switch`](super::switch)).

use pyo3::prelude::*;

use super::container;

/// The shapes of a thread.
#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
pub use quick::Shapes;

/// The shapes of a thread, for builds that cache none.
#[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
#[derive(Default)]
pub struct Shapes;

#[cfg(any(Py_LIMITED_API, Py_GIL_DISABLED))]
impl Shapes {
    /// See [`container::dict`].
    #[inline(always)]
    pub fn dict<'py>(
        &mut self,
        py: Python<'py>,
        stack: &mut Vec<Bound<'py, PyAny>>,
        start: usize,
    ) -> Option<Bound<'py, PyAny>> {
        container::dict(py, stack, start)
    }
}

#[cfg(not(any(Py_LIMITED_API, Py_GIL_DISABLED)))]
mod quick {
    use std::ops::RangeInclusive;

    use pyo3::ffi;
    use pyo3::types::{PyDict, PyString};

    use super::super::switch::reads_memory;
    use super::*;

    type Raw = *mut ffi::PyObject;

    /// Number of cached shapes. One that hits another's slot replaces it after a while.
    const PLACES: usize = 256;
    /// With a single key, the distance to the next cannot be determined; larger dicts are rare.
    const PAIRS: RangeInclusive<usize> = 2..=64;
    /// This many other shapes have to hit a shape's slot before it is replaced.
    const PATIENCE: u8 = 16;

    pub struct Shapes(Box<[Place]>);

    struct Place {
        /// A hash of the shape's keys.
        mark: u64,
        /// Number of other shapes since it was last seen.
        others: u8,
        state: State,
    }

    enum State {
        /// Seen once.
        Seen,
        Known(Shape),
        /// Has to be built pair by pair.
        Odd,
    }

    struct Shape {
        /// Owned exclusively, not even known to the collector.
        kept: Py<PyDict>,
        /// The addresses of its keys, in order.
        keys: Box<[usize]>,
        layout: Layout,
        /// Whether the collector tracks its copies from the beginning.
        tracked: bool,
    }

    /// The location of the values in the table of a dict, in words.
    #[derive(Clone, Copy, PartialEq)]
    struct Layout {
        first: usize,
        stride: usize,
    }

    impl Default for Shapes {
        fn default() -> Shapes {
            let empty = || Place { mark: 0, others: 0, state: State::Odd };
            Shapes((0..PLACES).map(|_| empty()).collect())
        }
    }

    impl Shapes {
        /// See [`container::dict`].
        #[inline(always)]
        pub fn dict<'py>(
            &mut self,
            py: Python<'py>,
            stack: &mut Vec<Bound<'py, PyAny>>,
            start: usize,
        ) -> Option<Bound<'py, PyAny>> {
            let pairs = stack.get(start..)?;
            if !PAIRS.contains(&(pairs.len() / 2)) || !reads_memory() {
                return container::dict(py, stack, start);
            }
            let mark = mark(pairs);
            // The highest bits depend on all others.
            let place = &mut self.0[(mark >> 32) as usize % PLACES];
            if place.mark == mark
                && let State::Known(shape) = &place.state
                && shape.fits(pairs)
            {
                place.others = 0;
                return shape.make(py, stack, start);
            }
            place.see(py, pairs, mark);
            container::dict(py, stack, start)
        }
    }

    /// Hashes the keys' addresses. The multiplications are independent of one another.
    #[inline(always)]
    fn mark(pairs: &[Bound<'_, PyAny>]) -> u64 {
        let mut odd: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut mark = pairs.len() as u64;
        for [key, _] in pairs.as_chunks().0 {
            mark = mark.wrapping_add((key.as_ptr() as u64 >> 4).wrapping_mul(odd));
            odd = odd.wrapping_add(0x6A09_E667_F3BC_C908);
        }
        mark
    }

    impl Place {
        /// Handles an unknown shape.
        #[inline(never)]
        fn see(&mut self, py: Python<'_>, pairs: &[Bound<'_, PyAny>], mark: u64) {
            if self.mark != mark {
                self.others += 1;
                if !matches!(self.state, State::Known(_)) || self.others > PATIENCE {
                    *self = Place { mark, others: 0, state: State::Seen };
                }
            } else if matches!(self.state, State::Seen) {
                self.state = Shape::new(py, pairs).map_or(State::Odd, State::Known);
            }
        }
    }

    impl Shape {
        /// Returns the shape of these keys; `None` if it can only be built pair by pair.
        fn new(py: Python<'_>, pairs: &[Bound<'_, PyAny>]) -> Option<Shape> {
            let kept = PyDict::new(py);
            let none = py.None();
            for pair in pairs.chunks_exact(2) {
                if !pair[0].is_exact_instance_of::<PyString>() {
                    return None;
                }
                kept.set_item(&pair[0], &none).ok()?;
            }
            let keys: Box<[usize]> =
                pairs.chunks_exact(2).map(|pair| pair[0].as_ptr() as usize).collect();
            // Fewer, if a key occurs twice.
            if kept.len() != keys.len() {
                return None;
            }
            let copy = kept.copy().ok()?;
            let layout = layout(&kept, &keys)?;
            if self::layout(&copy, &keys)? != layout {
                return None;
            }
            // SAFETY: both are live dicts; one that is not tracked may be untracked again.
            let tracked = unsafe {
                ffi::PyObject_GC_UnTrack(kept.as_ptr().cast());
                let another = kept.copy().ok()?;
                ffi::PyObject_GC_IsTracked(another.as_ptr()) == 1
            };
            Some(Shape { kept: kept.unbind(), keys, layout, tracked })
        }

        /// Returns whether these are the keys.
        #[inline(always)]
        fn fits(&self, pairs: &[Bound<'_, PyAny>]) -> bool {
            let (pairs, keys) = (pairs.as_chunks::<2>().0, &self.keys);
            // No chain of iterators, which a quick build does not optimise.
            keys.len() == pairs.len()
                && (0..keys.len()).all(|index| keys[index] == pairs[index][0].as_ptr() as usize)
        }

        /// Builds a dict from the keys and values from `start` on, whose keys are these.
        #[inline(always)]
        fn make<'py>(
            &self,
            py: Python<'py>,
            stack: &mut Vec<Bound<'py, PyAny>>,
            start: usize,
        ) -> Option<Bound<'py, PyAny>> {
            let Layout { first, stride } = self.layout;
            // SAFETY: a copy of the kept dict has its values where they were found when the shape
            // was created, all of them `None`, and nobody else has seen it yet: so they can be
            // replaced as long as the references are counted. The stack has a key and a value for
            // each, of which the value's reference goes to the dict; the dict has references to the
            // keys. `Bound` is just a pointer (`repr(transparent)`). The collector has to track a
            // dict that contains something it tracks.
            unsafe {
                let object = ffi::PyDict_Copy(self.kept.as_ptr());
                if object.is_null() {
                    return None;
                }
                let none = ffi::Py_None();
                let mut place =
                    (*object.cast::<ffi::PyDictObject>()).ma_keys.cast::<Raw>().add(first);
                let mut pair = stack.as_ptr().add(start).cast::<Raw>();
                let mut flags = 0;
                for _ in 0..self.keys.len() {
                    let value = *pair.add(1);
                    flags |= (*ffi::Py_TYPE(value)).tp_flags;
                    *place = value;
                    ffi::Py_DECREF(none);
                    ffi::Py_DECREF(*pair);
                    pair = pair.add(2);
                    place = place.add(stride);
                }
                stack.set_len(start);
                if flags & ffi::Py_TPFLAGS_HAVE_GC != 0 && !self.tracked {
                    ffi::PyObject_GC_Track(object.cast());
                }
                Some(Bound::from_owned_ptr(py, object))
            }
        }
    }

    /// Locates the values of the dict, which has these keys, in this order, and `None` for each.
    /// `None` if they are not evenly spaced.
    fn layout(dict: &Bound<'_, PyDict>, keys: &[usize]) -> Option<Layout> {
        let all: usize = dict.call_method0("__sizeof__").ok()?.extract().ok()?;
        // SAFETY: a live dict, whose size covers the object and the following table that it owns
        // exclusively; the table is an allocation of that many bytes, filled on creation.
        let table: &[usize] = unsafe {
            let object = dict.as_ptr();
            let own = usize::try_from((*ffi::Py_TYPE(object)).tp_basicsize).ok()?;
            let words = all.checked_sub(own)? / size_of::<usize>();
            let table = (*object.cast::<ffi::PyDictObject>()).ma_keys;
            std::slice::from_raw_parts(table.cast(), words)
        };
        let none = dict.py().None().as_ptr() as usize;
        let first = table.iter().position(|word| *word == keys[0])?;
        let stride = table[first..].iter().position(|word| *word == keys[1])?;
        let is_there = |(index, key): (usize, &usize)| {
            let at = first + index * stride;
            table.get(at) == Some(key) && table.get(at + 1) == Some(&none)
        };
        let all_there = keys.iter().enumerate().all(is_there);
        all_there.then_some(Layout { first: first + 1, stride })
    }
}
