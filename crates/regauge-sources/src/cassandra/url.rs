//! The address of a column: that of its keyspace, and which table and column.

use regauge::{Error, ErrorKind, Result};
use regauge_store::cells::Column;

use crate::database::{place_in_url, required_name, with_parameters};

/// Returns the address of the keyspace, and the column in it: of `cassandra://HOST/KEYSPACE.TABLE?column=NAME`.
///
/// # Errors
/// `Refused` for an address without a table or a column, and for a parameter of another source, or of the store alone.
pub(super) fn parse(url: &str) -> Result<(String, Column)> {
    let (keyspace, table, parameters) =
        place_in_url(url).ok_or_else(|| wrong("it has no KEYSPACE.TABLE after the host"))?;
    let (mut column, mut others) = (None, Vec::new());
    for one in parameters {
        match one.split_once('=').unwrap_or((one, "")) {
            ("column", _) if column.is_some() => return Err(wrong("it has column twice")),
            ("column", name) => column = Some(name),
            ("key", _) => {
                return Err(wrong("rows are known by their whole primary key, not by key"));
            }
            ("table", _) => return Err(wrong("the table follows the keyspace, as KEYSPACE.TABLE")),
            ("field", _) => return Err(wrong("its parameter field is for MongoDB")),
            (name @ ("buckets" | "replication"), _) => {
                return Err(wrong(&format!("its parameter {name} is for what a store creates")));
            }
            _ => others.push(one),
        }
    }
    let column = Column {
        table: required_name(table, "table", wrong)?,
        column: required_name(column.unwrap_or_default(), "column", wrong)?,
        key: None,
    };
    Ok((with_parameters(keyspace, &others), column))
}

/// The URL itself may have a password, and is not shown.
#[cold]
fn wrong(reason: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("found an address that names no column: {reason}"))
        .hint("it is of the form cassandra://HOST/KEYSPACE.TABLE?column=NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, keyspace: &str, table: &str, column: &str) {
        let (found, names) = parse(url).unwrap();
        assert_eq!((&*found, &*names.table, &*names.column), (keyspace, table, column));
        assert_eq!(names.key, None);
    }

    #[test]
    fn urls_name_a_column() {
        check("cassandra://h/k.jobs?column=body", "cassandra://h/k", "jobs", "body");
        check(
            "cassandra://u:p%40%2F@a.org:1,[::1]/k.Jobs?tls=true&column=b%26c&datacenter=d",
            "cassandra://u:p%40%2F@a.org:1,[::1]/k?tls=true&datacenter=d",
            "Jobs",
            "b&c",
        );
    }

    #[test]
    fn what_is_no_column_is_refused_without_the_password() {
        for (url, expected) in [
            ("cassandra://u:secret@h.org", "it has no KEYSPACE.TABLE after the host"),
            ("cassandra://u:secret@h/k?column=a", "it has no KEYSPACE.TABLE after the host"),
            ("cassandra://u:secret@h/.t?column=a", "it has no KEYSPACE.TABLE after the host"),
            ("cassandra://u:secret@h/k.?column=a", "its table is missing"),
            ("cassandra://u:secret@h/k.t", "its column is missing"),
            ("cassandra://u:secret@h/k.t?column=%FF", "its column is missing, or not percent-"),
            ("cassandra://u:secret@h/k.t?column=a&column=b", "it has column twice"),
            ("cassandra://u:secret@h/k.t?column=a&key=id", "by their whole primary key"),
            ("cassandra://u:secret@h/k.t?column=a&table=t", "follows the keyspace"),
            ("cassandra://u:secret@h/k.t?field=a", "its parameter field is for MongoDB"),
            ("cassandra://u:secret@h/k.t?column=a&replication=1", "for what a store creates"),
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("secret"), "{error}");
        }
    }
}
