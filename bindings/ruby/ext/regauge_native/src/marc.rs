//! MARC records: read as they are, and made into objects of Ruby when somebody looks at them.
//!
//! A record that was read holds the library's own [`Record`] in `@source`; its fields become
//! objects all at once when they are first asked for. A record whose fields nobody asked for is
//! written straight from there. The objects have the instance variables of ruby-marc, so real
//! `MARC::Record`s can be built and written by the same code.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use regauge::fidelity::Fidelity;
use regauge::marc::{Field, Record, RecordBuilder};
use regauge::out::Out;
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format, OnLoss, Sink, Source, Writer, json, marc};

use crate::ahead::{Ahead, Next};
use crate::data::{DataType, Held};
use crate::errors::{Phase, exception};
use crate::load::located;
use crate::names::names;
use crate::options::{Settings, word};
use crate::ruby::{self, Jump, NIL, Places, Raise, Text, VALUE};
use crate::scratch::{self, Keys};
use crate::stream::{FromRead, bad_record};

/// `Regauge::Native::RecordSource`: what was read of one record.
pub struct RecordSource(Record);

impl Held for RecordSource {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::RecordSource";
    fn mark(&self) {}
    fn size(&self) -> usize {
        size_of::<Record>() + 2 * self.0.leader().len()
    }
}

static SOURCE: DataType<RecordSource> = DataType::new();

/// `Regauge::Native::RecordStream`.
pub struct RecordStream {
    inner: Option<Inner>,
    held: [VALUE; 2],
}

struct Inner {
    reader: Box<dyn Records>,
    builder: RecordBuilder,
    settings: Settings,
    jump: Arc<AtomicI32>,
    string: VALUE,
    ahead: Option<Ahead>,
    /// Bytes and records that were read by others before the reader's first.
    before: (u64, u64),
}

impl Held for RecordStream {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::RecordStream";
    fn mark(&self) {
        self.held.iter().for_each(|value| ruby::mark(*value));
    }
}

static STREAM: DataType<RecordStream> = DataType::new();

impl Inner {
    fn parser(&self) -> marc::iso2709::Parser {
        let core = &self.settings.core;
        marc::iso2709::Parser::new(core.marc.clone(), core.limits)
    }

    /// One reader goes on where the threads stopped.
    fn go_on(&mut self, mut reader: Reader<'static, marc::iso2709::Parser>, ahead: &Ahead) {
        reader.keep_records(self.settings.core.skip_bad);
        self.reader = Box::new(reader);
        self.before = (ahead.offset, ahead.records);
    }

    /// The error with its place in the whole stream.
    #[cold]
    fn placed(&self, error: Error) -> Error {
        let (bytes, records) = self.before;
        if bytes == 0 {
            return error;
        }
        let (offset, record) = (error.offset(), error.record());
        let error = match offset {
            Some(offset) => error.at(offset + bytes),
            None => error,
        };
        match record {
            Some(record) => error.in_record(record + records),
            None => error,
        }
    }
}

/// A reader of records in any of the three formats.
trait Records {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool>;
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord>;
}

impl<P: Parse> Records for Reader<'static, P> {
    fn next(&mut self, builder: &mut RecordBuilder) -> regauge::Result<bool> {
        builder.reset();
        Source::next(self, builder)
    }
    fn skip(&mut self, error: Error) -> regauge::Result<BadRecord> {
        self.skip_bad(error)
    }
}

