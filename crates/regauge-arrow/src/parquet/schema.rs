//! The columns as they are decoded.

use std::sync::Arc;

use ::parquet::basic::{LogicalType, Type as Physical};
use ::parquet::schema::types::{SchemaDescriptor, Type};
use arrow_schema::{DataType, FieldRef, Fields, Schema, TimeUnit};

use crate::events::{EXTENSION, UUID};

/// Returns a schema whose text and bytes are views: a value that a dictionary has once is not copied for each row
/// that refers to it, so that a small file cannot take any amount of memory.
pub fn with_views(schema: &Schema) -> Schema {
    fn view(of: &DataType) -> DataType {
        match of {
            DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
            DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
            DataType::Dictionary(_, values) => view(values),
            other => other.clone(),
        }
    }
    let fields: Fields = schema.fields().iter().map(|field| changed(field, &view)).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

/// Returns the fields with the values of dictionaries in their place: Parquet writes those of any column once.
pub fn without_dictionaries(fields: &Fields) -> Fields {
    let values = |of: &DataType| match of {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        other => other.clone(),
    };
    fields.iter().map(|field| changed(field, &values)).collect()
}

/// Changes the types that have no fields inside them.
fn changed(field: &FieldRef, leaf: &dyn Fn(&DataType) -> DataType) -> FieldRef {
    let inside = |field| changed(field, leaf);
    let of = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inside).collect()),
        DataType::List(item) => DataType::List(inside(item)),
        DataType::LargeList(item) => DataType::LargeList(inside(item)),
        DataType::FixedSizeList(item, width) => DataType::FixedSizeList(inside(item), *width),
        DataType::Map(entries, ordered) => DataType::Map(inside(entries), *ordered),
        other => leaf(other),
    };
    Arc::new(field.as_ref().clone().with_data_type(of))
}

/// Returns the schema with the columns of UUIDs marked, which the crate reads as bytes.
pub fn marked(schema: &Schema, parquet: &SchemaDescriptor) -> Schema {
    let leaf = |field: &FieldRef, of: &Type| {
        let is_uuid = of.get_basic_info().logical_type_ref() == Some(&LogicalType::Uuid);
        if !is_uuid || field.data_type() != &DataType::FixedSizeBinary(16) {
            return Arc::clone(field);
        }
        let mark = (EXTENSION.to_owned(), UUID.to_owned());
        Arc::new(field.as_ref().clone().with_metadata([mark]))
    };
    with_leaves(schema, parquet, &leaf)
}

/// Returns whether a column is INT96: 64 bits of nanoseconds in a day, and 32 bits of days.
pub fn has_int96(parquet: &SchemaDescriptor) -> bool {
    parquet.columns().iter().any(|column| column.physical_type() == Physical::INT96)
}

/// Returns the schema with the columns of INT96 in microseconds. In nanoseconds, as they are otherwise, days before
/// 1677 and after 2262 overflow.
pub fn in_microseconds(schema: &Schema, parquet: &SchemaDescriptor) -> Schema {
    let leaf = |field: &FieldRef, of: &Type| match field.data_type() {
        DataType::Timestamp(_, zone) if of.get_physical_type() == Physical::INT96 => {
            let of = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            Arc::new(field.as_ref().clone().with_data_type(of))
        }
        _ => Arc::clone(field),
    };
    with_leaves(schema, parquet, &leaf)
}

/// Changes a field that has no fields inside it, by its type in the file.
type Leaf<'l> = dyn Fn(&FieldRef, &Type) -> FieldRef + 'l;

fn with_leaves(schema: &Schema, parquet: &SchemaDescriptor, leaf: &Leaf<'_>) -> Schema {
    let fields = in_fields(schema.fields(), parquet.root_schema().get_fields(), leaf);
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn in_fields(fields: &Fields, types: &[Arc<Type>], leaf: &Leaf<'_>) -> Fields {
    if fields.len() != types.len() {
        return fields.clone();
    }
    fields.iter().zip(types).map(|(field, of)| in_field(field, of, leaf)).collect()
}

fn in_field(field: &FieldRef, of: &Type, leaf: &Leaf<'_>) -> FieldRef {
    if of.is_primitive() {
        return leaf(field, of);
    }
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(in_fields(fields, of.get_fields(), leaf)),
        DataType::List(item) => DataType::List(in_list(item, of, leaf)),
        DataType::LargeList(item) => DataType::LargeList(in_list(item, of, leaf)),
        DataType::Map(entries, ordered) => {
            let pair = of.get_fields().first().filter(|pair| pair.is_group());
            let entries =
                pair.map_or_else(|| Arc::clone(entries), |pair| in_field(entries, pair, leaf));
            DataType::Map(entries, *ordered)
        }
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Changes the items of a list in the usual shape: a group with a repeated group with the item.
fn in_list(item: &FieldRef, list: &Type, leaf: &Leaf<'_>) -> FieldRef {
    let repeated = list.get_fields().first().filter(|repeated| repeated.is_group());
    match repeated.map(|repeated| repeated.get_fields()) {
        Some([of]) => in_field(item, of, leaf),
        _ => Arc::clone(item),
    }
}
