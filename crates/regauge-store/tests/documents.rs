//! A field of the documents of a collection in MongoDB, by FerretDB.

#![cfg(feature = "mongodb")]

mod engines;

use engines::{Fresh, Kind};
use mongodb::bson::{
    Binary, Bson, DateTime, Document, Uuid, doc, oid::ObjectId, spec::BinarySubtype,
};
use mongodb::{Collection, Database};
use regauge_store::cells::{Access, Swapped};
use regauge_store::documents::{Documents, Field, Held};

/// `[1, 2]` as Marshal.
const MARSHAL: &[u8] = b"\x04\x08[\x07i\x06i\x07";

fn binary(subtype: BinarySubtype, bytes: &[u8]) -> Bson {
    Bson::Binary(Binary { subtype, bytes: bytes.to_vec() })
}

fn generic(bytes: &[u8]) -> Bson {
    binary(BinarySubtype::Generic, bytes)
}

fn with<T>(fresh: &Fresh, act: impl AsyncFnOnce(Database) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = mongodb::Client::with_uri_str(&fresh.url).await.unwrap();
        act(client.default_database().unwrap()).await
    })
}

fn put(fresh: &Fresh, collection: &str, documents: Vec<Document>) {
    with(fresh, async |database| {
        let collection: Collection<Document> = database.collection(collection);
        collection.insert_many(documents).await.unwrap();
    });
}

fn get(fresh: &Fresh, collection: &str, id: impl Into<Bson>) -> Document {
    let filter = doc! { "_id": id.into() };
    with(fresh, async |database| {
        database.collection::<Document>(collection).find_one(filter).await.unwrap().unwrap()
    })
}

fn opened(fresh: &Fresh, field: (&str, &str), access: Access) -> Result<Documents, String> {
    let field = Field { collection: field.0.into(), path: field.1.into() };
    Documents::open(&fresh.url, field, access).map_err(|error| error.to_string())
}

/// Every key with what its document holds, in the order of the keys.
fn all(documents: &Documents, batch: u32) -> Vec<(String, String)> {
    let mut reading = documents.read(batch).unwrap();
    let mut all = Vec::new();
    while let Some(document) = reading.advance().unwrap() {
        assert_eq!(document.expires_at, None);
        let held = match document.held {
            Held::Bytes(bytes) => format!("bytes {}", bytes.escape_ascii()),
            Held::Text(text) => format!("text {text}"),
            Held::Absent => "absent".to_owned(),
            Held::Other => "other".to_owned(),
        };
        all.push((document.key, held));
    }
    assert!(reading.advance().unwrap().is_none());
    all.sort();
    all
}

#[test]
fn every_document_comes_once() {
    let Some(fresh) = Fresh::new(Kind::MongoDb) else { return };
    let id = |n: u8| ObjectId::from_bytes([n; 12]);
    let held = |n: u8| match n % 6 {
        0 => (Bson::from(vec![generic(b"v")]), "other"),
        1 => (Bson::Int32(7), "other"),
        2 => (Bson::Null, "absent"),
        3 => ("text".into(), "text text"),
        4 => (binary(BinarySubtype::UserDefined(128), b"u"), "bytes u"),
        _ => (generic(b"v"), "bytes v"),
    };
    let documents = (1..=250).map(|n| doc! { "_id": id(n), "body": held(n).0, "in": { "v": "x" } });
    put(&fresh, "jobs", documents.collect());
    put(&fresh, "jobs", vec![doc! { "_id": id(251), "other": 1 }]);
    let documents = opened(&fresh, ("jobs", "body"), Access::Read).unwrap();
    assert!(documents.name().starts_with("FerretDB") || documents.name().starts_with("MongoDB"));
    assert!(!documents.knows_expiry());
    let mut expected: Vec<_> = (1..=250).map(|n| (id(n).to_hex(), held(n).1.to_owned())).collect();
    expected.push((id(251).to_hex(), "absent".to_owned()));
    for batch in [1, 7, 500] {
        assert_eq!(all(&documents, batch), expected, "{batch}");
    }
    let inner = opened(&fresh, ("jobs", "in.v"), Access::Read).unwrap();
    assert_eq!(all(&inner, 500).iter().filter(|(_, held)| held == "text x").count(), 250);
    // One that is not read to its end.
    let mut reading = documents.read(2).unwrap();
    assert!(reading.advance().unwrap().is_some());
    drop(reading);
    assert_eq!(all(&documents, 500).len(), 251);
}

#[test]
fn identifiers_of_every_type_are_found_again() {
    let Some(fresh) = Fresh::new(Kind::MongoDb) else { return };
    let ids: Vec<(Bson, &str)> = vec![
        (ObjectId::from_bytes([1; 12]).into(), "010101010101010101010101"),
        // FerretDB takes a text of the same digits for the same identifier.
        ("0a0101010101010101010101".into(), "\"0a0101010101010101010101\""),
        ("session:é/1".into(), "session:é/1"),
        (17.into(), "17"),
        ("17".into(), "\"17\""),
        (5_000_000_000_i64.into(), "5000000000"),
        ((-3.0).into(), "-3"),
        (1.5.into(), "{\"$numberDouble\":\"1.5\"}"),
        (DateTime::from_millis(1).into(), "{\"$date\":{\"$numberLong\":\"1\"}}"),
        (Uuid::from_bytes([2; 16]).into(), "UUID/02020202-0202-0202-0202-020202020202"),
        (generic(b"\0k"), "BinData/00/006b"),
        (doc! { "a": 1, "b": "x" }.into(), "{\"a\":{\"$numberInt\":\"1\"},\"b\":\"x\"}"),
    ];
    put(&fresh, "ids", ids.iter().map(|(id, _)| doc! { "_id": id, "v": generic(b"v") }).collect());
    let documents = opened(&fresh, ("ids", "v"), Access::Write).unwrap();
    let mut expected: Vec<_> =
        ids.iter().map(|(_, key)| ((*key).to_owned(), "bytes v".to_owned())).collect();
    expected.sort();
    assert_eq!(all(&documents, 500), expected);
    for (_, key) in &ids {
        assert_eq!(documents.swap(key, b"v", b"w").unwrap(), Swapped::Done, "{key}");
    }
    assert!(all(&documents, 500).iter().all(|(_, held)| held == "bytes w"));
    let told = documents.swap("{\"a\":", b"w", b"x").unwrap_err().to_string();
    assert!(told.contains("collection ids: found the key {\"a\":, which is no _id"), "{told}");
}

