//! MARC records: kept as they were read, and turned into Ruby objects on first access.
//!
//! A record that was read holds the library's own [`Record`] in `@fields`; its fields become
//! objects all at once on first access. A record whose fields were never accessed is written
//! straight from there ([`crate::marc_dump`]). The objects have the instance variables of
//! ruby-marc, so real `MARC::Record`s can be built and written by the same code.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use regauge::fidelity::Fidelity;
use regauge::marc::{Field, Record, RecordBuilder};
use regauge::reader::{BadRecord, Parse, Reader};
use regauge::{Error, Format, OnLoss, Source, json, marc};

use crate::ahead::{Ahead, Next};
use crate::data::{DataType, Held};
use crate::errors::{Phase, exception};
use crate::load::located;
use crate::names::names;
use crate::options::Settings;
use crate::ruby::{self, Jump, Learned, NIL, Places, Raise, VALUE};
use crate::scratch;
use crate::stream::{FromRead, bad_record};

/// `Regauge::Native::RecordSource`: the content of one record, until its fields are created.
pub struct RecordSource(Option<Record>);

impl Held for RecordSource {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::RecordSource";
    fn mark(&self) {}
    fn size(&self) -> usize {
        size_of::<Record>() + self.0.as_ref().map_or(0, Record::memory)
    }
}

static SOURCE: DataType<RecordSource> = DataType::new();

/// Returns the record in an object that holds one.
pub fn source_of<'a>(source: VALUE) -> Option<&'a mut Record> {
    SOURCE.get(source).ok()?.0.as_mut()
}

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
    /// Bytes and records that other readers had read before this reader's first.
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
        marc::iso2709::Parser::new(core.marc_read(), core.limits)
    }

    /// Continues with a single reader where the threads stopped.
    fn go_on(&mut self, mut reader: Reader<'static, marc::iso2709::Parser>, ahead: &Ahead) {
        reader.keep_records(self.settings.core.skip_bad);
        self.reader = Box::new(reader);
        self.before = (ahead.offset, ahead.records);
    }

    /// Adjusts an error to its position in the whole stream.
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
/// returns. The kit contains the classes for a record, its list of fields, control field, data
/// field and subfield, and whether the fields are created at once.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, source, keywords, kit] = arguments else {
        return Err(ruby::argument_error("records takes a format, a source, keywords and a kit"));
    };
    let format = crate::convert::format_of(format)?;
    let settings = Settings::loading(format, keywords)?;
    let limits = settings.core.limits;
    let jump = Arc::new(AtomicI32::new(0));
    let is_string = ruby::kind_of(source) == rb_sys::ruby_value_type::RUBY_T_STRING;
    let string = if is_string { ruby::frozen_string(source) } else { NIL };
    // Frozen, and marked by the object that holds the reader, so the bytes stay pinned.
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
    let from_read = match is_string {
        true => None,
        false => Some(FromRead::new(source, &jump)?),
    };
    let (keep, options) = (settings.core.skip_bad, settings.core.marc_read());
    let mut ahead = None;
    let reader = match format {
        Format::Marc if settings.core.jobs > 1 => {
            let threads = settings.core.jobs;
            ahead = Some(Ahead::new(threads, options.clone(), limits, bytes, from_read));
            reader(marc::iso2709::Parser::new(options, limits), &[], None, keep)
        }
        Format::Marc => reader(marc::iso2709::Parser::new(options, limits), bytes, from_read, keep),
        Format::MarcXml => reader(marc::xml::Parser::new(options, limits), bytes, from_read, keep),
        Format::Mrk => reader(marc::mrk::Parser::new(options, limits), bytes, from_read, keep),
        Format::AlephSeq => reader(marc::aleph::Parser::new(limits), bytes, from_read, keep),
        Format::MarcJson => {
            let framing = json::Framing::Concatenated;
            let read = json::ReadOptions { framing, ..settings.core.json_read };
            reader(json::Parser::new(read, limits), bytes, from_read, keep)
        }
        _ => return Err(ruby::argument_error("records takes a format of MARC records")),
    };
    let builder = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Approximate, format));
    let before = (0, 0);
    let inner = Inner { reader, builder, settings, jump, string, ahead, before };
    let held = [if is_string { string } else { source }, kit];
    let stream = STREAM.wrap(names().record_stream, RecordStream { inner: Some(inner), held });
    ruby::keep(string);
    Ok(stream)
}

