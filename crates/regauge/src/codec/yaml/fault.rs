//! The reader's error messages, without their locations.

use super::event::Handler;
use super::machine::{Frame, Kind, Run, Step, Stop};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::{Error, ErrorKind};

const QUOTE_IT: &str = "quote the text if it is meant literally";

#[cold]
pub(super) fn too_deep(most: usize) -> Error {
    Error::limit(format!("found more than {most} nested collections, the limit of depth"))
        .hint_depth(most as u32)
}

#[cold]
pub(super) fn too_long(most: u64) -> Error {
    Error::limit(format!("found a token of more than {most} bytes, the limit of token_bytes"))
        .hint(Hint::raise(Limit::TokenBytes))
}

#[cold]
pub(super) fn encoding(name: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("found text in {name}, expected UTF-8 (YAML 1.2.2 §5.2)"),
    )
    .hint(format!("convert it first, for example: iconv -f {name} -t UTF-8"))
}

#[cold]
pub(super) fn utf8(byte: u8) -> Error {
    Error::syntax(format!("found byte 0x{byte:02X}, which is not UTF-8 here (YAML 1.2.2 §5.2)"))
        .hint("convert it first, for example: iconv -f LATIN1 -t UTF-8")
}

#[cold]
pub(super) fn unprintable(char: char) -> Error {
    let code = u32::from(char);
    if char == '\u{FEFF}' {
        return Error::syntax(
            "found a byte order mark inside a document, expected one only at the start \
             (YAML 1.2.2 §5.2)",
        )
        .hint("write \"\\uFEFF\" if it is meant as text");
    }
    Error::syntax(format!(
        "found the character U+{code:04X}, which YAML does not allow unescaped (YAML 1.2.2 §5.1)"
    ))
    .hint(match code {
        0..=0xFF => format!("write \"\\x{code:02X}\" in double quotes"),
        _ => format!("write \"\\u{code:04X}\" in double quotes"),
    })
}

#[cold]
pub(super) fn twice(what: &str) -> Error {
    let article = if what == "anchor" { "an" } else { "a" };
    Error::syntax(format!("found {article} {what} twice on one node, expected the node"))
}

#[cold]
pub(super) fn tab() -> Error {
    Error::syntax("found a tab in the indentation, expected spaces (YAML 1.2.2 §6.1)")
        .hint("replace tabs at the beginning of lines with spaces")
}

#[cold]
pub(super) fn directives_without_document(found: Option<&str>) -> Error {
    match found {
        None => Error::truncated(
            "found the end of the input after a directive, expected `---` and a document",
        ),
        Some(found) => Error::syntax(format!("found {found} after a directive, expected `---`")),
    }
}

#[cold]
pub(super) fn after_dots(found: &str) -> Error {
    Error::syntax(format!("found {found} after `...`, expected the end of the line"))
}

#[cold]
pub(super) fn behind_byte_order_mark(found: &str) -> Error {
    Error::syntax(format!(
        "found {found} after a byte order mark that follows a document, expected `---`"
    ))
}

#[cold]
pub(super) fn long_key() -> Error {
    Error::syntax("found a key of more than 1024 characters without `? ` (YAML 1.2.2 §7.4.2)")
        .hint("write `? ` before the key, and its value after `: ` on its own line")
}

#[cold]
pub(super) fn key_on_lines() -> Error {
    Error::syntax(
        "found a key that spans several lines, expected it on one line (YAML 1.2.2 §7.4.2)",
    )
    .hint("write `? ` before it, or check the indentation of the preceding lines")
}

#[cold]
pub(super) fn props_before_indicator(byte: u8) -> Error {
    Error::syntax(format!(
        "found `{}` after an anchor or a tag on the same line, expected it on the next line",
        char::from(byte)
    ))
}

#[cold]
pub(super) fn sequence_in_mapping() -> Error {
    Error::syntax("found `-` where the mapping continues, expected a key")
        .hint("indent the sequence at least as far as the value it belongs to")
}

#[cold]
pub(super) fn no_collection_here(byte: u8) -> Error {
    let (found, what) = match byte {
        b'-' => ("`- `", "sequence"),
        _ => ("`? `", "mapping"),
    };
    Error::syntax(format!("found {found} after other text, expected the {what} on a new line"))
        .hint(QUOTE_IT)
}

#[cold]
pub(super) fn props_of_alias() -> Error {
    Error::syntax("found an anchor or a tag before an alias, which can have neither")
}

#[cold]
pub(super) fn flow_no_key() -> Error {
    Error::syntax("found a flow collection without a colon after it, expected a key and a colon")
        .hint("a key must be on one line and have at most 1024 characters")
}

#[cold]
pub(super) fn open_quote(quote: u8) -> Error {
    let quote = char::from(quote);
    Error::truncated(format!(
        "found the end of the input inside a quoted scalar, expected `{quote}`"
    ))
}

