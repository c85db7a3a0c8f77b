//! The extension of the regauge gem: connects the library's readers and writers to Ruby objects.
//!
//! | module | |
//! |---|---|
//! | [`ruby`], [`data`], [`scratch`] | Ruby's C API, objects that wrap Rust values, values that the
//! collector has to see: the only modules with `unsafe` |
//! | [`build`], [`load`], [`stream`], [`events`] | events to objects |
//! | [`walk`], [`dump`] | objects to events |
//! | [`store`] | objects in a database |
//! | [`convert`], [`map`] | bytes to bytes, without the GVL; with a block for each document |
//! | [`dialect`], [`plain`] | plain documents, for the drop-ins |
//! | [`options`], [`errors`], [`names`] | keyword arguments, exceptions, classes |

#![deny(unsafe_code)]

mod ahead;
mod build;
mod convert;
#[allow(unsafe_code, reason = "Ruby's C API")]
mod data;
mod dialect;
mod dump;
mod enveloped;
mod errors;
mod events;
mod load;
mod map;
mod marc;
mod marc_dump;
mod marshal_dump;
mod marshal_load;
mod names;
mod numbers;
mod options;
mod plain;
#[allow(unsafe_code, reason = "Ruby's C API")]
mod ruby;
#[allow(unsafe_code, reason = "memory that the collector reads")]
mod scratch;
mod shapes;
#[allow(unsafe_code, reason = "memory of hashes")]
mod store;
mod stream;
mod walk;

use std::ffi::c_int;

use regauge::Format;
use regauge::codec::{Codec, Visitor};

use options::Settings;
use ruby::{NIL, Raise, VALUE, method};

/// Returns the positional arguments, padded, and the keywords: a hash, or `nil`.
fn keywords(arguments: &[VALUE]) -> (&[VALUE], VALUE) {
    match arguments {
        [rest @ .., keywords] if ruby::keywords_given() => (rest, *keywords),
        _ => (arguments, NIL),
    }
}

/// Implements `Regauge::JSON.load(source, **keywords)` and the like.
fn load<C: Codec>(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let (arguments, keywords) = keywords(arguments);
    let &[source] = arguments else {
        return Err(ruby::argument_error("load takes one argument, and keywords"));
    };
    let settings = Settings::loading(C::FORMAT, keywords)?;
    let string = load::in_utf8(load::source_string(source)?, C::FORMAT)?;
    let value = load::load(string, &settings)?;
    ruby::keep(keywords);
    Ok(value)
}

/// Implements `Regauge::JSON.dump(object, io = nil, **keywords)` and the like: returns the string,
/// or the `io` that it was written to.
fn dump<C: Codec>(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let (arguments, keywords) = keywords(arguments);
    let (object, io) = match *arguments {
        [object] => (object, NIL),
        [object, io] => (object, io),
        _ => return Err(ruby::argument_error("dump takes an object, an io and keywords")),
    };
    let settings = Settings::parse(C::FORMAT, keywords)?;
    let string = dump::dump(object, &settings)?;
    ruby::keep(keywords);
    if io == NIL {
        return Ok(string);
    }
    ruby::call(io, names::names().id_write, &[string])?;
    Ok(io)
}

/// Implements `Regauge::Marshal.dump(object, io = nil)`: returns the same bytes as Ruby's own.
fn dump_marshal(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let (arguments, keywords) = keywords(arguments);
    let (object, io) = match *arguments {
        [object] => (object, NIL),
        [object, io] => (object, io),
        _ => return Err(ruby::argument_error("dump takes an object and an io")),
    };
    if keywords != NIL {
        Settings::parse(Format::Marshal, keywords)?;
    }
    let string = marshal_dump::dump(object)?;
    if io == NIL {
        return Ok(string);
    }
    ruby::call(io, names::names().id_write, &[string])?;
    Ok(io)
}

