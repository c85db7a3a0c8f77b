//! Batches of slices of a time series, fetched and decoded: what `benches/slices.py` sets beside
//! the drivers of Python.
//!
//! `slices URL COLLECTION [CODEC]`, with `msgpack` if no codec is said, obeys lines of standard input, and
//! answers each with a line:
//! `put FOLDER` puts the files of a folder, a second apart; `get N` fetches the newest N slices,
//! decodes them, and tells the nanoseconds that took and the number of values in them; `remove`
//! removes the collection.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use regauge::Format;
use regauge::tape::{Item, View};
use regauge_store::series::{Buckets, TimeNs};
use regauge_store::slices::Span;
use regauge_store::{Order, Store};

/// The system's allocator lets threads wait for one another where one makes what another drops, and
/// gives the memory back each time. A program that reads much takes one like this.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// All values of a tree, itself and keys included: so that nobody can leave out decoding it.
fn count(item: Item<'_>) -> usize {
    1 + match item.view() {
        View::Array(items) => items.map(count).sum(),
        View::Map(members) => members.map(|(key, value)| count(key) + count(value)).sum(),
        _ => 0,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let usage = "expected: slices URL COLLECTION [CODEC]";
    let (url, collection) = (arguments.next().expect(usage), arguments.next().expect(usage));
    let codec = arguments.next().as_deref().unwrap_or("msgpack").parse().expect("a codec");
    let mut store = Store::open(&url, &collection, Some(codec)).unwrap_or_else(|e| panic!("{e}"));
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line of text");
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "put" => {
                let mut files: Vec<_> = std::fs::read_dir(rest)
                    .expect("a folder")
                    .map(|entry| entry.expect("an entry").path())
                    .collect();
                files.sort();
                for (part, some) in files.chunks(100).enumerate() {
                    let documents: Vec<Vec<u8>> =
                        some.iter().map(|file| std::fs::read(file).expect("a file")).collect();
                    let times = (part as TimeNs * 100..).map(|second| second * 1_000_000_000);
                    let slices: Vec<(TimeNs, &[u8])> =
                        times.zip(&documents).map(|(time, one)| (time, &one[..])).collect();
                    let day = Some(Buckets::Every(regauge_store::series::DAY));
                    let put = store.put_slices("s", day, &slices, Format::Msgpack);
                    put.unwrap_or_else(|error| panic!("{error}"));
                }
                println!("{}", files.len());
            }
            "get" => {
                let limit = rest.parse().expect("a number");
                let began = Instant::now();
                let series = store.series("s").unwrap_or_else(|error| panic!("{error}"));
                let span = Span { order: Order::Descending, limit, ..Span::whole(series) };
                let found = store.slice_tapes(&span).unwrap_or_else(|error| panic!("{error}"));
                let took = began.elapsed().as_nanos();
                assert_eq!(found.len(), limit);
                let values: usize =
                    found.iter().filter_map(|(_, tape)| tape.root()).map(count).sum();
                println!("{took} {values}");
            }
            "remove" => {
                store.remove().unwrap_or_else(|error| panic!("{error}"));
                println!("0");
            }
            other => panic!("found {other}"),
        }
        std::io::stdout().flush().expect("somebody reads");
    }
}
