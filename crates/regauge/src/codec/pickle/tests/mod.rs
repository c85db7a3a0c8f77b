//! The format's rules, table by table.

mod arrays;
mod hostile;
mod large;
mod plain;
mod suites;
mod writing;

use super::*;
use crate::model::value::Value;
use crate::policy::event::{ExtBuf, Origin, TypeBuf};
use crate::policy::tree::Builder;
use crate::{Error, ErrorKind, Ext, Source as _};

/// Returns the value of one pickle, with all of Python's own types.
fn read(bytes: &[u8]) -> Result<Value> {
    read_with(bytes, Options { exact: true, ..Options::default() })
}

fn read_with(bytes: &[u8], options: Options) -> Result<Value> {
    let limits = Limits::default();
    let mut builder = Builder::new(&limits);
    let mut reader = Reader::from_slice(Parser::new(options, limits), bytes);
    if !reader.next(&mut builder)? {
        return Err(Error::truncated("nothing there").at(0));
    }
    assert_eq!(reader.offset(), bytes.len() as u64, "bytes are left");
    Ok(builder.take().expect("a whole value"))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn ints(values: &[i64]) -> Value {
    Value::Array(values.iter().map(|v| Value::Int(*v)).collect())
}

fn typed(kind: &str, name: &str, value: Value) -> Value {
    let t = TypeBuf { origin: Origin::Python, kind: kind.to_owned(), name: name.to_owned() };
    Value::Typed(Box::new(t), Box::new(value))
}

fn tuple(values: Vec<Value>) -> Value {
    typed("tuple", "", Value::Array(values))
}

fn ext(v: Ext<'_>) -> Value {
    Value::Ext(ExtBuf::from(v))
}

#[track_caller]
fn check(bytes: &[u8], expected: Value) {
    match read(bytes) {
        Ok(value) => assert_eq!(value, expected, "{}", bytes.escape_ascii()),
        Err(error) => panic!("{}: {error}", bytes.escape_ascii()),
    }
}

#[track_caller]
fn check_error(bytes: &[u8], kind: ErrorKind, offset: u64, message: &str) {
    let error = match read(bytes) {
        Ok(value) => panic!("{} was read as {value:?}", bytes.escape_ascii()),
        Err(error) => error,
    };
    assert!(error.message().contains(message), "{error}");
    assert_eq!((error.kind(), error.offset()), (kind, Some(offset)), "{error}");
}

#[test]
fn numbers_of_every_opcode() {
    check(b"I42\n.", Value::Int(42));
    check(b"I-0x10\n.", Value::Int(-16));
    check(b"I01\n.", Value::Bool(true));
    check(b"I00\n.", Value::Bool(false));
    check(b"L42L\n.", Value::Int(42));
    check(b"L-42\n.", Value::Int(-42));
    check(b"I18446744073709551615\n.", Value::UInt(u64::MAX));
    check(b"K\xff.", Value::Int(255));
    check(b"M\xff\xff.", Value::Int(65535));
    check(b"J\xff\xff\xff\xff.", Value::Int(-1));
    check(b"\x8a\x00.", Value::Int(0));
    check(b"\x8a\x01\xff.", Value::Int(-1));
    check(b"\x8a\x09\0\0\0\0\0\0\0\x80\0.", Value::UInt(1 << 63));
    check(b"\x8a\x08\0\0\0\0\0\0\0\x80.", Value::Int(i64::MIN));
    let big = |negative, magnitude: &[u8]| Value::BigInt { negative, magnitude: magnitude.into() };
    check(b"\x8a\x09\0\0\0\0\0\0\0\0\x01.", big(false, &[0, 0, 0, 0, 0, 0, 0, 0, 1]));
    check(b"\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\xfe.", {
        big(true, &[1, 0, 0, 0, 0, 0, 0, 0, 1])
    });
    // Bytes that repeat the sign make no difference.
    check(b"\x8b\x0c\0\0\0\x05\0\0\0\0\0\0\0\0\0\0\0.", Value::Int(5));
    check(b"\x8a\x0a\xfb\xff\xff\xff\xff\xff\xff\xff\xff\xff.", Value::Int(-5));
    check(b"F1.5\n.", Value::F64(1.5));
    check(b"F-inf\n.", Value::F64(f64::NEG_INFINITY));
    check(b"G?\xf8\0\0\0\0\0\0.", Value::F64(1.5));
    check(b"\x88.", Value::Bool(true));
    check(b"N.", Value::Null);
}

#[test]
fn text_and_bytes_of_every_opcode() {
    check(b"Vabc\\u20ac\\U0001f600\xe9\n.", text("abc€😀é"));
    check(b"X\x03\0\0\0\xe2\x82\xac.", text("€"));
    check(b"\x8c\x01a.", text("a"));
    check(b"\x8d\x01\0\0\0\0\0\0\0a.", text("a"));
    check(b"S'a\\tb'\n.", text("a\tb"));
    check(b"U\x02ab.", text("ab"));
    check(b"T\x02\0\0\0ab.", text("ab"));
    check(b"C\x02\xff\0.", Value::Bytes(vec![255, 0]));
    check(b"B\x02\0\0\0\xff\0.", Value::Bytes(vec![255, 0]));
    check(b"\x8e\x02\0\0\0\0\0\0\0\xff\0.", Value::Bytes(vec![255, 0]));
    check(b"\x96\x01\0\0\0\0\0\0\0x.", typed("bytearray", "", Value::Bytes(vec![b'x'])));
    check(b"X\x03\0\0\0\xed\xa0\x80.", Value::Surrogates(vec![0xED, 0xA0, 0x80]));
    check_error(b"]X\x01\0\0\0\xffa.", ErrorKind::Syntax, 1, "not UTF-8");
}

#[test]
fn strings_of_python_2() {
    let strings = |strings| Options { strings, ..Options::default() };
    check_error(b"U\x02a\xe9.", ErrorKind::Syntax, 0, "8-bit string \"aé\"");
    assert_eq!(read_with(b"U\x02a\xe9.", strings(Strings::Latin1)).unwrap(), text("aé"));
    assert_eq!(read_with(b"U\x02\xc3\xa9.", strings(Strings::Utf8)).unwrap(), text("é"));
    assert!(read_with(b"U\x02a\xe9.", strings(Strings::Utf8)).is_err());
    let bytes = read_with(b"S'a\\xe9'\n.", strings(Strings::Bytes)).unwrap();
    assert_eq!(bytes, Value::Bytes(vec![b'a', 0xE9]));
}

#[test]
fn containers_of_every_opcode() {
    check(b"(I1\nI2\nl.", ints(&[1, 2]));
    check(b"](K\x01K\x02e.", ints(&[1, 2]));
    check(b"]K\x01aK\x02a.", ints(&[1, 2]));
    let pair = Value::Map(vec![(text("a"), Value::Int(1))]);
    check(b"(Va\nI1\nd.", pair.clone());
    check(b"}\x8c\x01aK\x01s.", pair.clone());
    check(b"}(\x8c\x01aK\x01u.", pair);
    check(b").", tuple(vec![]));
    check(b"(K\x01t.", tuple(vec![Value::Int(1)]));
    check(b"K\x01\x85.", tuple(vec![Value::Int(1)]));
    check(b"K\x01K\x02\x86.", tuple(vec![Value::Int(1), Value::Int(2)]));
    check(b"K\x01K\x02K\x03\x87.", tuple(vec![Value::Int(1), Value::Int(2), Value::Int(3)]));
    check(b"\x8f(K\x01\x90.", typed("set", "", ints(&[1])));
    check(b"(K\x01\x91.", typed("frozenset", "", ints(&[1])));
    assert_eq!(read_with(b"K\x01\x85.", Options::default()).unwrap(), ints(&[1]));
}

#[test]
fn lists_that_grow_by_turns() {
    // Two lists in a tuple, with items added in turn, so each consists of several chunks.
    let expected = tuple(vec![ints(&[1, 3, 5]), ints(&[2, 4, 6])]);
    check(b"]q\0]q\x01\x86q\x02h\0K\x01a0h\x01K\x02a0h\0K\x03a0h\x01K\x04a0h\0(K\x05e0h\x01(K\x06e00h\x02.", expected);
}

#[test]
fn keys_of_every_type() {
    let one = |key: Value| Value::Map(vec![(key, Value::Null)]);
    check(b"}K\x01Ns.", one(Value::Int(1)));
    check(b"}NNs.", one(Value::Null));
    check(b"}C\x01aNs.", one(Value::Bytes(vec![b'a'])));
    check(b"}(K\x01\x8c\x01atNs.", one(tuple(vec![Value::Int(1), text("a")])));
    check(b"}(K\x01\x91Ns.", one(typed("frozenset", "", ints(&[1]))));
    check_error(b"}]Ns.", ErrorKind::Syntax, 1, "found a list as a key");
    check_error(b"}(]tNs.", ErrorKind::Syntax, 2, "found a list as a key");
    check_error(b"\x8f(]\x90.", ErrorKind::Syntax, 2, "found a list as a member of a set");
    check_error(b"(}\x85\x91.", ErrorKind::Syntax, 1, "found a dict as a member of a set");
    check_error(b"(\x8f\x91.", ErrorKind::Syntax, 1, "found a set as a member of a set");
}

#[test]
fn the_memo() {
    check(b"]q\0(h\0h\0t0.", Value::Array(vec![]));
    check(b"(\x8c\x01a\x94h\0t.", tuple(vec![text("a"), text("a")]));
    check(b"(Va\np7\ng7\nt.", tuple(vec![text("a"), text("a")]));
    check(b"(Nr\xff\xff\xff\xffj\xff\xff\xff\xfft.", tuple(vec![Value::Null, Value::Null]));
    check_error(b"Nh\x01.", ErrorKind::Syntax, 1, "memo number 1");
    check_error(b"Np-1\n.", ErrorKind::Syntax, 1, "memo number -1");
}

#[test]
fn shared_values_and_cycles() {
    let anchor = |id, value| Value::Anchor(id, Box::new(value));
    check(b"(]\x94h\0t.", tuple(vec![anchor(1, ints(&[])), Value::Alias(1)]));
    check(b"]\x94h\0a.", anchor(1, Value::Array(vec![Value::Alias(1)])));
    // Equal tuples of scalars are not distinguished, nor are dates.
    check(b"(K\x01\x85\x94h\0t.", {
        tuple(vec![tuple(vec![Value::Int(1)]), tuple(vec![Value::Int(1)])])
    });
    let options = crate::Options::new(Format::Pickle, Format::Json);
    let json = crate::convert_bytes(b"(]\x94h\0t.", &options).unwrap();
    assert_eq!(json.trim_ascii_end(), b"[[],[]]");
    let error = crate::convert_bytes(b"}\x8c\x01a]\x94h\0as.", &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert!(error.message().contains("a list at byte 4 that contains itself"), "{error}");
    assert_eq!(error.offset(), Some(6));
}

#[test]
fn frames() {
    check(b"\x80\x04\x95\x02\0\0\0\0\0\0\0N..".get(..13).unwrap(), Value::Null);
    check(b"\x80\x04\x95\x01\0\0\0\0\0\0\0\x8c\x01a.", text("a"));
    check_error(b"\x95\x03\0\0\0\0\0\0\0\x8c\x02ab.", ErrorKind::Syntax, 9, "end of its frame");
    check_error(
        b"\x95\x0b\0\0\0\0\0\0\0N\x95\x01\0\0\0\0\0\0\0..",
        ErrorKind::Syntax,
        10,
        "frame inside",
    );
    check_error(b"\x95\x09\0\0\0\0\0\0\0N.", ErrorKind::Truncated, 0, "FRAME");
    check_error(b"\x80\x06N.", ErrorKind::Unsupported, 0, "protocol 6");
}

#[test]
fn globals_and_calls_are_names() {
    check(b"cos\nsystem\n.", typed("global", "os.system", text("os:system")));
    check(b"\x8c\x01a\x8c\x03b.c\x93.", typed("global", "a.b.c", text("a:b.c")));
    let map = |pairs: &[(&str, Value)]| {
        Value::Map(pairs.iter().map(|(key, value)| (text(key), value.clone())).collect())
    };
    let args = |values: &[i64]| ("args", ints(values));
    check(b"cm\nf\nK\x01\x85R.", typed("call", "m.f", map(&[args(&[1])])));
    check(b"cm\nC\n)\x81.", typed("object", "m.C", Value::Null));
    check(b"cm\nC\n)\x81}b.", typed("object", "m.C", map(&[])));
    check(b"cm\nC\nK\x01\x85\x81Nb.", {
        typed("new", "m.C", map(&[args(&[1]), ("state", Value::Null)]))
    });
    let keywords = map(&[args(&[]), ("kwargs", map(&[]))]);
    check(b"cm\nC\n)}\x92.", typed("new_ex", "m.C", keywords));
    check(b"(im\nC\n}b.", typed("instance", "m.C", map(&[])));
    check(b"(cm\nC\nK\x01o.", typed("instance_call", "m.C", map(&[args(&[1])])));
    check(b"ccopy_reg\n_reconstructor\n(cm\nC\nc__builtin__\nobject\nNtR}b.", {
        typed("reconstructed", "m.C", map(&[]))
    });
    check(b"cm\nf\n)RK\x01aK\x02K\x03s(K\x04\x90Nb.", {
        let pairs = Value::Map(vec![(Value::Int(2), Value::Int(3))]);
        typed(
            "call",
            "m.f",
            map(&[
                args(&[]),
                ("items", ints(&[1])),
                ("pairs", pairs),
                ("members", ints(&[4])),
                ("state", Value::Null),
            ]),
        )
    });
    check(b"cm\nf\n)RNbNb.", {
        let step = map(&[("state", Value::Null)]);
        typed("call", "m.f", map(&[args(&[]), ("steps", Value::Array(vec![step.clone(), step]))]))
    });
    // A callable that is not a plain name is written inside.
    check(b"cm\na.f\n)R.", {
        let callable = typed("global", "m.a.f", text("m:a.f"));
        typed("call", "m.a.f", map(&[("callable", callable), args(&[])]))
    });
    check(b"Pid 1\n.", typed("persistent_id", "", text("id 1")));
    check(b"K\x01Q.", typed("persistent_id", "", Value::Int(1)));
    check(b"\x82\x07.", typed("extension", "", Value::Int(7)));
    check(b"\x84\x00\x01\0\0.", typed("extension", "", Value::Int(256)));
    check(b"\x97\x98.", typed("readonly_buffer", "", typed("buffer", "", Value::Int(0))));
    check(b"cm\ng\nNb.", typed("changed", "m.g", map(&[("state", Value::Null)])));
    check(b"\x82\x07Nb.", {
        let callable = typed("extension", "", Value::Int(7));
        typed("changed", "", map(&[("callable", callable), ("state", Value::Null)]))
    });
}

#[test]
fn harmless_constructors_are_values() {
    check(b"cdatetime\ndate\nC\x04\x07\xe4\x01\x02\x85R.", ext(Ext::Date("2020-01-02")));
    check(b"cdatetime\ndate\nU\x04\x07\xe4\x01\x02\x85R.", ext(Ext::Date("2020-01-02")));
    check(b"c_codecs\nencode\nX\x02\0\0\0\xc3\xbfX\x06\0\0\0latin1\x86R.", {
        Value::Bytes(vec![255])
    });
    let stamp = crate::Timestamp { seconds: 1_577_934_245, nanoseconds: 6000 };
    let zone = |seconds: &[u8]| {
        let delta = [b"cdatetime\ntimedelta\nK\0", seconds, b"K\0\x87R"].concat();
        [
            &b"cdatetime\ndatetime\nC\x0a\x07\xe4\x01\x02\x03\x04\x05\0\0\x06cdatetime\ntimezone\n"
                [..],
            &delta,
            b"\x85R\x86R.",
        ]
        .concat()
    };
    check(&zone(b"K\0"), Value::Timestamp(stamp));
    check(&zone(b"M\x20\x1c"), ext(Ext::OffsetDateTime("2020-01-02T03:04:05.000006+02:00")));
    check(&zone(b"K\x1e"), ext(Ext::OffsetDateTime("2020-01-02T03:04:05.000006+00:00:30")));
    let fold = b"cdatetime\ndatetime\nC\x0a\x07\xe4\x81\x02\x03\x04\x05\0\0\0\x85R.";
    check(fold, typed("fold", "", ext(Ext::DateTime("2020-01-02T03:04:05"))));
    check(b"cdecimal\nDecimal\n\x8c\x041.10\x85R.", Value::Decimal("1.10".to_owned()));
    check(b"cdecimal\nDecimal\n\x8c\x04sNaN\x85R.", typed("decimal", "", text("sNaN")));
    check(b"cfractions\nFraction\nK\x01K\x03\x86R.", typed("fraction", "", text("1/3")));
    check(b"cuuid\nUUID\n)\x81}\x8c\x03intK\x05sb.", {
        ext(Ext::Uuid([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5]))
    });
    check(b"c__builtin__\nset\n](K\x01K\x02e\x85R.", typed("set", "", ints(&[1, 2])));
    check(b"cbuiltins\ncomplex\nG?\xf0\0\0\0\0\0\0G\0\0\0\0\0\0\0\0\x86R.", {
        ext(Ext::Complex(1.0, 0.0))
    });
    check(b"ccollections\ndeque\n)K\x05\x86RK\x01a.", typed("deque", "5", ints(&[1])));
    check(b"ccollections\nOrderedDict\n)RK\x01Ns.", {
        typed("ordered_dict", "", Value::Map(vec![(Value::Int(1), Value::Null)]))
    });
    check(b"ccollections\ndefaultdict\ncbuiltins\nlist\n\x85R.", {
        typed("defaultdict", "builtins.list", Value::Map(vec![]))
    });
    check(b"cpathlib\nPosixPath\n(V/\nVusr\nVlib\ntR.", {
        typed("path", "pathlib.PosixPath", text("/usr/lib"))
    });
    // The same functions with arguments that no pickler writes stay calls.
    for odd in [
        &b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R."[..],
        b"cdatetime\ndate\nC\x04\x07\xe4\x02\x1e\x85R.",
        b"cdatetime\ndate\nK\x01K\x01K\x01\x87R.",
        b"cdecimal\nDecimal\n\x8c\x03 1 \x85R.",
        b"ccollections\ndefaultdict\ncos\nsystem\n\x85R.",
        b"cpathlib\nPosixPath\nVa//b\n\x85R.",
        b"cbuiltins\nrange\nK\x01K\x01K\0\x87R.",
    ] {
        match read(odd) {
            Ok(Value::Typed(t, _)) => assert_eq!(t.kind, "call", "{}", odd.escape_ascii()),
            other => panic!("{}: {other:?}", odd.escape_ascii()),
        }
    }
}

#[test]
fn a_call_whose_result_is_dropped_is_refused() {
    let error = read(b"cos\nsystem\n(S'id'\ntR0N.").unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Refused, Some(19)), "{error}");
    assert!(error.message().contains("os.system"), "{error}");
    // Also below the value, and only in the memo.
    assert!(read(b"cos\nsystem\n(S'id'\ntRN.").is_err());
    assert!(read(b"cos\nsystem\n(S'id'\ntRq\x000N.").is_err());
    assert!(read(b"cos\nsystem\n0N.").is_err());
    assert!(read(b"Prow\n0N.").is_err());
    // Harmless calls may be discarded.
    check(b"cdatetime\ndate\nC\x04\x07\xe4\x01\x02\x85R0N.", Value::Null);
    check(b"]0N.", Value::Null);
}