/// `Native.marshal_number(bytes)`: parses a Marshal number in a non-canonical notation.
fn marshal_number(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[string] = arguments else {
        return Err(ruby::argument_error("marshal_number takes a string"));
    };
    let mut settings = Settings::new(Format::Marshal);
    settings.core.marshal.inert = false;
    settings.usual = false;
    let document = [&[4, 8], ruby::bytes_of(string)].concat();
    let document = ruby::binary(&document);
    let value = load::load(document, &settings)?;
    ruby::keep(document);
    Ok(value)
}

/// Defines a format's module, with `load` and `dump`.
struct Define {
    parent: VALUE,
}

impl Visitor for Define {
    type Output = ();

    fn visit<C: Codec>(self) {
        let name = std::ffi::CString::new(module_name(C::FORMAT)).expect("a name");
        let module = ruby::module(&name, self.parent);
        ruby::define(module, c"load", load_of::<C>);
        if C::FORMAT != Format::Marshal {
            ruby::define(module, c"dump", dump_of::<C>);
        }
    }
}

extern "C" fn load_of<C: Codec>(count: c_int, first: *const VALUE, receiver: VALUE) -> VALUE {
    ruby::enter(load::<C>, ruby::arguments(count, first), receiver)
}

extern "C" fn dump_of<C: Codec>(count: c_int, first: *const VALUE, receiver: VALUE) -> VALUE {
    ruby::enter(dump::<C>, ruby::arguments(count, first), receiver)
}

/// Returns the name of a format's module.
fn module_name(format: Format) -> &'static str {
    match format {
        Format::Marshal => "Marshal",
        Format::Pickle => "Pickle",
        Format::Marc => "MARC21Hash",
        Format::MarcXml => "MARCXMLHash",
        Format::MarcJson => "MARCJSONHash",
        Format::Mrk => "MARCMRKHash",
        Format::AlephSeq => "MARCAlephSeqHash",
        other => other.title(),
    }
}

/// `Native.formats`: the name of each format whose documents are plain objects, with that of its
/// module, both as symbols.
fn formats(_: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let list = ruby::array(&[]);
    for format in Format::ALL.into_iter().filter(|format| !format.is_marc()) {
        let pair = [ruby::symbol(format.name()), ruby::symbol(module_name(format))];
        ruby::array_extend(list, &[ruby::array(&pair)]);
    }
    Ok(list)
}

/// `Native.untried?`: whether this is a Ruby whose memory layout the extension was not tested with,
/// unless the public API was asked for.
fn untried(_: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let untried = !ruby::wants_public_api() && !ruby::is_tried();
    Ok(if untried { ruby::TRUE } else { ruby::FALSE })
}

