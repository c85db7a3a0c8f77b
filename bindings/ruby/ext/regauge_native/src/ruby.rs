//! Ruby's C API as far as it is used here, behind functions that are safe to call on a thread that
//! holds the interpreter's lock.
//!
//! A leaf module: it may use `unsafe`, each block with its reason. Where a reason says "the lock",
//! it means: everything in this crate runs in a method that Ruby called, so the thread holds the
//! lock, or in [`without_lock`], which takes no value of Ruby along. "No exception" means that the
//! function raises nothing but `NoMemoryError` for the arguments that it gets here; whatever may
//! raise more goes through [`protect`].

use std::ffi::{CStr, c_char, c_int, c_long, c_void};

use rb_sys::macros::{RSTRING_LEN, RSTRING_PTR};
pub use rb_sys::{ID, VALUE};
use rb_sys::{ruby_special_consts as special, ruby_value_type as kind};

/// `nil`.
pub const NIL: VALUE = special::RUBY_Qnil as VALUE;
/// `true`.
pub const TRUE: VALUE = special::RUBY_Qtrue as VALUE;
/// `false`.
pub const FALSE: VALUE = special::RUBY_Qfalse as VALUE;
/// No value.
pub const UNDEF: VALUE = special::RUBY_Qundef as VALUE;

/// A jump of Ruby's (an exception, a `throw`, a `break`) that was caught on its way, and has to be
/// sent on with [`resume`] when nothing is left to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump(c_int);

impl Jump {
    /// The state as a number, to be kept where only a number can be.
    pub fn state(self) -> i32 {
        self.0
    }

    /// The jump of a state; `None` for 0.
    pub fn from_state(state: i32) -> Option<Jump> {
        (state != 0).then_some(Jump(state))
    }
}

/// Runs `act`, which may call whatever Ruby code, and catches its jump. What `act` owns must not
/// need dropping while it calls Ruby.
pub fn protect<F: FnOnce() -> VALUE>(act: F) -> Result<VALUE, Jump> {
    struct Frame<F>(Option<F>);
    unsafe extern "C" fn run<F: FnOnce() -> VALUE>(frame: VALUE) -> VALUE {
        // SAFETY: the address of the frame below, which outlives the call.
        let frame = unsafe { &mut *(frame as *mut Frame<F>) };
        frame.0.take().map_or(NIL, |act| act())
    }
    let mut frame = Frame(Some(act));
    let mut state = 0;
    // SAFETY: the lock; the function gets the frame that it expects.
    let value = unsafe { rb_sys::rb_protect(Some(run::<F>), &raw mut frame as VALUE, &mut state) };
    if state == 0 { Ok(value) } else { Err(Jump(state)) }
}

/// Sends a caught jump on its way.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn resume(jump: Jump) -> ! {
    // SAFETY: the lock; the state is one that `rb_protect` gave, and its exception is still there.
    unsafe { rb_sys::rb_jump_tag(jump.0) }
}

/// The exception of a caught jump, which is then no longer pending; `None` if it is no exception.
pub fn rescue(_jump: Jump) -> Option<VALUE> {
    // SAFETY: the lock; no exception.
    let error = unsafe { rb_sys::rb_errinfo() };
    // SAFETY: the lock; `nil` is always allowed.
    unsafe { rb_sys::rb_set_errinfo(NIL) };
    (error != NIL).then_some(error)
}

/// Raises an exception object.
///
/// Nothing on the stack between here and Ruby may need dropping.
pub fn raise(exception: VALUE) -> ! {
    // SAFETY: the lock; the value is an exception.
    unsafe { rb_sys::rb_exc_raise(exception) }
}

/// Keeps `value` visible on the machine's stack up to here, so that it is neither freed nor moved.
#[inline(always)]
pub fn keep(value: VALUE) {
    std::hint::black_box(&value);
}

/// The built-in type of a value.
#[inline(always)]
pub fn kind_of(value: VALUE) -> kind {
    // SAFETY: the value is alive, as all that methods get and the stack holds.
    unsafe { rb_sys::macros::RB_TYPE(value) }
}

/// The built-in type of a value that is known to be on the heap.
#[inline(always)]
pub fn heap_kind(value: VALUE) -> u32 {
    // SAFETY: the value is no immediate, so it points to an object that begins with its flags.
    (unsafe { (*(value as *const rb_sys::RBasic)).flags } & 0x1F) as u32
}

/// The class of a value on the heap, a singleton class where it has one.
#[inline(always)]
pub fn heap_class(value: VALUE) -> VALUE {
    // SAFETY: as above; the class stands behind the flags.
    unsafe { (*(value as *const rb_sys::RBasic)).klass }
}

