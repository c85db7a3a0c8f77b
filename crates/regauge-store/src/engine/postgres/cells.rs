//! The cells of a column in PostgreSQL.

use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use super::link::{Link, Server};
use super::sql::{Parameter, borrowed, column_of, identifier};
use crate::cells::{self, Access, Cells, Column, Head, Key, Swapped};
use crate::engine::NOT_TEXT;
use crate::engine::line::{Call, Line};
use crate::error::Result;

/// A column of a table.
pub(in crate::engine) struct PostgresCells {
    line: Line<Server>,
    version: String,
    column: Column,
    is_text: bool,
    has_bytes_as_keys: bool,
    /// The quoted names.
    table: String,
    value: String,
    key: String,
    /// The type of keys, to which a parameter is cast.
    key_type: String,
}

/// A column as the catalogue describes it.
struct Described {
    name: String,
    kind: String,
    /// The type as a cast names it.
    cast: String,
    is_primary: bool,
    is_unique: bool,
}

impl PostgresCells {
    /// Connects, and finds the column.
    ///
    /// # Errors
    /// `Usage` and `Engine`, as `cells::open`.
    pub(in crate::engine) fn open(
        url: &str,
        column: &Column,
        access: Access,
    ) -> Result<PostgresCells> {
        let (server, timeout) = Server::new(url)?;
        let server = if access == Access::Read { server.read_only() } else { server };
        let line = Line::new(server, timeout)?;
        let version =
            line.call("connect", Call::Read, async |link: &mut Link| Ok(link.version.clone()))?;
        let mut cells = PostgresCells {
            line,
            version,
            column: column.clone(),
            is_text: false,
            has_bytes_as_keys: false,
            table: identifier(&column.table),
            value: identifier(&column.column),
            key: String::new(),
            key_type: String::new(),
        };
        cells.look()?;
        Ok(cells)
    }

    fn rows(&self, doing: &str, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        self.line.call(doing, Call::Read, async |link: &mut Link| {
            let statement = link.statement(sql).await?;
            link.client.query(&statement, &borrowed(parameters)).await
        })
    }

    /// Finds the types and the key.
    fn look(&mut self) -> Result {
        self.check_table()?;
        let columns = self.columns()?;
        let names: Vec<String> = columns.iter().map(|one| one.name.clone()).collect();
        cells::check_names(&self.column, self.column.key.as_deref(), &names)?;
        let of = |name: &str| columns.iter().find(|one| one.name == name);
        if let Some(value) = of(&self.column.column) {
            self.is_text = match value.kind.as_str() {
                "bytea" => false,
                "text" | "varchar" => true,
                other => {
                    let (table, column) = (&self.column.table, &value.name);
                    return Err(cells::wrong_type(table, column, other, "bytea, text or varchar"));
                }
            };
        }
        let primary: Vec<String> =
            columns.iter().filter(|one| one.is_primary).map(|one| one.name.clone()).collect();
        let key = cells::key_of(&self.column, &primary)?;
        let Some(described) = of(&key).filter(|one| one.is_unique) else {
            return Err(cells::not_unique(&self.column, &key));
        };
        self.has_bytes_as_keys = described.kind == "bytea";
        self.key_type.clone_from(&described.cast);
        self.key = identifier(&key);
        let PostgresCells { table, value, .. } = &*self;
        let sql = format!(
            "SELECT EXISTS (SELECT 1 FROM {table} WHERE {} IS NULL AND {value} IS NOT NULL)",
            self.key
        );
        let rows = self.rows("look at a table", &sql, &[])?;
        if column_of(&rows[0], 0)? { Err(cells::null_keys(&self.column, &key)) } else { Ok(()) }
    }

    fn check_table(&self) -> Result {
        let doing = "look for a table";
        let sql = "SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1)::oid";
        let rows = self.rows(doing, sql, &[Box::new(&self.table)])?;
        let kind: Option<String> = rows.first().map(|row| column_of(row, 0)).transpose()?;
        match kind.as_deref() {
            Some("r" | "p") => Ok(()),
            Some(_) => Err(cells::no_plain_table(&self.column)),
            None => {
                let sql = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                           WHERE c.relkind IN ('r', 'p') AND n.nspname = ANY(current_schemas(false)) ORDER BY 1";
                let rows = self.rows(doing, sql, &[])?;
                let names: Vec<String> =
                    rows.iter().map(|row| column_of(row, 0)).collect::<Result<_>>()?;
                Err(cells::no_table(&self.column, &names))
            }
        }
    }

    fn columns(&self) -> Result<Vec<Described>> {
        let sql = "SELECT a.attname::text, t.typname::text, format_type(a.atttypid, -1), \
                   EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary \
                     AND a.attnum = ANY(i.indkey)), \
                   EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indisvalid \
                     AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1 \
                     AND i.indkey[0] = a.attnum AND i.indcollation[0] = a.attcollation) \
                   FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid \
                   WHERE a.attrelid = to_regclass($1)::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";
        let rows = self.rows("look at a table", sql, &[Box::new(&self.table)])?;
        rows.iter()
            .map(|row| {
                Ok(Described {
                    name: column_of(row, 0)?,
                    kind: column_of(row, 1)?,
                    cast: column_of(row, 2)?,
                    is_primary: column_of(row, 3)?,
                    is_unique: column_of(row, 4)?,
                })
            })
            .collect()
    }

    /// Returns the key as a result has it. That is named like the column, which is why the order is by table and column.
    fn shown_key(&self) -> String {
        if self.has_bytes_as_keys { self.key.clone() } else { format!("{}::text", self.key) }
    }

    fn mark(&self, at: usize) -> String {
        match self.has_bytes_as_keys {
            true => format!("${at}::bytea"),
            false => format!("${at}::text::{}", self.key_type),
        }
    }

