//! Nested columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StructArray,
};
use arrow_buffer::{ArrowNativeType, NullBufferBuilder, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields};
use regauge::path::Step;
use regauge::{Error, ErrorKind, Result, Value};

use crate::column::Column;
use crate::losses::Lost;
use crate::state::State;

/// Fields, and which of them are present.
pub struct Struct {
    fields: Fields,
    columns: Vec<Column>,
    places: HashMap<String, usize>,
    nulls: NullBufferBuilder,
}

/// Lists, small, large, or of one length.
pub struct List {
    field: FieldRef,
    items: Box<Column>,
    /// The number of items in this batch.
    count: i64,
    ends: Vec<i64>,
    nulls: NullBufferBuilder,
}

/// Maps of any keys to values of one type.
pub struct Map {
    field: FieldRef,
    /// The key and value fields.
    fields: Fields,
    keys: Box<Column>,
    values: Box<Column>,
    /// The number of pairs in this batch.
    count: i32,
    ends: Vec<i32>,
    nulls: NullBufferBuilder,
    ordered: bool,
}

impl Struct {
    /// Creates empty columns for these fields.
    ///
    /// # Errors
    /// Those of [`Column::new`], and for two fields of one name.
    pub fn new(fields: &Fields, depth: usize) -> Result<Struct> {
        let mut columns = Vec::with_capacity(fields.len());
        let mut places = HashMap::new();
        for field in fields {
            if places.insert(field.name().clone(), columns.len()).is_some() {
                let name = field.name();
                return Err(Error::new(
                    ErrorKind::Unsupported,
                    format!("found two fields named {name:?} in the schema"),
                ));
            }
            columns.push(Column::new(field.data_type(), depth + 1)?);
        }
        Ok(Struct { fields: fields.clone(), columns, places, nulls: NullBufferBuilder::new(0) })
    }

    /// Adds a map.
    ///
    /// # Errors
    /// Those of [`Column::append`].
    pub fn append(&mut self, pairs: &[(Value, Value)], state: &mut State) -> Result {
        let mut found: Vec<Option<&Value>> = vec![None; self.columns.len()];
        for (index, (key, value)) in pairs.iter().enumerate() {
            let place = match key {
                // Fields usually arrive in order.
                Value::Text(name) if self.fields.get(index).is_some_and(|f| f.name() == name) => {
                    Some(index)
                }
                Value::Text(name) => self.places.get(name).copied(),
                other => {
                    state.lose(Lost::Key, other, "text as the key of a map")?;
                    continue;
                }
            };
            match place {
                // The last of equal keys wins, as everywhere.
                Some(place) => {
                    if found[place].replace(value).is_some() {
                        state.twice(self.fields[place].name(), value)?;
                    }
                }
                None => {
                    if let Value::Text(name) = key {
                        state.has_no_column(name, value)?;
                    }
                }
            }
        }
        for ((column, field), value) in self.columns.iter_mut().zip(&self.fields).zip(found) {
            match value {
                Some(value) if !matches!(value, Value::Null) => {
                    state.path.push(Step::Key(field.name().as_str().into()));
                    column.append(value, field.is_nullable(), state)?;
                    state.path.pop();
                }
                None if field.is_nullable() => {
                    state.lack(field.name());
                    state.pad(column.null_bytes())?;
                    column.append_null();
                }
                _ if field.is_nullable() => {
                    state.pad(column.null_bytes())?;
                    column.append_null();
                }
                _ => {
                    state.path.push(Step::Key(field.name().as_str().into()));
                    return Err(state.misfit(&Value::Null, "a value, as the schema says"));
                }
            }
        }
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a null.
    pub fn append_null(&mut self) {
        self.columns.iter_mut().for_each(Column::append_null);
        self.nulls.append_null();
    }

    /// Returns the bytes that a null takes in columns of one length.
    pub fn null_bytes(&self) -> u64 {
        self.columns.iter().map(Column::null_bytes).fold(0, u64::saturating_add)
    }

    /// Returns the columns as a table's.
    ///
    /// # Errors
    /// Arrow's.
    pub fn columns(&mut self) -> std::result::Result<Vec<ArrayRef>, ArrowError> {
        self.nulls.finish();
        self.columns.iter_mut().map(Column::finish).collect()
    }

    /// Returns the structs as an array.
    ///
    /// # Errors
    /// Arrow's.
    pub fn finish(&mut self) -> std::result::Result<StructArray, ArrowError> {
        let length = self.nulls.len();
        let nulls = self.nulls.finish();
        let columns: std::result::Result<Vec<_>, _> =
            self.columns.iter_mut().map(Column::finish).collect();
        StructArray::try_new_with_length(self.fields.clone(), columns?, nulls, length)
    }
}

/// Returns offsets from the end of each value.
fn offsets<T: ArrowNativeType>(mut ends: Vec<T>) -> OffsetBuffer<T> {
    ends.insert(0, T::default());
    OffsetBuffer::new(ends.into())
}

impl List {
    /// Creates empty lists of these items.
    ///
    /// # Errors
    /// Those of [`Column::new`].
    pub fn new(field: &FieldRef, depth: usize) -> Result<List> {
        let items = Box::new(Column::new(field.data_type(), depth + 1)?);
        let field = Arc::clone(field);
        Ok(List { field, items, count: 0, ends: Vec::new(), nulls: NullBufferBuilder::new(0) })
    }