/// Whether the value is neither a number in itself, nor `nil`, `true`, `false` or a static symbol.
#[inline(always)]
pub fn is_heap(value: VALUE) -> bool {
    value & 7 == 0 && value & !NIL != 0
}

/// The class of a value, singleton classes passed over.
pub fn class_of(value: VALUE) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_obj_class(value) }
}

/// Whether `value` is a kind of `class`.
pub fn is_a(value: VALUE, class: VALUE) -> bool {
    // SAFETY: the lock; no exception for a class.
    unsafe { rb_sys::rb_obj_is_kind_of(value, class) == TRUE }
}

/// The bytes of a string: valid until the string is changed, collected or moved.
#[inline(always)]
pub fn bytes_of<'a>(string: VALUE) -> &'a [u8] {
    // SAFETY: callers give strings, keep them with `keep`, and let nobody change them meanwhile.
    unsafe {
        let length = RSTRING_LEN(string) as usize;
        std::slice::from_raw_parts(RSTRING_PTR(string).cast::<u8>(), length)
    }
}

/// The values of an array: valid until it is changed or moved.
#[inline(always)]
pub fn array_length(array: VALUE) -> usize {
    // SAFETY: callers give arrays.
    unsafe { rb_sys::macros::RARRAY_LEN(array) as usize }
}

/// The value at an index below the array's length.
#[inline(always)]
pub fn array_at(array: VALUE, index: usize) -> VALUE {
    // SAFETY: callers give arrays; an index that is out of range gives `nil`.
    unsafe { rb_sys::rb_ary_entry(array, index as c_long) }
}

/// Text as a string of UTF-8, with what is known about its bytes.
#[inline(always)]
pub fn utf8_string(text: &str, ascii: bool) -> VALUE {
    // SAFETY: the lock; no exception. The flags are those that a scan of the bytes would set.
    unsafe {
        let string = rb_sys::rb_utf8_str_new(text.as_ptr().cast(), text.len() as c_long);
        let range = if ascii { CODERANGE_7BIT } else { CODERANGE_VALID };
        (*(string as *mut rb_sys::RBasic)).flags |= range;
        string
    }
}

const CODERANGE_7BIT: VALUE = 1 << 20;
const CODERANGE_VALID: VALUE = 2 << 20;

/// Text as a string of UTF-8.
#[inline]
pub fn text(text: &str) -> VALUE {
    utf8_string(text, text.is_ascii())
}

/// Bytes as a string of UTF-8, whether they are or not.
pub fn broken_text(bytes: &[u8]) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_utf8_str_new(bytes.as_ptr().cast(), bytes.len() as c_long) }
}

/// Bytes as a binary string.
#[inline]
pub fn binary(bytes: &[u8]) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_str_new(bytes.as_ptr().cast(), bytes.len() as c_long) }
}

/// Text as a frozen string that is the same object wherever the text is the same.
#[inline]
pub fn interned(text: &str) -> VALUE {
    // Ruby looks at the bytes even where there are none, so they have to be somewhere.
    let text = if text.is_empty() { EMPTY } else { text };
    // SAFETY: the lock; no exception, the encoding is UTF-8.
    unsafe {
        let utf8 = rb_sys::rb_utf8_encoding();
        rb_sys::rb_enc_interned_str(text.as_ptr().cast(), text.len() as c_long, utf8)
    }
}

/// No text, at an address that can be read.
const EMPTY: &str = {
    const BYTES: &str = "\0\0\0\0\0\0\0\0";
    BYTES.split_at(0).0
};

/// The symbol of a text. It can be collected as any object.
pub fn symbol(text: &str) -> VALUE {
    // SAFETY: the lock; no exception, since the text is valid UTF-8.
    unsafe { rb_sys::rb_str_intern(interned(text)) }
}

/// The text of a symbol, as a string.
pub fn symbol_text(symbol: VALUE) -> VALUE {
    // SAFETY: the lock; callers give symbols.
    unsafe { rb_sys::rb_sym2str(symbol) }
}

/// A name in the interpreter's table, which keeps it for good: for names of our own.
pub fn id(name: &CStr) -> ID {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_intern(name.as_ptr()) }
}

/// The name of a string that is an instance variable's or a member's.
pub fn id_of(string: VALUE) -> Result<ID, Jump> {
    // SAFETY: the lock; under `protect`, since a broken name raises.
    protect(|| unsafe { rb_sys::rb_intern_str(string) as VALUE }).map(|id| id as ID)
}

