//! Flow collections, anchors and tags of a stream.

use crate::Limits;
use crate::codec::yaml::Schema;
use crate::codec::yaml::marks::{Marks, marks};

fn found(text: &str) -> Marks {
    marks(text.as_bytes(), Schema::Yaml11, Limits::default()).unwrap()
}

fn lines(text: &str) -> Vec<&str> {
    found(text).flow_lines.into_iter().map(|range| &text[range]).collect()
}

#[test]
fn only_lines_with_flow_collections_are_given() {
    let text = "url: http://a/?b\nlist: [1, {a: 2}]\ntext: |\n  [not, one]\nquoted: \"[x]\" # [y]\nplain: a[0]\n";
    assert_eq!(lines(text), ["list: [1, {a: 2}]"]);
    assert_eq!(lines("a: 1\n"), [""; 0]);
}

#[test]
fn a_collection_on_several_lines_is_one_piece() {
    assert_eq!(lines("a: [1,\n  {b: 2},\n  3]\nc: ?x\n"), ["a: [1,\n  {b: 2},\n  3]"]);
    assert_eq!(lines("{a: [1], b: {c: d}}"), ["{a: [1], b: {c: d}}"]);
}

#[test]
fn those_on_one_line_and_in_keys_are_one_piece() {
    assert_eq!(lines("[a, b]: {c: d}\n"), ["[a, b]: {c: d}"]);
    assert_eq!(
        lines("- [a\n  ]\n- b\n- !!set {c}\n--- [d]\n"),
        ["- [a\n  ]", "- !!set {c}", "--- [d]"]
    );
    assert_eq!(lines("a: &x [1: 2]\nb: *x"), ["a: &x [1: 2]"]);
}

#[test]
fn anchors_aliases_and_tags_are_not_looked_for_in_text() {
    assert_eq!(found("a: b & c && d ! e *f*\ng: \"&h !i *j\"\n"), Marks::default());
    let all = found("a: &one 1\nb: &two\n  - *one\n&three c: !x d\n");
    assert_eq!(all.anchors, ["one", "two", "three"]);
    assert!(all.has_alias && all.has_tag && !all.has_bare_tag);
    assert!(found("- ! a\n").has_bare_tag && found("- ! [a]\n").has_bare_tag);
}

#[test]
fn what_is_no_yaml_is_an_error() {
    assert!(marks(b"a: [1", Schema::Yaml11, Limits::default()).is_err());
}
