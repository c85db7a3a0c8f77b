//! Instance variables of plain objects, accessed directly in memory.
//!
//! Ruby looks a variable up by name each time. When many objects of one class are read, it is
//! enough to determine each variable's index once. As in [`super::layout`], the layout is learned
//! from sample objects, and is not used if they do not look as expected.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::jump::{Jump, keep};
use super::number::integer;
use super::object::{allocate, each_variable, id, set_variable, variable};
use super::{ID, NIL, UNDEF, VALUE, heap_class, heap_kind, is_heap};

/// Which word of an object points to its variables if they are not embedded: the third (Ruby 3.2
/// and later, where a number in the flags identifies the variables), or the fourth (3.1, where the
/// third is their capacity); 0 if neither is known.
static POINTER: AtomicUsize = AtomicUsize::new(0);
/// `POINTER` of Ruby 3.1.
const COUNTED: usize = 3;
/// `POINTER` of Ruby 3.2 and later.
const POINTED: usize = 2;
/// `ROBJECT_EMBED`: the variables are in the object, from the third word on.
const EMBEDDED: VALUE = 1 << 13;
/// The number of embedded variables, in Ruby 3.1.
const EMBEDDED_COUNT: usize = 3;
/// Maximum number of variables that are looked up.
const MOST: usize = 6;
/// Whether only the upper half of an object's flags identifies its variables.
static SHAPES: AtomicBool = AtomicBool::new(false);

#[inline(always)]
fn word(object: VALUE, index: usize) -> VALUE {
    // SAFETY: a plain object has five words.
    unsafe { *(object as *const VALUE).add(index) }
}

/// Learns the layout of variables.
///
/// # Errors
/// Whatever Ruby raises.
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
            // SAFETY: whatever is not a small number in these words is a pointer to the variables.
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

/// Returns whether a new object of the class of `sample` has its variables once they are written
/// where the sample has them, with the upper half of the sample's flags.
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
    // Another one goes after them, in this object and in one filled by Ruby.
    set_variable(object, c, integer(3));
    set_variable(other, a, integer(1));
    let are_one = [a, b, c].map(|name| variable(object, name)) == [1, 2, 3].map(integer)
        && variable(other, a) == integer(1)
        && variable(other, b) == NIL;
    keep(object);
    keep(other);
    Ok(is_whole && are_one)
}

/// Returns where the variables of an object are, and their minimum capacity.
#[inline(always)]
fn place_of(object: VALUE, pointer: usize) -> (*mut VALUE, usize) {
    if word(object, 0) & EMBEDDED != 0 {
        let room = if pointer == COUNTED { EMBEDDED_COUNT } else { usize::MAX };
        return ((object as *mut VALUE).wrapping_add(2), room);
    }
    let room = if pointer == COUNTED { word(object, 2) as u32 as usize } else { usize::MAX };
    (word(object, pointer) as *mut VALUE, room)
}

/// The locations of these variables, in objects like one that was examined.
#[derive(Clone, Copy)]
pub struct Places<const N: usize> {
    class: VALUE,
    /// The upper half of the flags: in Ruby 3.2 and later, the number that identifies the
    /// variables.
    shape: VALUE,
    names: [ID; N],
    /// `u8::MAX` for a name that has to be looked up.
    indexes: [u8; N],
    pointer: usize,
    /// How new objects get all of them at once.
    learned: &'static Learned,
    /// The upper half of the flags of a new object, and of one that has the variables: 0 if
    /// unknown.
    fresh: VALUE,
    full: VALUE,
}

/// What is known about giving objects their first variables, for the life of the process.
pub struct Learned {
    /// The resulting flags, in Ruby 3.2 and later: numbers that Ruby assigns to lists of variables,
    /// whatever the class, and never reuses.
    flags: AtomicU64,
    /// A permanent class that has them first and in order, in Ruby 3.1, where a class never forgets
    /// the order in which variables appeared; 0 for none.
    class: AtomicU64,
}

impl Learned {
    /// Creates an empty record.
    pub const fn new() -> Learned {
        Learned { flags: AtomicU64::new(0), class: AtomicU64::new(0) }
    }
}

impl<const N: usize> Places<N> {
    /// Discards what is known. `learned` must be used only with these names.
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

    /// Returns whether an object has its variables where the examined one had them.
    #[inline(always)]
    fn fits(&self, object: VALUE) -> bool {
        is_heap(object) && heap_class(object) == self.class && word(object, 0) >> 32 == self.shape
    }