    /// Adds a list.
    ///
    /// # Errors
    /// Those of [`Column::append`].
    pub fn append(&mut self, items: &[Value], state: &mut State) -> Result {
        let nullable = self.field.is_nullable();
        for (index, item) in items.iter().enumerate() {
            state.path.push(Step::Index(index as u64));
            self.items.append(item, nullable, state)?;
            state.path.pop();
        }
        self.count += items.len() as i64;
        self.ends.push(self.count);
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a null.
    pub fn append_null(&mut self) {
        self.ends.push(self.count);
        self.nulls.append_null();
    }

    /// Returns the bytes that a null takes where all lists are of one length.
    pub fn null_bytes(&self, length: i32) -> u64 {
        u64::from(length.unsigned_abs()).saturating_mul(self.items.null_bytes().max(8))
    }

    /// Adds a null where all lists are of one length, which it has too.
    pub fn append_nulls(&mut self, length: i32) {
        (0..length).for_each(|_| self.items.append_null());
        self.nulls.append_null();
    }

    /// Returns the lists as an array of lists of one length.
    ///
    /// # Errors
    /// Arrow's.
    pub fn finish_fixed(
        &mut self,
        length: i32,
    ) -> std::result::Result<FixedSizeListArray, ArrowError> {
        let count = self.nulls.len();
        (self.count, self.ends) = (0, Vec::new());
        let (nulls, items) = (self.nulls.finish(), self.items.finish()?);
        let field = Arc::clone(&self.field);
        FixedSizeListArray::try_new_with_length(field, length, items, nulls, count)
    }

    /// Returns the lists as an array of either kind.
    ///
    /// # Errors
    /// Arrow's.
    pub fn finish<O: OffsetSizeTrait>(
        &mut self,
    ) -> std::result::Result<GenericListArray<O>, ArrowError> {
        self.count = 0;
        let ends =
            std::mem::take(&mut self.ends).into_iter().map(|end| O::from_usize(end as usize));
        // A batch of small lists ends long before, because of its size.
        let ends = ends.collect::<Option<Vec<O>>>();
        let offsets = offsets(ends.ok_or(ArrowError::OffsetOverflowError(usize::MAX))?);
        let nulls = self.nulls.finish();
        GenericListArray::try_new(Arc::clone(&self.field), offsets, self.items.finish()?, nulls)
    }
}

impl Map {
    /// Returns the maps as an array.
    ///
    /// # Errors
    /// Arrow's.
    pub fn finish(&mut self) -> std::result::Result<MapArray, ArrowError> {
        self.count = 0;
        let offsets = offsets(std::mem::take(&mut self.ends));
        let nulls = self.nulls.finish();
        let columns = vec![self.keys.finish()?, self.values.finish()?];
        let entries = StructArray::try_new(self.fields.clone(), columns, None)?;
        MapArray::try_new(Arc::clone(&self.field), offsets, entries, nulls, self.ordered)
    }

    /// Creates empty maps.
    ///
    /// # Errors
    /// Those of [`Column::new`].
    pub fn new(field: &FieldRef, ordered: bool, depth: usize) -> Result<Map> {
        let DataType::Struct(fields) = field.data_type() else {
            return Err(Error::new(ErrorKind::Unsupported, "found a map without key and value"));
        };
        let [key, value] = &fields[..] else {
            return Err(Error::new(ErrorKind::Unsupported, "found a map without key and value"));
        };
        let keys = Column::new(key.data_type(), depth + 1)?;
        let values = Column::new(value.data_type(), depth + 1)?;
        Ok(Map {
            field: Arc::clone(field),
            fields: fields.clone(),
            keys: Box::new(keys),
            values: Box::new(values),
            count: 0,
            ends: Vec::new(),
            nulls: NullBufferBuilder::new(0),
            ordered,
        })
    }

    /// Adds a map.
    ///
    /// # Errors
    /// Those of [`Column::append`].
    pub fn append(&mut self, pairs: &[(Value, Value)], state: &mut State) -> Result {
        let nullable = self.fields.get(1).is_none_or(|field| field.is_nullable());
        for (key, value) in pairs {
            let shown = match key {
                Value::Text(name) => name.as_str(),
                other => other.type_name(),
            };
            state.path.push(Step::Key(shown.into()));
            self.keys.append(key, false, state)?;
            self.values.append(value, nullable, state)?;
            state.path.pop();
            self.count += 1;
        }
        self.ends.push(self.count);
        self.nulls.append_non_null();
        Ok(())
    }

    /// Adds a null.
    pub fn append_null(&mut self) {
        self.ends.push(self.count);
        self.nulls.append_null();
    }
}
