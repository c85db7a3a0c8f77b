//! Objects put and got one at a time: what `bindings/python/benches/store.py` sets beside the
//! stores of Python.
//!
//! `values URL COLLECTION MODE DOCUMENT` takes a file of one document in MessagePack, and obeys
//! lines of standard input: `put N` encodes it and puts it under N keys, one a transaction; `bulk N`
//! does so in one transaction; `get N` fetches and decodes each; `change N` puts the number N under
//! a key of its own, so that what was read before has to be read again. Each is answered with a line: the
//! nanoseconds on the clock, and those of the process, all threads. MODE is `sync` or, for a
//! database that syncs at checkpoints only, `relaxed`.

use std::io::{BufRead as _, Write as _};
use std::time::Instant;

use regauge::tape::Tape;
use regauge::{Format, Options, Value, values};
use regauge_store::Store;
use rustix::time::{ClockId, clock_gettime};

/// The system's allocator lets threads wait for one another where one makes what another drops, and
/// gives the memory back each time. A program that reads much takes one like this.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn processor_ns() -> i64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn key(number: usize) -> Vec<u8> {
    format!("key/{number:06}").into_bytes()
}

fn encoded(value: &Value, options: &Options) -> Vec<u8> {
    let (document, _) = values::write_values(std::slice::from_ref(value), options)
        .unwrap_or_else(|error| panic!("{error}"));
    document
}

fn tape(store: &mut Store, key: &[u8]) -> Tape {
    let found = store.tape(key).unwrap_or_else(|error| panic!("{error}"));
    found.expect("the key was put")
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, collection, mode, document] = &words[..] else {
        panic!("expected: values URL COLLECTION sync|relaxed DOCUMENT");
    };
    let options = Options::new(Format::Msgpack, Format::Msgpack);
    let document = std::fs::read(document).unwrap_or_else(|error| panic!("{document}: {error}"));
    let value = values::read_values(&document, &options).unwrap_or_else(|error| panic!("{error}"));
    let value = value.into_iter().next().expect("a document");
    let codec = "msgpack".parse().expect("a codec");
    let opened = Store::open(url, collection, Some(codec));
    let mut store = opened.unwrap_or_else(|error| panic!("{error}"));
    if mode == "relaxed" {
        store.engine().sync_each_change(false).unwrap_or_else(|error| panic!("{error}"));
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("a line of text");
        let (word, count) = line.split_once(' ').expect("a word and a number");
        let count: usize = count.parse().expect("a number");
        let keys: Vec<Vec<u8>> =
            if word == "change" { Vec::new() } else { (0..count).map(key).collect() };
        let (began, spent) = (Instant::now(), processor_ns());
        match word {
            "put" => {
                for key in &keys {
                    let put = store.put_written(key, &encoded(&value, &options), Format::Msgpack);
                    put.unwrap_or_else(|error| panic!("{error}"));
                }
            }
            "bulk" => {
                let documents: Vec<Vec<u8>> =
                    keys.iter().map(|_| encoded(&value, &options)).collect();
                let pairs: Vec<(&[u8], Option<&[u8]>)> =
                    keys.iter().zip(&documents).map(|(k, d)| (&k[..], Some(&d[..]))).collect();
                let put = store.put_many_written(&pairs, Format::Msgpack);
                put.unwrap_or_else(|error| panic!("{error}"));
            }
            "get" => {
                for key in &keys {
                    std::hint::black_box(tape(&mut store, key));
                }
            }
            "change" => {
                let number = encoded(&Value::Int(count as i64), &options);
                let put = store.put_written(b"probe", &number, Format::Msgpack);
                put.unwrap_or_else(|error| panic!("{error}"));
            }
            other => panic!("found {other}, expected put, bulk, get or change"),
        }
        let (took, spent) = (began.elapsed().as_nanos(), processor_ns() - spent);
        // Outside of the time: what is there is the document.
        for key in keys.first().into_iter().chain(keys.last()) {
            let found = tape(&mut store, key);
            assert_eq!(found.root().map(|root| root.to_value()).as_ref(), Some(&value));
        }
        println!("{took} {spent}");
        std::io::stdout().flush().expect("somebody reads");
    }
}