fn init(_: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let regauge = ruby::top_module(c"Regauge");
    let native = ruby::module(c"Native", regauge);
    let stream = ruby::class(c"Stream", native);
    ruby::no_allocator(stream);
    let event_stream = ruby::class(c"EventStream", native);
    ruby::no_allocator(event_stream);
    let records = ruby::class(c"RecordStream", native);
    ruby::no_allocator(records);
    ruby::no_allocator(ruby::class(c"RecordSource", native));
    let dialect = ruby::class(c"Dialect", native);
    ruby::no_allocator(dialect);
    let store = ruby::class(c"Store", native);
    ruby::no_allocator(store);
    let cursor = ruby::class(c"Cursor", native);
    ruby::no_allocator(cursor);
    ruby::module(c"Generic", native);
    if !ruby::wants_public_api() && ruby::is_tried() {
        ruby::find_hash_default()?;
        ruby::learn_pairs();
        ruby::learn_small_arrays();
        ruby::learn_walks()?;
        ruby::learn_variables()?;
    }
    names::init()?;
    scratch::init(native);
    marshal_dump::learn_words()?;
    for format in Format::ALL {
        format.visit(Define { parent: regauge });
    }
    let marshal = ruby::module(c"Marshal", regauge);
    ruby::define(marshal, c"dump", method!(dump_marshal));
    ruby::define(native, c"marshal_number", method!(marshal_number));
    ruby::define(native, c"stream", method!(stream::open));
    ruby::define_method(stream, c"advance", method!(stream::advance));
    ruby::define_method(stream, c"close", method!(stream::close));
    ruby::define(native, c"events", method!(events::open));
    ruby::define_method(event_stream, c"advance", method!(events::advance));
    ruby::define_method(event_stream, c"skip", method!(events::skip));
    ruby::define_method(event_stream, c"close", method!(events::close));
    ruby::define(native, c"dialect", method!(dialect::open));
    ruby::define_method(dialect, c"load", method!(dialect::load));
    ruby::define_method(dialect, c"dump", method!(dialect::dump));
    ruby::define(native, c"records", method!(marc::open));
    ruby::define_method(records, c"advance", method!(marc::advance));
    ruby::define_method(records, c"close", method!(marc::close));
    ruby::define(native, c"fill", method!(marc::fill));
    ruby::define(native, c"marc8", method!(marc::marc8));
    ruby::define(native, c"dump_records", method!(marc_dump::dump_records));
    let names = names::names();
    ruby::define(names.marc, c"dump", method!(marc_dump::dump::<{ marc_dump::MARC_21 }>));
    ruby::define(names.marc_xml, c"dump", method!(marc_dump::dump::<{ marc_dump::XML }>));
    ruby::define(names.marc_json, c"dump", method!(marc_dump::dump::<{ marc_dump::JSON }>));
    ruby::define(names.marc_mrk, c"dump", method!(marc_dump::dump::<{ marc_dump::MRK }>));
    ruby::define(names.marc_aleph, c"dump", method!(marc_dump::dump::<{ marc_dump::ALEPH }>));
    define_store(native, store, cursor);
    ruby::define(native, c"convert", method!(convert::convert_string));
    ruby::define(native, c"convert_file", method!(convert::convert_file));
    ruby::define(native, c"open_envelope", method!(enveloped::open_envelope));
    ruby::define(native, c"inspect", method!(convert::inspect));
    ruby::define(native, c"detect", method!(convert::detect));
    ruby::define(native, c"formats", method!(formats));
    ruby::define(native, c"untried?", method!(untried));
    ruby::define(native, c"option_table", method!(convert::option_table));
    ruby::define(native, c"own_options", method!(options::own_options));
    Ok(NIL)
}

fn define_store(native: VALUE, class: VALUE, cursor: VALUE) {
    use store::{care, cursor as walks, values};
    ruby::define(native, c"store_open", method!(store::open));
    ruby::define(native, c"sealer", method!(store::sealer));
    ruby::define(native, c"series_key", method!(store::series_key));
    ruby::define(native, c"series_time", method!(store::series_time));
    ruby::define(native, c"series_range", method!(store::series_range));
    ruby::define_method(class, c"put", method!(values::put));
    ruby::define_method(class, c"put_many", method!(values::put_many));
    ruby::define_method(class, c"get", method!(values::get));
    ruby::define_method(class, c"get_many", method!(values::get_many));
    ruby::define_method(class, c"seen", method!(values::seen));
    ruby::define_method(class, c"swap", method!(values::swap));
    ruby::define_method(class, c"key?", method!(values::has_key));
    ruby::define_method(class, c"delete", method!(values::delete));
    ruby::define_method(class, c"entry", method!(values::entry));
    ruby::define_method(class, c"read", method!(values::read));
    ruby::define_method(class, c"write", method!(values::write));
    ruby::define_method(class, c"seal", method!(values::seal));
    ruby::define_method(class, c"unseal", method!(values::unseal));
    ruby::define_method(class, c"cursor", method!(walks::open));
    ruby::define_method(cursor, c"advance", method!(walks::advance));
    ruby::define_method(class, c"info", method!(care::info));
    ruby::define_method(class, c"count", method!(care::count));
    ruby::define_method(class, c"verify", method!(care::verify));
    ruby::define_method(class, c"reencode", method!(care::reencode));
    ruby::define_method(class, c"train", method!(care::train));
    ruby::define_method(class, c"adopt", method!(care::adopt));
    ruby::define_method(class, c"close", method!(store::close));
}

/// Called by Ruby when the extension is required.
#[allow(unsafe_code, reason = "the name that Ruby looks for")]
#[unsafe(no_mangle)]
pub extern "C" fn Init_native() {
    ruby::declare_ractor_safe();
    ruby::enter(init, &[], NIL);
}
