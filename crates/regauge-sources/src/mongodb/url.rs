//! The address of a field: that of its database, and which collection and field.

use regauge::{Error, ErrorKind, Result};
use regauge_store::documents::Field;

use crate::database::{place_in_url, required_name, with_parameters};

/// Returns the address of the database, and the field in it: of `mongodb://HOST/DATABASE.COLLECTION?field=NAME`.
///
/// # Errors
/// `Refused` for an address without a collection or a field, and for a parameter of another source.
pub(super) fn parse(url: &str) -> Result<(String, Field)> {
    let (database, collection, parameters) =
        place_in_url(url).ok_or_else(|| wrong("it has no DATABASE.COLLECTION after the host"))?;
    let (mut field, mut others) = (None, Vec::new());
    for one in parameters {
        match one.split_once('=').unwrap_or((one, "")) {
            ("field", _) if field.is_some() => return Err(wrong("it has field twice")),
            ("field", name) => field = Some(name),
            (name @ ("table" | "column" | "key"), _) => {
                return Err(wrong(&format!("its parameter {name} is for tables of SQL")));
            }
            _ => others.push(one),
        }
    }
    let field = Field {
        collection: required_name(collection, "collection", wrong)?,
        path: required_name(field.unwrap_or_default(), "field", wrong)?,
    };
    Ok((with_parameters(database, &others), field))
}

/// The URL itself may have a password, and is not shown.
#[cold]
fn wrong(reason: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("found an address that names no field: {reason}"))
        .hint("it is of the form mongodb://HOST/DATABASE.COLLECTION?field=NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, database: &str, collection: &str, path: &str) {
        let (found, field) = parse(url).unwrap();
        assert_eq!((&*found, &*field.collection, &*field.path), (database, collection, path));
    }

    #[test]
    fn urls_name_a_field() {
        check("mongodb://h/d.jobs?field=body", "mongodb://h/d", "jobs", "body");
        check(
            "mongodb://u:p%40@h:1,i:2/d.jobs.old?replicaSet=r&field=b%26c.d&tls=true",
            "mongodb://u:p%40@h:1,i:2/d?replicaSet=r&tls=true",
            "jobs.old",
            "b&c.d",
        );
        check("mongodb+srv://h/d.a%2Fb?field=%C3%A9", "mongodb+srv://h/d", "a/b", "é");
    }

    #[test]
    fn what_is_no_field_is_refused_without_the_password() {
        for (url, expected) in [
            ("mongodb://u:secret@h", "it has no DATABASE.COLLECTION"),
            ("mongodb://u:secret@h.org", "it has no DATABASE.COLLECTION"),
            ("mongodb://u:secret@h/d?field=a", "it has no DATABASE.COLLECTION"),
            ("mongodb://u:secret@h/.c?field=a", "it has no DATABASE.COLLECTION"),
            ("mongodb://u:secret@h/d.?field=a", "its collection is missing"),
            ("mongodb://u:secret@h/d.c", "its field is missing"),
            ("mongodb://u:secret@h/d.c?field=%FF", "its field is missing, or not percent-encoded"),
            ("mongodb://u:secret@h/d.c?field=a&field=b", "it has field twice"),
            ("mongodb://u:secret@h/d.c?column=a", "its parameter column is for tables of SQL"),
        ] {
            let error = parse(url).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("secret"), "{error}");
        }
    }
}
