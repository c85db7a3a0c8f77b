//! The rules of MARCXML, table by table.

use super::{Parser, Reader, Writer};
use crate::bytes::buffer::Out;
use crate::codec::marc::{Charset, Options};
use crate::codec::marc::{Field, Record, RecordBuilder};
use crate::policy::event::recorder::Pieces;
use crate::{ErrorKind, Fidelity, Format, Limits, OnLoss, Result, Sink, Source, Writer as _};

const LEADER: &str = "<leader>00000nam a2200000   4500</leader>";

/// Formats a record on one line, without its leader unless it is unusual:
/// `001=id 245[1][0]$a=Title`.
fn shown(record: &Record) -> String {
    let mut text = String::new();
    if record.leader() != "00000nam a2200000   4500" {
        text += &format!("{:?} ", record.leader());
    }
    if let Some(charset) = record.charset_key() {
        text += &format!("({}) ", charset.name());
    }
    for field in record.fields() {
        match field {
            Field::Text { tag, text: content } => text += &format!("{tag}={content} "),
            Field::Data { tag, ind1, ind2, subfields } => {
                text += &format!("{tag}[{ind1}][{ind2}]");
                for (code, value) in subfields {
                    text += &format!("${code}={value}");
                }
                text += " ";
            }
        }
    }
    text.strip_suffix(' ').unwrap_or_default().to_owned()
}

struct Got {
    lines: Vec<String>,
    losses: Vec<String>,
}

fn read_all(mut reader: Reader<'_>, on_loss: OnLoss) -> Got {
    reader.keep_records(true);
    let fidelity = Fidelity::new(on_loss, Format::Json);
    let mut builder = RecordBuilder::new(&Limits::default(), fidelity);
    let mut lines = Vec::new();
    loop {
        match reader.next(&mut builder) {
            Ok(true) => lines.push(shown(builder.record())),
            Ok(false) => break,
            Err(error) => match reader.skip_bad(error) {
                Ok(bad) => {
                    builder.reset();
                    lines.push(bad.error.to_string());
                }
                Err(error) => {
                    lines.push(format!("end {error}"));
                    break;
                }
            },
        }
    }
    let losses = builder.fidelity().losses().iter().flat_map(|loss| &loss.examples);
    Got { lines, losses: losses.map(|example| example.found.clone()).collect() }
}

fn read_under(bytes: &[u8], on_loss: OnLoss) -> Got {
    let whole = read_all(Reader::from_slice(Parser::default(), bytes), on_loss);
    let pieces = read_all(Reader::from_read(Parser::default(), Pieces(bytes, 1)), on_loss);
    assert_eq!(whole.lines, pieces.lines);
    assert_eq!(whole.losses, pieces.losses);
    whole
}

fn read(text: &str) -> Vec<String> {
    read_under(text.as_bytes(), OnLoss::Refuse).lines
}

fn write(record: &Record, on_loss: OnLoss) -> Result<(String, u64)> {
    let fidelity = Fidelity::new(on_loss, Format::MarcXml);
    let options = Options { compact: true, ..Options::default() };
    let mut writer = Writer::new(Out::in_memory(), options, fidelity);
    record.drive(&mut writer)?;
    writer.end_document()?;
    writer.finish()?;
    let count = writer.fidelity().count();
    Ok((String::from_utf8(writer.into_out().into_vec()).unwrap(), count))
}

