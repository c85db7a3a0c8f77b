//! Small documents that demand a lot from a decoder.
//!
//! Each kind is what its format makes possible: nesting everywhere, lengths that announce missing
//! content in binary formats, references that multiply in YAML, XML and pickle. They are made here,
//! in memory, and are at most a megabyte and a half.
//!
//! If you add one, `docs/safety.md` lists them.

/// The depth of the nested ones.
pub(crate) const DEPTH: usize = 100_000;
/// The number of digits of the long integer.
pub(crate) const DIGITS: usize = 1_000_000;
/// Levels and aliases of what multiplies: 9^9 are 387 million.
const NINE: usize = 9;
/// Keys that share a hash in Python, whose integers are hashed modulo 2^61 - 1. Each is compared
/// with all before it: 450 million comparisons.
const COLLIDING: u128 = 30_000;
/// Python's modulus.
const MODULUS: u128 = (1 << 61) - 1;

/// The part of a bomb that can be made smaller to find a library's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Levels of nesting.
    Depth,
    /// Digits of an integer.
    Digits,
}

/// Makes the bytes for this size.
type Maker = fn(usize) -> Vec<u8>;

/// A small document that demands a lot.
#[derive(Clone)]
pub(crate) struct BombDocument {
    /// What kind, for people.
    pub kind: &'static str,
    pub document: Vec<u8>,
    /// How to make it in another size, and what the size measures.
    pub scaled: Option<(Scale, Maker)>,
}

fn plain(kind: &'static str, document: impl Into<Vec<u8>>) -> BombDocument {
    BombDocument { kind, document: document.into(), scaled: None }
}

fn deep(kind: &'static str, make: fn(usize) -> Vec<u8>) -> BombDocument {
    BombDocument { kind, document: make(DEPTH), scaled: Some((Scale::Depth, make)) }
}

fn digits(kind: &'static str, make: fn(usize) -> Vec<u8>) -> BombDocument {
    BombDocument { kind, document: make(DIGITS), scaled: Some((Scale::Digits, make)) }
}

/// Returns `one` repeated, `middle`, `other` repeated.
fn nested(head: &[u8], one: &[u8], middle: &[u8], other: &[u8], times: usize) -> Vec<u8> {
    [head, &one.repeat(times), middle, &other.repeat(times)].concat()
}