    fn key_in(&self, row: &Row) -> Result<Key> {
        Ok(match self.has_bytes_as_keys {
            true => Key::Bytes(column_of::<&[u8]>(row, 0)?.to_vec()),
            false => Key::Text(column_of(row, 0)?),
        })
    }

    /// Returns the outcome of a change that matched no row.
    fn unchanged(&self, key: &Key) -> Result<Swapped> {
        let PostgresCells { table, value, key: name, .. } = self;
        let sql = format!(
            "SELECT 1 FROM {table} WHERE {name} = {} AND {value} IS NOT NULL",
            self.mark(1)
        );
        let rows = self.rows("read a value", &sql, &[parameter(key)])?;
        Ok(if rows.is_empty() { Swapped::Gone } else { Swapped::Changed })
    }
}

impl Cells for PostgresCells {
    fn name(&self) -> String {
        format!("PostgreSQL {}", self.version)
    }

    fn heads(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Head>> {
        let PostgresCells { table, value, key, .. } = self;
        let from = after.map_or(String::new(), |_| format!("AND {key} > {}", self.mark(2)));
        let sql = format!(
            "SELECT {}, octet_length({value}) FROM {table} WHERE {value} IS NOT NULL {from} ORDER BY {table}.{key} LIMIT $1",
            self.shown_key()
        );
        let mut parameters: Vec<Parameter<'_>> =
            vec![Box::new(i64::try_from(limit).unwrap_or(i64::MAX))];
        parameters.extend(after.map(parameter));
        let rows = self.rows("read a range of keys", &sql, &parameters)?;
        rows.iter()
            .map(|row| {
                let bytes: i32 = column_of(row, 1)?;
                let bytes = u64::from(bytes.unsigned_abs());
                Ok(Head { key: self.key_in(row)?, bytes, is_text: self.is_text })
            })
            .collect()
    }

    fn values(&self, first: &Key, last: &Key) -> Result<Vec<(Key, Vec<u8>)>> {
        let PostgresCells { table, value, key, is_text, .. } = self;
        let shown = if *is_text { format!("{value}::text") } else { value.clone() };
        let sql = format!(
            "SELECT {}, {shown} FROM {table} WHERE {value} IS NOT NULL AND {key} >= {} AND {key} <= {} ORDER BY {table}.{key}",
            self.shown_key(),
            self.mark(1),
            self.mark(2)
        );
        let rows =
            self.rows("read a range of values", &sql, &[parameter(first), parameter(last)])?;
        rows.iter()
            .map(|row| {
                let value = match *is_text {
                    true => column_of::<&str>(row, 1)?.as_bytes(),
                    false => column_of::<&[u8]>(row, 1)?,
                };
                Ok((self.key_in(row)?, value.to_vec()))
            })
            .collect()
    }

    fn swap(&self, key: &str, old: &[u8], new: &[u8]) -> Result<Swapped> {
        let found = match self.has_bytes_as_keys {
            true => data_encoding::HEXLOWER.decode(key.as_bytes()).ok().map(Key::Bytes),
            false => Some(Key::Text(key.to_owned())),
        };
        let found = found.ok_or_else(|| cells::wrong_key(&self.column, key))?;
        let PostgresCells { table, value, key: name, .. } = self;
        let mark = self.mark(1);
        let mut parameters = vec![parameter(&found)];
        let set = match self.is_text {
            true => {
                let (Some(seen), put) = (text(old), text(new)) else {
                    return self.unchanged(&found);
                };
                let Some(put) = put else { return Ok(Swapped::Unfit(NOT_TEXT.to_owned())) };
                parameters.extend([Box::new(put) as Parameter<'_>, Box::new(seen)]);
                // Equal in this collation is equal byte by byte.
                format!(
                    "SET {value} = $2::text WHERE {name} = {mark} AND {value}::text = $3::text COLLATE \"C\""
                )
            }
            false => {
                parameters.extend([Box::new(new) as Parameter<'_>, Box::new(old)]);
                format!("SET {value} = $2::bytea WHERE {name} = {mark} AND {value} = $3::bytea")
            }
        };
        let sql = format!("UPDATE {table} {set}");
        let doing = format!("replace {} of {key:?} in {}", self.column.column, self.column.table);
        let done = self.line.call(&doing, Call::Change, async |link: &mut Link| {
            let statement = link.statement(&sql).await?;
            match link.client.execute(&statement, &borrowed(&parameters)).await {
                Ok(rows) => Ok(Ok(rows)),
                Err(failure) => match unfit(&failure) {
                    Some(words) => Ok(Err(words)),
                    None => Err(failure),
                },
            }
        })?;
        match done {
            Ok(0) => self.unchanged(&found),
            Ok(_) => Ok(Swapped::Done),
            Err(words) => Ok(Swapped::Unfit(words)),
        }
    }
}

fn parameter(key: &Key) -> Parameter<'_> {
    match key {
        Key::Integer(number) => Box::new(number.to_string()),
        Key::Text(text) => Box::new(text),
        Key::Bytes(bytes) => Box::new(bytes),
    }
}

/// Returns bytes as text of PostgreSQL, which has no zero bytes.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Returns why the table refuses a value, if it would take another one.
fn unfit(failure: &tokio_postgres::Error) -> Option<String> {
    let error = failure.as_db_error()?;
    let unfit = [
        SqlState::STRING_DATA_RIGHT_TRUNCATION,
        SqlState::UNTRANSLATABLE_CHARACTER,
        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        SqlState::CHECK_VIOLATION,
        SqlState::PROGRAM_LIMIT_EXCEEDED,
    ];
    unfit.contains(error.code()).then(|| error.message().to_owned())
}
