//! `loads` and `dumps` of each format, in a module of its own.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use regauge::Format;

use crate::{dump, load};

/// A module with the two functions: its name, the format, what they take beside the data, and the
/// documentation that `help` shows.
macro_rules! formats {
    ($($module:ident $format:ident
        ($loads_signature:literal, $loads_doc:expr)
        ($dumps_signature:literal, $dumps_doc:expr))*) => {
        $(mod $module {
            use super::*;

            #[doc = $loads_doc]
            #[pyfunction]
            #[pyo3(signature = (data, /, **options), text_signature = $loads_signature)]
            pub(super) fn loads<'py>(
                data: &Bound<'py, PyAny>,
                options: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                load::loads(Format::$format, data, options)
            }

            #[doc = $dumps_doc]
            #[pyfunction]
            #[pyo3(signature = (value, /, **options), text_signature = $dumps_signature)]
            pub(super) fn dumps<'py>(
                value: &Bound<'py, PyAny>,
                options: Option<&Bound<'py, PyDict>>,
            ) -> PyResult<Bound<'py, PyAny>> {
                dump::dumps(Format::$format, value, options)
            }
        })*

        /// Adds the modules.
        pub fn add(parent: &Bound<'_, PyModule>) -> PyResult<()> {
            $({
                let name = concat!("regauge.", stringify!($module));
                let module = PyModule::new(parent.py(), name)?;
                module.add_function(wrap_pyfunction!($module::loads, &module)?)?;
                module.add_function(wrap_pyfunction!($module::dumps, &module)?)?;
                parent.add(stringify!($module), module)?;
            })*
            Ok(())
        }
    };
}

/// What all `loads` take.
macro_rules! loading {
    ($text:expr) => {
        concat!(
            $text,
            "

limits -- bounds of the reader by name, None for no bound: depth, token_bytes, record_bytes,
    integer_digits, nodes, aliases
unwrap -- the data is in the reversible notation ({'$binary': ...}) that dumps(..., on_loss='wrap')
    wrote: gives what it stands for, and refuses what is not the notation
duplicate_keys -- 'last' (the default) takes the last of equal keys, 'refuse' raises
object_hook -- called with each dict; its result stands in the dict's place
object_pairs_hook -- called with the pairs of each map instead

Raises DecodeError, with .kind, .offset, .path and .record, and LimitError."
        )
    };
}

/// What all `dumps` take.
macro_rules! dumping {
    ($text:expr) => {
        concat!(
            $text,
            "

limits -- {'depth': n} bounds the nesting
on_loss -- what happens to a value that the format cannot hold: 'refuse' (the default) raises,
    'wrap' writes a notation that loads(..., unwrap=True) undoes, 'approximate' writes the nearest
    value
objects -- the same for classes, tags and symbols: 'refuse', 'wrap', 'data'
default -- called for an object of a type that nothing is known of; gives another in its place
sort_keys -- writes the keys of every map in order

Raises EncodeError, with .kind and .path, and LimitError."
        )
    };
}

