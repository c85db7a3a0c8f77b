use super::*;
use crate::policy::event::ShortText;

#[track_caller]
fn check(style_wanted: Style, texts: &[&str]) {
    for text in texts {
        assert_eq!(style(text, Place::Value), style_wanted, "{text:?}");
    }
}

#[test]
fn what_is_plain() {
    check(
        Style::Plain,
        &[
            "a",
            "hello world",
            "http://example.org/a#b?c=d&e",
            "it's \"fine\" [really] {yes}, isn't it",
            "-v",
            "--verbose",
            ".gitignore",
            "10 Downing Street",
            "1st",
            "a:b",
            "a#b",
            "yess",
            "nope",
            "o",
            "t",
            "null value",
            "<b>",
            "<<<",
            "==",
            "~/bin",
            "größe",
            "日本語",
            "a\u{A0}b",
            "“quoted”",
            "🦀",
            "a - b ? c",
            "back\\slash",
            "deadbeef",
            "x1e3",
            "Ｆｕｌｌ ｗｉｄｔｈ",
        ],
    );
}

#[test]
fn what_readers_take_for_something_else() {
    check(
        Style::Single,
        &[
            "",
            "~",
            "null",
            "Null",
            "NULL",
            "nUlL",
            "true",
            "True",
            "TRUE",
            "tRUE",
            "false",
            "yes",
            "Yes",
            "YES",
            "no",
            "NO",
            "on",
            "On",
            "off",
            "OFF",
            "y",
            "Y",
            "n",
            "N",
            "=",
            "<<",
            "0",
            "1",
            "-1",
            "+1",
            "12",
            "012",
            "0o7",
            "0x1F",
            "0b101",
            "1_000",
            "1,000",
            "1:30",
            "12:30:45",
            "190:20:30.15",
            "1.5",
            ".5",
            "5.",
            "1e3",
            "1E+3",
            "1.0e+16",
            "1.2.3",
            ".inf",
            "-.inf",
            "+.INF",
            ".nan",
            ".NaN",
            "2001-01-01",
            "2001-1-1",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-15 2:59:43.10 Z",
            "1e",
            "0x",
            "-",
            "+",
            ".",
            "10.0.0.1",
        ],
    );
}

#[test]
fn what_the_grammar_takes_for_something_else() {
    check(
        Style::Single,
        &[
            "- a", "---", "--- a", "---a", "...", "... a", "? a", "?", ":", ":a", ": a", "a: b",
            "a:", "a :", "a #b", "#a", "!x", "!", "&x", "*x", "%x", "@x", "`x", ",", "[", "]", "{",
            "}", "[1]", "{a: 1}", "|", ">", "\"", "\"a\"", " a", "a ", " ", "| a", "a: ",
        ],
    );
}

#[test]
fn what_needs_escapes() {
    check(
        Style::Double,
        &[
            "\t",
            "a\tb",
            "\0",
            "\u{1}",
            "\u{1B}[0m",
            "\r",
            "a\r\nb",
            "\u{7F}",
            "\u{80}",
            "\u{85}",
            "\u{9F}",
            "\u{2028}",
            "a\u{2029}",
            "\u{FEFF}a",
            "\u{FFFE}",
            "\u{FFFF}",
            // A quote in what must be quoted.
            "'",
            "'a'",
            "it's: x",
            "- '",
            "it's 5 o'clock: x\"",
        ],
    );
}

#[test]
fn lines() {
    check(Style::Literal, &["a\nb", "a\n", "a\n\n", "a\n\n  b\n", "# a\nb", "- a\n- b", "'\n'"]);
    check(
        Style::Double,
        &["\n", "\na", " a\nb", "a \nb", "a\nb ", "a\n \nb", "a\n\tb", "a\r\nb", "a\n\u{2028}"],
    );
    for place in [Place::Key, Place::Flow] {
        assert_eq!(style("a\nb", place), Style::Double);
    }
}

