//! One MARC 21 record in ISO 2709 form, put together field by field.

use super::super::words::Phrase;

const FIELD_END: u8 = 0x1E;
const RECORD_END: u8 = 0x1D;
const SUBFIELD: u8 = 0x1F;

/// Builds a record. Fields go in by rising tag; linked 880 fields are kept back until
/// [`Record::linked_fields`]. The buffers are reused from record to record.
#[derive(Default)]
pub(super) struct Record {
    directory: Vec<u8>,
    data: Vec<u8>,
    tag: [u8; 3],
    start: usize,
    linked: Vec<u8>,
    links: Vec<usize>,
    /// Accented letters are written as letter and combining mark, as in records that were once
    /// in MARC-8.
    pub(super) decomposed: bool,
}

impl Record {
    /// Starts over with an empty record.
    pub(super) fn clear(&mut self) {
        self.directory.clear();
        self.data.clear();
        self.linked.clear();
        self.links.clear();
    }

    /// A whole control field.
    pub(super) fn control(&mut self, tag: &str, text: &str) {
        self.open(tag);
        self.data.extend_from_slice(text.as_bytes());
        self.close();
    }

    /// A whole data field; empty subfields are left out.
    pub(super) fn field(&mut self, tag: &str, indicators: &str, subfields: &[(char, &str)]) {
        self.begin(tag, indicators);
        for &(code, text) in subfields {
            self.subfield(code, text);
        }
        self.close();
    }

    /// A data field, and where `subfields` have forms in another script, its 880 twin.
    pub(super) fn twin_field(
        &mut self,
        tag: &str,
        indicators: &str,
        script: &str,
        subfields: &[(char, &Phrase)],
    ) {
        let twin = !script.is_empty() && subfields.iter().any(|(_, text)| !text.native.is_empty());
        self.begin(tag, indicators);
        if twin {
            let number = self.links.len() + 1;
            self.subfield('6', &format!("880-{number:02}"));
            let start = self.linked.len();
            self.linked.extend_from_slice(indicators.as_bytes());
            push_subfield(&mut self.linked, '6', &format!("{tag}-{number:02}/{script}"));
            for &(code, text) in subfields.iter().filter(|(_, text)| !text.roman.is_empty()) {
                let form = if text.native.is_empty() { &text.roman } else { &text.native };
                push_subfield(&mut self.linked, code, form);
            }
            self.links.push(start);
        }
        for &(code, text) in subfields {
            self.subfield(code, &text.roman);
        }
        self.close();
    }

    /// The 880 fields of all twins so far.
    pub(super) fn linked_fields(&mut self) {
        let linked = std::mem::take(&mut self.linked);
        let links = std::mem::take(&mut self.links);
        for (index, &start) in links.iter().enumerate() {
            let end = links.get(index + 1).copied().unwrap_or(linked.len());
            self.open("880");
            self.data.extend_from_slice(&linked[start..end]);
            self.close();
        }
        self.linked = linked;
        self.links = links;
    }

    /// Opens a data field for [`Record::subfield`]; [`Record::close`] ends it.
    pub(super) fn begin(&mut self, tag: &str, indicators: &str) {
        self.open(tag);
        self.data.extend_from_slice(indicators.as_bytes());
    }

    /// A subfield of the open field, unless `text` is empty.
    pub(super) fn subfield(&mut self, code: char, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.decomposed || text.is_ascii() {
            return push_subfield(&mut self.data, code, text);
        }
        push_subfield(&mut self.data, code, "");
        let mut buffer = [0; 4];
        for letter in text.chars() {
            match decompose(letter) {
                Some((base, mark)) => {
                    self.data.push(base);
                    self.data.extend_from_slice(mark.encode_utf8(&mut buffer).as_bytes());
                }
                None => self.data.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes()),
            }
        }
    }

    fn open(&mut self, tag: &str) {
        self.tag.copy_from_slice(tag.as_bytes());
        self.start = self.data.len();
    }

    /// Ends the open field and enters it in the directory.
    pub(super) fn close(&mut self) {
        self.data.push(FIELD_END);
        self.directory.extend_from_slice(&self.tag);
        push_number(&mut self.directory, self.data.len() - self.start, 4);
        push_number(&mut self.directory, self.start, 5);
    }

    /// Appends the record to `out`. `status` is leader/05-08, `rest` leader/17-19.
    pub(super) fn finish(&self, status: &str, rest: &str, out: &mut Vec<u8>) {
        let base = 24 + self.directory.len() + 1;
        push_number(out, base + self.data.len() + 1, 5);
        out.extend_from_slice(status.as_bytes());
        out.extend_from_slice(b"a22");
        push_number(out, base, 5);
        out.extend_from_slice(rest.as_bytes());
        out.extend_from_slice(b"4500");
        out.extend_from_slice(&self.directory);
        out.push(FIELD_END);
        out.extend_from_slice(&self.data);
        out.push(RECORD_END);
    }
}

