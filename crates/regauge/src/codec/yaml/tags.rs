//! The effect of an explicit tag on a node (YAML 1.2.2 §10, and the YAML 1.1 type repository).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::event::Style;
use super::props::CORE;
use super::schema::{self, Meaning};
use super::schema_11;
use crate::model::number;
use crate::options::yaml::Schema;

/// The tag under which Ruby's Psych writes and reads bytes: that of YAML's own type, but a local one. PyYAML, whose
/// schema is 1.1, does not know it.
const RUBYS_BINARY: &str = "!binary";

/// The content of a scalar.
#[derive(Debug, PartialEq)]
pub(super) enum Content<'t> {
    Meaning(Meaning<'t>),
    Bytes(Vec<u8>),
    /// With a tag that is unknown here, or that does not fit the text.
    Typed(Meaning<'t>),
}

/// Resolves a scalar by its tag, style and text.
pub(super) fn scalar<'t>(
    schema: Schema,
    style: Style,
    tag: Option<&str>,
    text: &'t str,
) -> Content<'t> {
    let plain = style == Style::Plain;
    let Some(tag) = tag else {
        return Content::Meaning(if plain { schema::resolve(schema, text) } else { Meaning::Text });
    };
    if tag == "!" {
        return Content::Meaning(Meaning::Text);
    }
    let name = match tag.strip_prefix(CORE) {
        Some(name) => name,
        None if tag == RUBYS_BINARY && schema != Schema::Yaml11 => "binary",
        None => return Content::Typed(if plain { kept(schema, text) } else { Meaning::Text }),
    };
    // The tag determines what the text means, whatever the schema would make of it.
    let meaning = match schema {
        Schema::Yaml11 | Schema::Psych => schema::resolve(schema, text),
        _ => schema::core(text),
    };
    let fits = match (name, &meaning) {
        ("str", _) => return Content::Meaning(Meaning::Text),
        ("binary", _) => {
            let packed: Cow<'_, str> = match text.contains([' ', '\n', '\t', '\r']) {
                true => Cow::Owned(text.replace([' ', '\n', '\t', '\r'], "")),
                false => Cow::Borrowed(text),
            };
            return match BASE64.decode(packed.as_bytes()) {
                Ok(bytes) => Content::Bytes(bytes),
                Err(_) => Content::Typed(Meaning::Text),
            };
        }
        ("timestamp", _) => {
            return match schema_11::timestamp(text) {
                Some(time) => Content::Meaning(Meaning::Time(time)),
                None => Content::Typed(Meaning::Text),
            };
        }
        ("float", Meaning::I64(_) | Meaning::U64(_) | Meaning::BigInt { .. }) => {
            let digits = schema::sign(text).1;
            if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Content::Typed(Meaning::Text);
            }
            return Content::Meaning(Meaning::Decimal(Cow::Borrowed(text)));
        }
        ("float", Meaning::Decimal(_) | Meaning::Double(_) | Meaning::NonFinite(_))
        | ("int", Meaning::I64(_) | Meaning::U64(_) | Meaning::BigInt { .. })
        | ("bool", Meaning::Bool(_))
        | ("null", Meaning::Null)
        | ("merge", Meaning::Merge) => true,
        _ => false,
    };
    if fits { Content::Meaning(meaning) } else { Content::Typed(Meaning::Text) }
}

/// Resolves a plain scalar under a tag of its own: by the schema if writing the result gives the
/// same text again (`!port 80`), otherwise as text (`!version 1.10`), because only the tag's owner
/// knows what the text means.
fn kept(schema: Schema, text: &str) -> Meaning<'_> {
    let meaning = schema::resolve(schema, text);
    let same = match &meaning {
        Meaning::Null => text == "null",
        Meaning::Bool(value) => text == if *value { "true" } else { "false" },
        Meaning::I64(value) => value.to_string() == text,
        Meaning::U64(value) => value.to_string() == text,
        Meaning::BigInt { radix: 10, digits, .. } => {
            !text.starts_with('+') && schema::sign(text).1 == digits
        }
        Meaning::Decimal(_) => {
            number::is_number(text) && number::double_of_same_digits(text).is_some()
        }
        Meaning::NonFinite(_) => matches!(text, ".inf" | "-.inf" | ".nan"),
        _ => false,
    };
    if same { meaning } else { Meaning::Text }
}