#[test]
fn a_value_is_replaced_if_it_is_still_what_was_read() {
    let Some(fresh) = Fresh::new(Kind::MongoDb) else { return };
    let documents = vec![
        doc! { "_id": 1, "body": generic(MARSHAL), "own": "stays" },
        doc! { "_id": 2, "body": binary(BinarySubtype::UserDefined(128), MARSHAL) },
        doc! { "_id": 3, "body": "(lp0\nI1\na." },
        doc! { "_id": 4, "body": [generic(MARSHAL)] },
        doc! { "_id": 5, "body": Bson::Null },
        doc! { "_id": 6, "body": generic(b"") },
        doc! { "_id": 8, "job": { "body": generic(b"v"), "own": 1 } },
    ];
    put(&fresh, "jobs", documents);
    let documents = opened(&fresh, ("jobs", "body"), Access::Write).unwrap();
    let swap = |key: &str, old: &[u8], new: &[u8]| documents.swap(key, old, new).unwrap();
    assert_eq!(swap("1", b"other", b"new"), Swapped::Changed);
    assert_eq!(swap("1", MARSHAL, b"\x92\x01\x02"), Swapped::Done);
    assert_eq!(swap("1", MARSHAL, b"\x92\x01\x02"), Swapped::Changed);
    let expected = doc! { "_id": 1, "body": generic(b"\x92\x01\x02"), "own": "stays" };
    assert_eq!(get(&fresh, "jobs", 1), expected);
    assert_eq!(swap("2", MARSHAL, b"new"), Swapped::Done);
    let expected = binary(BinarySubtype::UserDefined(128), b"new");
    assert_eq!(get(&fresh, "jobs", 2).get("body"), Some(&expected));
    assert!(matches!(swap("3", b"(lp0\nI1\na.", b"\x91\xFF"), Swapped::Unfit(_)));
    assert_eq!(swap("3", b"(LP0\nI1\na.", b"[1]"), Swapped::Changed);
    assert_eq!(swap("3", b"(lp0\nI1\na.", b"[1]"), Swapped::Done);
    assert_eq!(get(&fresh, "jobs", 3).get_str("body").unwrap(), "[1]");
    assert_eq!(swap("4", MARSHAL, b"new"), Swapped::Changed);
    assert_eq!(swap("5", b"", b"new"), Swapped::Gone);
    assert_eq!(swap("6", b"", b"new"), Swapped::Done);
    assert_eq!(swap("7", b"", b"new"), Swapped::Gone);
    assert_eq!(swap("8", b"v", b"new"), Swapped::Gone);
    let inner = opened(&fresh, ("jobs", "job.body"), Access::Write).unwrap();
    assert_eq!(inner.swap("8", b"v", b"new").unwrap(), Swapped::Done);
    let expected = doc! { "_id": 8, "job": { "body": generic(b"new"), "own": 1 } };
    assert_eq!(get(&fresh, "jobs", 8), expected);
    let reader = opened(&fresh, ("jobs", "body"), Access::Read).unwrap();
    let told = reader.swap("6", b"new", b"newer").unwrap_err().to_string();
    assert!(told.contains("found jobs opened to read only"), "{told}");
}

#[test]
fn what_cannot_be_read_is_named() {
    let Some(fresh) = Fresh::new(Kind::MongoDb) else { return };
    put(&fresh, "jobs", vec![doc! { "_id": 1, "body": "a", "at": 2 }]);
    put(&fresh, "pages", vec![doc! { "_id": 1, "v": 1 }]);
    for (field, expected) in [
        (("absent", "body"), "found no collection absent; the database has jobs, pages"),
        (
            ("jobs", "c"),
            "collection jobs: no document has the field c; the first have _id, at, body",
        ),
        (("jobs", "_id"), "found the field \"_id\", expected a field other than the _id"),
        (("jobs", "a..b"), "found the field \"a..b\", expected names with dots between them"),
        (("jobs", "$where"), "found the field \"$where\", expected names"),
    ] {
        let told = opened(&fresh, field, Access::Read).err().unwrap();
        assert!(told.contains(expected), "{told}");
    }
    // A value of another type is no reason to fail.
    let numbers = opened(&fresh, ("pages", "v"), Access::Read).unwrap();
    assert_eq!(all(&numbers, 500), [("1".to_owned(), "other".to_owned())]);
    let field = || Field { collection: "jobs".into(), path: "body".into() };
    let told = |url: &str, access| Documents::open(url, field(), access).err().unwrap().to_string();
    let unsure = format!("{}w=0", fresh.url);
    assert!(
        told(&unsure, Access::Write)
            .contains("found w=0 in the URL: the server then does not acknowledge writes")
    );
    assert!(Documents::open(&unsure, field(), Access::Read).is_ok());
    let locked = fresh.url.replacen("://", "://user:secret@", 1);
    let said = told(&locked, Access::Read);
    assert!(said.starts_with("cannot open mongodb://…@") && !said.contains("secret"), "{said}");
    assert!(said.to_lowercase().contains("authentication"), "{said}");
}
