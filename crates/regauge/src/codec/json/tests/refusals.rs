//! What is no JSON: where it is refused, and with which message.

use super::refuse_with;
use crate::codec::json::ReadOptions;

#[track_caller]
pub(super) fn refuse(input: impl AsRef<[u8]>, offset: u64, message: &str) {
    refuse_with(ReadOptions::default(), input.as_ref(), offset, message);
}

#[test]
fn refusals() {
    refuse("", 0, "found the end of the input, expected a value");
    refuse("  ", 2, "found the end of the input, expected a value");
    refuse("[1", 2, "found the end of the input, expected `,` or `]`");
    refuse("{\"a\"", 4, "found the end of the input, expected `:`");
    refuse("{\"a\":1,", 7, "found the end of the input, expected a key in double quotes");
    refuse("\"abc", 4, "found the end of the input inside a string, expected `\"`");
    refuse("\"ab\\", 4, "found the end of the input inside a string, expected `\"`");
    refuse("[tru", 4, "found the end of the input, expected the rest of `true`");
    refuse("-", 1, "found the end of the input inside a number, expected a digit");
    refuse(
        "1.",
        2,
        "found the end of the input inside a number, expected a digit after the decimal point",
    );
    refuse("[1 2]", 3, "found `2`, expected `,` or `]`");
    refuse("{\"a\" 1}", 5, "found `1`, expected `:`");
    refuse("{a:1}", 1, "found `a`, expected a key in double quotes or `}`");
    refuse("[1}", 2, "found `}`, expected `,` or `]`");
    refuse("{\"a\":1]", 6, "found `]`, expected `,` or `}`");
    refuse("[,1]", 1, "found `,`, expected a value or `]`");
    refuse("]", 0, "found `]`, expected a value");
    refuse(
        "[1,]",
        3,
        "found `]` after a comma, expected a value; pass --json-trailing-commas to accept it",
    );
    refuse(
        "{\"a\":1,}",
        7,
        "found `}` after a comma, expected a key in double quotes; pass --json-trailing-commas to accept it",
    );
    refuse(
        "[1] 2",
        4,
        "found `2` after the document, expected the end of the input; pass --from ndjson if every line holds a document",
    );
    refuse("1 ]", 2, "found `]` after the document, expected the end of the input");
    refuse(
        "// x\n1",
        0,
        "found `/`, expected a value; pass --json-comments to accept // and /* */",
    );
    refuse(
        "[NaN]",
        1,
        "found `NaN`, expected a value or `]`; pass --json-allow-nan to accept NaN, Infinity and -Infinity",
    );
    refuse(
        "[-Infinity]",
        2,
        "found `Infinity`, expected a digit; pass --json-allow-nan to accept NaN, Infinity and -Infinity",
    );
    refuse("[None]", 1, "found `None`, expected a value or `]`; JSON writes `null`");
    refuse("[True]", 1, "found `True`, expected a value or `]`; JSON writes `true`");
    refuse("[truth]", 1, "found `truth`, expected `true`");
    refuse("[nul]", 1, "found `nul`, expected `null`");
    refuse("['a']", 1, "found `'`, expected a value or `]`; JSON strings need double quotes");
    refuse(
        "{“a”:1}",
        1,
        "found `“` (U+201C), expected a key in double quotes or `}`; JSON strings need straight double quotes",
    );
    refuse(
        "[+1]",
        1,
        "found `+`, expected a value or `]`; JSON writes numbers without a plus sign",
    );
    refuse(
        "[.5]",
        1,
        "found `.`, expected a value or `]`; JSON requires a digit before the decimal point",
    );
    refuse(
        "[01]",
        2,
        "found a digit after a leading zero, expected a number without leading zeros",
    );
    refuse("[1.e5]", 3, "found `e5`, expected a digit after the decimal point");
    refuse("[1ex]", 3, "found `x`, expected a digit of the exponent");
    refuse("[1x]", 2, "found `x`, expected `,` or `]`");
    refuse("\"a\nb\"", 2, "found the control character 0x0A in a string, expected `\\n`");
    refuse("\"\u{1}\"", 1, "found the control character 0x01 in a string, expected `\\u0001`");
    refuse(
        "\"\\x41\"",
        1,
        "found `\\x` in a string, expected one of the escapes \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u",
    );
    refuse("\"\\u12G4\"", 5, "found `G`, expected a hexadecimal digit of `\\u`");
    refuse("[\u{1}]", 1, "found the control character 0x01, expected a value or `]`");
    refuse("[\u{a0}1]", 1, "found `\\u{a0}` (U+00A0), expected a value or `]`");
    refuse(b"[\xFF]", 1, "found byte 0xFF, which is not UTF-8, expected a value or `]`");
    let utf8 = "expected UTF-8 (RFC 8259 §8.1)";
    let latin = "convert it first, for example: iconv -f LATIN1 -t UTF-8";
    refuse(b"\"caf\xE9\"", 4, &format!("found byte 0xE9 in a string, {utf8}; {latin}"));
    refuse(b"[\"\xC3\xA9\xC3\", 1]", 4, &format!("found byte 0xC3 in a string, {utf8}; {latin}"));
    refuse(b"\"\xE9 \\x\"", 1, &format!("found byte 0xE9 in a string, {utf8}; {latin}"));
    let utf16 = "found UTF-16 or UTF-32, expected UTF-8 (RFC 8259 §8.1); convert it first: iconv -f UTF-16 -t UTF-8";
    for input in [&b"\xFF\xFE[\0]\0"[..], b"\xFE\xFF\0[\0]", b"[\0]\0", b"\0[\0]"] {
        refuse(input, 0, utf16);
    }
    refuse(b"\xEF\xBB\xBF\xEF\xBB\xBF1", 3, "found `\\u{feff}` (U+FEFF), expected a value");
}
