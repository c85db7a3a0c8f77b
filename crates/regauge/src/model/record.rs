//! A MARC record in memory: a leader and fields, whatever the serialisation.

use std::ops::Range;

/// The position of the character that declares the charset: `a` is UTF-8, a blank MARC-8.
pub const CHARSET_POSITION: usize = 9;

/// How the text of a record is encoded in ISO 2709.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8: leader/09 is `a`.
    Utf8,
    /// MARC-8: leader/09 is a blank.
    Marc8,
}

impl Charset {
    /// Returns the name used under the record's key `charset`: `utf-8`, `marc-8`.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Marc8 => "marc-8",
        }
    }

    /// Returns the charset of this name.
    pub fn from_name(name: &str) -> Option<Charset> {
        match name {
            "utf-8" => Some(Charset::Utf8),
            "marc-8" => Some(Charset::Marc8),
            _ => None,
        }
    }

    /// Returns the charset that leader/09 declares: `a` is UTF-8, anything else MARC-8.
    pub fn of_leader(code: u8) -> Charset {
        if code == b'a' { Charset::Utf8 } else { Charset::Marc8 }
    }
}

/// One MARC record. All its text is in one buffer, so that clearing and refilling a record
/// allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Record {
    text: String,
    leader: Span,
    charset: Option<Charset>,
    fields: Vec<FieldEntry>,
    subfields: Vec<SubfieldEntry>,
    /// Where the text holds the directory and fields of ISO 2709 as consecutive bytes, in UTF-8;
    /// empty if they would have to be assembled.
    verbatim: Span,
}

/// A part of [`Record::text`].
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
struct FieldEntry {
    tag: Span,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Text(Span),
    Data { ind1: Span, ind2: Span, subfields: Span },
}

#[derive(Clone, Copy, Debug)]
struct SubfieldEntry {
    code: Span,
    value: Span,
}

/// A part of a record whose text is written in place: see [`Record::set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Leader,
    Tag,
    Text,
    Ind1,
    Ind2,
    Code,
    Value,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    /// A control field, or another field that is text.
    Text {
        /// The tag: three characters.
        tag: &'a str,
        /// The content of the field.
        text: &'a str,
    },
    /// A data field.
    Data {
        /// The tag: three characters.
        tag: &'a str,
        /// The first indicator.
        ind1: &'a str,
        /// The second indicator.
        ind2: &'a str,
        /// The subfields in order.
        subfields: Subfields<'a>,
    },
}

impl<'a> Field<'a> {
    /// Returns the tag.
    pub fn tag(&self) -> &'a str {
        match self {
            Field::Text { tag, .. } | Field::Data { tag, .. } => tag,
        }
    }
}

/// The subfields of a field: code and value of each.
#[derive(Clone, Copy, Debug)]
pub struct Subfields<'a> {
    text: &'a str,
    entries: &'a [SubfieldEntry],
}

impl<'a> Subfields<'a> {
    /// Returns how many are still to come.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are none left.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<'a> Iterator for Subfields<'a> {
    type Item = (&'a str, &'a str);

    #[inline]
    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let (first, rest) = self.entries.split_first()?;
        self.entries = rest;
        Some((&self.text[first.code.range()], &self.text[first.value.range()]))
    }
}

impl Span {
    #[inline]
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Range<u32>> for Span {
    #[inline]
    fn from(range: Range<u32>) -> Span {
        Span { start: range.start, end: range.end }
    }
}

impl PartialEq for Record {
    /// Two records are equal if they hold the same text in the same places.
    fn eq(&self, other: &Record) -> bool {
        let same = |(a, b): (Field<'_>, Field<'_>)| match (a, b) {
            (Field::Text { tag: t, text: x }, Field::Text { tag: u, text: y }) => (t, x) == (u, y),
            (
                Field::Data { tag: t, ind1: i, ind2: j, subfields: x },
                Field::Data { tag: u, ind1: k, ind2: l, subfields: y },
            ) => (t, i, j) == (u, k, l) && x.eq(y),
            _ => false,
        };
        self.leader() == other.leader()
            && self.charset == other.charset
            && self.fields.len() == other.fields.len()
            && self.fields().zip(other.fields()).all(same)
    }
}

impl Record {
    /// Creates a record without leader and fields.
    pub fn new() -> Record {
        Record::default()
    }

    /// Empties the record and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.leader = Span::default();
        self.charset = None;
        self.fields.clear();
        self.subfields.clear();
        self.verbatim = Span::default();
    }

    /// Returns the leader.
    pub fn leader(&self) -> &str {
        &self.text[self.leader.range()]
    }