/// Returns the bombs of a format, by its name as adapters write it.
pub(crate) fn of(format: &str) -> Vec<BombDocument> {
    match format {
        "json" => vec![
            deep("arrays 100,000 deep", |n| nested(b"", b"[", b"", b"]", n)),
            deep("maps 100,000 deep", |n| nested(b"", b"{\"a\":", b"1", b"}", n)),
            digits("an integer of 10^6 digits", |n| vec![b'7'; n]),
            plain("the number 1e1000000000", "[1e1000000000]"),
        ],
        "yaml" => vec![
            deep("flow sequences 100,000 deep", |n| nested(b"", b"[", b"", b"]", n)),
            deep("block sequences 100,000 deep", |n| nested(b"", b"- ", b"x\n", b"", n)),
            digits("an integer of 10^6 digits", |n| vec![b'7'; n]),
            plain("aliases, 9 levels of 9", yaml_aliases()),
            plain("merge keys, 9 levels of 9", yaml_merges()),
        ],
        "msgpack" => vec![
            deep("arrays 100,000 deep", |n| nested(b"", b"\x91", b"\xc0", b"", n)),
            deep("maps 100,000 deep", |n| nested(b"", b"\x81\xa1a", b"\xc0", b"", n)),
            plain("an array of 2^31 without content", b"\xdd\x80\0\0\0".to_vec()),
            plain("a map of 2^31 without content", b"\xdf\x80\0\0\0".to_vec()),
            plain("text of 2^31 bytes without content", b"\xdb\x80\0\0\0".to_vec()),
            plain("bytes of 2^31 without content", b"\xc6\x80\0\0\0".to_vec()),
        ],
        "cbor" => vec![
            deep("arrays 100,000 deep", |n| nested(b"", b"\x81", b"\xf6", b"", n)),
            deep("maps 100,000 deep", |n| nested(b"", b"\xa1\x61a", b"\xf6", b"", n)),
            deep("tags 100,000 deep", |n| nested(b"", b"\xc6", b"\x00", b"", n)),
            plain("an array of 2^31 without content", b"\x9a\x80\0\0\0".to_vec()),
            plain("a map of 2^31 without content", b"\xba\x80\0\0\0".to_vec()),
            plain("text of 2^31 bytes without content", b"\x7a\x80\0\0\0".to_vec()),
            plain("bytes of 2^31 without content", b"\x5a\x80\0\0\0".to_vec()),
            plain("30,000 integer keys of one hash in Python", cbor_colliding()),
        ],
        "bson" => vec![
            deep("documents 100,000 deep", bson_deep),
            plain(
                "a document of 2^31 bytes without content",
                b"\xff\xff\xff\x7f\x0aa\0\0".to_vec(),
            ),
            plain("text of 2^31 bytes without content", bson_length(b"\x02a\0\xff\xff\xff\x7fx\0")),
            plain("bytes of 2^31 without content", bson_length(b"\x05a\0\xff\xff\xff\x7f\0x")),
        ],
        "marshal" => vec![
            deep("arrays 100,000 deep", |n| nested(b"\x04\x08", b"[\x06", b"0", b"", n)),
            deep("hashes 100,000 deep", |n| nested(b"\x04\x08", b"{\x06i\x06", b"0", b"", n)),
            plain("an array of 2^31 without content", b"\x04\x08[\x04\xff\xff\xff\x7f".to_vec()),
            plain("a hash of 2^31 without content", b"\x04\x08{\x04\xff\xff\xff\x7f".to_vec()),
            plain(
                "a string of 2^31 bytes without content",
                b"\x04\x08\"\x04\xff\xff\xff\x7f".to_vec(),
            ),
            plain(
                "an integer of 2^31 bytes without content",
                b"\x04\x08l+\x04\xff\xff\xff\x3f".to_vec(),
            ),
        ],
        "pickle" => pickle(),
        "marc" => vec![
            plain("a record of 99,999 bytes without content", marc(b"99999", b"00037")),
            plain("data that begin 99,999 bytes on", marc(b"00037", b"99999")),
        ],
        "marcxml" => vec![
            plain("entities, 9 levels of 9", xml_entities()),
            deep("elements 100,000 deep", |n| {
                nested(b"<collection>", b"<record>", b"", b"</record>", n)
            }),
        ],
        "java-serialization" => vec![
            deep("arrays 100,000 deep", java_deep),
            plain("an int[] of 2^31 without content", java_length()),
        ],
        "v8" => vec![
            deep("arrays 100,000 deep", |n| nested(b"\xff\x0f", b"A\x01", b"0", b"$\0\x01", n)),
            plain("an array of 2^31 without content", b"\xff\x0fA\x80\x80\x80\x80\x08".to_vec()),
        ],
        "smile" => {
            vec![deep("arrays 100,000 deep", |n| nested(b":)\n\0", b"\xf8", b"", b"\xf9", n))]
        }
        _ => Vec::new(),
    }
}

/// Returns the smallest document of a format: it makes a process let go of the one before.
pub(crate) fn smallest(format: &str) -> Option<&'static [u8]> {
    Some(match format {
        "json" | "yaml" => b"[]",
        "msgpack" => b"\x90",
        "cbor" => b"\x80",
        "bson" => b"\x05\0\0\0\0",
        "marshal" => b"\x04\x080",
        "pickle" => b"N.",
        "java-serialization" => b"\xac\xed\0\x05p",
        "v8" => b"\xff\x0f0",
        "smile" => b":)\n\0\x21",
        _ => return None,
    })
}

