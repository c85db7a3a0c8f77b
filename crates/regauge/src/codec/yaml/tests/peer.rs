//! Where other parsers differ.

use crate::codec::yaml::{Peer, differs};

fn check(text: &str, pyyaml: bool, psych: bool) {
    assert_eq!(differs(text, Peer::PyYaml), pyyaml, "PyYAML: {text:?}");
    assert_eq!(differs(text, Peer::Psych), psych, "Psych: {text:?}");
}

#[test]
fn plain_documents() {
    for text in ["", "a: 1\n", "- a: b\n  c: [d, e f, {g: h}]\n", "a: \"b\\tc\"\nd: 'e'\n"] {
        check(text, false, false);
    }
}

#[test]
fn what_stands_in_text_means_nothing() {
    check("list: [1]\nurl: http://x.y/?a=b\n", false, false);
    check("list: [1]\ntext: |\n  [?x,\n   :y\n", false, false);
    check("a: b & c && d\nt: what! no\n", false, false);
    check("a: b=\n", false, false);
    check("a: x*y & z\nb: 'a !b'\n", false, false);
}

#[test]
fn indicators() {
    check("a:\tb\n", true, true);
    check("%FOO bar\n---\na\n", true, true);
    check("a: 1\n...\n", true, true);
    check("<<: {a: 1}\nb: 2\n", true, true);
    check("--- >\nx\n", true, true);
    check("- |\n x", true, true);
    check("\u{feff}a: 1\n", true, true);
    check("a: 1\rb: 2\n", false, true);
    check("a: b\u{2028}c\n", false, true);
    check("- =\n", true, false);
}

#[test]
fn nodes() {
    check("a: &b 1\nc: \"&b &b\"\n", false, true);
    check("- &a 1\n- *a\n", false, true);
    check("- &a 1\n- &a 2\n", true, true);
    check("- &a.b 1\n", true, true);
    check("- ! 12\n", true, true);
    check("- !x 12\n", false, true);
}

#[test]
fn flow_collections() {
    for text in ["list: [?x]\n", "a: {b: 1,\n  c\n  : d}\n", "{a: :b}\n", "[a: \"b\n c\"]\n"] {
        check(text, true, true);
    }
    check("{a: 1,\n b\n c: 2}\n", true, true);
    check("[!a,b]\n", true, true);
    check("{a:, b: 1}\n", false, true);
    check("[ : a]\n", false, true);
}

/// A look at the text from each bracket to the end of its line would take hours here.
#[test]
fn text_of_any_kind_is_looked_at_once() {
    for unit in ["[", "{a,", "[!a", "\n", "[\n", " = ", "\"", "\"\n", "a: ", "&a ", "!", " :", "*a"]
    {
        for peer in [Peer::PyYaml, Peer::Psych] {
            let [long, short] = [1_000_000, 1_000].map(|count| format!("[{}x", unit.repeat(count)));
            assert_eq!(differs(&long, peer), differs(&short, peer), "{unit:?}, {peer:?}");
        }
    }
}