/// Whether a string is UTF-8 or ASCII without a broken character, is binary, or is something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Valid UTF-8.
    Utf8,
    /// Text of UTF-8 that is broken.
    Broken,
    /// Bytes without an encoding.
    Binary,
    /// Text in another encoding.
    Other,
}

/// The indexes that Ruby gives these encodings (`encindex.h`), the same in all versions.
const BINARY_INDEX: c_int = 0;
const UTF8_INDEX: c_int = 1;
const ASCII_INDEX: c_int = 2;

/// What a string's bytes are.
#[inline(always)]
pub fn text_kind(string: VALUE) -> Text {
    // SAFETY: callers give strings, whose flags say their encoding in seven bits, or that it is
    // written elsewhere.
    let flags = unsafe { (*(string as *const rb_sys::RBasic)).flags };
    let mut index = (flags >> 22 & 0x7F) as c_int;
    if index == 0x7F {
        // SAFETY: the lock; no exception.
        index = unsafe { rb_sys::rb_enc_get_index(string) };
    }
    if index == BINARY_INDEX {
        return Text::Binary;
    }
    let range = match flags & (3 << 20) {
        // SAFETY: the lock; no exception.
        0 => (unsafe { rb_sys::rb_enc_str_coderange(string) }) as VALUE,
        known => known,
    };
    match index {
        UTF8_INDEX | ASCII_INDEX if range == CODERANGE_7BIT => Text::Utf8,
        UTF8_INDEX if range == CODERANGE_VALID => Text::Utf8,
        UTF8_INDEX | ASCII_INDEX => Text::Broken,
        _ => Text::Other,
    }
}

/// The same text in UTF-8.
///
/// # Errors
/// Ruby's own, where a character has no place there or is broken.
pub fn to_utf8(string: VALUE) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe {
        let utf8 = rb_sys::rb_enc_from_encoding(rb_sys::rb_utf8_encoding());
        rb_sys::rb_str_encode(string, utf8, 0, NIL)
    })
}

/// A string that nobody can change, with the same bytes: the string itself where it is frozen.
pub fn frozen_string(string: VALUE) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_str_new_frozen(string) }
}

/// An array of these values, which must be visible to the collector.
#[inline]
pub fn array(values: &[VALUE]) -> VALUE {
    // SAFETY: the lock; no exception; the values are copied.
    unsafe { rb_sys::rb_ary_new_from_values(values.len() as c_long, values.as_ptr()) }
}

/// Appends values to an array that is not frozen.
pub fn array_extend(array: VALUE, values: &[VALUE]) {
    // SAFETY: the lock; the array was made here, and is not frozen yet.
    unsafe { rb_sys::rb_ary_cat(array, values.as_ptr(), values.len() as c_long) };
}

/// An empty hash.
#[inline]
pub fn hash() -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_hash_new() }
}

/// Puts pairs (key, value, key, …) into a hash. Keys that are no strings or symbols may call Ruby
/// code: `plain` says that there are none.
#[inline]
pub fn hash_insert(hash: VALUE, pairs: &[VALUE], plain: bool) -> Result<(), Jump> {
    let insert = || {
        // SAFETY: the lock; the hash was made here; under `protect` where a key has a method
        // `hash` of its own.
        unsafe { rb_sys::rb_hash_bulk_insert(pairs.len() as c_long, pairs.as_ptr(), hash) };
        NIL
    };
    if plain {
        insert();
        return Ok(());
    }
    protect(insert).map(drop)
}

/// How many pairs a hash has.
#[inline]
pub fn hash_size(hash: VALUE) -> usize {
    // SAFETY: the lock; callers give hashes.
    unsafe { rb_sys::rb_hash_size_num(hash) as usize }
}

/// Calls `act` with every key and value, until it says `false`. Jumps of Ruby must not leave it.
pub fn each_pair<F: FnMut(VALUE, VALUE) -> bool>(hash: VALUE, mut act: F) {
    unsafe extern "C" fn step<F: FnMut(VALUE, VALUE) -> bool>(
        key: VALUE,
        value: VALUE,
        act: VALUE,
    ) -> c_int {
        // SAFETY: the address of the closure below, which outlives the loop.
        let act = unsafe { &mut *(act as *mut F) };
        // ST_CONTINUE and ST_STOP.
        if act(key, value) { 0 } else { 1 }
    }
    // SAFETY: the lock; callers give hashes; the function gets the closure that it expects.
    unsafe { rb_sys::rb_hash_foreach(hash, Some(step::<F>), &raw mut act as VALUE) };
}