    /// Examines an object, if it is not like the last: no object may be created or moved as long as
    /// the result is used.
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
            // SAFETY: there are as many as arrive here, in the order of their indexes.
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

    /// Returns the variable of a name, `nil` if there is none. The object is the one last passed to
    /// [`look`](Places::look).
    #[inline(always)]
    pub fn get(&self, object: VALUE, name: usize) -> VALUE {
        let index = usize::from(self.indexes[name]);
        if index < MOST {
            let (place, room) = place_of(object, self.pointer);
            if index >= room {
                return NIL;
            }
            // SAFETY: an object of this class and shape has a variable there, or none yet.
            let value = unsafe { *place.add(index) };
            return if value == UNDEF { NIL } else { value };
        }
        // If a number identifies the variables, no other object with it has more.
        if self.pointer != 0 && self.pointer != COUNTED { NIL } else { self.slow(object, name) }
    }

    #[inline(never)]
    fn slow(&self, object: VALUE, name: usize) -> VALUE {
        variable(object, self.names[name])
    }

    /// Gives a new object these variables, its first ones.
    #[inline(always)]
    pub fn give(&mut self, object: VALUE, values: [VALUE; N]) {
        if self.full != 0 {
            // The flags of one just created, except those of its age.
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

    /// Does the same with Ruby's own function, and checks where it put them.
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

    /// Returns whether new objects of the class embed the first of these variables, in this order:
    /// in Ruby 3.1 up to three.
    #[inline(always)]
    fn can_fill(&self) -> bool {
        self.pointer == COUNTED
            && self.indexes.iter().enumerate().all(|(name, index)| usize::from(*index) == name)
    }
}

/// Returns whether a class is one of ours that is never freed or moved.
fn lives_for_good(class: VALUE) -> bool {
    let names = crate::names::names();
    let ours =
        [names.marc_record, names.marc_control_field, names.marc_data_field, names.marc_subfield];
    ours.contains(&class)
}

/// Returns whether a Ruby 3.1 object has no variables yet, and embedded room for them.
#[inline(always)]
pub(super) fn is_empty(object: VALUE) -> bool {
    word(object, 0) & EMBEDDED != 0
        && (0..EMBEDDED_COUNT).all(|index| word(object, 2 + index) == UNDEF)
}

/// Writes the first variables of an empty Ruby 3.1 object. Returns the capacity.
#[inline(always)]
pub(super) fn fill(object: VALUE, values: impl Iterator<Item = VALUE> + Clone) -> usize {
    let words = object as *mut VALUE;
    // SAFETY: the object was just created, and has room for three variables; each one that is an
    // object is reported to the collector.
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

/// Writes the variables of a new object without any, and the upper half of the flags of an object
/// that has them.
#[inline(always)]
pub(super) fn fill_shape(object: VALUE, shape: VALUE, values: impl Iterator<Item = VALUE> + Clone) {
    let words = object as *mut VALUE;
    // SAFETY: an object of this class with the same flags had its variables in exactly these words,
    // which are its own; each one that is an object is reported to the collector.
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

/// How this Ruby identifies an object's variables.
pub(super) enum Kept {
    /// Unknown.
    Unknown,
    /// By class (3.1).
    Counted,
    /// By the upper half of the object's flags, which is this: 3.2 and later, with embedded
    /// variables.
    Shaped(VALUE),
}

/// Returns how an object's variables are identified.
pub(super) fn kept(object: VALUE) -> Kept {
    if POINTER.load(Ordering::Relaxed) == COUNTED {
        return Kept::Counted;
    }
    match SHAPES.load(Ordering::Relaxed) && word(object, 0) & EMBEDDED != 0 {
        true => Kept::Shaped(word(object, 0) >> 32),
        false => Kept::Unknown,
    }
}

/// Returns whether a new object, with embedded variables, has flags like an examined one.
#[inline(always)]
pub(super) fn is_fresh(object: VALUE, fresh: VALUE) -> bool {
    word(object, 0) >> 32 == fresh && word(object, 0) & EMBEDDED != 0
}

/// Returns the content of an object's variable slot; the object has this many.
pub(super) fn placed(object: VALUE, index: usize) -> Option<VALUE> {
    let pointer = POINTER.load(Ordering::Relaxed);
    let (place, room) = match pointer {
        0 => return None,
        _ => place_of(object, pointer),
    };
    // SAFETY: an object that has a variable with this index has room for it.
    (index < room).then(|| unsafe { *place.add(index) })
}
