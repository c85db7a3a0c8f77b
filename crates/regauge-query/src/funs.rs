//! The functions of the language: jaq's, jq's that jaq leaves to the type of values, and regauge's own.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD as BASE64};
use jaq_core::load::{self, parse::Def};
use jaq_core::native::{Filter as Native, Fun, bome, run, unary, v};
use jaq_core::{DataT, RunPtr};
use jaq_std::ValT as _;
use regauge::{ErrorKind, Ext, Format, OnLoss, Options, Origin, Timestamp, TypeBuf, Value};
use regauge::{read_values, write_values};

use crate::guard;
use crate::marc;
use crate::pattern::{self, Wanted};
use crate::run::{Kind, error};
use crate::val::number::Num;
use crate::val::{
    Error, Map, Rare, Val, ValR, delete_paths, positions, seconds_of, time, to_nanoseconds,
};

/// jaq's functions that ours replace: a filter neither ends the process nor logs.
const LEFT_OUT: [&str; 10] = [
    "halt",
    "debug_empty",
    "stderr_empty",
    "ltrimstr",
    "rtrimstr",
    "matches",
    "split_matches",
    "split_",
    "decode_base64",
    "implode",
];
/// Functions that a definition of the same name checks the arguments or the input of.
const CHECKED: [(&str, &str); 7] = [
    ("limit", "limit_of"),
    ("skip", "skip_of"),
    ("strftime", "strftime_of"),
    ("strflocaltime", "strflocaltime_of"),
    ("gmtime", "gmtime_of"),
    ("localtime", "localtime_of"),
    ("todateiso8601", "todateiso8601_of"),
];
/// After the last document, jaq's function gives nothing.
const INPUT: &str = "def input: first(next_input, error(\"No more inputs\"));";

/// Returns the definitions in the language itself; later ones replace earlier ones.
pub(crate) fn defs(inputs: bool) -> impl Iterator<Item = Def<&'static str>> {
    let parsed = |text| load::parse(text, |parser| parser.defs());
    let own = parsed(include_str!("defs.jq")).expect("our definitions can be parsed");
    let input = inputs.then(|| parsed(INPUT).expect("our definition can be parsed"));
    jaq_core::defs().chain(jaq_std::defs()).chain(own).chain(input.into_iter().flatten())
}

/// Returns the functions in Rust, with or without those that read further documents.
pub(crate) fn funs(inputs: bool) -> impl Iterator<Item = Fun<Kind>> {
    let library = || jaq_std::funs::<Kind>().filter(|(name, ..)| !LEFT_OUT.contains(name));
    let inputs = inputs.then(jaq_std::input::funs::<Kind>).into_iter().flatten();
    let inputs = inputs.map(|(name, arguments, run)| match name {
        "input" => ("next_input", arguments, run),
        _ => (name, arguments, run),
    });
    let own = own().into_vec().into_iter().chain(inputs).map(run::<Kind>);
    let all = jaq_core::funs::<Kind>().chain(library());
    let checked = all.filter_map(|(name, arguments, run)| {
        let (_, other) = CHECKED.into_iter().find(|(known, _)| *known == name)?;
        Some((other, arguments, run))
    });
    jaq_core::funs::<Kind>().chain(checked).chain(library()).chain(own)
}

type Own = Native<RunPtr<Kind>>;

