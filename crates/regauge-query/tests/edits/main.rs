//! Filters over files that are edited in place: what is changed, and that nothing else is.

mod json;
mod random;
mod toml;
mod yaml;

use regauge::{Error, ErrorKind, Format, Options, Result, Value, edit};
use regauge_query::Filter;

fn options(format: Format) -> Options {
    let mut options = Options::new(format, format);
    options.json_read.comments = true;
    options.json_read.trailing_commas = true;
    options
}

/// Edits a text with a filter; the text itself if nothing changes.
fn edited_with(options: &Options, filter: &str, text: &str) -> Result<String> {
    let filter = Filter::compile(filter, &[]).unwrap_or_else(|fault| panic!("{filter}: {fault}"));
    let mut change = |document: &Value| {
        let mut outputs = filter.run(document)?;
        outputs.pop().ok_or_else(|| Error::new(ErrorKind::Data, "no output"))
    };
    let edited = edit(text.as_bytes(), options, &mut change)?;
    Ok(edited.map_or_else(|| text.to_owned(), |bytes| String::from_utf8(bytes).unwrap()))
}

/// Checks what a filter makes of a text, with every kind of line break.
#[track_caller]
fn check(format: Format, filter: &str, before: &str, after: &str) {
    let edited = |text: &str| {
        edited_with(&options(format), filter, text)
            .unwrap_or_else(|error| panic!("{filter}: {error}"))
    };
    assert_eq!(edited(before), after, "{filter}");
    let crlf = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(edited(&crlf(before)), crlf(after), "{filter}, with CRLF");
    let marked = |text: &str| format!("\u{FEFF}{text}");
    assert_eq!(edited(&marked(before)), marked(after), "{filter}, with a byte order mark");
    let (open, end) = (before.trim_end_matches('\n'), after.trim_end_matches('\n'));
    if format != Format::Yaml || !before.contains(['|', '>']) {
        assert_eq!(edited(open), end, "{filter}, without the last line break");
    }
}

#[track_caller]
fn refused(format: Format, filter: &str, text: &str, wanted: &str) {
    match edited_with(&options(format), filter, text) {
        Ok(edited) => panic!("{filter} made\n{edited}"),
        Err(error) => assert!(error.to_string().contains(wanted), "{filter}: {error}"),
    }
}

#[test]
fn broken_and_empty_texts_are_errors_or_stay() {
    let of = |format, text: &str| edited_with(&options(format), ".", text);
    assert_eq!(of(Format::Yaml, "# nothing\n").unwrap(), "# nothing\n");
    assert_eq!(of(Format::Toml, "").unwrap(), "");
    assert_eq!(edited_with(&options(Format::Toml), ".a = 1", "").unwrap(), "a = 1\n");
    assert_eq!(edited_with(&options(Format::Toml), ".a = 1", "# x\n").unwrap(), "# x\na = 1\n");
    assert!(of(Format::Json, "{\"a\":").is_err());
    assert!(of(Format::Yaml, "a: [").is_err());
    refused(Format::Yaml, ".a = 1", "---\n", "the document is empty");
}
