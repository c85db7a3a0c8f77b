//! Any bytes as YAML: same result whole and in pieces, no panic, a lossless round trip, and the
//! same events as saphyr-parser, another YAML 1.2 parser, if both read the input.
#![no_main]

use libfuzzer_sys::fuzz_target;
use regauge::Format;
use regauge::yaml::Schema;
use regauge_fuzz::checks::{check_pieces, check_reader, lossless};
use saphyr_parser::{Event, Parser, ScalarStyle};

fuzz_target!(|data: &[u8]| {
    check_reader(Format::Yaml, data);
    let Ok(text) = std::str::from_utf8(data) else { return };
    check_1_1(text);
    // saphyr-parser takes `---` for text of a block scalar that is not indented.
    if text.contains("---") && text.contains(['|', '>']) {
        return;
    }
    // It combines the bytes of a character that is escaped in a tag into one number.
    let high = |two: &[u8]| matches!(two, [b'%', b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F']);
    if text.contains('!') && data.windows(2).any(high) {
        return;
    }
    let ours = regauge::yaml::events(data);
    let theirs = events(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let ours = comparable(&ours);
            // They count a last line of spaces without a break differently.
            if text.ends_with(' ') && text.contains(['|', '>']) {
                return;
            }
            assert!(ours == theirs, "events differ\n{text:?}\nours\n{ours}\ntheirs\n{theirs}");
        }
        (Err(ours), Err(_)) => assert!(ours.offset().is_some(), "{ours}"),
        (Ok(_), Err(theirs)) if STRICTER.iter().any(|part| theirs.contains(part)) => {}
        (Err(ours), Ok(_)) if LAXER.iter().any(|part| ours.message().contains(part)) => {}
        (Ok(ours), Err(theirs)) => panic!("only we read it: {theirs}\n{text:?}\n{ours}"),
        (Err(ours), Ok(theirs)) => panic!("only they read it: {ours}\n{text:?}\n{theirs}"),
    }
});

/// Checks the schema of YAML 1.1, whose other line breaks are detected in a copy: same result whole
/// and in pieces, and U+0085 equivalent to a line feed.
fn check_1_1(text: &str) {
    let mut options = lossless(Format::Yaml, Format::Msgpack);
    options.yaml.schema = Schema::Yaml11;
    let read = check_pieces(text.as_bytes(), &options).ok();
    if text.contains('\u{85}') && !text.contains("\r\u{85}") {
        let fed = check_pieces(text.replace('\u{85}', "\n").as_bytes(), &options).ok();
        assert!(read == fed, "U+0085 is read differently from a line feed: {text:?}");
    }
}

/// What saphyr-parser refuses though YAML 1.2.2 allows it, or though we read it on purpose: tabs as
/// separation, `?` and `-` before other indicators, brackets that close at their line's column,
/// blank lines of tabs; and aliases, which events do not resolve.
const STRICTER: [&str; 12] = [
    "unknown anchor",
    "expected whitespace",
    "valid YAML whitespace",
    "start with a tab",
    "tabs disallowed",
    "found a tab",
    "start with '-'",
    "wrongly indented line in block",
    "tab cannot be used as indentation",
    "invalid indentation",
    "did not find expected node content",
    "while parsing a flow",
];

/// What it reads though YAML 1.2.2 does not allow it: indicators at the beginning of plain scalars
/// in flow collections, block collections after other text, too little indentation, tabs in it,
/// characters that are not printable.
const LAXER: [&str; 15] = [
    "too little indentation",
    "expected a value",
    "only a value is allowed",
    "tab in the indentation",
    "directly after an anchor",
    "after other text",
    "after a value",
    "where a sequence continues",
    "key that spans several lines",
    "verbatim tag without",
    "YAML version",
    "does not allow unescaped",
    "after %TAG",
    // A comment behind a tab, within a plain scalar.
    "inside a flow",
    "spaces, expected",
];

/// Returns our events without what saphyr-parser does not report: names of anchors, flow style,
/// markers.
fn comparable(events: &str) -> String {
    let mut out = String::new();
    for line in events.lines() {
        let line = match line.split_once(' ') {
            Some(("+DOC" | "-DOC", _)) => &line[..4],
            _ => line,
        };
        let mut rest = line.to_owned();
        for flow in ["+MAP {}", "+SEQ []"] {
            if rest.starts_with(flow) {
                rest.replace_range("+MAP".len()..flow.len(), "");
            }
        }
        if let Some(name) = rest.find(" &") {
            let only_props =
                !rest[..name].contains([':', '"', '\'', '|', '>']) || rest.starts_with('+');
            if only_props {
                let end = rest[name + 2..].find(' ').map_or(rest.len(), |end| name + 2 + end);
                rest.replace_range(name + 2..end, "");
            }
        }
        if rest.starts_with("=ALI") {
            rest = "=ALI".to_owned();
        }
        out.push_str(&rest);
        out.push('\n');
    }
    out
}

fn events(text: &str) -> Result<String, String> {
    let mut out = String::new();
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let props = |anchor: usize, tag: Option<&saphyr_parser::Tag>| {
            let anchor = if anchor > 0 { " &" } else { "" };
            let tag = tag.map(|tag| format!(" <{}{}>", tag.handle, tag.suffix)).unwrap_or_default();
            format!("{anchor}{tag}")
        };
        let line = match &event {
            Event::StreamStart => "+STR".to_owned(),
            Event::StreamEnd => "-STR".to_owned(),
            Event::DocumentStart(_) => "+DOC".to_owned(),
            Event::DocumentEnd => "-DOC".to_owned(),
            Event::SequenceStart(anchor, tag) => format!("+SEQ{}", props(*anchor, tag.as_deref())),
            Event::SequenceEnd => "-SEQ".to_owned(),
            Event::MappingStart(anchor, tag) => format!("+MAP{}", props(*anchor, tag.as_deref())),
            Event::MappingEnd => "-MAP".to_owned(),
            Event::Alias(_) => "=ALI".to_owned(),
            Event::Nothing => continue,
            Event::Scalar(text, style, anchor, tag) => {
                let style = match style {
                    ScalarStyle::Plain => ':',
                    ScalarStyle::SingleQuoted => '\'',
                    ScalarStyle::DoubleQuoted => '"',
                    ScalarStyle::Literal => '|',
                    ScalarStyle::Folded => '>',
                };
                let text = text
                    .replace('\\', "\\\\")
                    .replace('\n', "\\n")
                    .replace('\t', "\\t")
                    .replace('\r', "\\r")
                    .replace('\u{8}', "\\b");
                format!("=VAL{} {style}{text}", props(*anchor, tag.as_deref()))
            }
        };
        out.push_str(&line);
        out.push('\n');
    }
    Ok(out)
}
