//! Instance variables of plain objects, read and written where they lie.
//!
//! Ruby looks a variable up by its name each time. Where many objects of one class are read, it is
//! enough to find out once at which index each of theirs stands. As in [`super::layout`], what is
//! known is learned from objects that are made for it, and is not used where they do not look as
//! expected.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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
/// `POINTER` of Ruby 3.2 and later.
const POINTED: usize = 2;
/// `ROBJECT_EMBED`: the variables are in the object, from the third word on.
const EMBEDDED: VALUE = 1 << 13;
/// How many are, in Ruby 3.1.
const EMBEDDED_COUNT: usize = 3;
/// The most variables that are looked at.
const MOST: usize = 6;
/// Whether the upper half of an object's flags says which variables it has, and nothing else does.
static SHAPES: AtomicBool = AtomicBool::new(false);

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
    if POINTER.load(Ordering::Relaxed) == POINTED && is_filled_as_known(few)? {
        SHAPES.store(true, Ordering::Relaxed);
    }
    keep(few);
    keep(many);
    Ok(())
}

/// Whether a new object of the class of `sample` has its variables once they were written where the
/// sample has them, with the upper half of the sample's flags.
fn is_filled_as_known(sample: VALUE) -> Result<bool, Jump> {
    let class = heap_class(sample);
    let (object, other) = (allocate(class)?, allocate(class)?);
    let shape = |object: VALUE| word(object, 0) >> 32;
    let known = word(object, 0) & EMBEDDED != 0
        && shape(object) != shape(sample)
        && shape(object) == shape(other);
    if !known {
        return Ok(false);
    }
    let [a, b, c] = [c"@a", c"@b", c"@c"].map(id);
    fill_shape(object, shape(sample), [integer(1), integer(2)].into_iter());
    let mut found = Vec::new();
    each_variable(object, |name, value| {
        found.push((name, value));
        true
    });
    let is_whole = found == [(a, integer(1)), (b, integer(2))];
    // One more goes behind them, in the object and in one that was filled by Ruby.
    set_variable(object, c, integer(3));
    set_variable(other, a, integer(1));
    let are_one = [a, b, c].map(|name| variable(object, name)) == [1, 2, 3].map(integer)
        && variable(other, a) == integer(1)
        && variable(other, b) == NIL;
    keep(object);
    keep(other);
    Ok(is_whole && are_one)
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
    /// What new objects are given all of them at once by.
    learned: &'static Learned,
    /// The upper half of the flags of a new object, and that of one which was given the variables:
    /// 0 where that is not known.
    fresh: VALUE,
    full: VALUE,
}

/// What is known of objects that are given their first variables, for as long as the process lives.
pub struct Learned {
    /// What the flags become thereby, from Ruby 3.2 on: numbers that Ruby gives to lists of variables,
    /// whatever the class, and never takes back.
    flags: AtomicU64,
    /// A class that lives for good and has them first and in order, in Ruby 3.1, where a class never
    /// forgets the order in which variables came up; 0 for none.
    class: AtomicU64,
}

impl Learned {
    /// Nothing yet.
    pub const fn new() -> Learned {
        Learned { flags: AtomicU64::new(0), class: AtomicU64::new(0) }
    }
}

impl<const N: usize> Places<N> {
    /// Nothing is known of any object that has them. `learned` has to be used with these names only.
    pub fn unknown(names: [ID; N], learned: &'static Learned) -> Places<N> {
        let numbers = learned.flags.load(Ordering::Relaxed);
        let (fresh, full) = (numbers >> 32, numbers & 0xFFFF_FFFF);
        let mut places = Places {
            class: 0,
            shape: 0,
            names,
            indexes: [u8::MAX; N],
            pointer: 0,
            learned,
            fresh,
            full,
        };
        let class = learned.class.load(Ordering::Relaxed);
        if class != 0 {
            (places.class, places.pointer) = (class, COUNTED);
            places.indexes = std::array::from_fn(|index| index as u8);
        }
        places
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
        *self = Places::unknown(self.names, self.learned);
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
            (self.class, self.shape, self.indexes, self.pointer) = (class, shape, indexes, pointer);
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
        if self.full != 0 {
            // The flags of one that was just made, all but those of its age.
            if is_fresh(object, self.fresh) {
                fill_shape(object, self.full, values.into_iter());
                return;
            }
        } else if self.can_fill() && self.fits(object) && is_empty(object) {
            let room = fill(object, values.into_iter());
            for (name, value) in self.names.iter().zip(values).skip(room) {
                set_variable(object, *name, value);
            }
            return;
        }
        self.give_first(object, values);
    }