#[cold]
pub(super) fn marker_in_quotes(quote: u8) -> Error {
    let quote = char::from(quote);
    Error::syntax(format!(
        "found a document marker inside a quoted scalar, expected `{quote}` before it"
    ))
}

#[cold]
pub(super) fn indent_in(what: &str, least: i32) -> Error {
    Error::syntax(format!(
        "found a line of {what} with too little indentation, expected at least {} spaces",
        least + 1
    ))
}

#[cold]
pub(super) fn escape(char: char) -> Error {
    Error::syntax(format!(
        "found `\\{}`, expected one of YAML's escapes (YAML 1.2.2 §5.7)",
        char.escape_debug()
    ))
    .hint("write `\\\\` for a backslash, or put the text in single quotes")
}

#[cold]
pub(super) fn no_character(escape: &str) -> Error {
    Error::syntax(format!(
        "found {escape}, which is not a character, expected a Unicode scalar value"
    ))
}

#[cold]
pub(super) fn hex_digit(char: char, count: usize) -> Error {
    Error::syntax(format!(
        "found `{}`, expected one of {count} hexadecimal digits",
        char.escape_debug()
    ))
}

#[cold]
pub(super) fn block_header(found: &str) -> Error {
    Error::syntax(format!(
        "found {found} in the header of a block scalar, expected an indentation from 1 to 9, `+`, \
         `-`, or the end of the line"
    ))
    .hint(QUOTE_IT)
}

#[cold]
pub(super) fn blank_lines_indented(most: usize, indent: usize) -> Error {
    Error::syntax(format!(
        "found text indented by {indent} after a blank line of {most} spaces, expected blank \
         lines to have no more spaces than the first line of the block scalar"
    ))
    .hint("remove the spaces from the blank lines, or write the indentation after `|` or `>`")
}

fn name(frame: Option<&Frame>) -> (&'static str, char) {
    match frame.map(|frame| frame.kind) {
        Some(Kind::FlowMapping) => ("mapping", '}'),
        _ => ("sequence", ']'),
    }
}

#[cold]
pub(super) fn open_flow(frame: Option<&Frame>) -> Error {
    let (name, close) = name(frame);
    Error::truncated(format!("found the end of the input inside a flow {name}, expected `{close}`"))
}

#[cold]
pub(super) fn marker_in_flow(frame: Option<&Frame>) -> Error {
    let (name, close) = name(frame);
    Error::syntax(format!(
        "found a document marker inside a flow {name}, expected `{close}` before it"
    ))
}

#[cold]
pub(super) fn empty_entry() -> Error {
    Error::syntax("found `,` without an entry before it, expected an entry")
        .hint("write `null` if an empty entry is meant")
}

#[cold]
pub(super) fn bracket(found: u8, frame: Option<&Frame>) -> Error {
    let (name, close) = name(frame);
    Error::syntax(format!("found `{}` inside a flow {name}, expected `{close}`", char::from(found)))
}

#[cold]
pub(super) fn bracket_behind_colon(found: u8) -> Error {
    Error::syntax(format!("found `{}` directly after a colon, expected a space", char::from(found)))
}

#[cold]
pub(super) fn no_name(indicator: u8) -> Error {
    let what = if indicator == b'&' { "anchor" } else { "alias" };
    Error::syntax(format!(
        "found no name after `{}`, expected the name of the {what}",
        char::from(indicator)
    ))
    .hint(QUOTE_IT)
}

#[cold]
pub(super) fn behind_property(found: &str) -> Error {
    Error::syntax(format!("found {found} directly after an anchor or a tag, expected a space"))
}

#[cold]
pub(super) fn verbatim_tag(found: &str) -> Error {
    Error::syntax(format!("found {found} in a verbatim tag, expected `>`"))
}

#[cold]
pub(super) fn empty_tag() -> Error {
    Error::syntax("found a verbatim tag without a name, expected one such as `!<tag:example,1:x>`")
}

#[cold]
pub(super) fn tag_without_suffix(handle: &str) -> Error {
    Error::syntax(format!("found the tag handle {handle} alone, expected a name after it"))
}

#[cold]
pub(super) fn unknown_handle(handle: &str) -> Error {
    Error::syntax(format!("found the tag handle {handle}, which no %TAG of this document defines"))
        .hint(format!("write %TAG {handle} and a prefix before `---`"))
}

#[cold]
pub(super) fn percent() -> Error {
    Error::syntax("found `%` in a tag, expected two hexadecimal digits of UTF-8 after it")
}

#[cold]
pub(super) fn directive_name() -> Error {
    Error::syntax("found `%` without a name, expected a directive such as %YAML 1.2")
}

#[cold]
pub(super) fn directive_twice(directive: &str) -> Error {
    Error::syntax(format!("found {directive} twice, expected it once per document"))
}

