//! `loads` and `dumps` of each format, each in its own module.

use std::ffi::CStr;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use regauge::Format;

use crate::raw::call::{self, Function};
use crate::{dump, load};

/// Defines a module with the two functions: its name, the format, their signatures, and the
/// documentation that `help` shows.
macro_rules! formats {
    ($($module:ident $format:ident
        ($loads_signature:literal, $loads_doc:expr)
        ($dumps_signature:literal, $dumps_doc:expr))*) => {
        $(mod $module {
            use super::*;

            pub(super) struct Loads;

            impl Function for Loads {
                const NAME: &CStr = c"loads";
                const DOC: &CStr = text(concat!("loads", $loads_signature, "\n--\n\n", $loads_doc, "\0"));

                fn call<'py>(data: &Bound<'py, PyAny>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
                    load::loads(Format::$format, data, false, options)
                }
            }

            pub(super) struct Dumps;

            impl Function for Dumps {
                const NAME: &CStr = c"dumps";
                const DOC: &CStr = text(concat!("dumps", $dumps_signature, "\n--\n\n", $dumps_doc, "\0"));

                fn call<'py>(value: &Bound<'py, PyAny>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>> {
                    dump::dumps(Format::$format, value, false, options)
                }
            }
        })*

        // A format without a module here would have none in Python.
        const _: () = assert!([$(Format::$format),*].len() == Format::ALL.len());

        /// Adds the modules.
        pub fn add(parent: &Bound<'_, PyModule>) -> PyResult<()> {
            $({
                let name = concat!("regauge.", stringify!($module));
                let module = PyModule::new(parent.py(), name)?;
                call::add::<$module::Loads>(&module)?;
                call::add::<$module::Dumps>(&module)?;
                parent.add(stringify!($module), module)?;
            })*
            Ok(())
        }
    };
}

/// Returns text that ends with a zero byte as C needs it.
const fn text(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a zero byte within the text"),
    }
}

/// Appends the options that all `loads` take.
macro_rules! loading {
    ($text:expr) => {
        concat!(
            $text,
            "

limits -- limits of the reader by name, None for no limit: depth, token_bytes, record_bytes,
    integer_digits, nodes, aliases
unwrap -- reads the reversible notation ({'$binary': ...}) that dumps(..., on_loss='wrap') writes:
    returns the original values, and refuses anything that is not the notation
duplicate_keys -- 'last' (the default) keeps the last of equal keys, 'refuse' raises
object_hook -- called with each dict; its result replaces the dict
object_pairs_hook -- called with the pairs of each map instead

Raises DecodeError, with .kind, .offset, .path and .record, and LimitError."
        )
    };
}

/// Appends the options that all `dumps` take.
macro_rules! dumping {
    ($text:expr) => {
        concat!(
            $text,
            "

limits -- {'depth': n} limits the nesting
on_loss -- what happens to a value that the format cannot hold: 'refuse' (the default) raises,
    'wrap' writes a notation that loads(..., unwrap=True) undoes, 'approximate' writes the nearest
    value
objects -- the same for classes, tags and symbols: 'refuse', 'wrap', 'data'
default -- called with an object of an unknown type; returns a replacement
sort_keys -- writes the keys of every map in order

Raises EncodeError, with .kind and .path, and LimitError."
        )
    };
}