    /// Returns the charset that the record carries because it differs from leader/09.
    pub fn charset_key(&self) -> Option<Charset> {
        self.charset
    }

    /// Returns the charset of the record in ISO 2709: the one it carries, or the one that leader/09
    /// declares.
    pub fn charset(&self) -> Charset {
        let code = self.leader().as_bytes().get(CHARSET_POSITION).copied().unwrap_or(b' ');
        self.charset.unwrap_or(Charset::of_leader(code))
    }

    /// Returns the fields in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Field<'_>> {
        self.fields.iter().map(|entry| {
            let tag = &self.text[entry.tag.range()];
            match entry.content {
                Content::Text(text) => Field::Text { tag, text: &self.text[text.range()] },
                Content::Data { ind1, ind2, subfields } => Field::Data {
                    tag,
                    ind1: &self.text[ind1.range()],
                    ind2: &self.text[ind2.range()],
                    subfields: Subfields {
                        text: &self.text,
                        entries: &self.subfields[subfields.range()],
                    },
                },
            }
        })
    }

    /// Returns the content of field 001.
    pub fn id(&self) -> Option<&str> {
        self.fields().find_map(|field| match field {
            Field::Text { tag: "001", text } => Some(text),
            _ => None,
        })
    }

    #[inline]
    fn push(&mut self, text: &str) -> Span {
        self.verbatim = Span::default();
        let start = self.text.len() as u32;
        self.text.push_str(text);
        Span { start, end: self.text.len() as u32 }
    }

    /// Returns the text buffer, for a reader that writes a piece of text in place: see
    /// [`open_piece`](Record::open_piece).
    pub(crate) fn buffer(&mut self) -> &mut String {
        self.verbatim = Span::default();
        &mut self.text
    }

    /// Returns the position where a piece of text written to [`buffer`](Record::buffer) begins.
    pub(crate) fn open_piece(&self) -> usize {
        self.text.len()
    }

    /// Assigns the text written since `start` to this part of the leader, field or subfield that
    /// was added last.
    #[inline]
    pub(crate) fn set(&mut self, part: Part, start: usize) {
        let span = Span { start: start as u32, end: self.text.len() as u32 };
        let field = self.fields.last_mut();
        match (part, field) {
            (Part::Leader, _) => self.leader = span,
            (Part::Tag, Some(field)) => field.tag = span,
            (Part::Text, Some(FieldEntry { content: Content::Text(text), .. })) => *text = span,
            (Part::Ind1, Some(FieldEntry { content: Content::Data { ind1, .. }, .. })) => {
                *ind1 = span;
            }
            (Part::Ind2, Some(FieldEntry { content: Content::Data { ind2, .. }, .. })) => {
                *ind2 = span;
            }
            (Part::Code | Part::Value, _) => {
                if let Some(subfield) = self.subfields.last_mut() {
                    *(if part == Part::Code { &mut subfield.code } else { &mut subfield.value }) =
                        span;
                }
            }
            _ => debug_assert!(false, "no field has such a part"),
        }
    }

    /// Sets this part of the leader, field or subfield that was added last.
    #[inline]
    pub(crate) fn put(&mut self, part: Part, text: &str) {
        let start = self.open_piece();
        self.push(text);
        self.set(part, start);
    }

    /// Makes the field that was added last a data field, without subfields.
    pub(crate) fn begin_data(&mut self) {
        let at = self.subfields.len() as u32;
        let subfields = Span { start: at, end: at };
        let (ind1, ind2) = (Span::default(), Span::default());
        if let Some(field) = self.fields.last_mut() {
            field.content = Content::Data { ind1, ind2, subfields };
        }
    }

    /// Begins a record whose whole text is given in two pieces; [`leader_at`](Record::leader_at)
    /// and similar functions then name parts of it.
    pub(crate) fn begin_whole(&mut self, text: [&str; 2], fields: usize, subfields: usize) {
        self.clear();
        self.text.reserve_exact(text[0].len() + text[1].len());
        text.iter().for_each(|text| self.text.push_str(text));
        self.fields.reserve_exact(fields);
        self.subfields.reserve_exact(subfields);
    }

    /// Sets the position of the leader in the text.
    pub(crate) fn leader_at(&mut self, leader: Range<u32>) {
        self.leader = leader.into();
    }

    /// Adds a field that is text, by the positions of its parts.
    pub(crate) fn text_at(&mut self, tag: Range<u32>, text: Range<u32>) {
        self.fields.push(FieldEntry { tag: tag.into(), content: Content::Text(text.into()) });
    }

    /// Adds a data field without subfields, by the positions of its parts.
    pub(crate) fn data_at(&mut self, tag: Range<u32>, ind1: Range<u32>, ind2: Range<u32>) {
        let at = self.subfields.len() as u32;
        let subfields = Span { start: at, end: at };
        let content = Content::Data { ind1: ind1.into(), ind2: ind2.into(), subfields };
        self.fields.push(FieldEntry { tag: tag.into(), content });
    }

    /// Adds subfields to the data field that was added last, by the positions of their parts.
    pub(crate) fn subfields_at(&mut self, places: impl Iterator<Item = [Range<u32>; 2]>) {
        self.subfields.extend(
            places.map(|[code, value]| SubfieldEntry { code: code.into(), value: value.into() }),
        );
        let count = self.subfields.len() as u32;
        if let Some(FieldEntry { content: Content::Data { subfields, .. }, .. }) =
            self.fields.last_mut()
        {
            subfields.end = count;
        }
    }

    /// Becomes a copy of another record, reusing its own memory.
    pub(crate) fn copy(&mut self, other: &Record) {
        self.text.clone_from(&other.text);
        self.fields.clone_from(&other.fields);
        self.subfields.clone_from(&other.subfields);
        (self.leader, self.charset, self.verbatim) = (other.leader, other.charset, other.verbatim);
    }

    /// Returns whether there is hardly more memory than the record needs.
    pub(crate) fn is_tight(&self) -> bool {
        fn tight<T>(used: usize, list: usize) -> bool {
            (list - used) * size_of::<T>() <= 64
        }
        tight::<u8>(self.text.len(), self.text.capacity())
            && tight::<FieldEntry>(self.fields.len(), self.fields.capacity())
            && tight::<SubfieldEntry>(self.subfields.len(), self.subfields.capacity())
    }

    /// Returns the bytes of memory allocated for the text and the places of its parts.
    pub fn memory(&self) -> usize {
        self.text.capacity()
            + self.fields.capacity() * size_of::<FieldEntry>()
            + self.subfields.capacity() * size_of::<SubfieldEntry>()
    }

    /// Returns how many of them the record needs.
    pub(crate) fn memory_used(&self) -> usize {
        self.text.len()
            + self.fields.len() * size_of::<FieldEntry>()
            + self.subfields.len() * size_of::<SubfieldEntry>()
    }

    /// Returns about how many bytes of memory the record takes. The entries count, because a
    /// subfield can be empty.
    #[inline]
    pub(crate) fn weight(&self) -> u64 {
        (self.text.len() + 32 * self.fields.len() + 16 * self.subfields.len()) as u64
    }

    /// Sets the leader.
    pub fn set_leader(&mut self, leader: &str) {
        let verbatim = self.verbatim;
        self.leader = self.push(leader);
        // The leader is not part of it.
        self.verbatim = verbatim;
    }

    /// Declares that the text from here to its end is the directory and the fields of ISO 2709,
    /// exactly as a writer would assemble them, without the record terminator.
    pub(crate) fn is_verbatim_from(&mut self, start: u32) {
        let end = self.text.len() as u32;
        self.verbatim = Span { start: start.min(end), end };
    }

    /// Returns the directory and fields of ISO 2709 in UTF-8, with all terminators but the
    /// record's, if they are known verbatim.
    pub(crate) fn verbatim(&self) -> Option<&str> {
        let range = self.verbatim.range();
        (!range.is_empty()).then(|| &self.text[range])
    }

    /// Sets the charset that the record carries.
    pub fn set_charset(&mut self, charset: Option<Charset>) {
        self.charset = charset;
    }

    /// Adds a field that is text.
    pub fn add_text(&mut self, tag: &str, text: &str) {
        let tag = self.push(tag);
        let content = Content::Text(self.push(text));
        self.fields.push(FieldEntry { tag, content });
    }

    /// Adds a data field without subfields.
    pub fn add_data(&mut self, tag: &str, ind1: &str, ind2: &str) {
        let tag = self.push(tag);
        let (ind1, ind2) = (self.push(ind1), self.push(ind2));
        let at = self.subfields.len() as u32;
        let content = Content::Data { ind1, ind2, subfields: Span { start: at, end: at } };
        self.fields.push(FieldEntry { tag, content });
    }

    /// Adds a subfield to the data field that was added last.
    ///
    /// # Panics
    /// If the last field is not a data field.
    pub fn add_subfield(&mut self, code: &str, value: &str) {
        let code = self.push(code);
        let value = self.push(value);
        self.subfields.push(SubfieldEntry { code, value });
        match self.fields.last_mut() {
            Some(FieldEntry { content: Content::Data { subfields, .. }, .. }) => subfields.end += 1,
            _ => panic!("a subfield needs a data field"),
        }
    }
}