#[test]
fn xml_without_a_record_is_refused_for_what_it_is() {
    for (text, expected) in [
        ("<r/>", "found <r> and no MARC record, expected MARCXML"),
        ("<collection><r><l>00000</l></r></collection>", "found <collection> with <r> and no MARC"),
        (
            "<modsCollection xmlns=\"http://www.loc.gov/mods/v3\"><mods><titleInfo/></mods>\
             </modsCollection>",
            "found <modsCollection> in the namespace \"http://www.loc.gov/mods/v3\", which is MODS, \
             and no MARC record; expected MARCXML",
        ),
        (
            "<m:mods xmlns:m=\"http://www.loc.gov/mods/v3\"/>",
            "found <m:mods> in the namespace \"http://www.loc.gov/mods/v3\", which is MODS",
        ),
        (
            "<collection xmlns=\"http://www.indexdata.com/turbomarc\"><r><l>0</l></r></collection>",
            "found <collection> in the namespace \"http://www.indexdata.com/turbomarc\", which is \
             TurboMARC, and no MARC record",
        ),
        (
            "<searchRetrieveResponse xmlns=\"http://www.loc.gov/zing/srw/\"><records/>\
             </searchRetrieveResponse>",
            "found <searchRetrieveResponse> in the namespace \"http://www.loc.gov/zing/srw/\" and no",
        ),
        (
            "<wrap><mods xmlns=\"http://www.loc.gov/mods/v3\"/></wrap>",
            "found <wrap>, which is MODS, and no MARC record",
        ),
    ] {
        let lines = read(text);
        // Not a broken record to skip, but an end.
        let [line] = lines.as_slice() else { panic!("{text}: {lines:?}") };
        assert!(line.starts_with("end ") && line.contains(expected), "{text}: {line}");
    }
    for text in ["<collection/>", "<c:collection xmlns:c='http://www.loc.gov/MARC21/slim'/>"] {
        assert_eq!(read(text), [""; 0], "{text}");
    }
}

#[test]
fn every_way_to_write_a_record() {
    let check = |content: &str, expected: &str| {
        for (open, close) in [
            ("<record>", "</record>"),
            ("<collection><record>", "</record></collection>"),
            (
                "<?xml version='1.0'?>\n<!-- x --><!DOCTYPE collection SYSTEM \"x.dtd\">\n\
                 <collection xmlns=\"http://www.loc.gov/MARC21/slim\" a:b=\"\" xmlns:a=\"x\">\n <record \
                 type=\"Bibliographic\">",
                "</record >\n</collection>\n",
            ),
            ("\u{FEFF}<wrap><deep><record id='1'>", "</record></deep><other/></wrap>"),
        ] {
            assert_eq!(read(&format!("{open}{LEADER}{content}{close}")), [expected], "{content}");
        }
    };
    check("", "");
    check("<controlfield tag=\"001\">id</controlfield>", "001=id");
    check("<controlfield tag='001'> i d </controlfield>", "001= i d ");
    check("<controlfield tag=\"001\"/>", "001=");
    check("<controlfield\n\ttag = \"001\" ></controlfield\n>", "001=");
    check(
        "<controlfield tag=\"008\">a<!-- b -->c<![CDATA[<&]]>d<?x y?></controlfield>",
        "008=ac<&d",
    );
    check("<datafield tag=\"245\" ind1=\"1\" ind2=\"0\"></datafield>", "245[1][0]");
    check(
        "<datafield ind2=' ' ind1='&#32;' tag='2&#52;5'>\n <!-- x --> <subfield code=\"a\">x &amp; \
         y</subfield>\n<subfield code='&lt;'>&#x41;\r\nb\r</subfield> </datafield>",
        "245[ ][ ]$a=x & y$<=A\nb\n",
    );
    check(
        "<datafield tag=\"245\" ind1=\"\" ind2=\" \n\"><subfield code=\"\"></subfield></datafield>",
        "245[][  ]$=",
    );
}

#[test]
fn prefixes_and_namespaces() {
    let record = |prefix: &str, attributes: &str| {
        let p = prefix;
        format!(
            "<{p}record{attributes}><{p}leader>00000nam a2200000   4500</{p}leader>\
             <{p}controlfield tag=\"001\">id</{p}controlfield></{p}record>"
        )
    };
    let slim = "http://www.loc.gov/MARC21/slim";
    let one = ["001=id"];
    assert_eq!(read(&record("marc:", &format!(" xmlns:marc=\"{slim}\""))), one);
    assert_eq!(read(&record("m:", " xmlns:m='info:lc/xmlns/marcxchange-v2'")), one);
    assert_eq!(read(&record("", &format!(" xmlns='{slim}'"))), one);
    assert_eq!(read(&record("x:", "")), one);
    // A response of SRU: its own record contains ours.
    let inner = record("", &format!(" xmlns='{slim}'"));
    let text = format!(
        "<searchRetrieveResponse xmlns='http://www.loc.gov/zing/srw/'><records><record>\
         <recordData>{inner}</recordData><recordPosition>1</recordPosition></record><record>\
         <recordData>{inner}</recordData></record></records></searchRetrieveResponse>"
    );
    let got = read_under(text.as_bytes(), OnLoss::Refuse);
    assert_eq!(got.lines, ["001=id", "001=id"]);
    assert_eq!(got.losses, ["text outside of records: 1 in <recordPosition>"]);
    assert_eq!(
        read("<record xmlns='urn:other'><x/></record>"),
        ["end marcxml: record 1, byte 39: found <record> in the namespace \"urn:other\" \
          and no MARC record, expected MARCXML"]
    );
}

