//! Memory that loads and dumps reuse, and in which the collector finds the Ruby values that are not
//! yet part of any object.
//!
//! A Ruby value in a `Vec` is invisible to the collector: it would be freed, or moved. So values
//! that wait for their container are on a [`Stack`], and one permanent object marks all stacks for
//! the collector. That object has no write barrier, so it is marked in every collection, even a
//! young one, and again at the end of an incremental one.
//!
//! The collector runs inside calls of Ruby's C API and reads the stacks there. So they are changed
//! only through shared references and cells: the compiler must not delay a change past such a call,
//! as it could with a `&mut`.
//!
//! A leaf module: it may use `unsafe`, with a reason for each block.

use std::cell::{Cell, UnsafeCell};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::data::{DataType, Held};
use crate::ruby::{self, ID, VALUE};
use crate::shapes::Shapes;

/// A stack of Ruby values.
pub struct Stack {
    first: Cell<*mut VALUE>,
    length: Cell<usize>,
    capacity: Cell<usize>,
}

impl Stack {
    const fn new() -> Stack {
        Stack {
            first: Cell::new(std::ptr::dangling_mut()),
            length: Cell::new(0),
            capacity: Cell::new(0),
        }
    }

    /// Returns the number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length.get()
    }

    /// Pushes a value.
    #[inline(always)]
    pub fn push(&self, value: VALUE) {
        let length = self.length.get();
        if length == self.capacity.get() {
            self.grow();
        }
        // SAFETY: the length is below the capacity, which `grow` ensures.
        unsafe { self.first.get().add(length).write(value) };
        self.length.set(length + 1);
    }

    #[cold]
    #[inline(never)]
    fn grow(&self) {
        // SAFETY: pointer, length and capacity are those of a forgotten vector.
        let mut values = unsafe {
            Vec::from_raw_parts(self.first.get(), self.length.get(), self.capacity.get())
        };
        values.reserve(1024.max(values.len()));
        self.capacity.set(values.capacity());
        self.first.set(values.as_mut_ptr());
        std::mem::forget(values);
    }

    /// Returns the values from `start` on. Pushing invalidates the slice.
    #[inline(always)]
    pub fn from(&self, start: usize) -> &[VALUE] {
        debug_assert!(start <= self.len());
        // SAFETY: the values up to the length are initialised; callers push nothing while they hold
        // the slice, and the GVL keeps others away.
        unsafe {
            std::slice::from_raw_parts(self.first.get().add(start), self.length.get() - start)
        }
    }

    /// Returns the value at an index.
    #[inline(always)]
    pub fn at(&self, index: usize) -> VALUE {
        self.from(0)[index]
    }

    /// Replaces the value at an index.
    pub fn set(&self, index: usize, value: VALUE) {
        assert!(index < self.len(), "a value is there to be replaced");
        // SAFETY: the index is below the length, checked just above.
        unsafe { self.first.get().add(index).write(value) };
    }

    /// Drops the values from `length` on.
    #[inline(always)]
    pub fn truncate(&self, length: usize) {
        debug_assert!(length <= self.len());
        self.length.set(length);
    }

    /// Frees memory that a large document used.
    fn shrink(&self) {
        const KEPT: usize = 1 << 16;
        if self.capacity.get() > KEPT {
            self.release();
        }
    }

    fn release(&self) {
        // SAFETY: pointer and capacity are those of a forgotten vector; values need no drop.
        drop(unsafe { Vec::from_raw_parts(self.first.get(), 0, self.capacity.get()) });
        self.first.set(std::ptr::dangling_mut());
        self.length.set(0);
        self.capacity.set(0);
    }

    fn mark(&self) {
        self.from(0).iter().for_each(|value| ruby::mark(*value));
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.release();
    }
}

/// Maximum length of a cached key in bytes.
const KEY_BYTES: usize = 39;
/// Number of cached keys.
const KEYS: usize = 1024;

/// A cached key, as a string and, once requested, as a symbol and an ID.
pub struct Key {
    string: Cell<VALUE>,
    symbol: Cell<VALUE>,
    id: Cell<ID>,
    length: Cell<u8>,
    bytes: UnsafeCell<[u8; KEY_BYTES]>,
}

impl Key {
    const fn new() -> Key {
        Key {
            string: Cell::new(0),
            symbol: Cell::new(0),
            id: Cell::new(0),
            length: Cell::new(0),
            bytes: UnsafeCell::new([0; KEY_BYTES]),
        }
    }

    #[inline(always)]
    fn is(&self, text: &[u8]) -> bool {
        // SAFETY: nobody writes while this is read: the lock.
        let bytes = unsafe { &*self.bytes.get() };
        self.length.get() as usize == text.len()
            && bytes.get(..text.len()) == Some(text)
            && self.string.get() != 0
    }