formats! {
    json Json
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', comments=False, trailing_commas=False, allow_nan=False)",
        loading!("Returns the value of a JSON document, given as bytes, str or any buffer.

>>> import regauge
>>> regauge.json.loads(b'{\"a\": [1, 2.5, null]}')
{'a': [1, 2.5, None]}

Integers are exact at any size. A number with a fraction or an exponent is a float; with
numbers='exact' a decimal.Decimal with its digits. comments, trailing_commas and allow_nan
accept what RFC 8259 forbids."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, indent=None, ascii=False, float_style='shortest', text=False)",
        dumping!("Returns the value as compact JSON, as bytes; with text=True as str.

>>> import regauge, datetime
>>> regauge.json.dumps({'a': [1, 2.5, None], 'on': datetime.date(2026, 11, 21)})
b'{\"a\":[1,2.5,null],\"on\":\"2026-11-21\"}'

JSON cannot represent NaN, infinities, bytes and keys that are not text: see on_loss. indent is
a number of spaces, ascii escapes non-ASCII characters."))
    ndjson Ndjson
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', comments=False, trailing_commas=False, allow_nan=False)",
        loading!("Returns the documents of NDJSON, one per line, as a list.

>>> import regauge
>>> regauge.ndjson.loads(b'{\"a\": 1}\\n[2]\\n')
[{'a': 1}, [2]]
"))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, ascii=False, float_style='shortest', text=False)",
        dumping!("Returns the elements of a list as NDJSON, one per line.

>>> import regauge
>>> regauge.ndjson.dumps([{'a': 1}, [2]])
b'{\"a\":1}\\n[2]\\n'
"))
    msgpack Msgpack
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, ext_hook=None)",
        loading!("Returns the value of a MessagePack document.

>>> import regauge
>>> regauge.msgpack.loads(b'\\x81\\xa1a\\x92\\x01\\x02')
{'a': [1, 2]}

Points in time are datetime in UTC, other extensions regauge.ExtType, or the result of
ext_hook(code, data). An array used as a key is a tuple."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False)",
        dumping!("Returns the value as MessagePack, every part in its shortest form.

>>> import regauge
>>> regauge.msgpack.dumps({'a': [1, 2]})
b'\\x81\\xa1a\\x92\\x01\\x02'
"))
    bson Bson
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None)",
        loading!("Returns the dict of a BSON document.

>>> import regauge
>>> regauge.bson.loads(b'\\x0c\\x00\\x00\\x00\\x10a\\x00\\x01\\x00\\x00\\x00\\x00')
{'a': 1}

Points in time are datetime in UTC, decimals decimal.Decimal; ObjectId, Regex, Code and the like
are regauge's own classes."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, document_bytes=None)",
        dumping!("Returns a dict as BSON.

>>> import regauge
>>> regauge.bson.dumps({'a': 1})
b'\\x0c\\x00\\x00\\x00\\x10a\\x00\\x01\\x00\\x00\\x00\\x00'

A datetime without a time zone is assumed to be UTC, as in pymongo. document_bytes refuses larger
documents."))
    cbor Cbor
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, tag_hook=None)",
        loading!("Returns the value of a CBOR document.

>>> import regauge
>>> regauge.cbor.loads(b'\\xa1\\x61a\\x82\\x01\\x02')
{'a': [1, 2]}

Tags with a matching Python type are returned as that: dates, decimals, UUIDs, sets. Others are
regauge.Object, or the result of tag_hook(tag, value)."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, deterministic=False, indefinite=False)",
        dumping!("Returns the value as CBOR.

>>> import regauge
>>> regauge.cbor.dumps({'a': [1, 2]})
b'\\xa1aa\\x82\\x01\\x02'

deterministic writes the encoding of RFC 8949, 4.2.1. A list or dict that occurs several times is
written once, and shared (tags 28 and 29)."))
    yaml Yaml
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, numbers='double', tag_hook=None, schema='core', types=None)",
        loading!("Returns the value of a YAML document, given as bytes, str or any buffer.

>>> import regauge
>>> regauge.yaml.loads('a: [1, yes]\\nb: {c: 2026-11-21}')
{'a': [1, 'yes'], 'b': {'c': '2026-11-21'}}
>>> regauge.yaml.loads('a: [1, yes]\\nb: {c: 2026-11-21}', schema='1.1')
{'a': [1, True], 'b': {'c': datetime.date(2026, 11, 21)}}

schema sets how plain text is interpreted: 'core' is YAML 1.2, '1.1' matches PyYAML's safe_load,
'json' and 'failsafe' are those of the specification. A tag never constructs anything: an unknown
one becomes a regauge.Object, or the result of tag_hook(tag, value)."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, indent=2, indent_sequences=False, document_start=False, text=False)",
        dumping!("Returns the value as YAML in block style, as bytes; with text=True as str.

>>> import regauge
>>> print(regauge.yaml.dumps({'a': [1, 'yes']}, text=True), end='')
a:
- 1
- 'yes'

Text that any reader of YAML 1.1 or 1.2 would read as something else is quoted. A list or dict
that occurs several times gets an anchor."))
    marshal Marshal
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, types=None, binary='bytes', exact=False)",
        loading!("Returns the value of a document of Ruby's Marshal.

>>> import regauge
>>> regauge.marshal.loads(b'\\x04\\x08[\\x07i\\x06i\\x07')
[1, 2]

Symbols are regauge.Symbol, a kind of str. An object is an inert regauge.Object; types maps class
names to constructors of your own, which are called with the content. Nothing else is ever built.
binary='text' reads strings without an encoding as text."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False)",
        dumping!("Returns the value as Ruby's Marshal 4.8.

>>> import regauge
>>> regauge.marshal.dumps([1, 2])
b'\\x04\\x08[\\x07i\\x06i\\x07'
"))
    pickle Pickle
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, types=None, strings='ascii')",
        loading!("Returns the value of a pickle, without running it: nothing is imported or called.

>>> import pickle, regauge
>>> regauge.pickle.loads(pickle.dumps({'a': (1, 2)}))
{'a': (1, 2)}
>>> regauge.pickle.loads(b'cos\\nsystem\\n(S\\'true\\'\\ntR.')
Object('python', 'call', 'os.system', {'args': ['true']})

Dates, decimals, sets, paths and the like keep their types; any other object is an inert
regauge.Object. types maps class names ('shop.Order') to constructors of your own, which are
called with the content: the dict of the fields. strings sets how the 8-bit strings of Python 2
are read: 'ascii', 'utf8', 'latin1', 'bytes'."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, protocol=4)",
        dumping!("Returns the value as a pickle that pickle.loads reads, protocol 0 to 5.

>>> import pickle, regauge
>>> pickle.loads(regauge.pickle.dumps({'a': (1, {2, 3})}))
{'a': (1, {2, 3})}

A dataclass, an attrs class and an enum are written as their data."))
    toml Toml
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None)",
        loading!("Returns the dict of a TOML document, given as bytes, str or any buffer.

>>> import regauge
>>> regauge.toml.loads('[server]\\nport = 8080\\nsince = 2026-11-21')
{'server': {'port': 8080, 'since': datetime.date(2026, 11, 21)}}

A time with an offset is a datetime with it, a local one a datetime without; dates and times are
date and time. What TOML 1.1 adds to 1.0 is accepted."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, text=False)",
        dumping!("Returns a dict as TOML, as bytes; with text=True as str.

>>> import regauge
>>> print(regauge.toml.dumps({'name': 'Ada', 'server': {'port': 8080}}, text=True), end='')
name = \"Ada\"
<BLANKLINE>
[server]
port = 8080

The values of a table come before the tables in it, unless one of them follows a table: that table
is then written in braces, so that the order of the keys is kept. None is refused: see on_loss."))
    csv Csv
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, header='yes', delimiter='comma', types='text')",
        loading!("Returns the rows of CSV as a list of dicts.

>>> import regauge
>>> regauge.csv.loads('name,born\\nAda,1815\\n')
[{'name': 'Ada', 'born': '1815'}]
>>> regauge.csv.loads('name,born\\nAda,1815\\n', types='infer')
[{'name': 'Ada', 'born': 1815}]

Every field is a str; with types='infer' a field without quotes is an int, a float or a bool if it
is spelled as dumps spells it. With header='no' there is no header, and the rows are lists.
delimiter is 'comma', 'semicolon', 'tab', 'pipe', 'colon' or 'space'."))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, header='yes', delimiter='comma', types='text', nested='refuse', text=False)",
        dumping!("Returns a list of dicts with the same keys as CSV, as bytes; with text=True as str.

>>> import regauge
>>> regauge.csv.dumps([{'name': 'Ada', 'born': 1815}])
b'name,born\\nAda,1815\\n'

The first row decides the columns. Numbers and bools are written as text; with types='infer',
text that looks like one is written in quotes, so that loads(..., types='infer') tells them apart.
None is refused: see on_loss. With nested='flatten' each value in a dict or a list gets a column,
such as a.b and a.0. With header='no' the rows are lists."))
    tsv Tsv
        ("(data, /, *, limits=None, unwrap=False, duplicate_keys='last', object_hook=None, object_pairs_hook=None, header='yes', types='text')",
        loading!("Returns the rows of TSV, CSV with tabs, as a list of dicts: see regauge.csv.loads.

>>> import regauge
>>> regauge.tsv.loads('name\\tborn\\nAda\\t1815\\n')
[{'name': 'Ada', 'born': '1815'}]
"))
        ("(value, /, *, limits=None, on_loss='refuse', objects=None, default=None, sort_keys=False, header='yes', types='text', nested='refuse', text=False)",
        dumping!("Returns a list of dicts with the same keys as TSV, CSV with tabs: see regauge.csv.dumps.

>>> import regauge
>>> regauge.tsv.dumps([{'name': 'Ada', 'born': 1815}])
b'name\\tborn\\nAda\\t1815\\n'
"))
    marc Marc
        ("(data, /, *, limits=None, charset='auto', repair=False, references=False)",
        "Returns the records of MARC 21 (ISO 2709) as a list of dicts, in the shape of MARC-in-JSON.
references=True decodes references such as &#x4E2D; in MARC-8.

For records with methods see regauge.marc.MARCReader.")
        ("(value, /, *, limits=None, on_loss='refuse', write_charset='auto', oversize=False)",
        "Returns records, given as dicts in the shape of MARC-in-JSON, as MARC 21 (ISO 2709).")
    marcxml MarcXml
        ("(data, /, *, limits=None)",
        "Returns the records of MARCXML as a list of dicts, in the shape of MARC-in-JSON.")
        ("(value, /, *, limits=None, on_loss='refuse', compact=False)",
        "Returns records, given as dicts in the shape of MARC-in-JSON, as MARCXML.")
    marcjson MarcJson
        ("(data, /, *, limits=None)",
        "Returns the records of MARC-in-JSON, one per line or in one array, as a list of dicts.")
        ("(value, /, *, limits=None, on_loss='refuse')",
        "Returns records, given as dicts in the shape of MARC-in-JSON, as lines of MARC-in-JSON.")
    mrk Mrk
        ("(data, /, *, limits=None, charset='auto', references=False)",
        "Returns the records of MARCMaker, the lines of .mrk, as a list of dicts, in the shape of MARC-in-JSON.
references=True decodes references such as &#x4E2D; in MARC-8.")
        ("(value, /, *, limits=None, on_loss='refuse', write_charset='auto')",
        "Returns records, given as dicts in the shape of MARC-in-JSON, as MARCMaker, the lines of .mrk.")
    alephseq AlephSeq
        ("(data, /, *, limits=None)",
        "Returns the records of Aleph sequential as a list of dicts, in the shape of MARC-in-JSON.")
        ("(value, /, *, limits=None, on_loss='refuse', write_charset='auto')",
        "Returns records, given as dicts in the shape of MARC-in-JSON, as Aleph sequential.")
}
