//! What a MongoDB answers that FerretDB 1 never does: TTL indexes, collations, views, and refusals. A server with
//! prepared answers stands in for it.

#![cfg(feature = "mongodb")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use mongodb::bson::{DateTime, Document, RawDocument, RawDocumentBuf, doc};
use regauge_store::cells::{Access, Swapped};
use regauge_store::documents::{Documents, Field, Held};

const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;

/// The answers to commands, by their names.
struct Answers {
    collection: Document,
    indexes: Vec<Document>,
    document: Document,
    update: Document,
}

impl Answers {
    /// A collection of one document.
    fn new() -> Answers {
        let at = DateTime::from_millis(5_000);
        Answers {
            collection: doc! { "name": "jobs", "type": "collection", "options": {}, "info": { "readOnly": false } },
            indexes: vec![doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" }],
            document: doc! { "_id": "a", "body": "old", "at": at },
            update: doc! { "ok": 1, "n": 1, "nModified": 1 },
        }
    }

    fn to(&self, command: &Document) -> Document {
        let cursor = |batch: Vec<Document>| {
            let cursor = doc! { "id": 0_i64, "ns": "base.jobs", "firstBatch": batch };
            doc! { "ok": 1, "cursor": cursor }
        };
        match command.keys().next().unwrap().to_lowercase().as_str() {
            "hello" | "ismaster" => doc! {
                "ok": 1, "helloOk": true, "isWritablePrimary": true, "ismaster": true, "minWireVersion": 0,
                "maxWireVersion": 25, "maxBsonObjectSize": 16 << 20, "maxMessageSizeBytes": 48_000_000,
                "maxWriteBatchSize": 100_000,
            },
            "buildinfo" => doc! { "ok": 1, "version": "8.0.4" },
            "listcollections" => cursor(vec![self.collection.clone()]),
            "listindexes" => cursor(self.indexes.clone()),
            "find" => cursor(vec![self.document.clone()]),
            "update" => self.update.clone(),
            "saslstart" => refusal(18, "Authentication failed."),
            _ => doc! { "ok": 1 },
        }
    }

    /// Serves these answers. Returns the address.
    fn serve(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let answers = Arc::new(self);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (client, answers) = (client.unwrap(), answers.clone());
                std::thread::spawn(move || answer_all(client, &answers));
            }
        });
        format!("mongodb://127.0.0.1:{port}/base")
    }
}

fn refusal(code: i32, message: &str) -> Document {
    doc! { "ok": 0, "code": code, "errmsg": message }
}

/// Answers until the client leaves.
fn answer_all(mut client: TcpStream, answers: &Answers) -> Option<()> {
    loop {
        let mut head = [0; 16];
        client.read_exact(&mut head).ok()?;
        let number = |at: usize| i32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let mut body = vec![0; number(0) as usize - 16];
        client.read_exact(&mut body).ok()?;
        let (operation, before) = match number(12) {
            // Flags, the name of the collection, two numbers; an answer has four fields before its document.
            OP_QUERY => (1, 4 + body[4..].iter().position(|byte| *byte == 0).unwrap() + 1 + 8),
            // Flags and the kind of the section.
            _ => (OP_MSG, 5),
        };
        let bytes = &body[before..];
        let length = i32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let command = RawDocument::from_bytes(&bytes[..length]).unwrap();
        let answer = answers.to(&Document::try_from(command).unwrap());
        let answer = RawDocumentBuf::try_from(&answer).unwrap();
        let fields = if operation == 1 { 20 } else { 5 };
        let length = 16 + fields + answer.as_bytes().len();
        let mut out = Vec::new();
        for number in [length as i32, 1, number(4), operation] {
            out.extend(number.to_le_bytes());
        }
        out.resize(16 + fields, 0);
        if operation == 1 {
            out[32..36].copy_from_slice(&1_i32.to_le_bytes());
        }
        out.extend(answer.as_bytes());
        client.write_all(&out).ok()?;
    }
}