    #[cold]
    #[inline(never)]
    fn fill(&self, text: &str) {
        let string = ruby::interned(text);
        // SAFETY: as above; the text fits, which `Keys::find` ensures.
        let bytes = unsafe { &mut *self.bytes.get() };
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        self.length.set(text.len() as u8);
        self.symbol.set(0);
        self.id.set(0);
        self.string.set(string);
    }
}

/// A cache of keys: documents repeat theirs, and finding one here is cheaper than looking it up in
/// Ruby's string table. Direct mapped.
pub struct Keys {
    table: Box<[Key; KEYS]>,
    /// One-byte texts, indexed by byte; 0 for those that have not occurred yet.
    characters: [Cell<VALUE>; 128],
    /// Arrays of two of these, after the bytes that they are.
    pairs: Box<[Cell<(u16, VALUE)>; PAIRS]>,
}

/// Number of cached pairs: indicators are blanks and digits, so there are 121 usual ones.
const PAIRS: usize = 256;

impl Keys {
    fn new() -> Keys {
        Keys {
            table: Box::new([const { Key::new() }; KEYS]),
            characters: [const { Cell::new(0) }; 128],
            pairs: Box::new([const { Cell::new((0, 0)) }; PAIRS]),
        }
    }

    /// Returns a text, usually one ASCII character, as a frozen and interned string.
    #[inline(always)]
    pub fn character(&self, text: &str) -> VALUE {
        if let [byte @ 0..0x80] = text.as_bytes() {
            let known = self.characters[usize::from(*byte)].get();
            if known != 0 {
                return known;
            }
        }
        self.new_character(text)
    }

    #[cold]
    #[inline(never)]
    fn new_character(&self, text: &str) -> VALUE {
        let string = ruby::interned(text);
        if let [byte @ 0..0x80] = text.as_bytes() {
            self.characters[usize::from(*byte)].set(string);
        }
        string
    }

    /// Returns two texts, usually one ASCII character each, as a frozen array.
    #[inline(always)]
    pub fn pair(&self, one: &str, two: &str) -> VALUE {
        if let ([a @ 0..0x80], [b @ 0..0x80]) = (one.as_bytes(), two.as_bytes()) {
            let (bytes, pair) = self.pairs[pair_place(*a, *b)].get();
            if bytes == u16::from_le_bytes([*a, *b]) && pair != 0 {
                return pair;
            }
        }
        self.new_pair(one, two)
    }

    #[cold]
    #[inline(never)]
    fn new_pair(&self, one: &str, two: &str) -> VALUE {
        let texts = [self.character(one), self.character(two)];
        let pair = ruby::array(&texts);
        ruby::freeze(pair);
        texts.into_iter().for_each(ruby::keep);
        if let ([a @ 0..0x80], [b @ 0..0x80]) = (one.as_bytes(), two.as_bytes()) {
            self.pairs[pair_place(*a, *b)].set((u16::from_le_bytes([*a, *b]), pair));
        }
        pair
    }

    /// Returns the slot of a key; `None` for a long one.
    #[inline(always)]
    fn find(&self, text: &str) -> Option<&Key> {
        let bytes = text.as_bytes();
        if bytes.len() > KEY_BYTES {
            return None;
        }
        let key = &self.table[place(bytes)];
        if !key.is(bytes) {
            key.fill(text);
        }
        Some(key)
    }

    /// Returns the key as a frozen and interned string.
    #[inline(always)]
    pub fn string(&self, text: &str) -> VALUE {
        match self.find(text) {
            Some(key) => key.string.get(),
            None => ruby::interned(text),
        }
    }

    /// Returns the key as a symbol.
    #[inline]
    pub fn symbol(&self, text: &str) -> VALUE {
        let Some(key) = self.find(text) else { return ruby::symbol(text) };
        if key.symbol.get() == 0 {
            let symbol = ruby::symbol(text);
            // Creating the symbol can run the collector, but nobody else who would take the slot.
            key.symbol.set(symbol);
        }
        key.symbol.get()
    }

    /// Returns the ID of a string that came from [`string`](Keys::string).
    pub fn id(&self, string: VALUE) -> Result<ID, ruby::Jump> {
        let bytes = ruby::bytes_of(string);
        if bytes.len() > KEY_BYTES {
            return ruby::id_of(string);
        }
        let key = &self.table[place(bytes)];
        if key.string.get() != string {
            return ruby::id_of(string);
        }
        if key.id.get() == 0 {
            key.id.set(ruby::id_of(string)?);
        }
        Ok(key.id.get())
    }

    fn mark(&self) {
        for key in self.table.iter().filter(|key| key.string.get() != 0) {
            ruby::mark(key.string.get());
            if key.symbol.get() != 0 {
                ruby::mark(key.symbol.get());
            }
        }
        let pairs = self.pairs.iter().map(|pair| pair.get().1);
        for value in self.characters.iter().map(Cell::get).chain(pairs).filter(|value| *value != 0)
        {
            ruby::mark(value);
        }
    }
}

