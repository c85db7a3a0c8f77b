//! Checks the shapes of known documents.

use super::*;
use crate::convert::{Input, Options, read};

fn shape(format: Format, text: &str, skip_bad: bool) -> Shape {
    let mut options = Options::new(format, format);
    options.report = true;
    options.skip_bad = skip_bad;
    let mut shape = Shape::new(format);
    read(Input::Bytes(text.as_bytes()), &options, &mut shape, &mut |_| Ok(())).unwrap();
    shape
}

fn counts(shape: &Shape) -> String {
    let kinds: Vec<_> =
        shape.kinds().seen().map(|(kind, count)| format!("{} {count}", kind.name())).collect();
    kinds.join(", ")
}

#[test]
fn sizes_are_those_of_compact_json() {
    for text in [
        r#"{"a":[1,-22,3.5,true,false,null,"text"],"b":{},"c":[[],[]]}"#,
        "[]",
        "0",
        r#"{"":"","x y":18446744073709551616}"#,
        "[-9223372036854775808,1e300,0.0,-0.0,1.5e-7]",
    ] {
        let mut options = Options::new(Format::Json, Format::Json);
        options.json_write.indent = None;
        let compact = crate::convert_bytes(text.as_bytes(), &options).unwrap();
        let compact = compact.trim_ascii_end().len() as u64;
        assert_eq!(shape(Format::Json, text, false).bytes(), compact, "{text}");
    }
}

#[test]
fn types_ranges_and_depth() {
    let text = r#"[{"a":-5,"a":7},{"b":"four","c":[2.5,-1.0]}]"#;
    let shape = shape(Format::Json, text, false);
    assert_eq!(counts(&shape), "integer 2, float 2, text 1, array 2, map 2");
    assert_eq!(shape.integers(), Some(Range { min: -5, max: 7 }));
    assert_eq!(shape.floats(), Some(Range { min: -1.0, max: 2.5 }));
    assert_eq!(shape.lengths(), Some(Range { min: 4, max: 4 }));
    assert_eq!((shape.depth(), shape.documents(), shape.duplicate_keys()), (3, 1, 1));
}

#[test]
fn values_at_the_same_place_are_counted_together() {
    let text = r#"[{"id":1,"tags":["x"]},{"tags":["y","z"],"id":22},{"id":"3","two words":{}}]"#;
    let shape = shape(Format::Json, text, false);
    let paths: Vec<_> = shape
        .paths()
        .iter()
        .map(|one| format!("{} {} {}", one.path, one.kinds.total(), one.bytes))
        .collect();
    assert_eq!(
        paths,
        [
            "$ 1 76",
            "$[*] 3 74",
            "$[*].tags 2 29",
            "$[*].id 3 22",
            r#"$[*]["two words"] 1 15"#,
            "$[*].tags[*] 3 10",
        ]
    );
}

#[test]
fn a_dictionary_takes_bounded_memory() {
    let line = |n| format!("{{\"k{n}\":{{\"v\":{n}}}}}\n");
    let text: String = (0..5000).map(line).collect();
    let shape = shape(Format::Ndjson, &text, false);
    assert!(shape.nodes.len() <= 2 * KEYS_MAX + 3, "{}", shape.nodes.len());
    assert!(shape.is_summed_up());
    let paths = shape.paths();
    let others = paths.iter().find(|one| one.path == "$.*.v").unwrap();
    assert_eq!(others.kinds.count(Kind::Integer), 5000 - KEYS_MAX as u64);
    assert_eq!(shape.kinds().count(Kind::Integer), 5000);
}

#[test]
fn a_broken_record_leaves_no_trace() {
    let shape = shape(Format::Ndjson, "{\"a\":1}\n{\"b\":[2,3,}\n{\"a\":4}\n", true);
    assert_eq!(counts(&shape), "integer 2, map 2");
    assert_eq!(shape.paths().len(), 2);
    assert_eq!(shape.documents(), 2);
}