/// `stream.advance`: returns the next record; the stream itself at the end; a `Regauge::BadRecord`
/// with `skip_bad`.
pub fn advance(_: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let stream = STREAM.get(receiver)?;
    let kit = stream.held[1];
    let Some(mut inner) = stream.inner.take() else {
        return Err(ruby::argument_error("the stream is already being read, or has failed"));
    };
    if let Some(mut ahead) = inner.ahead.take() {
        let next = ahead.next();
        if let Some(jump) = Jump::from_state(inner.jump.swap(0, Ordering::Relaxed)) {
            return Err(jump.into());
        }
        let value = match next {
            Next::Record(record) => Some(new_record(*record, kit)?),
            Next::End => Some(receiver),
            Next::Jumped(jump) => return Err(jump.into()),
            Next::Failed(error) => {
                return Err(exception(&error.into(), inner.settings.call(Phase::Decode)));
            }
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
        Ok(true) => new_record(inner.builder.exchange(SPARE.take().unwrap_or_default()), kit)?,
        Ok(false) => receiver,
        Err(error) if skip => match inner.reader.skip(error) {
            Ok(bad) => bad_record(&bad)?,
            Err(error) => return Err(exception(&error, inner.settings.call(Phase::Decode))),
        },
        Err(error) => {
            let error = match inner.string {
                NIL => error,
                string => located(error, ruby::bytes_of(string), inner.settings.core.from),
            };
            return Err(exception(&error, inner.settings.call(Phase::Decode)));
        }
    };
    STREAM.get(receiver)?.inner = Some(inner);
    ruby::keep(receiver);
    Ok(value)
}

/// `stream.close`: releases what the reader holds. Further reading is an error.
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

fn new_record(record: Record, kit: VALUE) -> Result<VALUE, Raise> {
    let names = names();
    let kit = Kit::of(kit)?;
    let leader = ruby::text(record.leader());
    let content = if kit.eager {
        let list = fields(&record, &kit)?;
        recycle(record);
        list
    } else {
        SOURCE.wrap(names.record_source, RecordSource(Some(record)))
    };
    let object = match ruby::PlainClass::of(kit.record) {
        Some(class) => class.new_object(),
        None => ruby::allocate(kit.record)?,
    };
    Places::unknown([names.id_leader, names.id_fields], &RECORD).give(object, [leader, content]);
    ruby::keep(leader);
    ruby::keep(content);
    Ok(object)
}

thread_local! {
    /// The memory of a record whose fields were created, for reuse by the next.
    static SPARE: Cell<Option<Record>> = const { Cell::new(None) };
}

/// Maximum number of bytes that are kept for the next record.
const SPARE_BYTES: usize = 256 << 10;

/// Keeps the memory of a record that is no longer needed.
fn recycle(record: Record) {
    if record.memory() <= SPARE_BYTES {
        SPARE.set(Some(record));
    }
}

/// `Native.fill(record, kit)`: creates the fields of a record that was read, in `@fields`.
pub fn fill(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[object, kit] = arguments else {
        return Err(ruby::argument_error("fill takes a record and a kit"));
    };
    let names = names();
    let source = ruby::variable(object, names.id_fields);
    let kit = Kit::of(kit)?;
    let Some(record) = SOURCE.get(source)?.0.take() else {
        return Err(ruby::argument_error(
            "the fields have already been created for another record",
        ));
    };
    let list = match fields(&record, &kit) {
        Ok(list) => list,
        Err(raise) => {
            SOURCE.get(source)?.0 = Some(record);
            return Err(raise);
        }
    };
    let charset = record.charset_key();
    recycle(record);
    ruby::keep(source);
    ruby::set_variable(object, names.id_fields, list);
    if let Some(charset) = charset {
        ruby::set_variable(object, names.id_charset, ruby::interned(charset.name()));
    }
    Ok(list)
}

/// `Native.marc8(bytes)`: decodes MARC-8, starting from the default sets, with combining marks
/// after their letters; `nil` for an invalid byte or sequence.
pub fn marc8(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[bytes] = arguments else { return Err(ruby::argument_error("marc8 takes a String")) };
    if !ruby::is_string(bytes) {
        return Err(ruby::type_error("marc8 takes a String"));
    }
    let mut text = String::new();
    let mut state = marc::marc8::State::default();
    let decoded = marc::marc8::decode(ruby::bytes_of(bytes), &mut state, &mut text);
    ruby::keep(bytes);
    Ok(if decoded.is_ok() { ruby::text(&text) } else { NIL })
}

/// How new objects get their variables.
static RECORD: Learned = Learned::new();
static CONTROL: Learned = Learned::new();
static DATA: Learned = Learned::new();
static THEIR_DATA: Learned = Learned::new();
static SUBFIELD: Learned = Learned::new();

/// How data fields get theirs.
enum DataPlaces {
    /// Ours have both indicators in one array.
    Ours(Places<3>),
    /// Those of ruby-marc have each in its own variable.
    Theirs(Places<4>),
}

/// Returns the fields as objects. Every value is on the stack, or in an object that is, before the
/// next is created.
fn fields(record: &Record, kit: &Kit) -> Result<VALUE, Raise> {
    let names = names();
    let scratch = scratch::take();
    let (stack, keys) = (&scratch.values, &scratch.keys);
    let class = |class| {
        let plain = ruby::PlainClass::of(class);
        plain.ok_or_else(|| ruby::type_error("the classes of fields have to be plain ones"))
    };
    let (control, data, part) = (class(kit.control)?, class(kit.data)?, class(kit.subfield)?);
    // Objects of one class have the same layout: if they can simply be written directly, they are,
    // once the first of each class has been examined.
    let mut controls = Places::unknown([names.id_tag, names.id_value], &CONTROL);
    let (tag, subfields) = (names.id_tag, names.id_subfields);
    let mut datas = if ruby::is_under(kit.data, names.marc_data_field) {
        DataPlaces::Ours(Places::unknown([tag, names.id_indicators, subfields], &DATA))
    } else {
        let (one, two) = (names.id_indicator1, names.id_indicator2);
        DataPlaces::Theirs(Places::unknown([tag, one, two, subfields], &THEIR_DATA))
    };
    let mut parts = Places::unknown([names.id_code, names.id_value], &SUBFIELD);
    for field in record.fields() {
        let start = stack.len();
        let object = match field {
            Field::Text { tag, text } => {
                let text = ruby::text(text);
                stack.push(text);
                let tag = keys.string(tag);
                let object = control.new_object();
                controls.give(object, [tag, text]);
                object
            }
            Field::Data { tag, ind1, ind2, subfields } => {
                for (code, value) in subfields {
                    let value = ruby::text(value);
                    stack.push(value);
                    let code = keys.character(code);
                    let subfield = part.new_object();
                    parts.give(subfield, [code, value]);
                    stack.set(stack.len() - 1, subfield);
                }
                let list = ruby::array(stack.from(start));
                stack.truncate(start);
                stack.push(list);
                let tag = keys.string(tag);
                match &mut datas {
                    DataPlaces::Ours(places) => {
                        let pair = keys.pair(ind1, ind2);
                        let object = data.new_object();
                        places.give(object, [tag, pair, list]);
                        object
                    }
                    DataPlaces::Theirs(places) => {
                        let (one, two) = (keys.character(ind1), keys.character(ind2));
                        let object = data.new_object();
                        places.give(object, [tag, one, two, list]);
                        object
                    }
                }
            }
        };
        stack.truncate(start);
        stack.push(object);
    }
    let list = ruby::array_of_class(kit.list, stack.from(0))?;
    if kit.eager {
        ruby::set_variable(list, names.id_tags, ruby::hash());
        ruby::set_variable(list, names.id_clean, ruby::FALSE);
    }
    Ok(list)
}