/// Returns the slot of a pair: combinations of blanks and digits have their own.
#[inline(always)]
fn pair_place(one: u8, two: u8) -> usize {
    let place = |byte: u8| usize::from(byte & 15 ^ if byte & 16 == 0 { 12 } else { 0 });
    place(one) << 4 | place(two)
}

/// Returns the slot of a key: a hash of its first and last bytes and its length.
#[inline(always)]
fn place(bytes: &[u8]) -> usize {
    let (a, b) = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(head), Some(tail)) => {
                (u32::from_le_bytes(*head).into(), u32::from_le_bytes(*tail).into())
            }
            _ => {
                let at = |index: usize| u64::from(bytes.get(index).copied().unwrap_or(0));
                (at(0) | at(1) << 8, at(2))
            }
        },
    };
    let mixed = (a ^ b.rotate_left(29) ^ (bytes.len() as u64) << 56).wrapping_mul(MIX);
    (mixed >> (64 - KEYS.trailing_zeros())) as usize
}

/// The fraction of the golden ratio in 64 bits, odd.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The working memory of one load or dump.
pub struct Scratch {
    /// Values waiting for their container.
    pub values: Stack,
    /// Values that aliases refer to, by the number of their anchor; all objects of a Marshal
    /// document, by theirs.
    pub anchors: Stack,
    /// The symbols of a Marshal document, by their number.
    pub symbols: Stack,
    /// Cached keys.
    pub keys: Keys,
    /// Cached lists of keys.
    pub shapes: Shapes,
    /// Cached classes of objects.
    pub molds: ruby::Molds,
    /// An output buffer.
    pub out: Cell<Vec<u8>>,
    /// A Marshal parser with default options, and its memory.
    pub marshal: Cell<Option<regauge::marshal::Parser>>,
    /// A MARC 21 writer with default options.
    pub marc: Cell<Option<Box<regauge::marc::iso2709::Writer<'static>>>>,
    /// A Marshal writer.
    pub dumper: Cell<Option<Box<crate::marshal_dump::Dumper>>>,
}

impl Scratch {
    fn mark(&self) {
        self.values.mark();
        self.anchors.mark();
        self.symbols.mark();
        self.keys.mark();
        self.shapes.mark();
        self.molds.mark();
    }
}

/// The addresses of every scratch ever created; none is ever freed.
static ALL: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// The idle ones, except [`AT_HAND`].
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());
/// An idle one, 0 for none: most loads take it and put it back, without a lock.
static AT_HAND: AtomicUsize = AtomicUsize::new(0);

/// A scratch in use. It is returned to the others when this is dropped.
pub struct Lease(&'static Scratch);

impl std::ops::Deref for Lease {
    type Target = Scratch;
    fn deref(&self) -> &Scratch {
        self.0
    }
}

/// Takes an idle scratch, or a new one. There are as many as there were ever loads in progress at
/// once: nested, in other threads or in Ractors.
pub fn take() -> Lease {
    // Neither lock is held during a call into Ruby, so none waits for a collection.
    let free = match AT_HAND.swap(0, Ordering::Acquire) {
        0 => FREE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).pop(),
        address => Some(address),
    };
    if let Some(address) = free {
        // SAFETY: an address in AT_HAND or FREE is that of a scratch that is never freed, and that
        // nobody else holds, because it was taken out.
        return Lease(unsafe { &*(address as *const Scratch) });
    }
    let scratch: &'static Scratch = Box::leak(Box::new(Scratch {
        values: Stack::new(),
        anchors: Stack::new(),
        symbols: Stack::new(),
        keys: Keys::new(),
        shapes: Shapes::new(),
        molds: ruby::Molds::new(),
        out: Cell::new(Vec::new()),
        marshal: Cell::new(None),
        marc: Cell::new(None),
        dumper: Cell::new(None),
    }));
    let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.push(&raw const *scratch as usize);
    Lease(scratch)
}

impl Drop for Lease {
    fn drop(&mut self) {
        for stack in [&self.0.values, &self.0.anchors, &self.0.symbols] {
            stack.truncate(0);
            stack.shrink();
        }
        let address = &raw const *self.0 as usize;
        if AT_HAND.compare_exchange(0, address, Ordering::Release, Ordering::Relaxed).is_err() {
            FREE.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(address);
        }
    }
}

/// The object that marks every scratch for the collector.
struct Marker;

impl Held for Marker {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::Marker";
    fn mark(&self) {
        let all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for address in all.iter() {
            // SAFETY: an address in ALL is that of a scratch that is never freed; while the
            // collector marks, no other thread changes it, and this one is in a call into Ruby.
            unsafe { (*(*address as *const Scratch)).mark() };
        }
    }
}

static MARKER: DataType<Marker> = DataType::new();

/// Creates the marking object.
pub fn init(native: VALUE) {
    let class = ruby::class(c"Marker", native);
    ruby::no_allocator(class);
    ruby::keep_for_good(MARKER.wrap(class, Marker));
}