/// `Native.records(format, source, keywords, kit)`: the records of a string, or of what `read`
/// gives. The kit is the classes of a record, its list of fields, control field, data field and
/// subfield, and whether the fields are made at once.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, source, keywords, kit] = arguments else {
        return Err(ruby::argument_error("records takes a format, a source, keywords and a kit"));
    };
    let format = crate::convert::format_of(format)?;
    let settings = Settings::parse(format, keywords)?;
    let limits = settings.core.limits;
    let jump = Arc::new(AtomicI32::new(0));
    let is_string = ruby::kind_of(source) == rb_sys::ruby_value_type::RUBY_T_STRING;
    let string = if is_string { ruby::frozen_string(source) } else { NIL };
    // Frozen, and marked by the object that holds the reader, so the bytes stay where they are.
    let bytes: &'static [u8] = if is_string { ruby::bytes_of(string) } else { &[] };
    fn reader<P: Parse + 'static>(
        parser: P,
        bytes: &'static [u8],
        from_read: Option<FromRead>,
        keep: bool,
    ) -> Box<dyn Records> {
        let mut reader = match from_read {
            None => Reader::from_slice(parser, bytes),
            Some(read) => Reader::from_read(parser, read),
        };
        reader.keep_records(keep);
        Box::new(reader)
    }
    let from_read = (!is_string).then(|| FromRead { io: source, jump: Arc::clone(&jump) });
    let (keep, options) = (settings.core.skip_bad, settings.core.marc.clone());
    let mut ahead = None;
    let reader = match format {
        Format::Marc if settings.core.jobs > 1 => {
            let threads = settings.core.jobs;
            ahead = Some(Ahead::new(threads, options.clone(), limits, bytes, from_read));
            reader(marc::iso2709::Parser::new(options, limits), &[], None, keep)
        }
        Format::Marc => reader(marc::iso2709::Parser::new(options, limits), bytes, from_read, keep),
        Format::MarcXml => reader(marc::xml::Parser::new(options, limits), bytes, from_read, keep),
        Format::MarcJson => {
            let framing = json::Framing::Concatenated;
            let read = json::ReadOptions { framing, ..settings.core.json_read };
            reader(json::Parser::new(read, limits), bytes, from_read, keep)
        }
        _ => return Err(ruby::argument_error("records takes marc, marcxml or marc-json")),
    };
    let builder = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Approximate, format));
    let before = (0, 0);
    let inner = Inner { reader, builder, settings, jump, string, ahead, before };
    let held = [if is_string { string } else { source }, kit];
    let stream = STREAM.wrap(names().record_stream, RecordStream { inner: Some(inner), held });
    ruby::keep(string);
    Ok(stream)
}

/// `stream.advance`: the next record; the stream itself at the end; a `Regauge::BadRecord` with
/// `skip_bad`.
pub fn advance(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let stream = STREAM.get(receiver)?;
    let kit = stream.held[1];
    let Some(mut inner) = stream.inner.take() else {
        return Err(ruby::argument_error("the stream is being read already, or has failed"));
    };
    if let Some(mut ahead) = inner.ahead.take() {
        let next = ahead.next();
        if let Some(jump) = Jump::from_state(inner.jump.swap(0, Ordering::Relaxed)) {
            return Err(jump.into());
        }
        let value = match next {
            Next::Record(record) => Some(new_record(&record, kit)?),
            Next::End => Some(receiver),
            Next::Jumped(jump) => return Err(jump.into()),
            Next::Failed(error) => return Err(exception(&error.into(), Phase::Decode)),
            Next::GoOnSlice(bytes) => {
                inner.go_on(Reader::from_slice(inner.parser(), bytes), &ahead);
                None
            }
            Next::GoOn(bytes, read) => {
                let rest = std::io::Cursor::new(bytes);
                let reader = match read {
                    Some(read) => {
                        Reader::from_read(inner.parser(), std::io::Read::chain(rest, read))
                    }
                    None => Reader::from_read(inner.parser(), rest),
                };
                inner.go_on(reader, &ahead);
                None
            }
        };
        if let Some(value) = value {
            inner.ahead = Some(ahead);
            STREAM.get(receiver)?.inner = Some(inner);
            ruby::keep(receiver);
            return Ok(value);
        }
    }
    let result = inner.reader.next(&mut inner.builder).map_err(|error| inner.placed(error));
    if let Some(jump) = Jump::from_state(inner.jump.swap(0, Ordering::Relaxed)) {
        return Err(jump.into());
    }
    let skip = inner.settings.core.skip_bad;
    let value = match result {
        Ok(true) => new_record(inner.builder.record(), kit)?,
        Ok(false) => receiver,
        Err(error) if skip => match inner.reader.skip(error) {
            Ok(bad) => bad_record(&bad)?,
            Err(error) => return Err(exception(&error, Phase::Decode)),
        },
        Err(error) => {
            let error = match inner.string {
                NIL => error,
                string => located(error, ruby::bytes_of(string), inner.settings.core.from),
            };
            return Err(exception(&error, Phase::Decode));
        }
    };
    STREAM.get(receiver)?.inner = Some(inner);
    ruby::keep(receiver);
    Ok(value)
}

/// `stream.close`: gives back what the reader holds. Reading on is an error.
pub fn close(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    STREAM.get(receiver)?.inner = None;
    Ok(NIL)
}

/// The classes of a kit.
struct Kit {
    record: VALUE,
    list: VALUE,
    control: VALUE,
    data: VALUE,
    subfield: VALUE,
    eager: bool,
}