#[test]
fn what_is_counted_and_what_is_not() {
    let check = |text: &str, expected: &str, losses: &[&str]| {
        let got = read_under(text.as_bytes(), OnLoss::Approximate);
        assert_eq!(got.lines, [expected]);
        assert_eq!(got.losses, losses, "{text}");
    };
    check(
        &format!("<record xml:space=\"preserve\" other=\"1\">{LEADER}</record>"),
        "",
        &["the attribute other=\"1\" of <record>"],
    );
    check(
        &format!("<record>{LEADER}<datafield tag=\"245\" ind1=\"1\" x=\"y\" id=\"z\"/></record>"),
        "245[1][ ]",
        &["the attribute x=\"y\" of <datafield>", "no ind2 in 245"],
    );
    check(
        "<record><controlfield tag='001'>x</controlfield></record>",
        "\"00000    a2200000   4500\" 001=x",
        &["a record without a leader"],
    );
    check(
        &format!("<record><id>x<leader/></id>{LEADER}</record>"),
        "",
        &["the element <id> in a record"],
    );
}

#[test]
fn broken_records_are_named_and_passed_over() {
    let good = format!("<record>{LEADER}<controlfield tag=\"001\">good</controlfield></record>");
    let check = |broken: &str, offset: usize, message: &str| {
        let text = format!("<collection>{good}{broken}{good}</collection>");
        let place = "<collection>".len() + good.len() + offset;
        let (id, message) = match message.strip_prefix("(id) ") {
            Some(message) => (" (001 id)", message),
            None => ("", message),
        };
        let expected = format!("marcxml: record 2{id}, byte {place}: {message}");
        assert_eq!(read(&text), ["001=good", &expected, "001=good"]);
    };
    let unknown = "found <foo>, expected leader, controlfield, datafield or the end of the record; \
                   set `on_loss` to `Approximate` to leave it out";
    check("<record><foo/></record>", 8, unknown);
    let id = "<controlfield tag=\"001\">id</controlfield>";
    check(
        &format!("<record>{id}text</record>"),
        49,
        "(id) found the text \"text\", expected \
         leader, controlfield, datafield or the end of the record",
    );
    check(
        "<record><controlfield>x</controlfield></record>",
        8,
        "found <controlfield> without tag, expected that attribute",
    );
    check(
        "<record><datafield tag=\"1\" ind1=\" \" ind2=\" \"><subfield>x</subfield></datafield></record>",
        45,
        "found <subfield> without code, expected that attribute",
    );
    check(
        "<record><datafield tag=\"1\" tag=\"2\"/></record>",
        8,
        "found an invalid attribute of <datafield> (position 18: duplicated attribute, previous \
         declaration at position 10)",
    );
    check(
        "<record><leader>&nbsp;</leader></record>",
        16,
        "found the entity \"&nbsp;\", expected one of amp, lt, gt, quot and apos; entities of a \
         document type are not expanded",
    );
    check(
        "<record><leader>a</controlfield></record>",
        17,
        "found </controlfield>, expected </leader>",
    );
    check("<record><leader>a<b/></leader></record>", 17, "found <b>, expected text");
    check(
        &format!("<record>{LEADER}<leader>b</leader></record>"),
        8 + LEADER.len(),
        "found a second leader, expected one",
    );
    check(
        "<record><leader>\u{1}</leader></record>",
        16,
        "found the character U+0001, which XML \
         1.0 does not allow; remove it, or read the records from another serialisation",
    );
    check(
        "<record><controlfield tag=\"&#1;\"/></record>",
        8,
        "found \"&#1;\", expected the number of a character that XML 1.0 allows",
    );
    // A record without an end: the next one is not lost.
    check(
        &format!("<record>{id}"),
        8 + id.len(),
        "(id) found <record>, expected leader, \
         controlfield, datafield or the end of the record; set `on_loss` to `Approximate` to leave it \
         out",
    );
    check(
        "<datafield tag=\"245\" ind1=\"1\" ind2=\"0\"/>",
        0,
        "found <datafield> outside of a record, expected a record",
    );
    check(
        "<?regauge x?><record><?regauge charset=\"x\"?></record>",
        21,
        "found <?regauge \
         charset=\"x\"?>, expected an instruction that regauge writes there",
    );
}