fn open(answers: Answers, access: Access) -> Result<Documents, String> {
    let field = Field { collection: "jobs".into(), path: "body".into() };
    Documents::open(&answers.serve(), field, access).map_err(|error| error.to_string())
}

/// What replacing the value comes to.
fn swapped(answers: Answers) -> Result<Swapped, String> {
    let documents = open(answers, Access::Write).unwrap();
    documents.swap("a", b"old", b"new").map_err(|error| error.to_string())
}

#[test]
fn a_ttl_index_says_when_documents_expire() {
    let ttl = |partial: bool| {
        let mut index =
            doc! { "v": 2, "key": { "at": 1 }, "name": "at_1", "expireAfterSeconds": 60 };
        if partial {
            index.insert("partialFilterExpression", doc! { "kind": 1 });
        }
        index
    };
    for (index, expected) in
        [(Some(ttl(false)), Some(65_000)), (Some(ttl(true)), None), (None, None)]
    {
        let mut answers = Answers::new();
        answers.indexes.extend(index);
        let documents = open(answers, Access::Read).unwrap();
        assert_eq!(documents.name(), "MongoDB 8.0.4");
        assert_eq!(documents.knows_expiry(), expected.is_some());
        let mut reading = documents.read(500).unwrap();
        let document = reading.advance().unwrap().unwrap();
        assert_eq!((document.held, document.expires_at), (Held::Text("old"), expected));
        assert!(reading.advance().unwrap().is_none());
    }
}

#[test]
fn what_is_no_collection_is_refused() {
    for (kind, shown) in [("view", "a view"), ("timeseries", "a time series")] {
        let mut answers = Answers::new();
        answers.collection.insert("type", kind);
        let told = open(answers, Access::Read).err().unwrap();
        assert!(told.contains(&format!("found jobs, which is {shown}; name an")), "{told}");
    }
}

#[test]
fn a_refused_update_leaves_the_value_or_stops() {
    assert_eq!(swapped(Answers::new()), Ok(Swapped::Done));
    let update = |update: Document| Answers { update, ..Answers::new() };
    assert_eq!(swapped(update(doc! { "ok": 1, "n": 0, "nModified": 0 })), Ok(Swapped::Changed));
    let invalid = doc! { "index": 0, "code": 121, "errmsg": "Document failed validation" };
    let invalid = doc! { "ok": 1, "n": 0, "writeErrors": [invalid] };
    assert_eq!(swapped(update(invalid)), Ok(Swapped::Unfit("Document failed validation".into())));
    let large = refusal(10_334, "BSONObj size is invalid");
    assert_eq!(swapped(update(large)), Ok(Swapped::Unfit("BSONObj size is invalid".into())));
    let told = swapped(update(refusal(13, "not authorized on base"))).unwrap_err();
    assert!(told.contains("cannot replace body of \"a\" in jobs: "), "{told}");
    assert!(told.ends_with("; give the address of a user with the role readWrite"), "{told}");
    let late = doc! { "code": 64, "errmsg": "waiting for replication timed out" };
    let told = swapped(update(doc! { "ok": 1, "n": 1, "writeConcernError": late })).unwrap_err();
    assert!(told.contains("waiting for replication timed out"), "{told}");

    let mut answers = Answers::new();
    let collation = doc! { "collation": { "locale": "en", "strength": 2 } };
    answers.collection.insert("options", collation);
    let Ok(Swapped::Unfit(words)) = swapped(answers) else { panic!() };
    assert!(words.contains("a collation, in which it cannot be compared"), "{words}");
}

#[test]
fn a_wrong_password_is_said_without_it() {
    let field = Field { collection: "jobs".into(), path: "body".into() };
    let url = Answers::new().serve().replacen("://", "://user:secret@", 1);
    let told = Documents::open(&url, field, Access::Read).err().unwrap().to_string();
    assert!(told.contains("Authentication failed.") && !told.contains("secret"), "{told}");
}