fn pickle() -> Vec<BombDocument> {
    vec![
        deep("lists 100,000 deep", |n| {
            nested(b"\x80\x04", b"]", &b"a".repeat(n.saturating_sub(1)), b"", n)
                .into_iter()
                .chain(*b".")
                .collect()
        }),
        deep("tuples 100,000 deep", |n| nested(b"\x80\x04N", b"\x85", b".", b"", n)),
        digits("an integer of 10^6 digits", |n| [&b"L"[..], &b"7".repeat(n), b"L\n."].concat()),
        plain("bytes of 2^31 without content", b"\x80\x04\x8e\0\0\0\x80\0\0\0\0".to_vec()),
        plain("text of 2^31 bytes without content", b"\x80\x04\x8d\0\0\0\x80\0\0\0\0".to_vec()),
        plain("an integer of 2^31 bytes without content", b"\x80\x04\x8b\xff\xff\xff\x7f".to_vec()),
        plain(
            "a frame of 2^62 bytes without content",
            b"\x80\x04\x95\0\0\0\0\0\0\0\x40N.".to_vec(),
        ),
        plain("a memo entry of number 2^31", b"\x80\x02Nr\xff\xff\xff\x7f.".to_vec()),
        plain("30,000 integer keys of one hash in Python", pickle_colliding()),
    ]
}

/// Returns a pickle of colliding keys, in little-endian two's complement, as short as LONG1
/// requires.
fn pickle_colliding() -> Vec<u8> {
    let mut out = b"\x80\x02}(".to_vec();
    for index in 1..=COLLIDING {
        let key = (index * MODULUS).to_le_bytes();
        let length = key.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
        // One more, so that the highest bit is not the sign.
        out.extend_from_slice(&[0x8a, length as u8 + 1]);
        out.extend_from_slice(&key[..=length]);
        out.push(b'N');
    }
    out.extend_from_slice(b"u.");
    out
}

/// Bignums (RFC 8949 §3.4.3), as keys.
fn cbor_colliding() -> Vec<u8> {
    let mut out = vec![0xb9];
    out.extend_from_slice(&(COLLIDING as u16).to_be_bytes());
    for index in 1..=COLLIDING {
        out.extend_from_slice(b"\xc2\x50");
        out.extend_from_slice(&(index * MODULUS).to_be_bytes());
        out.push(0xf6);
    }
    out
}

fn yaml_aliases() -> String {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..NINE {
        let aliases = vec![format!("*a{}", level - 1); NINE].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    text
}

fn yaml_merges() -> String {
    let mut text = String::from("a0: &a0 {x: 1}\n");
    for level in 1..=NINE {
        let aliases = vec![format!("*a{}", level - 1); NINE].join(", ");
        text.push_str(&format!("a{level}: &a{level} {{<<: [{aliases}]}}\n"));
    }
    text
}

fn xml_entities() -> String {
    let mut text = String::from("<!DOCTYPE collection [<!ENTITY e0 \"xxxxxxxxx\">\n");
    for level in 1..NINE {
        let before = format!("&e{};", level - 1).repeat(NINE);
        text.push_str(&format!("<!ENTITY e{level} \"{before}\">\n"));
    }
    text.push_str(
        "]>\n<collection xmlns=\"http://www.loc.gov/MARC21/slim\"><record>\
         <leader>00000nam a2200000   4500</leader><controlfield tag=\"001\">&e8;</controlfield>\
         </record></collection>\n",
    );
    text
}

/// Returns a record of one control field with another length or base address.
fn marc(length: &[u8; 5], base: &[u8; 5]) -> Vec<u8> {
    [&length[..], b"nam a22", base, b"   4500", b"001000200000\x1e", b"x\x1e\x1d"].concat()
}

/// Documents in documents, each with its true length.
fn bson_deep(levels: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 * levels + 5);
    for level in (1..=levels).rev() {
        out.extend_from_slice(&(5 + 8 * level as u32).to_le_bytes());
        out.extend_from_slice(b"\x03a\0");
    }
    out.extend_from_slice(b"\x05\0\0\0\0");
    out.resize(out.len() + levels, 0);
    out
}

