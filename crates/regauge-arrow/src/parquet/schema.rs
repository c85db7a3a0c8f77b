//! The columns as they are decoded.

use std::sync::Arc;

use ::parquet::basic::LogicalType;
use ::parquet::schema::types::{SchemaDescriptor, Type};
use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};

use crate::events::{EXTENSION, UUID};

/// Returns a schema whose text and bytes are views: a value that a dictionary has once is not copied for each row
/// that refers to it, so that a small file cannot take any amount of memory.
pub fn with_views(schema: &Schema) -> Schema {
    let fields: Fields = schema.fields().iter().map(viewed).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn viewed(field: &FieldRef) -> FieldRef {
    let of = match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::Dictionary(_, values) => {
            let values = Arc::new(Field::new("values", values.as_ref().clone(), true));
            viewed(&values).data_type().clone()
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed).collect()),
        DataType::List(item) => DataType::List(viewed(item)),
        DataType::LargeList(item) => DataType::LargeList(viewed(item)),
        DataType::FixedSizeList(item, width) => DataType::FixedSizeList(viewed(item), *width),
        DataType::Map(entries, ordered) => DataType::Map(viewed(entries), *ordered),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(of))
}

/// Returns the schema with the columns of UUIDs marked, which the crate reads as bytes.
pub fn marked(schema: &Schema, parquet: &SchemaDescriptor) -> Schema {
    let fields = with_marks(schema.fields(), parquet.root_schema().get_fields());
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn with_marks(fields: &Fields, types: &[Arc<Type>]) -> Fields {
    if fields.len() != types.len() {
        return fields.clone();
    }
    fields.iter().zip(types).map(|(field, of)| with_mark(field, of)).collect()
}

fn with_mark(field: &FieldRef, of: &Type) -> FieldRef {
    let is_uuid = of.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid);
    if of.is_primitive() {
        let marked = is_uuid && field.data_type() == &DataType::FixedSizeBinary(16);
        if !marked {
            return Arc::clone(field);
        }
        let mark = (EXTENSION.to_owned(), UUID.to_owned());
        return Arc::new(field.as_ref().clone().with_metadata([mark]));
    }
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(with_marks(fields, of.get_fields())),
        DataType::List(item) => DataType::List(in_list(item, of)),
        DataType::LargeList(item) => DataType::LargeList(in_list(item, of)),
        DataType::Map(entries, ordered) => {
            let pair = of.get_fields().first().filter(|pair| pair.is_group());
            let entries = pair.map_or_else(|| Arc::clone(entries), |pair| with_mark(entries, pair));
            DataType::Map(entries, *ordered)
        }
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Marks the items of a list in the usual shape: a group with a repeated group with the item.
fn in_list(item: &FieldRef, list: &Type) -> FieldRef {
    let repeated = list.get_fields().first().filter(|repeated| repeated.is_group());
    match repeated.map(|repeated| repeated.get_fields()) {
        Some([of]) => with_mark(item, of),
        _ => Arc::clone(item),
    }
}