#[test]
fn what_is_not_marcxml_at_all() {
    let check = |text: &str, kind: ErrorKind, message: &str| {
        let mut reader = Reader::from_slice(Parser::default(), text.as_bytes());
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        let mut builder = RecordBuilder::new(&Limits::default(), fidelity);
        let error = loop {
            match reader.next(&mut builder) {
                Ok(true) => {}
                Ok(false) => panic!("{text} was accepted"),
                Err(error) => break error,
            }
        };
        assert_eq!((error.kind(), error.message()), (kind, message));
    };
    check("text", ErrorKind::Syntax, "found the text \"text\", expected a collection or a record");
    check(
        "<!DOCTYPE a [<!ENTITY b \"c\">]><record/>",
        ErrorKind::Unsupported,
        "found a document type with declarations, expected none: entities are not expanded",
    );
    check(
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><record/>",
        ErrorKind::Unsupported,
        "found the encoding \"ISO-8859-1\", expected UTF-8",
    );
    check(
        "<collection>",
        ErrorKind::Truncated,
        "found the end of the input, expected </collection>",
    );
    check("<collection", ErrorKind::Truncated, "found the end of the input inside a tag");
    check("<!-- ", ErrorKind::Truncated, "found the end of the input inside a comment");
    check("<a b=\"", ErrorKind::Truncated, "found the end of the input inside an attribute");
    check(
        "<a>1 < 2</a>",
        ErrorKind::Syntax,
        "found \"<\", expected a tag (write a lone \"<\" as \"&lt;\")",
    );
    let utf16: Vec<u8> = "\u{FEFF}<record/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut reader = Reader::from_slice(Parser::default(), &utf16);
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
    let error = reader.next(&mut RecordBuilder::new(&Limits::default(), fidelity)).unwrap_err();
    assert_eq!(error.message(), "found UTF-16, expected UTF-8");
}