fn own() -> Box<[Own]> {
    Box::new([
        ("halt", v(1), |_| bome(Err(error("`halt` is not supported")))),
        ("debug_empty", v(0), |cv| {
            eprintln!("[\"DEBUG:\",{}]", cv.1);
            Box::new(std::iter::empty())
        }),
        ("stderr_empty", v(0), |cv| {
            eprint!("{}", cv.1.text().map_or_else(|| cv.1.to_string(), str::to_owned));
            Box::new(std::iter::empty())
        }),
        ("fromjson", v(0), |cv| bome(from_json(&cv.1))),
        ("tojson", v(0), |cv| bome(Ok(Val::from(cv.1.json())))),
        ("length", v(0), |cv| bome(length(cv.1))),
        ("contains", v(1), |cv| unary(cv, contains)),
        ("has", v(1), |cv| unary(cv, |val, key| has(&val, &key).map(Val::from))),
        ("indices", v(1), |cv| unary(cv, |val, part| indices(&val, &part))),
        ("bsearch", v(1), |cv| {
            unary(cv, |val, wanted| {
                let list: Vec<Val> = val.into_seq().map_err(|val| Error::typ(val, "array"))?;
                Ok(match list.binary_search(&wanted) {
                    Ok(at) => Val::from(at),
                    Err(at) => Val::Int(-1 - at as i64),
                })
            })
        }),
        ("is_nan", v(0), |cv| {
            let is_nan = |num: Num<'_>| matches!(num, Num::Float(v) if v.is_nan());
            bome(match cv.1.num().map(is_nan) {
                Some(is_nan) => Ok(Val::from(is_nan)),
                None => Err(Error::typ(cv.1, "number")),
            })
        }),
        ("nan_value", v(0), |_| bome(Ok(Val::Float(f64::NAN)))),
        ("infinite_value", v(0), |_| bome(Ok(Val::Float(f64::INFINITY)))),
        ("absolute", v(0), |cv| {
            bome(match cv.1.num() {
                Some(num) if num.is_negative() => Ok(num.neg().into()),
                Some(_) => Ok(cv.1),
                None => Err(Error::typ(cv.1, "number")),
            })
        }),
        ("matches", v(2), |cv| bome(pattern::matches(cv, Wanted::Matches))),
        ("split_matches", v(2), |cv| bome(pattern::matches(cv, Wanted::Both))),
        ("split_", v(2), |cv| bome(pattern::matches(cv, Wanted::Between))),
        ("to_number", v(0), |cv| bome(to_number(cv.1))),
        ("implode", v(0), |cv| bome(imploded(cv.1))),
        ("ltrimstr", v(1), |cv| unary(cv, |val, part| Ok(trimmed(val, &part, true, false)))),
        ("rtrimstr", v(1), |cv| unary(cv, |val, part| Ok(trimmed(val, &part, false, true)))),
        ("trimstr", v(1), |cv| unary(cv, |val, part| Ok(trimmed(val, &part, true, true)))),
        ("delete_paths", v(1), |cv| unary(cv, delete_paths)),
        ("marc_paths", v(1), |cv| unary(cv, |val, spec| marc::paths(&val, &spec))),
        ("kind", v(0), |cv| bome(Ok(Val::from(kind(&cv.1))))),
        ("class", v(0), |cv| bome(Ok(class(&cv.1)))),
        ("untyped", v(0), |cv| bome(Ok(cv.1.untyped().clone()))),
        ("typed", v(1), |cv| unary(cv, typed)),
        ("bytes", v(0), |cv| bome(bytes_of(&cv.1))),
        ("tobytes", v(0), |cv| bome(to_bytes(&cv.1).map(Val::bytes))),
        ("bytes_base64", v(0), |cv| {
            bome(match cv.1.as_bytes() {
                Some(bytes) => Ok(Val::from(BASE64.encode(bytes))),
                None => Ok(Val::from(BASE64.encode(cv.1.shown()))),
            })
        }),
        ("decode_base64", v(0), |cv| bome(from_base64(&cv.1))),
        ("totime", v(0), |cv| bome(to_time(cv.1))),
        ("seconds", v(0), |cv| {
            bome(seconds_of(&cv.1).ok_or_else(|| Error::typ(cv.1, "point in time")))
        }),
        ("wrapped", v(0), |cv| bome(wrapped(&cv.1))),
        ("unwrapped", v(0), |cv| bome(unwrapped(&cv.1))),
    ])
}

