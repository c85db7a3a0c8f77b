//! The task time-slice on databases: a batch of slices as JSON and as MessagePack, encoded and
//! written, fetched and decoded, through the store.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use regauge::{Format, Options, Value, values};
use regauge_measure::program::{Absent, Case, Cases, Ready};
use regauge_store::series::{Buckets, Series, TimeNs};
use regauge_store::slices::Span;
use regauge_store::{Order, Store};

use super::part::Part;
use super::{Place, Told, in_words, on_each};

/// The databases that hold slices: the one that the post's service uses, and the one that is always
/// available.
const KINDS: [&str; 2] = ["SQLite", "Cassandra"];
/// The suffixes of a row's cases.
const NAMES: [&str; 4] = ["JSON write", "JSON read", "MessagePack write", "MessagePack read"];
/// Points per slice, a minute apart: the next slice begins where this one ends.
const SLICE_NS: TimeNs = 155 * 60 * 1_000_000_000;
/// A Cassandra partition should stay below 100 MB.
const BUCKET_BYTES: u64 = 50 << 20;

/// Returns every possible case.
pub(super) fn cases<'c>(ready: &Ready, urls: &[&str]) -> Told<Cases<'c>> {
    let path = ready.path.as_deref().ok_or("expected a file of slices")?;
    let lines = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut options = Options::new(Format::Ndjson, Format::Ndjson);
    options.unwrap = true;
    let slices = Rc::new(values::read_values(&lines, &options).map_err(in_words)?);
    Ok(on_each(ready, urls, &KINDS, &NAMES, |place| {
        let part = Rc::new(Part::make(place)?);
        let mut all = Cases::default();
        for (how, format) in [("JSON", Format::Json), ("MessagePack", Format::Msgpack)] {
            match Kept::make(&part, format, Rc::clone(&slices)) {
                Ok(kept) => all.cases.extend(two(place, how, &Rc::new(RefCell::new(kept)))),
                // JSON cannot hold everything that the user's file may contain.
                Err(why) => all.absent.extend(["write", "read"].map(|what| {
                    Absent::because(format!("{} {how} {what}", place.kind.name), &why)
                })),
            }
        }
        Ok(all)
    }))
}

/// A series of slices in one format.
struct Kept {
    store: Store,
    series: Series,
    format: Format,
    slices: Rc<Vec<Value>>,
    /// Dropped after the store.
    _part: Rc<Part>,
}

impl Kept {
    /// Creates the series and stores all slices.
    fn make(part: &Rc<Part>, format: Format, slices: Rc<Vec<Value>>) -> Told<Kept> {
        let codec = format.name().parse().map_err(in_words)?;
        let name = format!("slices_{}", format.name());
        let mut store = Store::open(&part.url, &name, Some(codec)).map_err(in_words)?;
        let documents = encoded(&slices, format)?;
        let timed: Vec<(TimeNs, &[u8])> =
            documents.iter().enumerate().map(|(at, one)| (time(at), &one[..])).collect();
        let buckets = Some(Buckets::Bytes(BUCKET_BYTES));
        let series = store.put_slices("series", buckets, &timed, format).map_err(in_words)?;
        Ok(Kept { store, series, format, slices, _part: Rc::clone(part) })
    }

    /// Encodes all slices and stores them in one call, as the bindings do with objects.
    fn write(&mut self) -> Told<()> {
        let documents = encoded(&self.slices, self.format)?;
        let keys: Vec<Vec<u8>> = (0..documents.len()).map(|at| self.series.key(time(at))).collect();
        let pairs: Vec<(&[u8], Option<&[u8]>)> =
            keys.iter().zip(&documents).map(|(key, one)| (&key[..], Some(&one[..]))).collect();
        self.store.put_many_written(&pairs, self.format).map_err(in_words)
    }

    /// Fetches all slices and decodes them, newest first.
    fn read(&mut self) -> Told<Vec<(TimeNs, Value)>> {
        let span = Span {
            order: Order::Descending,
            limit: self.slices.len(),
            ..Span::whole(self.series.clone())
        };
        self.store.slice_values(&span).map_err(in_words)
    }

    /// Writes and reads, and returns the size of a slice as stored in the database.
    fn check(&mut self) -> Told<f64> {
        self.write()?;
        let found = self.read()?;
        let wanted = self.slices.iter().enumerate().rev();
        let same = |(found, (at, slice)): (&(TimeNs, Value), (usize, &Value))| {
            found.0 == time(at) && found.1 == *slice
        };
        if found.len() != self.slices.len() || !found.iter().zip(wanted).all(same) {
            return Err("a slice came back changed".to_owned());
        }
        let (count, bytes) = self.store.count().map_err(in_words)?;
        Ok(bytes as f64 / count.max(1) as f64)
    }
}

/// Returns the time at which a slice begins.
fn time(at: usize) -> TimeNs {
    // 1 January 2012, as in the sample.
    1_325_376_000_000_000_000 + at as TimeNs * SLICE_NS
}

fn encoded(slices: &[Value], format: Format) -> Told<Vec<Vec<u8>>> {
    let options = Options::new(format, format);
    let one = |slice: &Value| {
        let written = values::write_values(std::slice::from_ref(slice), &options);
        let (mut document, _) = written.map_err(in_words)?;
        // The newline at the end of a JSON file is not part of the document.
        if format.is_json() && document.last() == Some(&b'\n') {
            document.pop();
        }
        Ok(document)
    };
    slices.iter().map(one).collect()
}

/// Writes and reads a series.
fn two<'c>(place: &Place<'_>, how: &str, kept: &Rc<RefCell<Kept>>) -> [Case<'c>; 2] {
    let case = |what: &str, once: fn(&mut Kept) -> Told<()>| {
        let (checked, worked) = (Rc::clone(kept), Rc::clone(kept));
        Case {
            name: format!("{} {how} {what}", place.kind.name),
            version: place.version.clone(),
            check: Box::new(move || {
                let bytes = checked.borrow_mut().check()?;
                Ok(BTreeMap::from([("bytes".to_owned(), bytes)]))
            }),
            work: Box::new(move |times| {
                let mut kept = worked.borrow_mut();
                (0..times).try_for_each(|_| once(&mut kept))
            }),
        }
    };
    [case("write", Kept::write), case("read", |kept| kept.read().map(drop))]
}