fn bson_length(element: &[u8]) -> Vec<u8> {
    [&(4 + element.len() as u32 + 1).to_le_bytes()[..], element, b"\0"].concat()
}

fn java_deep(levels: usize) -> Vec<u8> {
    let mut out = b"\xac\xed\0\x05ur\0\x13[Ljava.lang.Object;\x90\xce\x58\x9f\x10\x73\x29\x6c\x02\0\0xp\0\0\0\x01".to_vec();
    // The class again, by its handle.
    out.extend_from_slice(&b"uq\0\x7e\0\0\0\0\0\x01".repeat(levels.saturating_sub(1)));
    out.push(b'p');
    out
}

fn java_length() -> Vec<u8> {
    b"\xac\xed\0\x05ur\0\x02[I\x4d\xba\x60\x26\x76\xea\xb2\xa5\x02\0\0xp\x7f\xff\xff\xff".to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [&str; 11] = [
        "json",
        "yaml",
        "msgpack",
        "cbor",
        "bson",
        "marshal",
        "pickle",
        "marc",
        "marcxml",
        "java-serialization",
        "v8",
    ];

    #[test]
    fn bombs_are_small_and_named_once() {
        for format in FORMATS {
            let list = of(format);
            assert!(!list.is_empty(), "{format}");
            let mut kinds: Vec<&str> = list.iter().map(|one| one.kind).collect();
            kinds.sort_unstable();
            kinds.dedup();
            assert_eq!(kinds.len(), list.len(), "{format}");
            assert!(list.iter().all(|one| one.document.len() <= 1_800_100), "{format}");
        }
    }

    /// The deep ones are documents that nest as deep as they say: regauge counts them.
    #[test]
    fn the_deep_ones_are_as_deep_as_they_say() {
        for (name, format) in [
            ("json", regauge::Format::Json),
            ("yaml", regauge::Format::Yaml),
            ("msgpack", regauge::Format::Msgpack),
            ("cbor", regauge::Format::Cbor),
            ("bson", regauge::Format::Bson),
            ("marshal", regauge::Format::Marshal),
            ("pickle", regauge::Format::Pickle),
        ] {
            for bomb in of(name) {
                let Some((Scale::Depth, make)) = bomb.scaled else { continue };
                assert_eq!(make(DEPTH), bomb.document);
                if bomb.kind.starts_with("tags") {
                    continue;
                }
                let depth = depth_of(&make(50), format);
                // BSON counts the document itself, other formats only what is in it.
                assert!((50..=51).contains(&depth), "{name}, {}: {depth}", bomb.kind);
            }
        }
    }

    /// Returns the least depth limit with which regauge reads a document.
    fn depth_of(document: &[u8], format: regauge::Format) -> u32 {
        let reads = |depth: u32| {
            let mut options = regauge::convert::Options::new(format, regauge::Format::Json);
            options.limits.depth = depth;
            options.on_loss = regauge::OnLoss::Approximate;
            regauge::convert::convert_bytes(document, &options).is_ok()
        };
        (1..=60).find(|depth| reads(*depth)).unwrap_or(0)
    }

    #[test]
    fn keys_collide_in_python() {
        for index in [1, 2, COLLIDING] {
            assert_eq!((index * MODULUS) % MODULUS, 0);
        }
        let bytes = pickle_colliding();
        // 2^61 - 1 in eight bytes, and one for the sign.
        assert_eq!(&bytes[..15], b"\x80\x02}(\x8a\x09\xff\xff\xff\xff\xff\xff\xff\x1f\0");
    }
}
