//! Adopting MongoDB collections and Cassandra tables created by other programs.

#![cfg(any(feature = "mongodb", feature = "cassandra"))]

mod engines;

use engines::{Fresh, Kind};
use regauge::Format;
use regauge_store::reencode::{self, Plan};
use regauge_store::{Error, KeyKind, Layout, Order, Range, Settings, Store};

/// `[1, 2]` as Marshal.
const MARSHAL: &[u8] = b"\x04\x08[\x07i\x06i\x07";

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// The message from adopting a table, or the store on it.
fn adopt(
    fresh: &Fresh,
    (table, key, value): (&str, &str, &str),
    (key_kind, text, assume): (KeyKind, bool, &str),
) -> Result<Store, String> {
    let name = format!("{table}_{value}");
    let mut store = Store::with_engine(fresh.open(), &name, None).unwrap();
    let layout =
        Layout { table: table.into(), key: key.into(), value: value.into(), key_kind, text };
    let assume = Some(assume.parse().unwrap());
    let settings = Settings { codec: "msgpack".parse().unwrap(), assume, layout };
    match store.adopt(settings) {
        Ok(()) => Ok(store),
        Err(error) => Err(error.to_string()),
    }
}

fn refused(fresh: &Fresh, names: (&str, &str, &str), kinds: (KeyKind, bool, &str), expected: &str) {
    let told = adopt(fresh, names, kinds).err().expect(expected);
    assert!(told.contains(expected), "{told}");
}

fn keys(store: &mut Store, range: &Range, order: Order) -> Vec<String> {
    let mut keys = Vec::new();
    store
        .scan(range, order, &mut |store, key, value| {
            store.unseal(key, value)?;
            keys.push(String::from_utf8(key.to_vec()).unwrap());
            Ok(true)
        })
        .unwrap();
    keys
}

/// Re-encodes all values, and finds every one again.
fn reencoded(store: &mut Store, values: u64) {
    let plan = Plan { to: "msgpack".parse().unwrap(), dry_run: false, rate: None };
    let none = &mut |error: &Error| panic!("{error}");
    let outcome = reencode::reencode(store, &plan, none, &mut |_| ()).unwrap();
    assert_eq!((outcome.values, outcome.changed, outcome.refused), (values, values, 0));
    let layout = store.settings().layout.clone();
    assert_eq!(store.engine().count(&layout).unwrap().0, values);
}

#[cfg(feature = "mongodb")]
#[test]
fn a_collection_of_mongodb() {
    use mongodb::bson::{Binary, Document, doc, oid::ObjectId, spec::BinarySubtype};
    let Some(fresh) = Fresh::new(Kind::MongoDb) else { return };
    let binary = |bytes: &[u8]| Binary { subtype: BinarySubtype::Generic, bytes: bytes.to_vec() };
    let ids: Vec<ObjectId> = (1..=30_u8).map(|i| ObjectId::from_bytes([i; 12])).collect();
    runtime().block_on(async {
        let client = mongodb::Client::with_uri_str(&fresh.url).await.unwrap();
        let database = client.default_database().unwrap();
        let objects = database.collection::<Document>("objects");
        let documents = ids.iter().map(|id| {
            doc! { "_id": id, "object": binary(MARSHAL), "own": "stays", "bson": { "n": 1 } }
        });
        objects.insert_many(documents.collect::<Vec<_>>()).await.unwrap();
        objects.insert_one(doc! { "_id": ObjectId::from_bytes([99; 12]) }).await.unwrap();
        let numbers = database.collection::<Document>("numbers");
        let documents = [10, -5, 9].map(|id| doc! { "_id": id, "yaml": "- 1\n- 2\n" });
        numbers.insert_many(documents).await.unwrap();
        let binaries = database.collection::<Document>("binaries");
        binaries.insert_one(doc! { "_id": binary(b"k"), "v": binary(MARSHAL) }).await.unwrap();
    });
    let text = |assume| (KeyKind::Text, false, assume);
    let mut store = adopt(&fresh, ("objects", "_id", "object"), text("marshal")).unwrap();
    let all: Vec<String> = ids.iter().map(|id| id.to_hex()).collect();
    assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), all, "without one that has none");
    let part = Range { from: Some(b"02".to_vec()), to: Some(b"0b1".to_vec()) };
    assert_eq!(keys(&mut store, &part, Order::Ascending), all[1..11]);
    let key = all[4].as_bytes();
    assert_eq!(store.get(key, Format::Json).unwrap().unwrap(), b"[1,2]");
    assert!(store.get(b"no id", Format::Json).unwrap_err().to_string().contains("ObjectId"));
    reencoded(&mut store, 30);
    let seen = store.stored(key).unwrap().unwrap();
    store.put_if(key, Some(&seen), b"[3]", Format::Json).unwrap();
    assert!(store.put_if(key, Some(&seen), b"[4]", Format::Json).is_err());
    assert_eq!(store.get(key, Format::Json).unwrap().unwrap(), b"[3]");
    let own = runtime().block_on(async {
        let client = mongodb::Client::with_uri_str(&fresh.url).await.unwrap();
        let objects = client.default_database().unwrap().collection::<Document>("objects");
        objects.find_one(doc! { "_id": ids[4] }).await.unwrap().unwrap()
    });
    assert_eq!(own.get_str("own").unwrap(), "stays", "what else a document holds is not touched");
    let mut store = adopt(&fresh, ("objects", "_id", "bson"), text("bson")).unwrap();
    assert_eq!(store.get(all[0].as_bytes(), Format::Json).unwrap().unwrap(), b"{\"n\":1}");

    let integer = (KeyKind::Integer, true, "yaml");
    let mut store = adopt(&fresh, ("numbers", "_id", "yaml"), integer).unwrap();
    assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), ["-5", "9", "10"]);
    assert_eq!(keys(&mut store, &Range::all(), Order::Descending), ["10", "9", "-5"]);
    reencoded(&mut store, 3);
    assert_eq!(store.get(b"9", Format::Json).unwrap().unwrap(), b"[1,2]");

    refused(&fresh, ("absent", "_id", "v"), text("json"), "no collection absent");
    refused(&fresh, ("objects", "_id", "v"), text("json"), "has a field v; the first have _id, ");
    refused(&fresh, ("objects", "own", "object"), text("marshal"), "field own is not unique");
    let bytes = (KeyKind::Bytes, false, "marshal");
    refused(&fresh, ("binaries", "_id", "v"), bytes, "holds a key of type Binary");
    refused(&fresh, ("numbers", "_id", "yaml"), (KeyKind::Text, true, "yaml"), "of type Int32");
}