impl Kit {
    fn of(kit: VALUE) -> Result<Kit, Raise> {
        if ruby::kind_of(kit) != rb_sys::ruby_value_type::RUBY_T_ARRAY
            || ruby::array_length(kit) != 6
        {
            return Err(ruby::argument_error("a kit has five classes and whether to make fields"));
        }
        let at = |index| ruby::array_at(kit, index);
        let eager = at(5) == ruby::TRUE;
        Ok(Kit { record: at(0), list: at(1), control: at(2), data: at(3), subfield: at(4), eager })
    }
}

fn new_record(record: &Record, kit: VALUE) -> Result<VALUE, Raise> {
    let names = names();
    let kit = Kit::of(kit)?;
    let object = ruby::allocate(kit.record)?;
    ruby::set_variable(object, names.id_leader, ruby::text(record.leader()));
    if kit.eager {
        ruby::set_variable(object, names.id_fields, fields(record, &kit)?);
    } else {
        let source = SOURCE.wrap(names.record_source, RecordSource(record.clone()));
        ruby::set_variable(object, names.id_source, source);
    }
    Ok(object)
}

/// `Native.fill(record, kit)`: makes the fields of a record that was read, in `@fields`.
pub fn fill(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[object, kit] = arguments else {
        return Err(ruby::argument_error("fill takes a record and a kit"));
    };
    let names = names();
    let source = ruby::variable(object, names.id_source);
    let record = &SOURCE.get(source)?.0;
    let list = fields(record, &Kit::of(kit)?)?;
    ruby::keep(source);
    if let Some(charset) = record.charset_key() {
        ruby::set_variable(object, names.id_charset, ruby::symbol(charset.name()));
    }
    ruby::set_variable(object, names.id_fields, list);
    ruby::set_variable(object, names.id_source, NIL);
    Ok(list)
}

/// The fields as objects. Every value is on the stack, or in an object that is, before the next is
/// made.
fn fields(record: &Record, kit: &Kit) -> Result<VALUE, Raise> {
    let names = names();
    let scratch = scratch::take();
    let (stack, keys) = (&scratch.values, &scratch.keys);
    // One look at a class's allocator and layout is enough: they are plain objects.
    for class in [kit.control, kit.data, kit.subfield] {
        if !ruby::has_simple_allocator(class) {
            return Err(ruby::type_error("the classes of fields have to be plain ones"));
        }
    }
    // Objects of one class have their variables in the same places: where they can simply be
    // written there, they are, once the first of each class was looked at.
    let mut controls = Places::unknown([names.id_tag, names.id_value]);
    let one_and_two = [names.id_tag, names.id_indicator1, names.id_indicator2];
    let mut datas = Places::unknown(one_and_two);
    let mut parts = Places::unknown([names.id_code, names.id_value]);
    for field in record.fields() {
        match field {
            Field::Text { tag, text } => {
                let object = ruby::new_plain(kit.control);
                stack.push(object);
                let (tag, text) = (small(keys, tag), ruby::text(text));
                controls.give(object, [tag, text]);
            }
            Field::Data { tag, ind1, ind2, subfields } => {
                let object = ruby::new_plain(kit.data);
                stack.push(object);
                let (one, two) = (small(keys, ind1), small(keys, ind2));
                datas.give(object, [small(keys, tag), one, two]);
                let start = stack.len();
                for (code, value) in subfields {
                    let subfield = ruby::new_plain(kit.subfield);
                    stack.push(subfield);
                    parts.give(subfield, [small(keys, code), ruby::text(value)]);
                }
                let list = ruby::array(stack.from(start));
                ruby::set_variable(object, names.id_subfields, list);
                stack.truncate(start);
            }
        }
    }
    let list = ruby::allocate(kit.list)?;
    ruby::array_extend(list, stack.from(0));
    ruby::set_variable(list, names.id_tags, ruby::hash());
    ruby::set_variable(list, names.id_clean, ruby::FALSE);
    Ok(list)
}

/// Tags, indicators and codes are few, and frozen: one string does for all.
#[inline]
fn small(keys: &Keys, text: &str) -> VALUE {
    keys.string(text)
}

/// The formats of [`dump`].
pub const MARC_21: usize = 0;
/// The same.
pub const XML: usize = 1;
/// The same.
pub const JSON: usize = 2;

