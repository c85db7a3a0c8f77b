//! Bytes in pieces, bytes cut off, bytes at random, and the limits: the same values, the same error,
//! no panic, no memory without bound.

use regauge_testdata::Random;

use super::*;
use crate::ErrorKind;
use crate::policy::event::recorder::Pieces;

/// A document, or the kind and the text of an error.
type Outcome = std::result::Result<Option<Value>, String>;

/// What comes of all of a reader's documents.
fn outcome(mut reader: Reader<'_>) -> Outcome {
    let mut builder = Builder::new(&Limits::NONE);
    let shown = |error: Error| format!("{:?} {error}", error.kind());
    let given = reader.next(&mut builder).map_err(shown)?;
    assert!(!reader.next(&mut builder).map_err(shown)?, "one document");
    assert!(given);
    Ok(builder.take())
}

fn check_pieces(bytes: &[u8], limits: Limits) -> Outcome {
    let parser = || Parser::new(Options::default(), limits);
    let whole = outcome(Reader::from_slice(parser(), bytes));
    assert_eq!(
        format!("{whole:?}"),
        format!("{:?}", outcome(Reader::from_read(parser(), Pieces(bytes, 1))))
    );
    whole
}

/// Parts of documents, valid and not, put together at random: whatever comes of them comes again,
/// and what is read can be written and read.
#[test]
fn at_random() {
    const PARTS: [&str; 48] = [
        "a",
        "b",
        "c",
        ".",
        ".",
        " = ",
        " = ",
        "=",
        "1",
        "-2.5",
        "true",
        "\"x\"",
        "'y'",
        "\"\"\"",
        "'''",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        ", ",
        ",",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "# c\n",
        "é",
        "1979-05-27",
        "07:32",
        "T",
        "Z",
        "+01:00",
        "_",
        "0x",
        "inf",
        "nan",
        "\\",
        "\\n",
        "\u{0}",
        "\u{FEFF}",
        "[a]\n",
        "[[b]]\n",
        "c = 1\n",
    ];
    let mut random = Random::new(42);
    let mut read = 0;
    for _ in 0..60_000 {
        let input: String =
            (0..1 + random.below(14)).map(|_| PARTS[random.below(PARTS.len())]).collect();
        let Ok(Some(value)) = check_pieces(input.as_bytes(), Limits::default()) else { continue };
        read += 1;
        let written = to_vec(&value, OnLoss::Refuse).unwrap_or_else(|e| panic!("{e}\n{input:?}"));
        let again = from_slice(&written);
        let again = again.unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&written)));
        assert!(crate::matrix::same(&[value], &[again]), "{input:?}");
    }
    assert!(read > 1000, "{read}");
}

#[test]
fn cut_anywhere() {
    let document =
        "a = [1, { b = \"é\" }]\n[c.'d']\ne = 1979-05-27T07:32:00Z\n[[f]]\ng = '''\nx'''\n";
    for cut in 0..document.len() {
        if let Err(error) = check_pieces(&document.as_bytes()[..cut], Limits::default()) {
            assert!(error.contains("byte "), "{error}");
        }
    }
}

#[track_caller]
fn check_limit(input: &str, limits: Limits, name: Option<&str>) {
    match (check_pieces(input.as_bytes(), limits), name) {
        (Ok(_), None) => {}
        (Err(error), Some(name)) => {
            assert!(error.starts_with("Limit") && error.contains(name), "{error}");
        }
        (result, _) => panic!("{result:?}"),
    }
}

#[test]
fn limits() {
    let limits = Limits::default();
    let nested = |depth: usize| format!("a = {}{}", "[".repeat(depth), "]".repeat(depth));
    // The table at the top is one.
    check_limit(&nested(511), limits, None);
    check_limit(&nested(512), limits, Some("512 nested tables and arrays, the limit of depth"));
    let dotted = |depth: usize| format!("{}a = 1", "a.".repeat(depth));
    check_limit(&dotted(511), limits, None);
    check_limit(&dotted(512), limits, Some("the limit of depth"));
    check_limit(&format!("{}a = 1.5", "a . ".repeat(511)), limits, None);
    check_limit(&format!("[{}a]", "a.".repeat(511)), limits, Some("the limit of depth"));
    check_limit(&nested(1023), Limits { depth: u32::MAX, ..limits }, None);
    check_limit(&nested(1024), Limits { depth: u32::MAX, ..limits }, Some("the limit of depth"));

    let four = "a = [1, 2]\nb = 3";
    check_limit(four, Limits { nodes: 4, ..limits }, None);
    check_limit(four, Limits { nodes: 3, ..limits }, Some("more than 3 nodes, the limit of nodes"));
    for bytes in [15, 16] {
        let limits = Limits { record_bytes: bytes, ..limits };
        check_limit(
            four,
            limits,
            (bytes < 16).then_some("more than 15 bytes, the limit of record_bytes"),
        );
    }
    let long = "a = 'xyz'";
    check_limit(long, Limits { token_bytes: 5, ..limits }, None);
    check_limit(
        long,
        Limits { token_bytes: 4, ..limits },
        Some("more than 4 bytes, the limit of token_bytes"),
    );
}

/// Input that would take much more time or memory than its size, if it were read naively.
#[test]
fn bombs() {
    let limits = Limits { nodes: 1000, ..Limits::default() };
    let size = 1 << 20;
    for (input, expected) in [
        ("a = ".to_owned() + &"[".repeat(size), "the limit of depth"),
        ("a = [\n".repeat(size / 6), "Syntax"),
        ("a = ".to_owned() + &". ".repeat(size), "Syntax"),
        ("a = [".to_owned() + &"1 ".repeat(size), "Syntax"),
        ("a = [".to_owned() + &"1,".repeat(size), "the limit of nodes"),
        ("a".to_owned() + &".a".repeat(size), "the limit of depth"),
        ("[".to_owned() + &"a.".repeat(size), "the limit of depth"),
        ("[[a]]\n".repeat(size / 8), "the limit of nodes"),
    ] {
        let error = check_pieces(input.as_bytes(), limits).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
    // Many blank lines and comments in brackets that are never closed.
    let open = "a = ".to_owned() + &"[".repeat(500) + &"\n# c\n ".repeat(size);
    let error = from_slice(open.as_bytes()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated, "{error}");
}