/// Returns the name of the kind of a value, which is more precise than `type`.
fn kind(val: &Val) -> &'static str {
    match val.untyped() {
        Val::Null => "null",
        Val::Bool(_) => "bool",
        Val::Int(_) => "integer",
        Val::Float(_) => "float",
        Val::Text(_) => "text",
        Val::Array(_) => "array",
        Val::Map(_) => "map",
        Val::Rare(rare) => match &**rare {
            Rare::Big(_) => "integer",
            Rare::Single(_) => "single",
            Rare::Decimal(_) => "decimal",
            Rare::Bytes(_) => "bytes",
            Rare::Typed(_, inside) => kind(inside),
            Rare::Other(value) => kind_of_value(value),
        },
    }
}

fn kind_of_value(value: &Value) -> &'static str {
    match value {
        Value::Timestamp(_) => "timestamp",
        Value::MsgpackExt(..) => "extension",
        Value::Surrogates(_) | Value::BrokenText(_) => "broken text",
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Int64(_) => "integer",
            Ext::Symbol(_) => "symbol",
            Ext::Date(_) => "date",
            Ext::Time(_) => "time",
            Ext::DateTime(_) => "datetime",
            Ext::OffsetDateTime(_) => "offset datetime",
            Ext::Duration { .. } => "duration",
            Ext::Decimal128(_) => "decimal128",
            Ext::ObjectId(_) => "objectid",
            Ext::Uuid(_) => "uuid",
            Ext::Binary(..) => "binary",
            Ext::Regex { .. } => "regex",
            Ext::BsonTimestamp { .. } => "bson timestamp",
            Ext::MinKey => "minkey",
            Ext::MaxKey => "maxkey",
            Ext::Undefined => "undefined",
            Ext::Code(_) => "code",
            Ext::DbPointer { .. } => "dbpointer",
            Ext::Simple(_) => "simple",
            Ext::Complex(..) => "complex",
            _ => "extension",
        },
        _ => "extension",
    }
}

/// Returns the outermost type around a value as a map; null without any.
fn class(val: &Val) -> Val {
    match val {
        Val::Rare(rare) => match &**rare {
            Rare::Typed(class, _) => Val::map_of([
                ("origin".into(), class.origin.name().into()),
                ("kind".into(), class.kind.as_str().into()),
                ("name".into(), class.name.as_str().into()),
            ]),
            _ => Val::Null,
        },
        _ => Val::Null,
    }
}

/// Puts a type, as [`class`] returns it, around a value.
fn typed(val: Val, class: Val) -> ValR {
    let field = |map: &Map, name: &str| -> Option<String> {
        map.get(&Val::from(name))?.text().map(str::to_owned)
    };
    let parsed = match &class {
        Val::Null => return Ok(val),
        Val::Map(map) => field(map, "origin").and_then(|origin| {
            let origin = Origin::ALL.into_iter().find(|one| one.name() == origin)?;
            Some(TypeBuf { origin, kind: field(map, "kind")?, name: field(map, "name")? })
        }),
        _ => None,
    };
    match parsed {
        Some(class) => Ok(Val::rare(Rare::Typed(class, val))),
        None => Err(Error::typ(class, "class: a map with origin, kind and name")),
    }
}

fn length(val: Val) -> ValR {
    if let Some(text) = val.text() {
        return Ok(Val::from(text.chars().count()));
    }
    match val.untyped() {
        Val::Null => Ok(Val::Int(0)),
        Val::Array(list) => Ok(Val::from(list.values.len())),
        Val::Map(map) => Ok(Val::from(map.pairs().len())),
        inside => match (inside.num(), inside.binary()) {
            (Some(num), _) if num.is_negative() => Ok(num.neg().into()),
            (Some(_), _) => Ok(inside.clone()),
            (_, Some(bytes)) => Ok(Val::from(bytes.len())),
            _ => Err(error(format_args!("{val} has no length"))),
        },
    }
}