#[test]
fn limits_hold() {
    let deep = |depth: usize| format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
    assert!(read(&deep(512))[0].contains("found <a> and no MARC record"));
    assert!(read(&deep(513))[0].contains("the limit of depth"));
    let record =
        |length: usize| format!("<record><leader>{}</leader></record>", "x".repeat(length));
    let read_within = |text: &str| {
        let limits = Limits { record_bytes: 100, ..Limits::default() };
        let mut reader =
            Reader::from_slice(Parser::new(Options::default(), limits), text.as_bytes());
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        reader.next(&mut RecordBuilder::new(&Limits::default(), fidelity))
    };
    assert!(read_within(&record(99)).unwrap());
    assert!(read_within(&record(100)).unwrap());
    assert_eq!(read_within(&record(101)).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn what_the_writer_writes() {
    let mut record = Record::new();
    record.set_leader("00000nam a2200000   4500");
    record.set_charset(Some(Charset::Utf8));
    record.add_text("001", "a < b & c > \"d\"\r\n\t");
    record.add_data("245", "\"", "\n");
    record.add_subfield("&", " é\u{FF01} ");
    let (text, losses) = write(&record, OnLoss::Refuse).unwrap();
    assert_eq!(losses, 0);
    assert_eq!(
        text,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <collection xmlns=\"http://www.loc.gov/MARC21/slim\">\n\
         <record><leader>00000nam a2200000   4500</leader><?regauge charset=\"utf-8\"?>\
         <controlfield tag=\"001\">a &lt; b &amp; c &gt; \"d\"&#13;\n\t</controlfield>\
         <datafield tag=\"245\" ind1=\"&quot;\" ind2=\"&#10;\">\
         <subfield code=\"&amp;\"> é\u{FF01} </subfield></datafield></record>\n\
         </collection>\n"
    );
    assert_eq!(read(&text), [shown(&record)]);
}

#[test]
fn indented_as_others_do() {
    let mut record = Record::new();
    record.set_leader("00000nam a2200000   4500");
    record.add_text("001", "id");
    record.add_data("245", "1", "0");
    record.add_subfield("a", "x");
    let fidelity = Fidelity::new(OnLoss::Refuse, Format::MarcXml);
    let mut writer = Writer::new(Out::in_memory(), Options::default(), fidelity);
    for _ in 0..2 {
        // A record that is rolled back leaves no trace.
        writer.checkpoint();
        record.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
        writer.rollback();
        record.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
    }
    writer.finish().unwrap();
    let text = String::from_utf8(writer.into_out().into_vec()).unwrap();
    let one = "  <record>\n    <leader>00000nam a2200000   4500</leader>\n    \
               <controlfield tag=\"001\">id</controlfield>\n    \
               <datafield tag=\"245\" ind1=\"1\" ind2=\"0\">\n      \
               <subfield code=\"a\">x</subfield>\n    </datafield>\n  </record>\n";
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                <collection xmlns=\"http://www.loc.gov/MARC21/slim\">\n";
    assert_eq!(text, format!("{head}{one}{one}</collection>\n"));
    assert_eq!(read(&text), [shown(&record), shown(&record)]);
}

#[test]
fn what_xml_has_no_place_for() {
    let mut record = Record::new();
    record.set_leader("00000nam a22000004\u{2}0");
    record.add_text("0\u{1}1", "a\u{1F}b\u{FFFF}");
    record.add_data("245", "\u{1}", "x\u{2}");
    record.add_subfield("\u{3}", "\u{0}y");
    let error = write(&record, OnLoss::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.message(), "found the character U+0002 in the leader, which XML cannot hold");
    let (text, losses) = write(&record, OnLoss::Wrap).unwrap();
    assert_eq!((read(&text), losses), (vec![shown(&record)], 0), "{text}");
    let (text, losses) = write(&record, OnLoss::Approximate).unwrap();
    assert_eq!(losses, 8);
    assert!(text.contains("<subfield code=\"\u{FFFD}\">\u{FFFD}y</subfield>"), "{text}");
}

#[test]
fn cut_at_every_byte() {
    let one = |id: &str| {
        format!(
            "<record>{LEADER}<controlfield tag=\"001\">{id}</controlfield>\
             <datafield tag='245' ind1='1' ind2='0'><subfield code=\"a\">é &amp; <![CDATA[x]]>\
             <!-- y --></subfield></datafield></record>"
        )
    };
    let (head, first, second) = ("<collection>", one("1"), one("2"));
    let text = format!("{head}{first}{second}</collection>");
    let all = read(&text);
    let first_end = head.len() + first.len();
    for cut in 0..text.len() {
        let got = read_under(&text.as_bytes()[..cut], OnLoss::Refuse).lines;
        let whole = usize::from(cut >= first_end) + usize::from(cut >= first_end + second.len());
        assert_eq!(got[..whole], all[..whole], "{cut}");
        // Anything incomplete is an error, even if nothing is there, and only one.
        assert_eq!(got.len(), whole + 1, "{cut}: {got:?}");
    }
}

#[test]
fn long_text_is_cut_between_characters_references_and_line_ends() {
    let pattern = "a&amp;b\r\nc]]d\u{20AC}&#x1D11E;e\u{E9}\rf";
    let value = "a&b\nc]]d\u{20AC}\u{1D11E}e\u{E9}\nf";
    let (text, expected) = (pattern.repeat(6_000), value.repeat(6_000));
    for shift in 0..pattern.len() {
        let before = "x".repeat(shift);
        let xml = format!(
            "<record>{LEADER}<controlfield tag=\"001\">{before}{text}</controlfield></record>"
        );
        let expected = format!("001={before}{expected}");
        for reader in [
            Reader::from_slice(Parser::default(), xml.as_bytes()),
            Reader::from_read(Parser::default(), xml.as_bytes()),
        ] {
            let got = read_all(reader, OnLoss::Refuse);
            assert!(got.lines == [expected.as_str()], "shifted by {shift}");
        }
    }
}