formats! {
    json Json
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', comments=False, trailing_commas=False, non_finite=False)",
        loading!("The value of a JSON document, given as bytes, str or any buffer.

>>> import regauge
>>> regauge.json.loads(b'{\"a\": [1, 2.5, null]}')
{'a': [1, 2.5, None]}

Integers are exact at any size. A number with a fraction or an exponent is a float; with
numbers='exact' a decimal.Decimal with its digits. comments, trailing_commas and non_finite
accept what RFC 8259 does not have."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, indent=None, ascii=False, float_style='shortest', text=False)",
        dumping!("The value as JSON, compact, in bytes; with text=True as str.

>>> import regauge, datetime
>>> regauge.json.dumps({'a': [1, 2.5, None], 'on': datetime.date(2026, 11, 21)})
b'{\"a\":[1,2.5,null],\"on\":\"2026-11-21\"}'

NaN, infinities, bytes and keys that are not text have no form in JSON: see on_loss. indent is
a number of spaces, ascii escapes what is not ASCII."))
    ndjson Ndjson
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', comments=False, trailing_commas=False, non_finite=False)",
        loading!("The list of the documents of NDJSON, one a line.

>>> import regauge
>>> regauge.ndjson.loads(b'{\"a\": 1}\\n[2]\\n')
[{'a': 1}, [2]]
"))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, ascii=False, float_style='shortest', text=False)",
        dumping!("The elements of a list as NDJSON, one a line.

>>> import regauge
>>> regauge.ndjson.dumps([{'a': 1}, [2]])
b'{\"a\":1}\\n[2]\\n'
"))
    msgpack Msgpack
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, ext_hook=None)",
        loading!("The value of a MessagePack document.

>>> import regauge
>>> regauge.msgpack.loads(b'\\x81\\xa1a\\x92\\x01\\x02')
{'a': [1, 2]}

Points in time are datetime in UTC, other extensions regauge.ExtType, or what
ext_hook(code, data) makes of them. An array that is a key is a tuple."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False)",
        dumping!("The value as MessagePack, every part in its shortest form.

>>> import regauge
>>> regauge.msgpack.dumps({'a': [1, 2]})
b'\\x81\\xa1a\\x92\\x01\\x02'
"))
    bson Bson
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None)",
        loading!("The dict of a BSON document.

>>> import regauge
>>> regauge.bson.loads(b'\\x0c\\x00\\x00\\x00\\x10a\\x00\\x01\\x00\\x00\\x00\\x00')
{'a': 1}

Points in time are datetime in UTC, decimals decimal.Decimal; ObjectId, Regex, Code and the like
are regauge's own classes."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, document_bytes=None)",
        dumping!("A dict as BSON.

>>> import regauge
>>> regauge.bson.dumps({'a': 1})
b'\\x0c\\x00\\x00\\x00\\x10a\\x00\\x01\\x00\\x00\\x00\\x00'

A datetime without zone is taken for UTC, as pymongo takes it. document_bytes refuses a larger
document."))
    cbor Cbor
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, tag_hook=None)",
        loading!("The value of a CBOR document.

>>> import regauge
>>> regauge.cbor.loads(b'\\xa1\\x61a\\x82\\x01\\x02')
{'a': [1, 2]}

Tags that Python has a type for come as that: dates, decimals, UUIDs, sets. Others are
regauge.Object, or what tag_hook(tag, value) makes of them."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, deterministic=False, indefinite=False)",
        dumping!("The value as CBOR.

>>> import regauge
>>> regauge.cbor.dumps({'a': [1, 2]})
b'\\xa1aa\\x82\\x01\\x02'

deterministic writes the encoding of RFC 8949, 4.2.1. A list or dict that stands in several places
is written once, and shared (tags 28 and 29)."))
    yaml Yaml
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', tag_hook=None, schema='core', types=None)",
        loading!("The value of a YAML document, given as bytes, str or any buffer.

>>> import regauge
>>> regauge.yaml.loads('a: [1, yes]\\nb: {c: 2026-11-21}')
{'a': [1, 'yes'], 'b': {'c': '2026-11-21'}}
>>> regauge.yaml.loads('a: [1, yes]\\nb: {c: 2026-11-21}', schema='1.1')
{'a': [1, True], 'b': {'c': datetime.date(2026, 11, 21)}}

schema says what plain text means: 'core' is YAML 1.2, '1.1' what PyYAML's safe_load reads,
'json' and 'failsafe' those of the specification. Nothing is ever constructed by a tag: an unknown
one gives a regauge.Object, or what tag_hook(tag, value) makes of it."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, indent=2, indent_sequences=False, document_start=False, text=False)",
        dumping!("The value as YAML in block style, in bytes; with text=True as str.

>>> import regauge
>>> print(regauge.yaml.dumps({'a': [1, 'yes']}, text=True), end='')
a:
- 1
- 'yes'

Text that any reader of YAML 1.1 or 1.2 would take for something else is quoted. A list or dict
that stands in several places gets an anchor."))
    marshal Marshal
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, types=None, binary='bytes', exact=False)",
        loading!("The value of a document of Ruby's Marshal.

>>> import regauge
>>> regauge.marshal.loads(b'\\x04\\x08[\\x07i\\x06i\\x07')
[1, 2]

Symbols are regauge.Symbol, a kind of str. An object is an inert regauge.Object; types gives
constructors of your own by the name of the class, which are called with what is inside. Nothing
else is ever built. binary='text' takes strings without an encoding for text."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False)",
        dumping!("The value as Ruby's Marshal 4.8.

>>> import regauge
>>> regauge.marshal.dumps([1, 2])
b'\\x04\\x08[\\x07i\\x06i\\x07'
"))
    pickle Pickle
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, types=None, strings='ascii')",
        loading!("The value of a pickle, without running it: nothing is imported or called.

>>> import pickle, regauge
>>> regauge.pickle.loads(pickle.dumps({'a': (1, 2)}))
{'a': (1, 2)}
>>> regauge.pickle.loads(b'cos\\nsystem\\n(S\\'true\\'\\ntR.')
Object('python', 'call', 'os.system', {'args': ['true']})

Dates, decimals, sets, paths and the like are what they were; any other object is an inert
regauge.Object. types gives constructors of your own by the name of the class ('shop.Order'),
which are called with what is inside: the dict of the fields. strings says what the 8-bit strings
of Python 2 are: 'ascii', 'utf8', 'latin1', 'bytes'."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, protocol=4)",
        dumping!("The value as a pickle that pickle.loads reads, protocol 0 to 5.

>>> import pickle, regauge
>>> pickle.loads(regauge.pickle.dumps({'a': (1, {2, 3})}))
{'a': (1, {2, 3})}

A dataclass, an attrs class and an enum are written as their data."))
    marc Marc
        ("(data, /, *, limits=None, charset='auto', repair=False, references=False)",
        "The records of MARC 21 (ISO 2709) as a list of dicts, in the shape of MARC-in-JSON.
references=True reads references such as &#x4E2D; in MARC-8 as the characters they stand for.

For records with methods see regauge.marc.MARCReader.")
        ("(value, /, *, limits=None, on_loss='refuse', write_charset='auto', oversize=False)",
        "Records, dicts in the shape of MARC-in-JSON, as MARC 21 (ISO 2709).")
    marcxml MarcXml
        ("(data, /, *, limits=None)",
        "The records of MARCXML as a list of dicts, in the shape of MARC-in-JSON.")
        ("(value, /, *, limits=None, on_loss='refuse', compact=False)",
        "Records, dicts in the shape of MARC-in-JSON, as MARCXML.")
    marcjson MarcJson
        ("(data, /, *, limits=None)",
        "The records of MARC-in-JSON, one a line or in one array, as a list of dicts.")
        ("(value, /, *, limits=None, on_loss='refuse')",
        "Records, dicts in the shape of MARC-in-JSON, as lines of MARC-in-JSON.")
}