#[test]
fn broken_pickles() {
    check_error(b"", ErrorKind::Truncated, 0, "nothing");
    check_error(b"N", ErrorKind::Truncated, 1, "found the end");
    check_error(b"X\x05\0\0\0ab", ErrorKind::Truncated, 0, "7 of the 10 bytes of BINUNICODE");
    check_error(b"Vab", ErrorKind::Truncated, 0, "expected a line break");
    check_error(b"\xff.", ErrorKind::Syntax, 0, "0xFF");
    check_error(b"NN(.", ErrorKind::Syntax, 3, "too few values");
    check_error(b"t.", ErrorKind::Syntax, 0, "no mark");
    check_error(b"}(NNNu.", ErrorKind::Syntax, 5, "key without a value");
    check_error(b"N)R.", ErrorKind::Syntax, 2, "found None, expected a callable");
    for (call, offset) in [
        (&b"cbuiltins\nset\n)R)R."[..], 17),
        // The value is called where it is used again, long after it was created.
        (b"(cbuiltins\nset\n)Rq\x00K\x01h\x00)Rt.", 24),
        (b"cbuiltins\nset\n)R)\x81.", 17),
        (b"cbuiltins\nset\n)R)}\x92.", 18),
        (b"(cbuiltins\nset\n)Ro.", 17),
        // As a key, which another walk describes.
        (b"}cbuiltins\nfrozenset\n)R)RNs.", 24),
        // A value that the target keeps as a call is still not callable.
        (b"cdatetime\ntimezone\ncdatetime\ntimedelta\nK\0K\0K\0\x87R\x85R)R.", 50),
    ] {
        check_error(call, ErrorKind::Syntax, offset, "expected a callable");
    }
    check_error(b"cm\nf\n]R.", ErrorKind::Syntax, 6, "found a list as arguments");
    check_error(b"NNa.", ErrorKind::Syntax, 2, "items on None");
    check_error(b"]NNs.", ErrorKind::Syntax, 3, "keys and values on a list");
    check_error(b"NN\x93.", ErrorKind::Syntax, 2, "a name as text");
    check_error(b"\x82\0.", ErrorKind::Syntax, 0, "extension code");
    check_error(b"S'a\n.", ErrorKind::Syntax, 0, "quoted text");
    check_error(b"I1_0\n.", ErrorKind::Syntax, 0, "expected an integer");
    check_error(b"T\xff\xff\xff\xffab.", ErrorKind::Syntax, 0, "negative length");
}