fn contains(val: Val, part: Val) -> ValR {
    if is_part(&val, &part) {
        return Ok(Val::Bool(true));
    }
    let same = match (val.untyped(), part.untyped()) {
        (Val::Array(_), Val::Array(_)) | (Val::Map(_), Val::Map(_)) => true,
        (Val::Bool(_), Val::Bool(_)) | (Val::Null, Val::Null) => true,
        (a, b) => {
            a.as_bytes().is_some() == b.as_bytes().is_some()
                && a.num().is_some() == b.num().is_some()
        }
    };
    match same {
        true => Ok(Val::Bool(false)),
        false => Err(error(format_args!("{val} and {part} cannot have their containment checked"))),
    }
}

fn is_part(val: &Val, part: &Val) -> bool {
    match (val.untyped(), part.untyped()) {
        (Val::Array(a), Val::Array(b)) => {
            b.values.iter().all(|part| a.values.iter().any(|val| is_part(val, part)))
        }
        (Val::Map(a), Val::Map(b)) => {
            b.pairs().iter().all(|(key, part)| a.get(key).is_some_and(|val| is_part(val, part)))
        }
        (a, b) => match (a.as_bytes(), b.as_bytes()) {
            (Some(a), Some(b)) => a.windows(b.len().max(1)).any(|part| part == b) || b.is_empty(),
            _ => a == b,
        },
    }
}

fn has(val: &Val, key: &Val) -> Result<bool, Error> {
    match val.untyped() {
        Val::Map(_) | Val::Array(_) => Ok(val.at(key)?.is_some()),
        _ => Err(error(format_args!("cannot check whether {val} has the key {key}"))),
    }
}

fn indices(val: &Val, part: &Val) -> ValR {
    if let (Some(text), Some(part)) = (val.text(), part.text()) {
        // The places are counted in characters.
        let places = text.char_indices().enumerate();
        let found = places.filter(|(_, (at, _))| !part.is_empty() && text[*at..].starts_with(part));
        return Ok(found.map(|(count, _)| Val::from(count)).collect());
    }
    match (val.untyped(), part.untyped()) {
        (Val::Null, _) => Ok(Val::Null),
        (Val::Array(list), Val::Array(part)) => {
            Ok(positions(&list.values, &part.values).map(Val::from).collect())
        }
        (Val::Array(list), part) => {
            Ok(positions(&list.values, std::slice::from_ref(part)).map(Val::from).collect())
        }
        _ => Err(Error::index(val.clone(), part.clone())),
    }
}

/// Parses JSON.
fn from_json(val: &Val) -> ValR {
    let Some(text) = val.text() else { return Err(Error::typ(val.clone(), "string")) };
    let mut options = Options::new(Format::Json, Format::Json);
    options.limits.nodes = guard::VALUES_MAX as u64;
    options.limits.record_bytes = guard::TEXT_MAX as u64;
    options.json_read.non_finite = true;
    let text = if text.trim() == "nan" { "NaN" } else { text };
    match read_values(text.as_bytes(), &options) {
        Ok(values) if values.len() == 1 => Ok(Val::from(&values[0])),
        Ok(_) => Err(error(format_args!("cannot parse {val} as JSON: found no value"))),
        Err(fault) => Err(error(format_args!("cannot parse {val} as JSON: {fault}"))),
    }
}

fn to_number(val: Val) -> ValR {
    if val.num().is_some() {
        return Ok(val);
    }
    let fail = |val: &Val| error(format_args!("cannot parse {val} as a number"));
    let Some(text) = val.text() else { return Err(fail(&val)) };
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let begins = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    if text == "nan" {
        return Ok(Val::Float(f64::NAN));
    }
    if !begins || text.parse::<f64>().is_err() {
        return Err(fail(&val));
    }
    let positive = <Val as jaq_core::ValT>::from_num(digits)?;
    if text.starts_with('-') { -positive } else { Ok(positive) }
}

/// Makes a text of the numbers of its characters.
fn imploded(val: Val) -> ValR {
    let numbers: Vec<Val> = val.into_seq().map_err(|val| Error::typ(val, "array"))?;
    let letter = |number: &Val| {
        let code = number.as_isize().and_then(|code| u32::try_from(code).ok());
        code.and_then(char::from_u32)
            .ok_or_else(|| error(format_args!("cannot use {number} as character")))
    };
    numbers.iter().map(letter).collect::<Result<String, _>>().map(Val::from)
}

