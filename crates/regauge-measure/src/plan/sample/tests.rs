//! Samples are the same for ever, sound as far as their format goes, and of the promised sizes.

use super::*;

fn sample(kind: Kind, count: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = Options { count: Some(count), seed };
    let summary = generate(kind, &options, &mut bytes).expect("a Vec takes all bytes");
    assert_eq!(summary, Summary { documents: count, bytes: bytes.len() as u64 });
    bytes
}

/// FNV-1a, 64 bits.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[test]
fn samples_are_the_same_for_ever() {
    // Whoever must change one of these changes data that people measured with: it belongs under
    // Bytes in the changelog, and waits for a major version once there is a first.
    assert_eq!(checksum(b"foobar"), 0x8594_4171_F739_67E8, "FNV-1a is not itself");
    let golden = [
        (Kind::Catalog, 500, 0, 0x8A3E_6CE0_3523_2DB8),
        (Kind::Catalog, 500, 1, 0xE0D2_8913_2D8E_1257),
        (Kind::TimeSlice, 5, 0, 0x82D6_4113_8882_682B),
        (Kind::Legislators, 23, 0, 0xF633_DFD3_39FC_6921),
        (Kind::Types, 400, 0, 0xB5BC_4E03_5B9A_4A68u64),
    ];
    let found = golden
        .map(|(kind, count, seed, _)| (kind, count, seed, checksum(&sample(kind, count, seed))));
    assert_eq!(found, golden, "found (left) is not what was published (right): {found:#x?}");
}

#[test]
fn a_shorter_sample_begins_a_longer_one() {
    for kind in Kind::ALL {
        for seed in [0, 7, u64::MAX] {
            let long = sample(kind, 100, seed);
            for count in [1, 2, 17, 99] {
                let mut short = sample(kind, count, seed);
                if kind == Kind::Legislators {
                    assert!(short.ends_with(b"]\n"));
                    short.truncate(short.len() - 2);
                }
                assert!(long.starts_with(&short), "{kind}: {count} of 100, seed {seed}");
                assert!(short.len() < long.len());
            }
        }
        assert_ne!(sample(kind, 10, 0), sample(kind, 10, 1), "{kind}: the seed changes nothing");
    }
}

#[test]
fn no_documents_are_an_empty_sample() {
    for kind in Kind::ALL {
        let expected: &[u8] = if kind == Kind::Legislators { b"[]\n" } else { b"" };
        assert_eq!(sample(kind, 0, 0), expected, "{kind}");
    }
}

