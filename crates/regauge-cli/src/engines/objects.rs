//! The task object-store on databases: small objects as Marshal, in a binary column verbatim and in
//! a text column in Base64, written and read through the store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use regauge::Format;
use regauge_measure::program::{Case, Cases, Ready};
use regauge_store::engine::{self, Engine, Sqlite};
use regauge_store::{Settings, Store};

use super::part::Part;
use super::{Place, Told, every_kind, in_words, on_each};

/// Objects per batch: one call, and so one round trip or a few.
const BATCH: u64 = 500;

/// The suffixes of a row's cases.
const NAMES: [&str; 4] = ["binary write", "binary read", "text write", "text read"];

/// Returns every possible case.
pub(super) fn cases<'c>(ready: &Ready, urls: &[&str]) -> Told<Cases<'c>> {
    let objects: Rc<Vec<Object>> =
        Rc::new((0..ready.documents.min(BATCH)).map(Object::new).collect::<Told<_>>()?);
    let kinds = every_kind();
    Ok(on_each(ready, urls, &kinds, &NAMES, |place| {
        let part = Rc::new(Part::make(place)?);
        let mut all = Cases::default();
        for (how, text) in [("binary", false), ("text", true)] {
            let table = Rc::new(RefCell::new(Column::make(&part, how, text)?));
            all.cases.extend(two(place, how, &table, &objects));
        }
        Ok(all)
    }))
}

/// Builds an object exactly as the task's other programs do.
struct Object {
    key: Vec<u8>,
    document: Vec<u8>,
}

impl Object {
    fn new(id: u64) -> Told<Object> {
        let json = format!(
            "{{\"id\":{id},\"name\":\"object number {id}\",\"amount\":{:?},\"active\":{},\
             \"tags\":[\"new\",\"group {}\"]}}",
            id as f64 * 1.25,
            id.is_multiple_of(2),
            id % 10
        );
        let options = regauge::Options::new(Format::Json, Format::Marshal);
        let converted = regauge::convert::convert_counted(json.as_bytes(), &options);
        let (document, _) = converted.map_err(in_words)?;
        Ok(Object { key: format!("object {id:06}").into_bytes(), document })
    }
}

/// A table with one column of objects.
struct Column {
    store: Store,
    /// Whether that is a text column.
    text: bool,
    /// Dropped after the store.
    _part: Rc<Part>,
}

impl Column {
    /// Creates it as a program unaware of regauge would, and adopts it.
    fn make(part: &Rc<Part>, how: &str, text: bool) -> Told<Column> {
        // On repeated reads, SQLite's values would come from memory, which the other rows do not have.
        let engine: Box<dyn Engine> = match part.url.strip_prefix("sqlite:") {
            Some(path) => Box::new(Sqlite::open(path).map_err(in_words)?.without_memory()),
            None => engine::open(&part.url).map_err(in_words)?,
        };
        let name = format!("objects_{how}");
        let codec = "marshal".parse().map_err(in_words)?;
        let mut settings = Settings::new(&name, codec).map_err(in_words)?;
        engine.key_column().clone_into(&mut settings.layout.key);
        settings.layout.text = text;
        engine.create_plain(&settings.layout).map_err(in_words)?;
        let mut store = Store::with_engine(engine, &name, Some(codec)).map_err(in_words)?;
        store.adopt(settings).map_err(in_words)?;
        Ok(Column { store, text, _part: Rc::clone(part) })
    }

    fn write(&mut self, objects: &[Object]) -> Told<()> {
        let changes: Vec<(&[u8], Option<&[u8]>)> =
            objects.iter().map(|one| (&one.key[..], Some(&one.document[..]))).collect();
        self.store.put_many(&changes, Format::Marshal).map_err(in_words)
    }

    fn read(&mut self, objects: &[Object]) -> Told<Vec<Option<Vec<u8>>>> {
        let keys: Vec<&[u8]> = objects.iter().map(|one| &one.key[..]).collect();
        self.store.get_many(&keys, Format::Marshal).map_err(in_words)
    }

    /// Writes and reads, and returns the size of an object as stored in the database.
    fn check(&mut self, objects: &[Object]) -> Told<f64> {
        self.write(objects)?;
        let found = self.read(objects)?;
        let same =
            |(one, found): (&Object, &Option<Vec<u8>>)| found.as_deref() == Some(&one.document[..]);
        if found.len() != objects.len() || !objects.iter().zip(&found).all(same) {
            return Err("an object came back changed".to_owned());
        }
        let mut bytes = 0;
        for one in objects {
            let value = self.store.stored(&one.key).map_err(in_words)?;
            let length = value.ok_or("an object is missing")?.len();
            bytes += if self.text { length.div_ceil(3) * 4 } else { length };
        }
        Ok(bytes as f64 / objects.len() as f64)
    }
}

/// Writes and reads a column.
fn two<'c>(
    place: &Place<'_>,
    how: &str,
    column: &Rc<RefCell<Column>>,
    objects: &Rc<Vec<Object>>,
) -> [Case<'c>; 2] {
    let case = |what: &str, once: fn(&mut Column, &[Object]) -> Told<()>| {
        let (checked, given) = (Rc::clone(column), Rc::clone(objects));
        let (worked, taken) = (Rc::clone(column), Rc::clone(objects));
        Case {
            name: format!("{} {how} {what}", place.kind.name),
            version: place.version.clone(),
            check: Box::new(move || {
                let bytes = checked.borrow_mut().check(&given)?;
                Ok(BTreeMap::from([("bytes".to_owned(), bytes)]))
            }),
            work: Box::new(move |times| {
                let mut column = worked.borrow_mut();
                (0..times).try_for_each(|_| once(&mut column, &taken))
            }),
        }
    };
    [
        case("write", |column, objects| column.write(objects)),
        case("read", |column, objects| column.read(objects).map(drop)),
    ]
}
