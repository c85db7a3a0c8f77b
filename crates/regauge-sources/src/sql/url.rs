//! The address of a column: that of its database, and which table, column and key.

use regauge::{Error, ErrorKind, Result};
use regauge_store::cells::Column;

use crate::database::{name_in_url, with_parameters};

/// Returns the address of the database, and the column in it.
///
/// # Errors
/// `Refused` for a parameter that is given twice, or is no text.
pub(super) fn parse(url: &str) -> Result<(String, Column)> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let mut column = Column { table: String::new(), column: String::new(), key: None };
    let mut others = Vec::new();
    let mut seen = Vec::new();
    for one in query.split('&').filter(|one| !one.is_empty()) {
        let (name, value) = one.split_once('=').unwrap_or((one, ""));
        if !matches!(name, "table" | "column" | "key") {
            others.push(one);
            continue;
        }
        if seen.contains(&name) {
            return Err(wrong(&format!("it has {name} twice")));
        }
        seen.push(name);
        let text = name_in_url(value)
            .ok_or_else(|| wrong(&format!("its {name} is empty, or not percent-encoded UTF-8")))?;
        match name {
            "table" => column.table = text,
            "column" => column.column = text,
            _ => column.key = Some(text),
        }
    }
    // Only names of files in SQLite's own form have parameters.
    if base.starts_with("sqlite:")
        && !base.starts_with("sqlite:file:")
        && let [other, ..] = others[..]
    {
        let name = other.split('=').next().unwrap_or_default();
        return Err(wrong(&format!("its parameter {name} is not known")));
    }
    Ok((with_parameters(base, &others), column))
}

/// The URL itself may have a password, and is not shown.
#[cold]
fn wrong(reason: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("found an address that names no column: {reason}"))
        .hint("it is of the form sqlite:FILE?table=NAME&column=NAME, perhaps with &key=NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, base: &str, table: &str, column: &str, key: Option<&str>) {
        let (found, names) = parse(url).unwrap();
        assert_eq!(found, base, "{url}");
        assert_eq!(
            (&*names.table, &*names.column, names.key.as_deref()),
            (table, column, key),
            "{url}"
        );
    }

    #[test]
    fn urls_name_a_column() {
        check("sqlite:a b.db?table=t&column=c", "sqlite:a b.db", "t", "c", None);
        check(
            "sqlite:a.db?column=c%26d&table=%22t%20%C3%A9&key=k",
            "sqlite:a.db",
            "\"t é",
            "c&d",
            Some("k"),
        );
        check(
            "sqlite:file:a.db?immutable=1&table=t&column=c",
            "sqlite:file:a.db?immutable=1",
            "t",
            "c",
            None,
        );
        check(
            "postgres://u:p%40@h/d?sslmode=require&table=t&column=c&timeout=5",
            "postgres://u:p%40@h/d?sslmode=require&timeout=5",
            "t",
            "c",
            None,
        );
        check("mysql://h/d", "mysql://h/d", "", "", None);
    }

    #[test]
    fn what_is_no_column_is_refused_without_the_password() {
        for (url, expected) in [
            ("sqlite:a.db?table=t&table=u&column=c", "it has table twice"),
            ("sqlite:a.db?table=&column=c", "its table is empty"),
            ("sqlite:a.db?table=%FF&column=c", "not percent-encoded UTF-8"),
            ("sqlite:a.db?table=t&colum=c", "its parameter colum is not known"),
            ("mysql://u:secret@h/d?key=%0&table=t", "its key is empty, or not"),
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("secret"), "{error}");
        }
    }
}