/// `Regauge::MARC.dump(records, io = nil, **keywords)` and those of the other formats: see
/// `lib/regauge/marc.rb`.
pub fn dump<const FORMAT: usize>(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let format = [Format::Marc, Format::MarcXml, Format::MarcJson][FORMAT];
    let (arguments, keywords) = crate::keywords(arguments);
    let (records, io) = match *arguments {
        [records] => (records, NIL),
        [records, io] => (records, io),
        _ => return Err(ruby::argument_error("dump takes records, an io and keywords")),
    };
    let string = match is_array(records) {
        true => {
            let mut index = 0;
            let mut hashes = false;
            while let Some(record) = ruby::array_get(records, index) {
                hashes |= ruby::is_hash(record);
                index += 1;
            }
            match hashes {
                true => dump_hashes(receiver, records, keywords)?,
                false => bytes(format, keywords, |index| ruby::array_get(records, index))?,
            }
        }
        false if ruby::is_hash(records) => {
            let list = ruby::array(&[records]);
            dump_hashes(receiver, list, keywords)?
        }
        false => bytes(format, keywords, |index| (index == 0).then_some(records))?,
    };
    ruby::keep(keywords);
    if io == NIL {
        return Ok(string);
    }
    ruby::call(io, names().id_write, &[string])?;
    Ok(io)
}

/// Where there are Hashes in the shape of MARC-in-JSON among the records.
#[cold]
fn dump_hashes(receiver: VALUE, records: VALUE, keywords: VALUE) -> Result<VALUE, Raise> {
    Ok(ruby::call(receiver, names().id_dump_hashes, &[records, keywords])?)
}

