//! Classes and method names of the Ruby side, looked up once.

use std::sync::OnceLock;

use crate::ruby::{self, ID, Jump, VALUE};

macro_rules! names {
    ($($field:ident: $path:literal,)* ; $($id:ident: $name:literal,)*) => {
        /// See the module.
        pub struct Names {
            $(#[doc = concat!("`", stringify!($path), "`")] pub $field: VALUE,)*
            $(#[doc = concat!("`", stringify!($name), "`")] pub $id: ID,)*
        }

        impl Names {
            fn find() -> Result<Names, Jump> {
                Ok(Names {
                    $($field: {
                        let value = ruby::constant($path)?;
                        ruby::keep_for_good(value);
                        value
                    },)*
                    $($id: ruby::id($name),)*
                })
            }
        }
    };
}

names! {
    build: c"Regauge::Build",
    simplify_module: c"Regauge::Simplify",
    object: c"Regauge::Marshal::Object",
    typed: c"Regauge::Typed",
    special: c"Regauge::Special",
    regauge: c"Regauge",
    error: c"Regauge::Error",
    store_error: c"Regauge::StoreError",
    damaged_error: c"Regauge::DamagedError",
    conflict_error: c"Regauge::ConflictError",
    store_class: c"Regauge::Native::Store",
    cursor_class: c"Regauge::Native::Cursor",
    dialect_class: c"Regauge::Native::Dialect",
    decode_error: c"Regauge::DecodeError",
    encode_error: c"Regauge::EncodeError",
    limit_error: c"Regauge::LimitError",
    record_stream: c"Regauge::Native::RecordStream",
    record_source: c"Regauge::Native::RecordSource",
    marc_record: c"Regauge::MARC::Record",
    marc_control_field: c"Regauge::MARC::ControlField",
    marc_data_field: c"Regauge::MARC::DataField",
    marc_subfield: c"Regauge::MARC::Subfield",
    marc: c"Regauge::MARC",
    marc_xml: c"Regauge::MARC::XML",
    marc_json: c"Regauge::MARC::JSON",
    marc_mrk: c"Regauge::MARC::MRK",
    marc_aleph: c"Regauge::MARC::AlephSeq",
    time: c"Time",
    eof_error: c"EOFError",
    ruby_marshal: c"Marshal",
    own_marshal: c"Regauge::Marshal",
    bad_record: c"Regauge::BadRecord",
    stream_class: c"Regauge::Native::Stream",
    event_stream: c"Regauge::Native::EventStream",
    generic: c"Regauge::Native::Generic",
    ;
    id_call: c"call",
    id_method_defined: c"method_defined?",
    id_ext: c"ext",
    id_frozen: c"frozen",
    id_lower: c"lower",
    id_typed: c"typed",
    id_collect: c"collect",
    id_simplify: c"simplify",
    id_own: c"own",
    id_new: c"new",
    id_read: c"read",
    id_readpartial: c"readpartial",
    id_get_method: c"method",
    id_owner: c"owner",
    id_write: c"write",
    id_to_str: c"to_str",
    id_utc_offset: c"utc_offset",
    id_class_name: c"@class_name",
    id_kind: c"@kind",
    id_value: c"@value",
    id_origin: c"@origin",
    id_name: c"@name",
    id_arguments: c"@arguments",
    id_offset: c"@offset",
    id_path: c"@path",
    id_record: c"@record",
    id_record_id: c"@record_id",
    id_error_kind: c"@kind",
    id_format: c"@format",
    id_line: c"@line",
    id_column: c"@column",
    id_hint: c"@hint",
    id_excerpt: c"@excerpt",
    id_marshal_dump: c"marshal_dump",
    id_dump: c"_dump",
    id_respond_to: c"respond_to?",
    id_respond_to_missing: c"respond_to_missing?",
    id_by_identity: c"compare_by_identity?",
    id_hash_default: c"hash_default",
    id_own_dump: c"dump",
    id_load: c"load",
    id_dup: c"dup",
    id_codec: c"codec",
    id_key: c"@key",
    id_passing: c"@passing",
    id_leader: c"@leader",
    id_fields: c"@fields",
    id_tag: c"@tag",
    id_indicator1: c"@indicator1",
    id_indicator2: c"@indicator2",
    id_indicators: c"@indicators",
    id_subfields: c"@subfields",
    id_code: c"@code",
    id_charset: c"@charset",
    id_tags: c"@tags",
    id_clean: c"@clean",
    id_dump_hashes: c"dump_hashes",
    id_deprecated: c"deprecated",
}

static NAMES: OnceLock<Names> = OnceLock::new();

/// Looks everything up.
///
/// # Errors
/// If the Ruby side has not been loaded.
pub fn init() -> Result<(), Jump> {
    let names = Names::find()?;
    NAMES.get_or_init(|| names);
    Ok(())
}

/// Returns all of them.
#[inline]
pub fn names() -> &'static Names {
    NAMES.get().expect("looked up when the extension was loaded")
}