/// Calls `act` with every instance variable, until it says `false`. Jumps must not leave it.
pub fn each_variable<F: FnMut(ID, VALUE) -> bool>(object: VALUE, mut act: F) {
    unsafe extern "C" fn step<F: FnMut(ID, VALUE) -> bool>(
        name: ID,
        value: VALUE,
        act: rb_sys::st_data_t,
    ) -> c_int {
        // SAFETY: the address of the closure below, which outlives the loop.
        let act = unsafe { &mut *(act as *mut F) };
        if act(name, value) { 0 } else { 1 }
    }
    let act = &raw mut act as rb_sys::st_data_t;
    // SAFETY: the lock; the function gets the closure that it expects.
    unsafe { rb_sys::rb_ivar_foreach(object, Some(step::<F>), act) };
}

/// An instance variable, `nil` where there is none.
#[inline]
pub fn variable(object: VALUE, name: ID) -> VALUE {
    // SAFETY: the lock; no exception, and no warning.
    unsafe { rb_sys::rb_attr_get(object, name) }
}

/// Sets an instance variable of an object that was made here.
#[inline]
pub fn set_variable(object: VALUE, name: ID, value: VALUE) {
    // SAFETY: the lock; the object is not frozen.
    unsafe { rb_sys::rb_ivar_set(object, name, value) };
}

/// A value that keeps `name` where an instance variable has it.
pub fn name_of(id: ID) -> VALUE {
    // SAFETY: the lock; no exception. `nil` for a name that is internal.
    unsafe { rb_sys::rb_id2str(id) }
}