/// `Native.dump_records(format, records, keywords)`: the bytes of records, ours or ruby-marc's.
pub fn dump_records(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, records, keywords] = arguments else {
        return Err(ruby::argument_error("dump_records takes a format, records and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    bytes(format, keywords, |index| ruby::array_get(records, index))
}

/// The bytes of records, each of which is asked for by its index.
fn bytes(
    format: Format,
    keywords: VALUE,
    at: impl Fn(usize) -> Option<VALUE>,
) -> Result<VALUE, Raise> {
    let settings = Settings::parse(format, keywords)?;
    let core = &settings.core;
    let scratch = scratch::take();
    let out = Out::reusing(scratch.out.take());
    let fidelity = || Fidelity::new(core.on_loss, format);
    let ran = match format {
        Format::Marc => {
            let kept = if settings.usual { scratch.marc.take() } else { None };
            let mut writer = kept.unwrap_or_else(|| {
                let out = Out::in_memory();
                let writer = marc::iso2709::Writer::new(out, core.marc.clone(), fidelity());
                Box::new(writer.with_limits(&core.limits))
            });
            writer.replace_out(out);
            write(at, &mut *writer).map(|()| {
                let out = writer.replace_out(Out::in_memory());
                if settings.usual {
                    scratch.marc.set(Some(writer));
                }
                out
            })
        }
        Format::MarcXml => {
            let writer = marc::xml::Writer::new(out, core.marc.clone(), fidelity());
            let mut writer = writer.with_limits(&core.limits);
            write(at, &mut writer).map(|()| writer.into_out())
        }
        _ => {
            let options = json::WriteOptions { lines: true, ..core.json_write };
            let mut writer = json::Writer::new(out, options, fidelity());
            write(at, &mut writer).map(|()| writer.into_out())
        }
    };
    match ran {
        Ok(out) => {
            let bytes = out.into_vec();
            let string = ruby::output(&bytes, format != Format::Marc);
            scratch.out.set(bytes);
            Ok(string)
        }
        Err(error) => Err(exception(&error.in_format(format), Phase::Encode)),
    }
}

/// Where the objects of records have their variables.
struct Seen {
    field: Places<5>,
    subfield: Places<2>,
}

/// The names of [`Seen::field`].
const TAG: usize = 0;
const SUBFIELDS: usize = 1;
const VALUE_OF_FIELD: usize = 2;
const INDICATORS: [usize; 2] = [3, 4];
/// The names of [`Seen::subfield`].
const CODE: usize = 0;
const VALUE_OF_SUBFIELD: usize = 1;

fn write<W: Writer>(at: impl Fn(usize) -> Option<VALUE>, writer: &mut W) -> regauge::Result {
    let names = names();
    let (one, two) = (names.id_indicator1, names.id_indicator2);
    let field = Places::unknown([names.id_tag, names.id_subfields, names.id_value, one, two]);
    let subfield = Places::unknown([names.id_code, names.id_value]);
    let mut seen = Seen { field, subfield };
    let mut index = 0;
    while let Some(object) = at(index) {
        index += 1;
        let located = |error: Error| error.in_record(index as u64);
        record(object, writer, &mut seen).map_err(located)?;
        writer.end_document().map_err(located)?;
    }
    writer.finish()
}

/// Gives the events of one record.
fn record<S: Sink>(object: VALUE, sink: &mut S, seen: &mut Seen) -> regauge::Result {
    let names = names();
    let leader = ruby::variable(object, names.id_leader);
    let source = ruby::variable(object, names.id_source);
    if source != NIL {
        let Ok(RecordSource(record)) = SOURCE.get(source) else { return Err(no_record(object)) };
        let text = text_of(leader, "a leader")?;
        if text != record.leader() {
            record.set_leader(text);
        }
        return record.drive(sink);
    }
    let fields = ruby::variable(object, names.id_fields);
    if !is_array(fields) {
        return Err(no_record(object));
    }
    let leader = text_of(leader, "a leader")?;
    let ours = ruby::class_of(object) == names.marc_record;
    let charset = match ruby::variable(object, names.id_charset) {
        NIL if ours => None,
        // What ruby-marc does: UTF-8 goes out, whatever the leader says.
        NIL => (leader.as_bytes().get(9) != Some(&b'a')).then(|| "utf-8".to_owned()),
        charset => word(charset),
    };
    sink.begin_map(Some(2 + u64::from(charset.is_some())))?;
    sink.key("leader")?;
    sink.str(leader)?;
    if let Some(charset) = charset {
        sink.key("charset")?;
        sink.str(&charset)?;
    }
    sink.key("fields")?;
    let count = ruby::array_length(fields);
    sink.begin_array(Some(count as u64))?;
    for index in 0..count {
        let Some(field) = ruby::array_get(fields, index) else { return Err(no_record(object)) };
        seen.field.look(field);
        let variable = |name| seen.field.get(field, name);
        let tag = text_of(variable(TAG), "a tag")?;
        let subfields = variable(SUBFIELDS);
        if !is_array(subfields) {
            sink.text_pair(tag, content_of(variable(VALUE_OF_FIELD), tag)?)?;
            continue;
        }
        sink.begin_map(Some(1))?;
        sink.key(tag)?;
        sink.begin_map(Some(3))?;
        sink.key("ind1")?;
        sink.str(content_of(variable(INDICATORS[0]), tag)?)?;
        sink.key("ind2")?;
        sink.str(content_of(variable(INDICATORS[1]), tag)?)?;
        sink.key("subfields")?;
        let count = ruby::array_length(subfields);
        sink.begin_array(Some(count as u64))?;
        for index in 0..count {
            let Some(subfield) = ruby::array_get(subfields, index) else {
                return Err(no_record(object));
            };
            seen.subfield.look(subfield);
            let code = content_of(seen.subfield.get(subfield, CODE), tag)?;
            let value = seen.subfield.get(subfield, VALUE_OF_SUBFIELD);
            sink.text_pair(code, content_of(value, tag)?)?;
        }
        sink.end_array()?;
        sink.end_map()?;
        sink.end_map()?;
    }
    sink.end_array()?;
    sink.end_map()
}

fn is_array(value: VALUE) -> bool {
    ruby::kind_of(value) == rb_sys::ruby_value_type::RUBY_T_ARRAY
}

/// Text, or nothing for `nil`.
#[inline]
fn content_of<'a>(value: VALUE, tag: &str) -> regauge::Result<&'a str> {
    if value == NIL { Ok("") } else { text_of(value, tag) }
}

#[inline]
fn text_of<'a>(value: VALUE, what: &str) -> regauge::Result<&'a str> {
    if ruby::is_heap(value) && ruby::kind_of(value) == rb_sys::ruby_value_type::RUBY_T_STRING {
        if ruby::text_kind(value) == Text::Utf8 {
            return Ok(ruby::utf8_of(value));
        }
        // Bytes of a file that was read without an encoding.
        if ruby::text_kind(value) == Text::Binary
            && let Ok(text) = std::str::from_utf8(ruby::bytes_of(value))
        {
            return Ok(text);
        }
    }
    Err(not_text(what))
}

#[cold]
fn not_text(what: &str) -> Error {
    Error::unrepresentable(format!("found no text of UTF-8 in {what}, expected a String of it"))
}

#[cold]
fn no_record(object: VALUE) -> Error {
    let class = word(ruby::module_name(ruby::class_of(object))).unwrap_or_default();
    Error::unrepresentable(format!("found an object of the class {class}, expected a MARC record"))
}
