//! Instance variables of plain objects, read and written where they lie.
//!
//! Ruby looks a variable up by its name each time. Where many objects of one class are read, it is
//! enough to find out once at which index each of theirs stands. As in [`super::layout`], what is
//! known is learned from objects that are made for it, and is not used where they do not look as
//! expected.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::jump::{Jump, keep};
use super::number::integer;
use super::object::{allocate, each_variable, id, set_variable, variable};
use super::{ID, NIL, UNDEF, VALUE, heap_class, heap_kind, is_heap};

/// Which word of an object points to its variables where they are not in it: the third (Ruby 3.2
/// and later, where a number in the flags says which variables there are), or the fourth (3.1,
/// where the third says how many there is room for); 0 where neither is known.
static POINTER: AtomicUsize = AtomicUsize::new(0);
/// `POINTER` of Ruby 3.1.
const COUNTED: usize = 3;
/// `ROBJECT_EMBED`: the variables are in the object, from the third word on.
const EMBEDDED: VALUE = 1 << 13;
/// How many are, in Ruby 3.1.
const EMBEDDED_COUNT: usize = 3;
/// The most variables that are looked at.
const MOST: usize = 6;

#[inline(always)]
fn word(object: VALUE, index: usize) -> VALUE {
    // SAFETY: a plain object has five words.
    unsafe { *(object as *const VALUE).add(index) }
}

/// Learns where variables are kept.
///
/// # Errors
/// What Ruby raises.
pub fn learn_variables() -> Result<(), Jump> {
    let names = [c"@a", c"@b", c"@c", c"@d", c"@e", c"@f"].map(id);
    let sample = |count: usize| {
        // SAFETY: the lock; no exception for this class.
        let class = unsafe { rb_sys::rb_class_new(rb_sys::rb_cObject) };
        let object = allocate(class)?;
        for (index, name) in names[..count].iter().enumerate() {
            set_variable(object, *name, integer(0x1357_9BDF_0000 + index as i64));
        }
        keep(class);
        Ok::<VALUE, Jump>(object)
    };
    let (few, many) = (sample(2)?, sample(MOST)?);
    let is = |value: VALUE, index: usize| value == integer(0x1357_9BDF_0000 + index as i64);
    if word(few, 0) & EMBEDDED == 0 || !is(word(few, 2), 0) || !is(word(few, 3), 1) {
        return Ok(());
    }
    if word(many, 0) & EMBEDDED == 0 {
        for index in [2, 3] {
            let place = word(many, index);
            // SAFETY: what is no small number in these words is a pointer to the variables.
            let at = |index: usize| unsafe { *(place as *const VALUE).add(index) };
            if is_heap(place) && place > 1 << 16 && (0..MOST).all(|index| is(at(index), index)) {
                POINTER.store(index, Ordering::Relaxed);
                break;
            }
        }
    }
    keep(few);
    keep(many);
    Ok(())
}

/// Where the variables of an object are, and how many there is room for at least.
#[inline(always)]
fn place_of(object: VALUE, pointer: usize) -> (*mut VALUE, usize) {
    if word(object, 0) & EMBEDDED != 0 {
        let room = if pointer == COUNTED { EMBEDDED_COUNT } else { usize::MAX };
        return ((object as *mut VALUE).wrapping_add(2), room);
    }
    let room = if pointer == COUNTED { word(object, 2) as u32 as usize } else { usize::MAX };
    (word(object, pointer) as *mut VALUE, room)
}

/// Where objects like one that was looked at have the variables of these names.
#[derive(Clone, Copy)]
pub struct Places<const N: usize> {
    class: VALUE,
    /// The upper half of the flags: from Ruby 3.2 on the number of what variables there are.
    shape: VALUE,
    names: [ID; N],
    /// `u8::MAX` for a name that is to be looked up.
    indexes: [u8; N],
    pointer: usize,
}

impl<const N: usize> Places<N> {
    /// Nothing is known: fits no object.
    pub fn unknown(names: [ID; N]) -> Places<N> {
        Places { class: 0, shape: 0, names, indexes: [u8::MAX; N], pointer: 0 }
    }