fn push_subfield(data: &mut Vec<u8>, code: char, text: &str) {
    data.push(SUBFIELD);
    data.push(code as u8);
    data.extend_from_slice(text.as_bytes());
}

/// `number` in `width` decimal digits. The longest field the grammar can make has under 5,000
/// bytes and the longest record under 40,000, so four and five digits are enough.
fn push_number(out: &mut Vec<u8>, number: usize, width: u32) {
    debug_assert!(number < 10usize.pow(width));
    for place in (0..width).rev() {
        out.push(b'0' + (number / 10usize.pow(place) % 10) as u8);
    }
}

/// Returns a Latin letter of the vocabularies as base letter and combining mark.
fn decompose(letter: char) -> Option<(u8, char)> {
    let (bases, mark, letters) =
        DECOMPOSED.iter().find(|(_, _, letters)| letters.contains(letter))?;
    let place = letters.chars().position(|other| other == letter)?;
    Some((bases.as_bytes()[place], *mark))
}

/// Base letters, the mark, and the same letters with the mark as one character.
const DECOMPOSED: [(&str, char, &str); 14] = [
    ("AEIOUaeiou", '\u{300}', "ÀÈÌÒÙàèìòù"),
    ("AEIOUaeioucnsSz", '\u{301}', "ÁÉÍÓÚáéíóúćńśŚź"),
    ("AEIOUaeiou", '\u{302}', "ÂÊÎÔÛâêîôû"),
    ("ANOano", '\u{303}', "ÃÑÕãñõ"),
    ("AEIOUaeiou", '\u{304}', "ĀĒĪŌŪāēīōū"),
    ("iaogu", '\u{306}', "ĭăŏğŭ"),
    ("ezZ", '\u{307}', "ėżŻ"),
    ("AEIOUaeiou", '\u{308}', "ÄËÏÖÜäëïöü"),
    ("Aa", '\u{30A}', "Åå"),
    ("CSZcszr", '\u{30C}', "ČŠŽčšžř"),
    ("HKSTDZhkstdzv", '\u{323}', "ḤḲṢṬḌẒḥḳṣṭḍẓṿ"),
    ("Cc", '\u{327}', "Çç"),
    ("ae", '\u{328}', "ąę"),
    ("ou", '\u{30B}', "őű"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decomposition_tables_are_parallel() {
        for (bases, mark, letters) in DECOMPOSED {
            assert_eq!(bases.len(), letters.chars().count(), "{mark:?}");
        }
        assert_eq!(decompose('é'), Some((b'e', '\u{301}')));
        assert_eq!(decompose('ṿ'), Some((b'v', '\u{323}')));
        assert_eq!(decompose('ł'), None);
        assert_eq!(decompose('й'), None);
    }

    #[test]
    fn a_record_has_the_bytes_of_the_standard() {
        let mut record = Record::default();
        record.control("001", "x1");
        record.field("245", "10", &[('a', "Tea /"), ('b', ""), ('c', "A. B.")]);
        let mut out = Vec::new();
        record.finish("nam ", " a ", &mut out);
        let text = "00070nam a2200049 a 4500\
            001000300000245001700003\x1ex1\x1e10\x1faTea /\x1fcA. B.\x1e\x1d";
        assert_eq!(String::from_utf8(out).unwrap(), text);
    }

    #[test]
    fn twins_point_at_each_other() {
        let mut record = Record::default();
        let title = Phrase { roman: "Ocherki".into(), native: "Очерки".into() };
        record.twin_field("245", "00", "(N", &[('a', &title)]);
        record.linked_fields();
        let data = String::from_utf8(record.data.clone()).unwrap();
        assert_eq!(data, "00\x1f6880-01\x1faOcherki\x1e00\x1f6245-01/(N\x1faОчерки\x1e");
    }
}