#[cfg(feature = "cassandra")]
#[test]
fn a_table_of_cassandra() {
    let Some(fresh) = Fresh::new(Kind::Cassandra) else { return };
    // Creates the keyspace.
    drop(fresh.open());
    let (host, rest) = fresh.url.strip_prefix("cassandra://").unwrap().split_once('/').unwrap();
    let keyspace = rest.split('?').next().unwrap();
    let id = |i: u64| format!("{i:08x}-0000-4000-8000-000000000000");
    runtime().block_on(async {
        let session = scylla::client::session_builder::SessionBuilder::new()
            .known_node(host)
            .use_keyspace(keyspace, true)
            .build()
            .await
            .unwrap();
        for sql in [
            "CREATE TABLE numbers (id int PRIMARY KEY, object blob, own text)",
            "CREATE TABLE ids (id uuid PRIMARY KEY, yaml text)",
            "CREATE TABLE pairs (a int, b int, v blob, PRIMARY KEY (a, b))",
        ] {
            session.query_unpaged(sql, &[]).await.unwrap();
        }
        let put = "INSERT INTO numbers (id, object, own) VALUES (?, ?, 'stays')";
        let put = session.prepare(put).await.unwrap();
        for number in -600..600_i32 {
            session.execute_unpaged(&put, (number, MARSHAL)).await.unwrap();
        }
        let none = "INSERT INTO numbers (id, own) VALUES (1000, 'no value')";
        session.query_unpaged(none, &[]).await.unwrap();
        for i in 0..50 {
            let sql = format!("INSERT INTO ids (id, yaml) VALUES ({}, '- 1')", id(i));
            session.query_unpaged(sql, &[]).await.unwrap();
        }
    });
    let integer = (KeyKind::Integer, false, "marshal");
    let mut store = adopt(&fresh, ("numbers", "id", "object"), integer).unwrap();
    let all: Vec<String> = (-600..600).map(|number: i32| number.to_string()).collect();
    assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), all);
    let mut down = keys(&mut store, &Range::all(), Order::Descending);
    down.reverse();
    assert_eq!(down, all);
    let part = Range { from: Some(b"-7".to_vec()), to: Some(b"5".to_vec()) };
    assert_eq!(keys(&mut store, &part, Order::Ascending), all[593..605]);
    assert_eq!(store.get(b"-7", Format::Json).unwrap().unwrap(), b"[1,2]");
    assert!(store.delete(b"-600").unwrap());
    assert!(!store.delete(b"-600").unwrap());
    store.put(b"2000", b"[5]", Format::Json).unwrap();
    let found = keys(&mut store, &Range::all(), Order::Ascending);
    assert_eq!((found[0].as_str(), found[1_199].as_str()), ("-599", "2000"));
    assert!(store.delete(b"2000").unwrap());
    reencoded(&mut store, 1_199);
    let seen = store.stored(b"3").unwrap().unwrap();
    store.put_if(b"3", Some(&seen), b"[3]", Format::Json).unwrap();
    assert!(store.put_if(b"3", Some(&seen), b"[4]", Format::Json).is_err());
    let told = store.get(b"3000000000", Format::Json).unwrap_err().to_string();
    assert!(told.contains("smaller numbers"), "{told}");

    let text = (KeyKind::Text, true, "yaml");
    let mut store = adopt(&fresh, ("ids", "id", "yaml"), text).unwrap();
    let all: Vec<String> = (0..50).map(id).collect();
    assert_eq!(keys(&mut store, &Range::all(), Order::Ascending), all);
    reencoded(&mut store, 50);
    assert_eq!(store.get(all[7].as_bytes(), Format::Json).unwrap().unwrap(), b"[1]");
    assert!(store.get(b"7", Format::Json).unwrap_err().to_string().contains("UUID"));

    refused(&fresh, ("absent", "id", "v"), integer, "no table absent");
    refused(&fresh, ("numbers", "id", "v"), integer, "no column v, but ");
    refused(&fresh, ("pairs", "a", "v"), integer, "not the whole primary key");
    refused(&fresh, ("numbers", "id", "object"), (KeyKind::Text, false, "json"), "of type int");
    refused(&fresh, ("ids", "id", "yaml"), (KeyKind::Text, false, "yaml"), "adopt it as text");
}
