//! Values in the formats that can run code when they are loaded, whole or not.

use regauge::{Error, Format, Limits, marshal, pickle};

use crate::look::{Codec, Danger, Form, Look, Risk};

/// Looks into a value that is Marshal or a pickle to its end.
pub fn whole(bytes: &[u8], format: Format, limits: &Limits) -> Option<Look> {
    if format == Format::Marshal {
        let survey = marshal::survey(bytes, limits);
        return (survey.error.is_none() && survey.documents > 0).then(|| of_marshal(survey));
    }
    let survey = pickle::survey(bytes, limits);
    let is_whole = survey.error.is_none() && survey.pickles > 0;
    (is_whole && !is_word(bytes)).then(|| of_pickle(survey))
}

/// Looks into Marshal and pickles that cannot be read to their end, but that their languages load, or begin to load:
/// they ignore what follows the first document, and have other limits. `may_be_other` tells whether the bytes make sense
/// as something else.
pub fn broken(bytes: &[u8], limits: &Limits, may_be_other: bool) -> Option<Look> {
    if bytes.starts_with(b"\x04\x08") {
        let survey = marshal::survey(bytes, limits);
        return survey.error.is_some().then(|| of_marshal(survey));
    }
    let has_mark = matches!(bytes, [0x80, 0..=5, _, ..]);
    if !has_mark && !may_import(bytes) {
        return None;
    }
    let survey = pickle::survey(bytes, limits);
    let is_pickle = match has_mark {
        true => !may_be_other || !survey.imports.is_empty(),
        false => loads_something(bytes, &survey),
    };
    (is_pickle && survey.error.is_some()).then(|| of_pickle(survey))
}

fn of_marshal(survey: marshal::Survey) -> Look {
    let danger = match survey.verdict() {
        marshal::Verdict::Data => Danger::Data,
        marshal::Verdict::HarmlessTypes => Danger::Harmless,
        marshal::Verdict::Incomplete => Danger::Incomplete,
        marshal::Verdict::UnknownClasses | marshal::Verdict::UnknownCode => Danger::Classes,
        marshal::Verdict::Attack => Danger::Attack,
    };
    let names = survey.classes.into_iter().map(|class| (class.name, class.risk));
    of(Format::Marshal, danger, names, survey.error)
}

fn of_pickle(survey: pickle::Survey) -> Look {
    let danger = match survey.verdict() {
        pickle::Verdict::Data => Danger::Data,
        pickle::Verdict::HarmlessTypes => Danger::Harmless,
        pickle::Verdict::Incomplete => Danger::Incomplete,
        pickle::Verdict::UnknownCode => Danger::Classes,
        pickle::Verdict::Attack => Danger::Attack,
    };
    let name = |import: pickle::Import| (format!("{}.{}", import.module, import.name), import.risk);
    of(Format::Pickle, danger, survey.imports.into_iter().map(name), survey.error)
}

fn of(
    format: Format,
    danger: Danger,
    names: impl Iterator<Item = (String, Risk)>,
    error: Option<Error>,
) -> Look {
    let mut look = Look::of(Form::bare(vec![], Codec::Format(format)), None);
    // What is broken is not harmless for that.
    look.danger = if error.is_some() { danger.max(Danger::Incomplete) } else { danger };
    for (name, risk) in names {
        let known = look.classes.entry(name).or_insert(risk);
        *known = risk.max(*known);
    }
    look.broken = error;
    look
}

/// Returns whether bytes are a text of one line that happens to be a pickle, as `Mrs.`, `Jörg.` and `N.` are. Picklers
/// write few such: with a protocol before 2, of `None`, `()` and a few numbers.
fn is_word(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains(char::is_control))
}

/// Returns whether bytes may be a pickle without a mark that has an import or a memo: they begin with an instruction that
/// takes nothing, and go on with two lines or with instructions that are no text.
fn may_import(bytes: &[u8]) -> bool {
    const FIRST: &[u8] =
        b"(])}cNIJKLMFGSTUVXBCP\x82\x83\x84\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x95\x96";
    let begins = bytes.first().is_some_and(|byte| FIRST.contains(byte));
    let is_binary = |byte: &u8| matches!(byte, 0x82..=0x84 | 0x93 | b'q' | b'r');
    begins
        && (bytes.iter().any(is_binary)
            || bytes.iter().filter(|byte| **byte == b'\n').nth(1).is_some())
}

