//! Fast creation of simple objects of permitted classes.
//!
//! Objects of one kind recur, with the same variables in the same order. The class and the layout
//! of its variables are determined once; then a new object gets all of them at once (see
//! [`super::variables`]). Molds are kept across documents, and the collector sees their content, so
//! neither a class nor a symbol in them is freed or moved.

use std::cell::Cell;

use super::object::{PlainClass, each_variable, mark, set_variable, symbol_id};
use super::text::{bytes_of, symbol_text};
use super::variables::{Kept, fill, fill_shape, is_empty, is_fresh, kept, placed};
use super::{ID, VALUE};

/// Maximum number of cached classes.
const MOLDS: usize = 16;
/// Maximum number of variables per object.
const MOST: usize = 8;

/// A class, and the variables of its last object.
struct Mold {
    class: Cell<Option<(VALUE, PlainClass)>>,
    count: Cell<usize>,
    symbols: [Cell<VALUE>; MOST],
    names: [Cell<ID>; MOST],
    known: Cell<Known>,
}

/// What is known about objects with these variables.
#[derive(Clone, Copy)]
enum Known {
    /// One was created.
    Once,
    /// Nothing useful.
    Nothing,
    /// They are the class's first variables, in order (Ruby 3.1, where a class never forgets that).
    Ordered,
    /// The upper half of the flags of a new object, and of one that has them (Ruby 3.2 and later).
    Shape { fresh: VALUE, full: VALUE },
}

/// The classes of recent objects.
pub struct Molds {
    /// The symbols of their names; 0 for none.
    names: [Cell<VALUE>; MOLDS],
    molds: Box<[Mold; MOLDS]>,
    next: Cell<usize>,
}

impl Molds {
    /// Creates an empty cache.
    pub fn new() -> Molds {
        let mold = || Mold {
            class: Cell::new(None),
            count: Cell::new(0),
            symbols: [const { Cell::new(0) }; MOST],
            names: [const { Cell::new(0) }; MOST],
            known: Cell::new(Known::Nothing),
        };
        let names = [const { Cell::new(0) }; MOLDS];
        Molds { names, molds: Box::new(std::array::from_fn(|_| mold())), next: Cell::new(0) }
    }

    /// Returns the number of the mold, and the class, for a symbol seen recently.
    #[inline(always)]
    pub fn find(&self, symbol: VALUE) -> Option<(usize, VALUE)> {
        let at = self.names.iter().position(|name| name.get() == symbol)?;
        self.molds[at].class.get().map(|(class, _)| (at, class))
    }

    /// Caches the class that a symbol stands for, replacing none of the molds that are `held`, one
    /// bit each. `None` if the objects of the class are not simple ones, or if all are held.
    pub fn add(&self, symbol: VALUE, class: VALUE, held: u64) -> Option<usize> {
        let plain = PlainClass::of(class)?;
        let at = match self.names.iter().position(|name| name.get() == symbol) {
            Some(known) => known,
            None => {
                let next = self.next.get();
                let at =
                    (next..next + MOLDS).map(|at| at % MOLDS).find(|at| held >> at & 1 == 0)?;
                self.next.set((at + 1) % MOLDS);
                at
            }
        };
        let mold = &self.molds[at];
        self.names[at].set(symbol);
        mold.class.set(Some((class, plain)));
        mold.count.set(0);
        mold.known.set(Known::Nothing);
        Some(at)
    }

    /// Creates an object of the class, with these variables: symbol, value, symbol, and so on,
    /// which must be visible to the collector. `None` if a symbol is not a valid name of an
    /// instance variable.
    #[inline(always)]
    pub fn object(&self, at: usize, pairs: &[VALUE]) -> Option<VALUE> {
        let mold = &self.molds[at];
        let (_, class) = mold.class.get()?;
        let object = class.new_object();
        if mold.is(pairs) {
            let values = pairs.iter().copied().skip(1).step_by(2);
            match mold.known.get() {
                Known::Shape { fresh, full } if is_fresh(object, fresh) => {
                    fill_shape(object, full, values);
                    return Some(object);
                }
                Known::Ordered if is_empty(object) => {
                    let rest = fill(object, values.clone());
                    for (name, value) in mold.names.iter().zip(values).skip(rest) {
                        set_variable(object, name.get(), value);
                    }
                    return Some(object);
                }
                _ => {}
            }
        }
        mold.set_all(object, pairs).then_some(object)
    }

    /// Marks the cached values for the collector.
    pub fn mark(&self) {
        for (name, mold) in self.names.iter().zip(self.molds.iter()) {
            if name.get() == 0 {
                continue;
            }
            mark(name.get());
            if let Some((class, _)) = mold.class.get() {
                mark(class);
            }
            mold.symbols[..mold.count.get()].iter().for_each(|symbol| mark(symbol.get()));
        }
    }
}

impl Mold {
    #[inline(always)]
    fn is(&self, pairs: &[VALUE]) -> bool {
        self.count.get() * 2 == pairs.len()
            && pairs.chunks_exact(2).zip(&self.symbols).all(|(pair, known)| pair[0] == known.get())
    }

    /// Sets the variables with Ruby's own function. The first time they are recorded, and the
    /// second time their location is determined. `false` if one has an invalid name.
    #[inline(never)]
    fn set_all(&self, object: VALUE, pairs: &[VALUE]) -> bool {
        let is_name = |symbol: VALUE| bytes_of(symbol_text(symbol)).starts_with(b"@");
        if !pairs.iter().step_by(2).all(|symbol| is_name(*symbol)) {
            return false;
        }
        let fresh = kept(object);
        for pair in pairs.chunks_exact(2) {
            set_variable(object, symbol_id(pair[0]), pair[1]);
        }
        let count = pairs.len() / 2;
        if count == 0 || count > MOST {
            return true;
        }
        if !self.is(pairs) {
            // The symbols are visible in the document until all are here; looking up a name can run
            // the collector, which must not see any of those before.
            self.known.set(Known::Once);
            self.count.set(0);
            for (at, pair) in pairs.chunks_exact(2).enumerate() {
                self.symbols[at].set(pair[0]);
                self.names[at].set(symbol_id(pair[0]));
            }
            self.count.set(count);
            return true;
        }
        if matches!(self.known.get(), Known::Once | Known::Shape { .. }) {
            self.known.set(self.look(object, fresh, pairs));
        }
        true
    }

    /// Determines where a formerly new object has its variables.
    fn look(&self, object: VALUE, fresh: Kept, pairs: &[VALUE]) -> Known {
        let (mut count, mut in_order) = (0, true);
        each_variable(object, |name, value| {
            in_order &= pairs.get(2 * count + 1) == Some(&value)
                && self.names.get(count).is_some_and(|known| known.get() == name)
                && placed(object, count) == Some(value);
            count += 1;
            in_order
        });
        if !in_order || count != self.count.get() {
            return Known::Nothing;
        }
        match (fresh, kept(object)) {
            (Kept::Counted, _) => Known::Ordered,
            (Kept::Shaped(fresh), Kept::Shaped(full)) => Known::Shape { fresh, full },
            _ => Known::Nothing,
        }
    }
}