#[test]
fn between_brackets() {
    for text in ["a,b", "a[0]", "{a", "a}", "a:b", "why?"] {
        assert_eq!(style(text, Place::Flow), Style::Single, "{text}");
        assert_eq!(is_plain(text.as_bytes()), text != "{a", "{text}");
    }
    assert_eq!(style("a b", Place::Flow), Style::Plain);
}

/// The rule as the module's documentation states it, character by character.
fn by_the_book(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let (Some(&first), Some(&last)) = (chars.first(), chars.last()) else { return false };
    let words = ["~", "=", "<<", "y", "n", "no", "on", "off", "yes", "true", "null", "false"];
    let in_numbers = |c: &char| "0123456789abcdefABCDEFxXoOtTzZiInN+-._,: ".contains(*c);
    let forbidden = |c: &char| {
        c.is_control()
            || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
    };
    !(first == ' '
        || last == ' '
        || last == ':'
        || "?:,[]{}#&*!|>'\"%@`".contains(first)
        || words.contains(&text.to_ascii_lowercase().as_str())
        || "0123456789+-.".contains(first) && chars.iter().all(in_numbers)
        || text == "-"
        || text.starts_with("- ")
        || text.starts_with("---")
        || text.starts_with("...")
        || chars.iter().any(forbidden)
        || text.contains(": ")
        || text.contains(" #"))
}

/// Checks that all three implementations agree, also with the text anywhere in a longer one.
#[track_caller]
fn agrees(text: &str) {
    assert_eq!(is_plain(text.as_bytes()), by_the_book(text), "{text:?}");
    let mut window = [b'\n'; 32];
    if text.len() < 32 && text.is_ascii() {
        window[..text.len()].copy_from_slice(text.as_bytes());
        let short = ShortText::ascii(&window, text.len()).unwrap();
        let plain = is_plain_short(short.window(), short.len());
        assert_eq!(plain, by_the_book(text), "{text:?}");
    }
}

#[test]
fn all_short_texts() {
    // Every text of up to four of these pieces, which together cover each rule.
    let alphabet = [
        "a", "y", "N", "o", "x", "1", "-", "+", ".", ":", "#", " ", "'", "?", "=", "<", "~", "\n",
        "\u{7F}", "é", "\u{85}", "\u{2028}", "，",
    ];
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..4 {
        let end = texts.len();
        for index in from..end {
            for part in alphabet {
                texts.push(format!("{}{part}", texts[index]));
            }
        }
        from = end;
    }
    assert_eq!(texts.len(), 1 + 23 + 529 + 12_167 + 279_841);
    texts.iter().for_each(|text| agrees(text));
}

#[test]
fn each_rule_at_each_place_of_each_length() {
    let parts = [
        ": ",
        " #",
        ":",
        "#",
        " ",
        "\u{7F}",
        "\n",
        "\0",
        "é",
        "\u{80}",
        "\u{9F}",
        "\u{A0}",
        "\u{2027}",
        "\u{2028}",
        "\u{2029}",
        "\u{202A}",
        "\u{FEFF}",
        "\u{FEFE}",
        "\u{FFFD}",
        "\u{FFFE}",
        "\u{FFFF}",
        "\u{1FFFF}",
        " é#",
        ":é ",
    ];
    for length in 0..70 {
        for part in parts {
            for place in 0..=length {
                let text = format!("{}{part}{}", "w".repeat(place), "w".repeat(length - place));
                agrees(&text);
            }
        }
    }
}

#[test]
fn every_character() {
    for char in (0..=0x10FFFF).filter_map(char::from_u32) {
        let text = format!("w{char}w");
        assert_eq!(is_plain(text.as_bytes()), by_the_book(&text), "U+{:04X}", char as u32);
    }
    for byte in 0..0x80 {
        let first = char::from(byte);
        for text in [format!("{first}"), format!("{first}w"), format!("{first}1")] {
            agrees(&text);
        }
    }
}