    /// Whether an object has its variables where the one had them that was looked at.
    #[inline(always)]
    fn fits(&self, object: VALUE) -> bool {
        is_heap(object) && heap_class(object) == self.class && word(object, 0) >> 32 == self.shape
    }

    /// Looks at an object, if it is not like the last: no object may be made or moved as long as
    /// what is known is used.
    #[inline(always)]
    pub fn look(&mut self, object: VALUE) {
        if !self.fits(object) {
            self.learn(object);
        }
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, object: VALUE) {
        *self = Places::unknown(self.names);
        let pointer = POINTER.load(Ordering::Relaxed);
        if pointer == 0 || !is_heap(object) || heap_kind(object) != 1 {
            return;
        }
        let (place, room) = place_of(object, pointer);
        let (mut count, mut indexes, mut good) = (0, [u8::MAX; N], true);
        each_variable(object, |name, value| {
            // SAFETY: there are as many as come here, in the order of their indexes.
            good = count < MOST.min(room) && unsafe { *place.add(count) } == value;
            if good && let Some(index) = self.names.iter().position(|known| *known == name) {
                indexes[index] = count as u8;
            }
            count += 1;
            good
        });
        if good {
            let (class, shape) = (heap_class(object), word(object, 0) >> 32);
            *self = Places { class, shape, names: self.names, indexes, pointer };
        }
    }

    /// The variable of a name, `nil` where there is none. The object is the one that was given to
    /// [`look`](Places::look) last.
    #[inline(always)]
    pub fn get(&self, object: VALUE, name: usize) -> VALUE {
        let index = usize::from(self.indexes[name]);
        if index < MOST {
            let (place, room) = place_of(object, self.pointer);
            if index >= room {
                return NIL;
            }
            // SAFETY: an object of this class and shape has a variable, or none yet, there.
            let value = unsafe { *place.add(index) };
            return if value == UNDEF { NIL } else { value };
        }
        // Where a number says which variables there are, no other object of it has more.
        if self.pointer != 0 && self.pointer != COUNTED { NIL } else { self.slow(object, name) }
    }

    #[inline(never)]
    fn slow(&self, object: VALUE, name: usize) -> VALUE {
        variable(object, self.names[name])
    }

    /// Gives a new object these variables, the first that it has.
    #[inline(always)]
    pub fn give(&mut self, object: VALUE, values: [VALUE; N]) {
        if self.can_fill() && self.fits(object) && is_empty(object) {
            fill(object, values);
            return;
        }
        for (name, value) in self.names.iter().zip(values) {
            set_variable(object, *name, value);
        }
        if N <= EMBEDDED_COUNT && POINTER.load(Ordering::Relaxed) == COUNTED {
            self.look(object);
        }
    }

    /// Whether new objects of the class have all these variables, in this order, in themselves: in
    /// Ruby 3.1 up to three.
    #[inline(always)]
    fn can_fill(&self) -> bool {
        self.pointer == COUNTED
            && N <= EMBEDDED_COUNT
            && self.indexes.iter().enumerate().all(|(name, index)| usize::from(*index) == name)
    }
}

/// Whether an object of Ruby 3.1 has no variable yet, and no room for one.
#[inline(always)]
fn is_empty(object: VALUE) -> bool {
    word(object, 0) & EMBEDDED == 0 && word(object, 2) == 0 && word(object, 3) == 0
}

/// Writes the first variables of an object of Ruby 3.1 that is empty, which makes them part of it.
#[inline(always)]
fn fill<const N: usize>(object: VALUE, values: [VALUE; N]) {
    let words = object as *mut VALUE;
    // SAFETY: the object was just made, and has room for three variables; the collector is told of
    // each that is an object.
    unsafe {
        for index in 0..EMBEDDED_COUNT {
            *words.add(2 + index) = values.get(index).copied().unwrap_or(UNDEF);
        }
        *words |= EMBEDDED;
        for value in values.into_iter().filter(|value| is_heap(*value)) {
            rb_sys::rb_gc_writebarrier(object, value);
        }
    }
}