#[test]
fn an_error_of_the_output_is_handed_on() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.len() > self.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for kind in Kind::ALL {
        let options = Options { count: Some(1000), seed: 0 };
        let error = generate(kind, &options, &mut Full(40_000)).expect_err("the disk is full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

#[test]
fn kinds_have_names() {
    for kind in Kind::ALL {
        assert_eq!(kind.name().parse(), Ok(kind));
    }
    assert_eq!(
        "catalogue".parse::<Kind>(),
        Err("found sample `catalogue`, expected one of: catalog, time-slice, legislators, types"
            .to_owned())
    );
}

/// A record taken apart, with every rule of ISO 2709 and MARC 21 that can be told from the bytes.
struct Parsed {
    fields: Vec<(String, String)>,
}

impl Parsed {
    fn new(record: &[u8]) -> Parsed {
        let text = std::str::from_utf8(record).expect("leader/09 is a: UTF-8");
        let number = |bytes: &[u8]| -> usize {
            assert!(bytes.iter().all(u8::is_ascii_digit), "{bytes:?} is no number");
            std::str::from_utf8(bytes).unwrap().parse().unwrap()
        };
        let leader = &record[..24];
        assert_eq!(number(&leader[..5]), record.len());
        assert!(b"acdnp".contains(&leader[5]) && b"acdefgijkmoprt".contains(&leader[6]), "{text}");
        assert_eq!((&leader[9..12], &leader[20..]), (&b"a22"[..], &b"4500"[..]));
        let base = number(&leader[12..17]);
        assert_eq!((record[base - 1], record[record.len() - 1]), (0x1E, 0x1D));
        let mut fields = Vec::new();
        let mut end = base;
        for entry in record[24..base - 1].chunks(12) {
            let (length, start) = (number(&entry[3..7]), number(&entry[7..]));
            assert_eq!(base + start, end, "fields stand in directory order without gaps");
            end += length;
            let data = &record[base + start..end];
            assert_eq!(data[length - 1], 0x1E);
            let data = std::str::from_utf8(&data[..length - 1]).expect("no letter is cut");
            let is_mark = |c: char| c.is_control() && c != '\u{1F}';
            assert!(!data.contains(is_mark), "control character in {data:?}");
            fields.push((std::str::from_utf8(&entry[..3]).unwrap().to_owned(), data.to_owned()));
        }
        assert_eq!(end + 1, record.len());
        let tags: Vec<&str> = fields.iter().map(|(tag, _)| tag.as_str()).collect();
        assert!(tags.is_sorted(), "{tags:?}");
        assert!(
            ["001", "005", "008", "245"]
                .iter()
                .all(|must| { tags.iter().filter(|tag| *tag == must).count() == 1 })
        );
        Parsed { fields }
    }

    fn data_fields(&self) -> impl Iterator<Item = (&str, &str, Vec<(char, &str)>)> {
        self.fields.iter().filter(|(tag, _)| tag.as_str() >= "010").map(|(tag, data)| {
            let mut parts = data.split('\u{1F}');
            let indicators = parts.next().expect("split gives one part at least");
            let subfields = parts.map(|part| {
                let code = part.chars().next().expect("every subfield has a code");
                (code, &part[code.len_utf8()..])
            });
            (tag.as_str(), indicators, subfields.collect())
        })
    }
}

fn records(bytes: &[u8]) -> Vec<Parsed> {
    bytes.split_inclusive(|&byte| byte == 0x1D).map(Parsed::new).collect()
}

#[test]
fn every_record_is_sound() {
    let mut last = String::new();
    let mut scripts = [("(N", 0), ("$1", 0), ("(2/r", 0), ("(3/r", 0), ("(S", 0)];
    for record in records(&sample(Kind::Catalog, 3000, 3)) {
        for (tag, text) in &record.fields {
            match tag.as_str() {
                "001" => {
                    assert!(*text > last, "001 rises: {last} before {text}");
                    last.clone_from(text);
                }
                "005" => assert_eq!(text.len(), 16, "{text}"),
                "006" => assert_eq!(text.len(), 18, "{text:?}"),
                "008" => assert_eq!(text.len(), 40, "{text:?}"),
                _ => {}
            }
        }
        let mut links = Vec::new();
        let mut twins = Vec::new();
        for (tag, indicators, subfields) in record.data_fields() {
            assert!(
                indicators.len() == 2
                    && indicators.bytes().all(|b| b == b' ' || b.is_ascii_digit()),
                "{tag} {indicators:?}"
            );
            assert!(!subfields.is_empty(), "{tag} is empty");
            for &(code, text) in &subfields {
                assert!(code.is_ascii_lowercase() || code.is_ascii_digit(), "{tag} ${code}");
                assert!(!text.is_empty(), "{tag} ${code} is empty");
                assert!(!text.contains(['{', '}']), "{tag} ${code}: a mark is left in {text}");
                if code == '6' {
                    let (head, script) = text.split_once('/').unwrap_or((text, ""));
                    let (other, number) = head.split_once('-').expect("tag, hyphen, number");
                    if tag == "880" {
                        twins.push((other.to_owned(), number.to_owned()));
                        let counted = scripts.iter_mut().find(|(name, _)| *name == script);
                        counted.expect("a script code of MARC 21").1 += 1;
                    } else {
                        assert_eq!(other, "880");
                        links.push((tag.to_owned(), number.to_owned()));
                    }
                }
            }
        }
        assert_eq!(links, twins, "every link has its 880");
    }
    assert!(scripts.iter().all(|&(_, count)| count > 0), "{scripts:?}");
}

#[test]
fn the_catalogue_has_the_promised_sizes() {
    let bytes = sample(Kind::Catalog, 2000, 0);
    let records = records(&bytes);
    let (mut fields, mut subfields, mut ndjson) = (0, 0, 0);
    for record in &records {
        fields += record.fields.len();
        // {"leader":"…","fields":[…]} and a line end; {"001":"…"}, and
        // {"245":{"ind1":"1","ind2":"0","subfields":[…]}}, with a comma each, {"a":"…"}, alike.
        ndjson += 24 + 24 + 3;
        for (_, text) in record.fields.iter().filter(|(tag, _)| tag.as_str() < "010") {
            ndjson += text.len() + 11;
        }
        for (_, _, parts) in record.data_fields() {
            subfields += parts.len();
            ndjson += 47;
            for (_, text) in parts {
                ndjson += text.len() + text.matches(['"', '\\']).count() + 9;
            }
            ndjson -= 1;
        }
        ndjson -= 1;
    }
    let per_record = |sum: usize| sum as f64 / records.len() as f64;
    let window = |name, found: f64, low, high| {
        assert!((low..high).contains(&found), "{name}: {found}, expected {low} to {high}");
    };
    // A sample of 2,000 records has some 33 loads, which differ: hence the width.
    window("bytes", per_record(bytes.len()), 1_540.0, 1_740.0);
    window("fields", per_record(fields), 31.0, 35.0);
    window("subfields", per_record(subfields), 53.0, 60.0);
    window("NDJSON to MARC 21", ndjson as f64 / bytes.len() as f64, 1.76, 1.83);
}

#[test]
fn a_time_slice_has_the_promised_size() {
    for slice in sample(Kind::TimeSlice, 50, 5).split(|&byte| byte == b'\n') {
        // 16,402 bytes, within a hundredth.
        assert!(slice.is_empty() || (16_238..=16_566).contains(&slice.len()), "{}", slice.len());
    }
}

#[test]
fn other_samples_are_json() {
    let parse = |bytes: &[u8]| -> serde_json::Value {
        serde_json::from_slice(bytes).expect("a sample is sound JSON")
    };
    let lines = |kind, count| -> Vec<serde_json::Value> {
        let bytes = sample(kind, count, 0);
        bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(parse).collect()
    };
    let slices = lines(Kind::TimeSlice, 3);
    assert_eq!(slices.len(), 3);
    for pair in slices.windows(2) {
        assert_eq!(pair[0]["slice_end"], pair[1]["slice_start"]);
    }
    for slice in &slices {
        let points = slice["points"].as_array().expect("a list of points");
        assert_eq!(points.len(), 155);
        assert!(points.iter().all(|p| p["mean_latency_ms"].is_f64() && p["active_users"].is_u64()));
    }

    let members = parse(&sample(Kind::Legislators, 200, 0));
    let members = members.as_array().expect("one array");
    assert_eq!(members.len(), 200);
    for member in members {
        let terms = member["terms"].as_array().expect("a list of terms");
        assert!(terms.iter().all(|t| t["start"].as_str() < t["end"].as_str()));
        assert!(member["bio"]["birthday"].as_str() < terms[0]["start"].as_str());
    }

    let documents = lines(Kind::Types, 4000);
    for (document, name) in
        documents.iter().zip(["Hash", "String", "Float", "CustomClass"].iter().cycle())
    {
        assert_eq!(document["type"], *name);
        let value = &document["value"];
        match *name {
            "String" => assert!(value.is_string()),
            "Float" => assert!(value.is_f64()),
            _ => assert!(value.is_object()),
        }
    }
    let text = String::from_utf8(sample(Kind::Types, 4000, 0)).expect("UTF-8");
    for (line, document) in text.lines().zip(&documents) {
        // The text of every float is the shortest that gives the double back.
        if document["type"] == "Float" {
            assert_eq!(line, format!("{{\"type\":\"Float\",\"value\":{}}}", document["value"]));
        }
    }
}