    /// The same by Ruby's own function, and a look at where it put them.
    #[inline(never)]
    fn give_first(&mut self, object: VALUE, values: [VALUE; N]) {
        let fresh = word(object, 0);
        for (name, value) in self.names.iter().zip(values) {
            set_variable(object, *name, value);
        }
        if POINTER.load(Ordering::Relaxed) == COUNTED {
            self.look(object);
            if self.shape == 0 && self.can_fill() && lives_for_good(self.class) {
                self.learned.class.store(self.class, Ordering::Relaxed);
            }
        }
        let flags = word(object, 0);
        if !SHAPES.load(Ordering::Relaxed) || fresh & flags & EMBEDDED == 0 {
            return;
        }
        let mut count = 0;
        let mut good = true;
        each_variable(object, |name, value| {
            good &= count < N
                && name == self.names[count]
                && value == values[count]
                && word(object, 2 + count) == value;
            count += 1;
            good
        });
        if good && count == N {
            (self.fresh, self.full) = (fresh >> 32, flags >> 32);
            self.learned.flags.store(self.fresh << 32 | self.full, Ordering::Relaxed);
        }
    }

    /// Whether new objects of the class have the first of these variables, in this order, in themselves:
    /// in Ruby 3.1 up to three.
    #[inline(always)]
    fn can_fill(&self) -> bool {
        self.pointer == COUNTED
            && self.indexes.iter().enumerate().all(|(name, index)| usize::from(*index) == name)
    }
}

/// Whether a class is one of ours that nobody frees or moves.
fn lives_for_good(class: VALUE) -> bool {
    let names = crate::names::names();
    let ours =
        [names.marc_record, names.marc_control_field, names.marc_data_field, names.marc_subfield];
    ours.contains(&class)
}

/// Whether an object of Ruby 3.1 has no variable yet, and room for them in itself.
#[inline(always)]
pub(super) fn is_empty(object: VALUE) -> bool {
    word(object, 0) & EMBEDDED != 0
        && (0..EMBEDDED_COUNT).all(|index| word(object, 2 + index) == UNDEF)
}

/// Writes the first variables of an object of Ruby 3.1 that is empty. Gives how many there is room for.
#[inline(always)]
pub(super) fn fill(object: VALUE, values: impl Iterator<Item = VALUE> + Clone) -> usize {
    let words = object as *mut VALUE;
    // SAFETY: the object was just made, and has room for three variables; the collector is told of
    // each that is an object.
    unsafe {
        for (index, value) in values.clone().take(EMBEDDED_COUNT).enumerate() {
            *words.add(2 + index) = value;
        }
        for value in values.take(EMBEDDED_COUNT).filter(|value| is_heap(*value)) {
            rb_sys::rb_gc_writebarrier(object, value);
        }
    }
    EMBEDDED_COUNT
}

/// Writes the variables of a new object that has none, and what the upper half of its flags is of
/// one that has them.
#[inline(always)]
pub(super) fn fill_shape(object: VALUE, shape: VALUE, values: impl Iterator<Item = VALUE> + Clone) {
    let words = object as *mut VALUE;
    // SAFETY: an object of this class whose flags were the same had its variables in just these
    // words, which are its own; the collector is told of each that is an object.
    unsafe {
        for (index, value) in values.clone().enumerate() {
            *words.add(2 + index) = value;
        }
        *words = *words & 0xFFFF_FFFF | shape << 32;
        for value in values.filter(|value| is_heap(*value)) {
            rb_sys::rb_gc_writebarrier(object, value);
        }
    }
}

/// How this Ruby says which variables an object has.
pub(super) enum Kept {
    /// Nobody knows.
    Unknown,
    /// By the class (3.1).
    Counted,
    /// By the upper half of the object's flags, which is this: from 3.2 on, with the variables in the
    /// object.
    Shaped(VALUE),
}

/// How an object's variables are kept.
pub(super) fn kept(object: VALUE) -> Kept {
    if POINTER.load(Ordering::Relaxed) == COUNTED {
        return Kept::Counted;
    }
    match SHAPES.load(Ordering::Relaxed) && word(object, 0) & EMBEDDED != 0 {
        true => Kept::Shaped(word(object, 0) >> 32),
        false => Kept::Unknown,
    }
}

/// Whether a new object, which has its variables in itself, has flags like one that was looked at.
#[inline(always)]
pub(super) fn is_fresh(object: VALUE, fresh: VALUE) -> bool {
    word(object, 0) >> 32 == fresh && word(object, 0) & EMBEDDED != 0
}

/// What lies in the place of an object's variable; the object has so many.
pub(super) fn placed(object: VALUE, index: usize) -> Option<VALUE> {
    let pointer = POINTER.load(Ordering::Relaxed);
    let (place, room) = match pointer {
        0 => return None,
        _ => place_of(object, pointer),
    };
    // SAFETY: an object that has a variable of this index has room for it.
    (index < room).then(|| unsafe { *place.add(index) })
}