/// Calls a method.
///
/// # Errors
/// What it raises.
pub fn call(receiver: VALUE, method: ID, arguments: &[VALUE]) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`; the arguments are on the caller's stack or marked.
    protect(|| unsafe {
        rb_sys::rb_funcallv(receiver, method, arguments.len() as c_int, arguments.as_ptr())
    })
}

/// Whether a method is there to be called.
pub fn responds(receiver: VALUE, method: ID) -> Result<bool, Jump> {
    // SAFETY: the lock; under `protect`, since `respond_to?` can be anybody's.
    protect(|| if unsafe { rb_sys::rb_respond_to(receiver, method) } != 0 { TRUE } else { FALSE })
        .map(|answer| answer == TRUE)
}

/// Freezes an object that was made here.
#[inline]
pub fn freeze(object: VALUE) {
    // SAFETY: the lock; no exception for objects without a `freeze` of their own.
    unsafe { rb_sys::rb_obj_freeze(object) };
}

/// An object without a call of `initialize`.
///
/// # Errors
/// Where the class has no allocator, or its allocator raises.
pub fn allocate(class: VALUE) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe { rb_sys::rb_obj_alloc(class) })
}

/// The name of a class or module; `nil` where it has none.
pub fn module_name(module: VALUE) -> VALUE {
    // SAFETY: the lock; callers give classes and modules.
    unsafe { rb_sys::rb_mod_name(module) }
}

/// A constant of ours, by its path.
///
/// # Errors
/// Where there is none.
pub fn constant(path: &CStr) -> Result<VALUE, Jump> {
    // SAFETY: the lock; under `protect`.
    protect(|| unsafe { rb_sys::rb_path2class(path.as_ptr()) })
}

/// Keeps a value for as long as the process lives.
pub fn keep_for_good(value: VALUE) {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_gc_register_mark_object(value) };
}

/// An integer.
#[inline(always)]
pub fn integer(v: i64) -> VALUE {
    let doubled = v.wrapping_mul(2);
    if doubled >> 1 == v {
        return (doubled as VALUE) | 1;
    }
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ll2inum(v) }
}

/// An integer above `i64::MAX`.
pub fn unsigned(v: u64) -> VALUE {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ull2inum(v) }
}

/// A number of Ruby's that is no object, if the value is one.
#[inline(always)]
pub fn small_integer(value: VALUE) -> Option<i64> {
    (value & 1 == 1).then_some(value as i64 >> 1)
}

/// A double. Most need no object (`rb_float_new_inline`).
#[inline(always)]
pub fn float(v: f64) -> VALUE {
    let bits = v.to_bits();
    let top = bits >> 60 & 7;
    if (top == 3 || top == 4) && bits != 0x3000_0000_0000_0000 {
        return (bits.rotate_left(3) & !3 | 2) as VALUE;
    }
    if bits == 0 {
        return 0x8000_0000_0000_0002;
    }
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_float_new(v) }
}

/// The double of a value that is one.
#[inline(always)]
pub fn float_value(value: VALUE) -> f64 {
    if value & 3 == 2 {
        if value == 0x8000_0000_0000_0002 {
            return 0.0;
        }
        let bits = (2 - (value >> 63)) | (value & !3);
        return f64::from_bits(bits.rotate_right(3));
    }
    // SAFETY: the lock; callers give floats.
    unsafe { rb_sys::rb_float_value(value) }
}

/// A big integer as sign and magnitude, the least significant byte first, without zero bytes at
/// its end.
pub fn big_parts(value: VALUE) -> (bool, Vec<u8>) {
    // SAFETY: the lock; no exception; the buffer is as large as it is said to be.
    unsafe {
        let size = rb_sys::rb_absint_size(value, std::ptr::null_mut()) as usize;
        let mut magnitude = vec![0u8; size];
        let sign = rb_sys::rb_integer_pack(
            value,
            magnitude.as_mut_ptr().cast(),
            size as _,
            1,
            0,
            LITTLE_ENDIAN,
        );
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        (sign < 0, magnitude)
    }
}

/// `INTEGER_PACK_LSWORD_FIRST | INTEGER_PACK_LSBYTE_FIRST`.
const LITTLE_ENDIAN: c_int = 0x02 | 0x20;
/// `INTEGER_PACK_NEGATIVE`.
const NEGATIVE: c_int = 0x200;

/// A big integer of its parts.
pub fn big_integer(negative: bool, magnitude: &[u8]) -> VALUE {
    let flags = LITTLE_ENDIAN | if negative { NEGATIVE } else { 0 };
    // SAFETY: the lock; no exception for what memory can hold; the bytes are read only.
    unsafe {
        rb_sys::rb_integer_unpack(magnitude.as_ptr().cast(), magnitude.len() as _, 1, 0, flags)
    }
}

/// A big integer of decimal digits.
pub fn decimal_integer(negative: bool, digits: &str) -> VALUE {
    let text = text(digits);
    // SAFETY: the lock; no exception: the digits are digits.
    let value = unsafe { rb_sys::rb_str_to_inum(text, 10, 0) };
    keep(text);
    if !negative {
        return value;
    }
    // SAFETY: the lock; no exception for an integer.
    unsafe { rb_sys::rb_funcallv(value, id(c"-@"), 0, std::ptr::null()) }
}

/// A time in UTC.
pub fn time(seconds: i64, nanoseconds: u32) -> VALUE {
    let at = rb_sys::timespec { tv_sec: seconds, tv_nsec: i64::from(nanoseconds) };
    // SAFETY: the lock; no exception: the nanoseconds are below a thousand million, and the offset
    // is the one that stands for UTC.
    unsafe { rb_sys::rb_time_timespec_new(&at, c_int::MAX - 1) }
}

/// Seconds and nanoseconds of a time.
///
/// # Errors
/// Where its seconds are beyond 64 bits.
pub fn time_parts(time: VALUE) -> Result<(i64, u32), Jump> {
    let mut at = (0, 0);
    // SAFETY: the lock; under `protect`; callers give times.
    protect(|| unsafe {
        let spec = rb_sys::rb_time_timespec(time);
        at = (spec.tv_sec, spec.tv_nsec as u32);
        NIL
    })?;
    Ok(at)
}

/// A string with the bytes of a text format in UTF-8, or of a binary one.
pub fn output(bytes: &[u8], utf8: bool) -> VALUE {
    if utf8 { broken_text(bytes) } else { binary(bytes) }
}

/// Says that a string's bytes are in the encoding of this name; `false` where Ruby knows none.
pub fn set_encoding(string: VALUE, name: &CStr) -> bool {
    // SAFETY: the lock; no exception: the string was made here, the index was just found.
    unsafe {
        let index = rb_sys::rb_enc_find_index(name.as_ptr());
        if index >= 0 {
            rb_sys::rb_enc_associate_index(string, index);
        }
        index >= 0
    }
}

/// The name of a string's encoding.
pub fn encoding_name<'a>(string: VALUE) -> &'a CStr {
    // SAFETY: the lock; no exception; names of encodings live as long as the process.
    unsafe { CStr::from_ptr((*rb_sys::rb_enc_get(string)).name) }
}

/// Whether the bytes of a string are all ASCII.
pub fn is_ascii(string: VALUE) -> bool {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_enc_str_coderange(string) as VALUE == CODERANGE_7BIT }
}

/// Runs `act` on this thread without the interpreter's lock, so that others go on meanwhile. It
/// must not touch a value of Ruby.
pub fn without_lock<R: Send, F: FnOnce() -> R + Send>(act: F) -> R {
    struct Frame<F, R>(Option<F>, Option<std::thread::Result<R>>);
    unsafe extern "C" fn run<F: FnOnce() -> R, R>(frame: *mut c_void) -> *mut c_void {
        // SAFETY: the address of the frame below, which outlives the call.
        let frame = unsafe { &mut *frame.cast::<Frame<F, R>>() };
        if let Some(act) = frame.0.take() {
            frame.1 = Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(act)));
        }
        std::ptr::null_mut()
    }
    let mut frame = Frame(Some(act), None);
    // SAFETY: the lock is there to be let go; the function gets the frame that it expects. Without
    // a function to unblock it, an interrupt waits until it is done.
    unsafe {
        rb_sys::rb_thread_call_without_gvl(
            Some(run::<F, R>),
            (&raw mut frame).cast(),
            None,
            std::ptr::null_mut(),
        );
    }
    match frame.1 {
        Some(Ok(result)) => result,
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => unreachable!("the function runs once"),
    }
}

/// A method in Rust: its result, or the jump to send on.
pub type Method = fn(&[VALUE], VALUE) -> Result<VALUE, Raise>;

/// How a method ends when not with a value.
#[derive(Debug)]
pub enum Raise {
    /// A jump of Ruby's that was caught.
    Jump(Jump),
    /// An exception object.
    Exception(VALUE),
}

impl From<Jump> for Raise {
    fn from(jump: Jump) -> Raise {
        Raise::Jump(jump)
    }
}

/// Runs a method, and raises what it asks for when everything of it was dropped. A panic becomes
/// an exception.
pub fn enter(method: Method, arguments: &[VALUE], receiver: VALUE) -> VALUE {
    let ran = std::panic::catch_unwind(|| method(arguments, receiver));
    let raise = match ran {
        Ok(Ok(value)) => return value,
        Ok(Err(raise)) => raise,
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
            let message = message.unwrap_or_default();
            Raise::Exception(exception_text(
                // SAFETY: a global that Ruby sets before anything runs.
                unsafe { rb_sys::rb_eFatal },
                &format!("regauge: a fault of its own, please report it: {message}"),
            ))
        }
    };
    match raise {
        Raise::Jump(jump) => resume(jump),
        Raise::Exception(exception) => self::raise(exception),
    }
}

/// An exception of this class with this message.
pub fn exception_text(class: VALUE, message: &str) -> VALUE {
    // SAFETY: the lock; exceptions of Ruby's own classes and ours take a message.
    unsafe { rb_sys::rb_exc_new(class, message.as_ptr().cast::<c_char>(), message.len() as c_long) }
}

/// An `ArgumentError`.
pub fn argument_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eArgError }, message))
}

/// A `TypeError`.
pub fn type_error(message: &str) -> Raise {
    // SAFETY: a global that Ruby sets before anything runs.
    Raise::Exception(exception_text(unsafe { rb_sys::rb_eTypeError }, message))
}

/// Defines a singleton method that takes any number of arguments.
pub fn define(
    module: VALUE,
    name: &CStr,
    method: extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE,
) {
    type Any = unsafe extern "C" fn() -> VALUE;
    // SAFETY: the lock; with the arity -1 Ruby calls the function with just these arguments.
    unsafe {
        let method =
            std::mem::transmute::<extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE, Any>(method);
        rb_sys::rb_define_singleton_method(module, name.as_ptr(), Some(method), -1);
    }
}

/// Defines a method that takes any number of arguments.
pub fn define_method(
    class: VALUE,
    name: &CStr,
    method: extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE,
) {
    type Any = unsafe extern "C" fn() -> VALUE;
    // SAFETY: as in `define`.
    unsafe {
        let method =
            std::mem::transmute::<extern "C" fn(c_int, *const VALUE, VALUE) -> VALUE, Any>(method);
        rb_sys::rb_define_method(class, name.as_ptr(), Some(method), -1);
    }
}

/// The arguments that Ruby gave a method.
pub fn arguments<'a>(count: c_int, first: *const VALUE) -> &'a [VALUE] {
    if count <= 0 {
        return &[];
    }
    // SAFETY: Ruby gives as many values as it says, and they live as long as the call.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

/// Writes the function that Ruby calls around a [`Method`].
macro_rules! method {
    ($method:path) => {{
        extern "C" fn run(
            count: std::ffi::c_int,
            first: *const $crate::ruby::VALUE,
            receiver: $crate::ruby::VALUE,
        ) -> $crate::ruby::VALUE {
            $crate::ruby::enter($method, $crate::ruby::arguments(count, first), receiver)
        }
        run
    }};
}
pub(crate) use method;

/// A module in another.
pub fn module(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_module_under(under, name.as_ptr()) }
}

/// A class in a module.
pub fn class(name: &CStr, under: VALUE) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_class_under(under, name.as_ptr(), rb_sys::rb_cObject) }
}

/// A module at the top.
pub fn top_module(name: &CStr) -> VALUE {
    // SAFETY: the lock; an exception at this point only ends the `require`.
    unsafe { rb_sys::rb_define_module(name.as_ptr()) }
}

/// Says that the extension may be used in any Ractor.
pub fn declare_ractor_safe() {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ext_ractor_safe(true) };
}

/// Shows a value to the collector, which then neither frees nor moves it. Only while it marks.
#[inline]
pub fn mark(value: VALUE) {
    // SAFETY: called from mark functions only, with values that are alive.
    unsafe { rb_sys::rb_gc_mark(value) };
}

/// The text of a string that [`text_kind`] found to be valid: as long-lived as [`bytes_of`].
#[inline(always)]
pub fn utf8_of<'a>(string: VALUE) -> &'a str {
    // SAFETY: Ruby scanned the bytes and found them to be UTF-8, which it forgets when they change.
    unsafe { std::str::from_utf8_unchecked(bytes_of(string)) }
}

/// The value at an index, or nothing where the array is shorter by now.
#[inline(always)]
pub fn array_get(array: VALUE, index: usize) -> Option<VALUE> {
    // SAFETY: callers give arrays; the index is checked against the length at this moment.
    unsafe {
        let length = rb_sys::macros::RARRAY_LEN(array) as usize;
        (index < length).then(|| *rb_sys::macros::RARRAY_CONST_PTR(array).add(index))
    }
}

/// Whether the last argument of the method at hand is a hash of keywords.
#[inline]
pub fn keywords_given() -> bool {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_keyword_given_p() != 0 }
}

/// Takes `new` and `allocate` from a class whose objects are made here.
pub fn no_allocator(class: VALUE) {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_undef_alloc_func(class) };
}

/// The class of plain values of a built-in type.
pub fn core_class(kind: u32) -> VALUE {
    // SAFETY: globals that Ruby sets before anything runs.
    unsafe {
        match kind {
            4 => rb_sys::rb_cFloat,
            5 => rb_sys::rb_cString,
            7 => rb_sys::rb_cArray,
            8 => rb_sys::rb_cHash,
            _ => rb_sys::rb_cInteger,
        }
    }
}

/// `Struct`.
pub fn struct_class() -> VALUE {
    // SAFETY: a global that Ruby sets before anything runs.
    unsafe { rb_sys::rb_cStruct }
}

/// Whether an object has a method of this name, also a private one. Asks nobody but the method
/// tables, unless the class has a `respond_to?` of its own, which then counts as having it.
pub fn has_method(object: VALUE, name: ID) -> bool {
    // SAFETY: the lock; no exception: `rb_obj_method_basic`-like look-ups only, since the class has
    // no `respond_to?` of its own.
    unsafe {
        let class = rb_sys::rb_obj_class(object);
        let names = crate::names::names();
        if rb_sys::rb_method_basic_definition_p(class, names.id_respond_to) == 0
            || rb_sys::rb_method_basic_definition_p(class, names.id_respond_to_missing) == 0
        {
            return true;
        }
        rb_sys::rb_method_boundp(class, name, 0) != 0
    }
}

/// Whether objects of a class come from the allocator of every simple object.
pub fn has_simple_allocator(class: VALUE) -> bool {
    // SAFETY: the lock; no exception.
    unsafe {
        let simple =
            rb_sys::rb_get_alloc_func(rb_sys::rb_cObject).map(|allocate| allocate as usize);
        rb_sys::rb_get_alloc_func(class).map(|allocate| allocate as usize) == simple
    }
}

/// `FL_EXIVAR`: instance variables of a value that is no simple object.
#[inline(always)]
pub fn has_extra_variables(object: VALUE) -> bool {
    // SAFETY: callers give objects on the heap.
    unsafe { (*(object as *const rb_sys::RBasic)).flags & 1 << 10 != 0 }
}

/// Whether a hash has a default procedure, is one of keywords, or compares its keys by identity.
#[inline]
pub fn is_unusual_hash(hash: VALUE) -> Result<bool, Jump> {
    // SAFETY: callers give hashes.
    let flags = unsafe { (*(hash as *const rb_sys::RBasic)).flags };
    // RHASH_PASS_AS_KEYWORDS, RHASH_PROC_DEFAULT; only a hash with a table can be by identity.
    if flags & (1 << 13 | 1 << 14) != 0 || flags & 1 << 15 == 0 {
        return Ok(flags & (1 << 13 | 1 << 14) != 0);
    }
    Ok(call(hash, crate::names::names().id_by_identity, &[])? == TRUE)
}

/// Which word of a hash is its default value: the third or the fourth, as [`find_hash_default`]
/// found; 0 where neither is.
static DEFAULT_WORD: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Finds where this Ruby keeps the default value of a hash, which it offers no function for: a hash
/// that has one is looked at.
///
/// # Errors
/// None in a Ruby that is whole.
pub fn find_hash_default() -> Result<(), Jump> {
    const SENTINEL: i64 = 0x1357_9BDF;
    let with = hash();
    call(with, id(c"default="), &[integer(SENTINEL)])?;
    let without = hash();
    let word = |hash: VALUE, index: usize| {
        // SAFETY: an object of Ruby has five words at least, and a hash four in every version.
        unsafe { *(hash as *const VALUE).add(index) }
    };
    for index in [2, 3] {
        if word(with, index) == integer(SENTINEL) && word(without, index) == NIL {
            DEFAULT_WORD.store(index, std::sync::atomic::Ordering::Relaxed);
        }
    }
    keep(with);
    keep(without);
    Ok(())
}

/// The default value of a hash without a default procedure; none where it cannot be known.
#[inline]
pub fn hash_default(hash: VALUE) -> Option<VALUE> {
    match DEFAULT_WORD.load(std::sync::atomic::Ordering::Relaxed) {
        0 => None,
        // SAFETY: callers give hashes, and `find_hash_default` looked where it is.
        index => Some(unsafe { *(hash as *const VALUE).add(index) }),
    }
}

/// How many instance variables an object has.
#[inline]
pub fn variable_count(object: VALUE) -> usize {
    // SAFETY: the lock; no exception.
    unsafe { rb_sys::rb_ivar_count(object) as usize }
}

/// The members of a struct: an array of symbols.
pub fn struct_members(structure: VALUE) -> VALUE {
    // SAFETY: the lock; callers give structs.
    unsafe { rb_sys::rb_struct_members(structure) }
}

/// The value of a struct's member.
pub fn struct_value(structure: VALUE, index: usize) -> VALUE {
    // SAFETY: the lock; callers give structs and indexes of their members.
    unsafe { rb_sys::rb_struct_aref(structure, integer(index as i64)) }
}

/// The name of a class; it lives as long as the class.
pub fn class_name<'a>(class: VALUE) -> Option<&'a [u8]> {
    let name = module_name(class);
    (is_heap(name) && is_ascii(name)).then(|| bytes_of(name))
}

/// Whether a class is what its name names.
pub fn is_found_under(class: VALUE) -> bool {
    let name = module_name(class);
    // SAFETY: the lock; under `protect`, since the constant may be missing.
    match protect(|| unsafe { rb_sys::rb_path_to_class(name) }) {
        Ok(found) => found == class,
        Err(jump) => {
            rescue(jump);
            false
        }
    }
}

/// The encoding that a string says, whatever its bytes: UTF-8, none, or ASCII (as `Other`).
#[inline(always)]
pub fn raw_encoding(string: VALUE) -> Option<Text> {
    // SAFETY: callers give strings.
    let flags = unsafe { (*(string as *const rb_sys::RBasic)).flags };
    match (flags >> 22 & 0x7F) as c_int {
        UTF8_INDEX => Some(Text::Utf8),
        BINARY_INDEX => Some(Text::Binary),
        ASCII_INDEX => Some(Text::Other),
        _ => None,
    }
}

/// A new object of a class that was found to have the allocator of every simple object.
#[inline]
pub fn new_plain(class: VALUE) -> VALUE {
    // SAFETY: the lock; no exception: see `has_simple_allocator`.
    unsafe { rb_sys::rb_obj_alloc(class) }
}

/// Whether a value is a string.
#[inline]
pub fn is_string(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 5
}

/// Whether a value is a hash.
#[inline]
pub fn is_hash(value: VALUE) -> bool {
    is_heap(value) && heap_kind(value) == 8
}

/// The text of a key: a string itself, that of a symbol; nothing for other values.
#[inline]
pub fn text_of_key(value: VALUE) -> Option<VALUE> {
    if is_string(value) {
        return Some(value);
    }
    let is_symbol = if is_heap(value) { heap_kind(value) == 20 } else { value & 0xFF == 0x0C };
    is_symbol.then(|| symbol_text(value))
}