/// Returns whether what was surveyed is a pickle without a mark, rather than a text that begins like one: loading it
/// imports what is known, calls something, or ends with what picklers write.
fn loads_something(bytes: &[u8], survey: &pickle::Survey) -> bool {
    let has_ended = survey.pickles > 1 || survey.error.is_none();
    let has_memo = [&b"(lp"[..], b"(dp", b"(tp", b"]q\0", b"}q\0"].iter().any(|begin| bytes.starts_with(begin))
        || bytes.split(|byte| *byte == b'\n').nth(1).is_some_and(
            |line| matches!(line, [b'p', digits @ ..] if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)),
        );
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'))
    };
    let mut imports =
        survey.imports.iter().filter(|import| is_name(&import.module) && is_name(&import.name));
    imports.any(|import| has_ended || !survey.calls.is_empty() || import.risk != Risk::Unknown)
        || !survey.extensions.is_empty() && has_ended
        || has_ended && has_memo
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::Looker;

    fn look(bytes: &[u8]) -> Look {
        Looker::new(Limits::default()).look(bytes)
    }

    #[test]
    fn what_languages_load_is_named_even_if_it_is_not_whole() {
        let deep = [b"\x04\x08".to_vec(), b"[\x06".repeat(2000), b"0".to_vec()].concat();
        for (bytes, format, danger) in [
            (&b"cos\nsystem\n(S\"id\"\ntR.zzz"[..], Format::Pickle, Danger::Attack),
            (b"\x80\x04cos\nsystem\n(S\"id\"\ntR.zzz", Format::Pickle, Danger::Attack),
            (b"N0cos\nsystem\n(S\"id\"\ntR.zzz", Format::Pickle, Danger::Attack),
            (b"cos\nsystem\n(S\"id\"\ntR!", Format::Pickle, Danger::Attack),
            (b"cshop\nCart\n)R.zzz", Format::Pickle, Danger::Classes),
            (b"\x80\x04]\x94K\x01a.tail", Format::Pickle, Danger::Incomplete),
            (b"\x80\x02K", Format::Pickle, Danger::Incomplete),
            (b"(lp0\nI1\na.tail", Format::Pickle, Danger::Incomplete),
            (b"S'a'\np0\n.tail", Format::Pickle, Danger::Incomplete),
            (b"\x04\x08[\x06i\x06xx", Format::Marshal, Danger::Incomplete),
            (b"\x04\x08o:\x08Foo\0xx", Format::Marshal, Danger::Classes),
            (&deep, Format::Marshal, Danger::Incomplete),
        ] {
            let look = look(bytes);
            let shown = bytes[..bytes.len().min(40)].escape_ascii();
            assert_eq!(look.form.codec, Codec::Format(format), "{shown}");
            assert_eq!(look.danger, danger, "{shown}");
            assert!(look.broken.is_some(), "{shown}");
        }
        let mut limits = Limits::default();
        limits.record_bytes = 1 << 10;
        let long = [b"\x80\x04X\0\x08\0\0".to_vec(), vec![b'x'; 2048], b".".to_vec()].concat();
        let look = Looker::new(limits).look(&long);
        assert_eq!(
            (look.form.codec, look.danger),
            (Codec::Format(Format::Pickle), Danger::Incomplete)
        );
    }

    #[test]
    fn what_begins_like_a_pickle_by_chance_is_none() {
        for text in [
            "Mrs.",
            "Jones.",
            "Ka.",
            "Jörg.",
            "Göteborg.",
            "Må.",
            "N2.",
            "(t.",
            "]2.",
            "Mrs. Smith",
            "Jones. He said\nthat\nit is.",
            "N. Smith\nq\nr",
            "). And\nso\non",
            "cat\ndog\nbird",
            "city: Bonn\nname - Ada\n- a",
            "comment\nby: Ada\nIt is.",
            "(t. b. d.)\n\n",
            "Version 1\n.\nfoo",
            "Version 1\n.\nfoo.",
            "I1\n.x",
            "Question?\nAnswer.\nGot it.",
            "a:1:{i:0;i:7;}x",
            "cos\nis a function\nof x",
            "Could you\nread this\n(tomorrow)?\nR.",
        ] {
            let look = look(text.as_bytes());
            assert!(
                !matches!(look.form.codec, Codec::Format(Format::Pickle | Format::Marshal)),
                "{text}"
            );
            assert_eq!(look.danger, Danger::None, "{text}");
        }
        // By the thousand: every two first letters, before words and lines with many of the instructions.
        let tails = [
            " the rest. Done.\nNext. (It)\nR. b.\n",
            "\nos\n(t",
            ". q r s\nt. u\n",
            "12.5\n[1,2].\n",
        ];
        for first in b' '..=b'~' {
            for second in b' '..=b'~' {
                for tail in tails {
                    let text = [&[first, second][..], tail.as_bytes()].concat();
                    let look = look(&text);
                    let is_pickle = look.form.codec == Codec::Format(Format::Pickle);
                    assert!(!is_pickle, "{}", text.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn nothing_is_said_of_what_is_not_recognised() {
        assert_eq!(look(b"\xFE\xFE\x00\xFF").danger, Danger::Unknown);
        assert_eq!(look(b"plain text").danger, Danger::None);
        // A block of Snappy whose length begins like the mark of protocol 4.
        let block = snap::raw::Encoder::new().compress_vec(&[0xC1; 512]).unwrap();
        assert_eq!(block[..2], [0x80, 4]);
        assert_eq!(look(&block).form.codec, Codec::Unknown);
    }
}