#[test]
fn one_behind_the_other() {
    let mut reader = Reader::from_slice(Parser::new(Options::default(), Limits::default()), {
        b"K\x01.]q\0.h\0."
    });
    let limits = Limits::default();
    for expected in [Value::Int(1), ints(&[])] {
        let mut builder = Builder::new(&limits);
        assert!(reader.next(&mut builder).unwrap());
        assert_eq!(builder.take(), Some(expected));
    }
    // Each has a memo of its own.
    assert!(reader.next(&mut Builder::new(&limits)).is_err());
}

#[test]
fn surveys() {
    let limits = Limits::default();
    #[track_caller]
    fn judged(bytes: &[u8], verdict: Verdict, reason: Option<&str>) -> Survey {
        let survey = survey(bytes, &Limits::default());
        assert_eq!((survey.verdict(), survey.reason()), (verdict, reason), "{survey:?}");
        survey
    }
    judged(b"](K\x01K\x02e.", Verdict::Data, None);
    judged(b"cdatetime\ndate\nC\x04\x07\xe4\x01\x02\x85R.", Verdict::HarmlessTypes, None);
    let seen = judged(b"cm\nC\n)\x81.", Verdict::UnknownCode, Some("it calls m.C at byte 6"));
    assert_eq!(seen.calls[0].instruction, "NEWOBJ");
    let seen = judged(
        b"Ncposix\nsystem\n(S'id'\n]K\x07atR0.",
        Verdict::Attack,
        Some("it calls posix.system at byte 27"),
    );
    assert_eq!(seen.calls[0].shown, "posix.system('id', [7])");
    assert_eq!((seen.calls[0].offset, seen.calls[0].arguments), (27, 2));
    // Whatever comes before a break is run.
    let seen = judged(b"cm\nf\n)R\xff", Verdict::UnknownCode, Some("it calls m.f at byte 6"));
    assert_eq!(seen.error.unwrap().offset(), Some(7));
    judged(b"\x82\x01.", Verdict::UnknownCode, Some("it uses extension code 1"));
    judged(b"Pa\n.", Verdict::Incomplete, None);
    judged(b"N", Verdict::Incomplete, None);
    // A time zone by its name, and a time in it.
    let zone = b"czoneinfo\nZoneInfo\n\x8c\x0dEurope/Warsaw\x85R";
    judged(&[&zone[..], b"."].concat(), Verdict::HarmlessTypes, None);
    let time = b"cdatetime\ndatetime\nC\x0a\x07\xe4\x07\x01\x0c\0\0\0\0\0";
    judged(&[&time[..], zone, b"\x86R."].concat(), Verdict::HarmlessTypes, None);
    // A harmless function with arguments that are not harmless.
    judged(
        b"czoneinfo\nZoneInfo\nK\x01\x85R.",
        Verdict::UnknownCode,
        Some("it calls zoneinfo.ZoneInfo at byte 22"),
    );
    judged(
        b"cbuiltins\nbytearray\nJ\xff\xff\xff\x7f\x85R.",
        Verdict::UnknownCode,
        Some("it calls builtins.bytearray at byte 26"),
    );
    judged(
        b"csys\nmodules\n\x8c\x02osNs.",
        Verdict::Attack,
        Some("it imports sys.modules at byte 0"),
    );
    judged(b"N.cm\nf\n.", Verdict::UnknownCode, Some("it imports m.f at byte 2"));
    assert_eq!(survey(b"N.N.", &limits).pickles, 2);
}
