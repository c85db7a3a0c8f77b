//! The table of harmless constructors: which calls are read as values, and which values.
//!
//! Nothing here calls anything. A row says which arguments Python's own picklers write for a call,
//! and what value the call represents; [`understand`](super::understand) compares them and returns
//! the value. A call of the same function with other arguments (`bytearray(10**12)`) stays a
//! described call. The survey uses the same table to decide what is harmless.

/// What a name in the table represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    DateTime,
    Date,
    Time,
    TimeDelta,
    TimeZone,
    ZoneInfo,
    Decimal,
    Fraction,
    Uuid,
    Set,
    FrozenSet,
    Bytes,
    ByteArray,
    Encode,
    Complex,
    Range,
    Slice,
    OrderedDict,
    DefaultDict,
    Counter,
    Deque,
    Path,
    Reconstructor,
    Ndarray,
    Frombuffer,
    Scalar,
    Dtype,
    /// A class that is only named, by `defaultdict`, `_reconstructor` or `_reconstruct`.
    Class,
}

/// One row.
pub(super) struct Known {
    /// The modules that have it, by their Python 3 names.
    pub modules: &'static [&'static str],
    pub names: &'static [&'static str],
    pub what: What,
    /// The calls that are recognised and what they become, for the documentation.
    pub becomes: &'static str,
}

const BUILTINS: &[&str] = &["builtins"];
const MULTIARRAY: &[&str] = &["numpy.core.multiarray", "numpy._core.multiarray"];

const fn row(
    modules: &'static [&'static str],
    names: &'static [&'static str],
    what: What,
    becomes: &'static str,
) -> Known {
    Known { modules, names, what, becomes }
}

/// All rows.
pub(super) static KNOWN: &[Known] = &[
    row(
        &["datetime"],
        &["datetime"],
        What::DateTime,
        "`(10 bytes)` a date and time without zone; followed by `timezone(timedelta)`, a point in \
         time, or one with its offset",
    ),
    row(&["datetime"], &["date"], What::Date, "`(4 bytes)` a date"),
    row(&["datetime"], &["time"], What::Time, "`(6 bytes)` a time of day"),
    row(&["datetime"], &["timedelta"], What::TimeDelta, "`(days, seconds, µs)` a length of time"),
    row(&["datetime"], &["timezone"], What::TimeZone, "`(timedelta)` within a datetime"),
    row(
        &["zoneinfo"],
        &["ZoneInfo"],
        What::ZoneInfo,
        "`(key)` stays a call; Python makes a zone of it",
    ),
    row(
        &["decimal", "_decimal", "_pydecimal"],
        &["Decimal"],
        What::Decimal,
        "`(text)` a decimal; kind `decimal` around its text for NaN and infinities",
    ),
    row(
        &["fractions"],
        &["Fraction"],
        What::Fraction,
        "`(numerator, denominator)`, `(text)`: kind `fraction` around `\"1/3\"`",
    ),
    row(&["uuid"], &["UUID"], What::Uuid, "an object of one field `int`: a UUID"),
    row(BUILTINS, &["set"], What::Set, "`()`, `(list)`: kind `set` around an array"),
    row(BUILTINS, &["frozenset"], What::FrozenSet, "`()`, `(list)`: kind `frozenset`"),
    row(BUILTINS, &["bytes"], What::Bytes, "`()` no bytes"),
    row(
        BUILTINS,
        &["bytearray"],
        What::ByteArray,
        "`()`, `(bytes)`, `(text, \"latin-1\")`: kind `bytearray` around bytes",
    ),
    row(&["_codecs"], &["encode"], What::Encode, "`(text, \"latin1\")` bytes"),
    row(BUILTINS, &["complex"], What::Complex, "`(real, imaginary)` a complex number"),
    row(
        BUILTINS,
        &["range"],
        What::Range,
        "`(start, stop, step)`: kind `range` around an array of three",
    ),
    row(BUILTINS, &["slice"], What::Slice, "`(start, stop, step)`: kind `slice`"),
    row(&["collections"], &["OrderedDict"], What::OrderedDict, "`()` and pairs: `ordered_dict`"),
    row(
        &["collections"],
        &["defaultdict"],
        What::DefaultDict,
        "`()`, `(factory)` and pairs: kind `defaultdict` with the factory as name",
    ),
    row(&["collections"], &["Counter"], What::Counter, "`(dict)`: kind `counter` around a map"),
    row(
        &["collections"],
        &["deque"],
        What::Deque,
        "`()`, `((), maxlen)` and items: kind `deque` with maxlen as name around an array",
    ),
    row(
        &["pathlib", "pathlib._local"],
        &["PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath", "Path", "PurePath"],
        What::Path,
        "`(parts…)`: kind `path` with the class as name around the path as text",
    ),
    row(
        &["copyreg"],
        &["_reconstructor"],
        What::Reconstructor,
        "`(class, object, None)` of a class in this table; others as kind `reconstructed`",
    ),
    row(
        MULTIARRAY,
        &["_reconstruct"],
        What::Ndarray,
        "`(ndarray, …)` and state: an array of NumPy, nested arrays of numbers",
    ),
    row(
        &["numpy.core.numeric", "numpy._core.numeric"],
        &["_frombuffer"],
        What::Frombuffer,
        "`(bytes, dtype, shape, order)`: the same, protocol 5",
    ),
    row(MULTIARRAY, &["scalar"], What::Scalar, "`(dtype, bytes)`: a number of NumPy"),
    row(&["numpy"], &["dtype"], What::Dtype, "within the above"),
    row(&["numpy"], &["ndarray"], What::Class, "within the above"),
    row(
        BUILTINS,
        &["object", "list", "dict", "tuple", "int", "float", "str", "bool", "NoneType"],
        What::Class,
        "only named, by `defaultdict` and `_reconstructor`",
    ),
];

/// Returns the table of harmless constructors as text: modules, names, and which calls become what.
pub fn harmless()
-> impl Iterator<Item = (&'static [&'static str], &'static [&'static str], &'static str)> {
    KNOWN.iter().map(|known| (known.modules, known.names, known.becomes))
}

/// Returns the row for this name.
pub(super) fn find(module: &str, name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.names.contains(&name) && known.modules.contains(&module))
}