/// Returns whether a collection's tag says more than that it is one.
pub(super) fn is_own(tag: &str, mapping: bool) -> bool {
    let plain = if mapping { "map" } else { "seq" };
    tag != "!" && tag.strip_prefix(CORE) != Some(plain)
}

/// Returns whether the tag is one of YAML's own or Ruby's for bytes, which define by themselves what a node is.
pub(super) fn is_yamls(tag: &str) -> bool {
    tag == "!" || tag == RUBYS_BINARY || tag.starts_with(CORE)
}

/// The node under a tag.
#[derive(Clone, Copy)]
pub(super) enum Node<'t> {
    Text(&'t str),
    Sequence,
    Mapping,
    /// A scalar that is not text, a reference, or a node with another tag.
    Other,
}

/// Returns whether the reader keeps this tag of YAML's own around such a node. It does not if the
/// tag says nothing, or changes the node's value.
pub(super) fn is_kept(schema: Schema, tag: &str, node: Node<'_>) -> bool {
    match node {
        Node::Text(text) => {
            matches!(scalar(schema, Style::Plain, Some(tag), text), Content::Typed(_))
        }
        Node::Sequence => is_own(tag, false),
        Node::Mapping => is_own(tag, true),
        Node::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain<'t>(tag: &str, text: &'t str) -> Content<'t> {
        scalar(Schema::Core, Style::Plain, Some(tag), text)
    }

    #[test]
    fn tags_of_yaml_itself() {
        let core = |name: &str, text: &'static str| plain(&format!("{CORE}{name}"), text);
        assert_eq!(core("str", "12"), Content::Meaning(Meaning::Text));
        assert_eq!(core("int", "0x10"), Content::Meaning(Meaning::I64(16)));
        assert_eq!(core("float", "1"), Content::Meaning(Meaning::Decimal("1".into())));
        assert_eq!(core("binary", "AQ I="), Content::Bytes(vec![1, 2]));
        assert_eq!(core("null", ""), Content::Meaning(Meaning::Null));
        for (name, text) in
            [("int", "1.5"), ("bool", "yes"), ("binary", "?"), ("float", "0x1"), ("null", "x")]
        {
            assert_eq!(core(name, text), Content::Typed(Meaning::Text), "{name} {text}");
        }
    }

    #[test]
    fn bytes_as_ruby_writes_them() {
        let read = |schema, text| scalar(schema, Style::Literal, Some("!binary"), text);
        for schema in [Schema::Core, Schema::Json, Schema::Failsafe, Schema::Psych] {
            assert_eq!(read(schema, "gIGC\n"), Content::Bytes(vec![0x80, 0x81, 0x82]));
        }
        assert_eq!(read(Schema::Yaml11, "gIGC"), Content::Typed(Meaning::Text));
        assert_eq!(read(Schema::Core, "?"), Content::Typed(Meaning::Text));
        assert!(is_kept(Schema::Core, "!binary", Node::Text("?")));
        assert!(!is_kept(Schema::Core, "!binary", Node::Text("gIGC")));
        assert!(is_kept(Schema::Yaml11, "!binary", Node::Text("gIGC")));
    }

    #[test]
    fn tags_of_others_keep_the_text() {
        assert_eq!(plain("!", "12"), Content::Meaning(Meaning::Text));
        assert_eq!(plain("!port", "80"), Content::Typed(Meaning::I64(80)));
        assert_eq!(plain("!a", "-1.5"), Content::Typed(Meaning::Decimal("-1.5".into())));
        for text in ["1.10", "012", "+1", "", "~", "True", "0x1", "a", ".5", "1e400"] {
            assert_eq!(plain("!a", text), Content::Typed(Meaning::Text), "{text}");
        }
        assert!(is_own("!a", true) && is_own("tag:yaml.org,2002:set", true));
        assert!(!is_own("!", true) && !is_own("tag:yaml.org,2002:map", true));
        assert!(is_own("tag:yaml.org,2002:map", false));
    }
}
