//! Why values stay, in words that are the same for the same cause in another value.

use regauge::Error;

/// A number of so many digits is a value, rather than a part of the message.
const LONG_DIGITS: usize = 5;

/// Returns the message of an error without the value, and its path with `*` for each index.
pub fn reason(error: &Error) -> String {
    let message = without_value(error.message());
    let Some(path) = error.path() else { return message };
    let mut place = String::new();
    let mut is_index = false;
    for c in path.to_string().chars() {
        match c {
            '[' => is_index = true,
            ']' => is_index = false,
            '0'..='9' if is_index => {
                if !place.ends_with('*') {
                    place.push('*');
                }
                continue;
            }
            _ => {}
        }
        place.push(c);
    }
    format!("at {place}: {message}")
}

/// Leaves the value out of a message: `(2026-11-26)`, and long numbers.
fn without_value(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some(at) = rest.find(|c: char| c == '(' || c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let digits = from.bytes().take_while(u8::is_ascii_digit).count();
        let (shown, length) = match (digits, closing(from)) {
            (0, Some(end)) => ("", end + 1),
            (0, None) => ("(", 1),
            (1..LONG_DIGITS, _) => (&from[..digits], digits),
            _ => ("…", digits),
        };
        text += if shown.is_empty() { before.trim_end() } else { before };
        text += shown;
        rest = &from[length..];
    }
    text + rest
}

/// Returns where the parenthesis that text begins with is closed. A name inside may have some of its own, so that a word
/// never follows the right one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                let ends = !text[at + 1..]
                    .starts_with(|c: char| !matches!(c, ' ' | ',' | ';' | ':' | '.'));
                if depth <= 0 && ends {
                    return Some(at);
                }
                last = Some(at);
            }
            _ => {}
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_its_value() {
        for (message, expected) in [
            ("found a date (2026-11-26), which X cannot hold", "found a date, which X cannot hold"),
            ("found the integer -1208925819614629174706176 there", "found the integer -… there"),
            ("found 2 documents (", "found 2 documents ("),
            (
                "found a kind object (<script>alert(1)</script>), which",
                "found a kind object, which",
            ),
            ("found a kind object (A)</script>), which", "found a kind object, which"),
            ("found a kind object (A(b), which", "found a kind object, which"),
            ("found one (a), and one (b)", "found one, and one"),
        ] {
            assert_eq!(without_value(message), expected);
        }
    }
}