/// Removes a text from the ends of another, once each.
fn trimmed(val: Val, part: &Val, start: bool, end: bool) -> Val {
    let (Some(text), Some(part)) = (val.text(), part.text()) else { return val };
    let mut rest = text;
    if start {
        rest = rest.strip_prefix(part).unwrap_or(rest);
    }
    if end {
        rest = rest.strip_suffix(part).unwrap_or(rest);
    }
    if rest.len() == text.len() { val } else { Val::from(rest) }
}

/// Returns the bytes of binary data or text as an array of integers.
fn bytes_of(val: &Val) -> ValR {
    match val.as_bytes() {
        Some(bytes) => {
            guard::check_room(bytes.len());
            Ok(bytes.iter().map(|byte| Val::Int(i64::from(*byte))).collect())
        }
        None => Err(Error::typ(val.clone(), "binary data or text")),
    }
}

fn to_bytes(val: &Val) -> Result<Vec<u8>, Error> {
    let fail = || error(format_args!("cannot convert {val} to bytes"));
    if let Some(bytes) = val.as_bytes() {
        return Ok(bytes.to_vec());
    }
    match val.untyped() {
        Val::Int(byte) => Ok(vec![u8::try_from(*byte).map_err(|_| fail())?]),
        Val::Array(list) => {
            let parts = list.values.iter().map(to_bytes);
            Ok(parts.collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => Err(fail()),
    }
}

/// Decodes Base64, with padding or without.
fn from_base64(val: &Val) -> ValR {
    const ANY_PADDING: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let Some(text) = val.as_bytes() else { return Err(Error::typ(val.clone(), "text")) };
    match ANY_PADDING.decode(text) {
        Ok(bytes) => Ok(Val::from_utf8_bytes(bytes)),
        Err(fault) => Err(error(format_args!("cannot decode {val} as Base64: {fault}"))),
    }
}

/// Makes a point in time of text as RFC 3339 writes it in UTC, or of seconds since 1970.
fn to_time(val: Val) -> ValR {
    let found = match (seconds_of(&val), val.text()) {
        (Some(_), _) => Some(val.clone()),
        (None, Some(text)) => {
            Timestamp::from_rfc3339(text).map(|at| Val::rare(Rare::Other(Value::Timestamp(at))))
        }
        (None, None) => to_nanoseconds(&val).and_then(time),
    };
    found.ok_or_else(|| error(format_args!("cannot convert {val} to a point in time")))
}

/// Returns the value in the notation that `--on-loss wrap` writes, as plain data.
fn wrapped(val: &Val) -> ValR {
    let mut options = Options::new(Format::Json, Format::Json);
    options.on_loss = OnLoss::Wrap;
    let written = write_values(&[Value::from(val)], &options).map_err(error)?;
    let text = String::from_utf8(written.0).map_err(error)?;
    from_json(&Val::from(text))
}

/// Returns the value that the notation stands for.
fn unwrapped(val: &Val) -> ValR {
    let mut options = Options::new(Format::Json, Format::Json);
    let (text, _) =
        write_values(&[Value::from(val)], &options).map_err(|fault| match fault.kind() {
            ErrorKind::Refused => {
                error("found a value that is not in the notation, expected plain data")
            }
            _ => error(fault),
        })?;
    options.unwrap = true;
    options.limits.nodes = guard::VALUES_MAX as u64;
    options.limits.record_bytes = guard::TEXT_MAX as u64;
    let values = read_values(&text, &options).map_err(error)?;
    Ok(values.first().map_or(Val::Null, Val::from))
}

/// The data type of our functions is fixed, so that they can look into values.
const _: fn() = || {
    fn takes_values<D: for<'a> DataT<V<'a> = Val>>() {}
    takes_values::<Kind>();
};