#[cold]
pub(super) fn directive_words(directive: &str, expected: &str) -> Error {
    Error::syntax(format!("found other words after {directive}, expected {expected}"))
}

#[cold]
pub(super) fn version(version: &str) -> Error {
    Error::new(
        ErrorKind::Unsupported,
        format!("found YAML version {version}, expected 1.2 (or another 1.x)"),
    )
}

#[cold]
pub(super) fn handle(handle: &str) -> Error {
    let shown: String = handle.chars().take(40).collect();
    Error::syntax(format!(
        "found `{}` after %TAG, expected a handle such as `!`, `!!` or `!name!`",
        shown.escape_debug()
    ))
}

#[cold]
pub(super) fn tag_prefix() -> Error {
    Error::syntax("found a %TAG prefix that is not part of a URI, expected one such as tag:x,2000:")
        .hint("write `%` and two hexadecimal digits for other characters")
}

#[cold]
pub(super) fn many_handles() -> Error {
    Error::limit("found more than 1000 %TAG directives for one document")
}

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Builds the error for something that follows a node on its line.
    #[cold]
    pub(super) fn trailing(&self) -> Step<Stop> {
        let found = self.found(self.at)?;
        let error = Error::syntax(format!("found {found} after a value, expected a new line"));
        let error = match self.bytes.get(self.at) {
            Some(b'#') => error.hint("write a space before `#` if it begins a comment"),
            Some(b':') => error.hint("write a space after `:` if the value is a key"),
            _ => error.hint(QUOTE_IT),
        };
        Ok(error.at(self.at as u64).into())
    }

    #[cold]
    pub(super) fn after_root(&self) -> Step<Stop> {
        let found = self.found(self.at)?;
        let error = Error::syntax(format!(
            "found {found} after the document, expected `---`, `...` or the end"
        ));
        Ok(error
            .hint("check the indentation, or write `---` before another document")
            .at(self.at as u64)
            .into())
    }

    /// Builds the error for a key without a colon.
    #[cold]
    pub(super) fn no_colon(&self, at: usize) -> Step<Stop> {
        let found = self.found(at)?;
        let error = Error::syntax(format!("found {found} after a key, expected `:` and a space"));
        Ok(error
            .hint("check the indentation if the line belongs to the preceding value")
            .at(at as u64)
            .into())
    }

    #[cold]
    pub(super) fn no_dash(&self) -> Step<Stop> {
        let found = self.found(self.at)?;
        let error =
            Error::syntax(format!("found {found} where a sequence continues, expected `- `"));
        Ok(error.at(self.at as u64).into())
    }

    /// Builds the error for an entry between the columns of the open collections, some of which
    /// have ended by now: the innermost had its entries at `innermost`.
    #[cold]
    pub(super) fn misplaced(&self, indent: i32, innermost: i32) -> Step<Stop> {
        let found = self.found(self.at)?;
        let open = self.m.block_indent();
        let expected = match open == innermost {
            true => open.to_string(),
            false => format!("{open}, or {innermost} like the preceding lines"),
        };
        let error = Error::syntax(format!(
            "found {found} indented by {indent} spaces, expected {expected}"
        ));
        Ok(error.hint("align it with the entries it belongs with").at(self.at as u64).into())
    }

    #[cold]
    pub(super) fn no_mapping_here(&self) -> Step<Stop> {
        let error = if self.m.tab && self.m.fresh {
            tab()
        } else {
            Error::syntax("found a key and its colon where only a value is allowed")
                .hint("quote the text, or put the mapping on its own lines")
        };
        Ok(error.at(self.at as u64).into())
    }

    /// Builds the error for a byte that begins no node.
    #[cold]
    pub(super) fn no_node(&self, byte: u8) -> Step<Stop> {
        if byte < 0x20 || byte == 0x7F {
            self.check_printable(self.at)?;
        }
        let found = self.found(self.at)?;
        let error = Error::syntax(format!("found {found}, expected a value"));
        let error = match byte {
            b'@' | b'`' => error.hint("YAML reserves this character: quote the text"),
            _ => error.hint(QUOTE_IT),
        };
        Ok(error.at(self.at as u64).into())
    }

    /// Builds the error for an entry of a flow collection followed by neither a comma nor the end.
    #[cold]
    pub(super) fn flow_unexpected(&self) -> Step<Stop> {
        let found = self.found(self.at)?;
        let frame = self.m.stack.last();
        let (name, close) = match frame.map(|frame| frame.kind) {
            Some(Kind::FlowPair) => ("sequence", ']'),
            _ => name(frame),
        };
        let error =
            Error::syntax(format!("found {found} inside a flow {name}, expected `,` or `{close}`"));
        let error = match self.bytes.get(self.at) {
            Some(b'#') => error.hint("write a space before `#` if it begins a comment"),
            _ => error.hint(QUOTE_IT),
        };
        Ok(error.at(self.at as u64).into())
    }
}
