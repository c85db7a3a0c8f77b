//! Over several threads the output, the errors and the bad records are those of one.

use std::io::{Cursor, Read};

use regauge::convert::{Input, convert};
use regauge::output::StreamOutput;
use regauge::reader::BadRecord;
use regauge::{Format, OnLoss, Options};

type Outcome = (Vec<u8>, Result<(u64, u64), String>, Vec<(String, Vec<u8>)>);

fn run(input: &[u8], options: &Options, jobs: usize) -> Outcome {
    let mut options = options.clone();
    options.jobs = jobs;
    let mut output = Vec::new();
    let mut bad = Vec::new();
    let open = || Ok(Box::new(Cursor::new(input)) as Box<dyn Read + Send>);
    let done = convert(
        Input::Again(&open),
        StreamOutput::new(&mut output),
        &options,
        &mut |record: BadRecord| {
            bad.push((record.error.to_string(), record.bytes));
            Ok(())
        },
    );
    let done = done
        .map(|summary| (summary.documents, summary.bad_records))
        .map_err(|error| error.to_string());
    (output, done, bad)
}

fn lines(count: usize) -> String {
    (0..count)
        .map(|n| format!("{{\"id\":{n},\"name\":\"record {n}\",\"values\":[{n},{n}.5,null]}}\n"))
        .collect()
}

#[track_caller]
fn check(input: &[u8], options: &Options) -> Outcome {
    let one = run(input, options, 1);
    for jobs in [2, 3] {
        let many = run(input, options, jobs);
        assert_eq!(one.1, many.1);
        assert_eq!(one.2, many.2);
        // What a failed run has written so far is of no use, and need not be the same.
        assert!(one.1.is_err() || one.0 == many.0, "{jobs} threads write something else");
    }
    one
}

#[test]
fn the_same_bytes() {
    let input = lines(40_000);
    assert!(input.len() > 2 << 20, "several parts");
    for to in [Format::Msgpack, Format::Ndjson, Format::Json] {
        for indent in [None, Some(2)] {
            let mut options = Options::new(Format::Ndjson, to);
            if to == Format::Json {
                options.json_write.indent = indent;
            }
            let (output, done, _) = check(input.as_bytes(), &options);
            assert_eq!(done, Ok((40_000, 0)));
            assert!(!output.is_empty());
        }
    }
}

#[test]
fn nothing_and_little() {
    for input in ["", "\n\n", "1\n", "1"] {
        for to in [Format::Msgpack, Format::Ndjson, Format::Json] {
            let (_, done, _) = check(input.as_bytes(), &Options::new(Format::Ndjson, to));
            assert_eq!(done, Ok((u64::from(input.contains('1')), 0)));
        }
    }
}

#[test]
fn the_same_error() {
    let mut input = lines(40_000);
    let middle = input.match_indices('\n').nth(33_333).unwrap().0;
    input.insert_str(middle + 1, "{\"id\":}\n");
    let (_, done, _) = check(input.as_bytes(), &Options::new(Format::Ndjson, Format::Msgpack));
    let error = done.unwrap_err();
    assert!(error.contains("record 33335"), "{error}");
    assert!(error.contains("line 33335, column 7"), "{error}");
}

#[test]
fn the_same_bad_records() {
    let mut input = lines(40_000);
    for nth in [39_000, 20_000, 10] {
        let place = input.match_indices('\n').nth(nth).unwrap().0;
        input.insert_str(place + 1, "{\"broken\": [1, 2}\n");
    }
    let mut options = Options::new(Format::Ndjson, Format::Msgpack);
    options.skip_bad = true;
    let (_, done, bad) = check(input.as_bytes(), &options);
    assert_eq!(done, Ok((40_000, 3)));
    assert!(bad.iter().all(|(_, bytes)| bytes == b"{\"broken\": [1, 2}\n"), "{bad:?}");
    assert!(bad[0].0.contains("record 12"), "{}", bad[0].0);
}

#[test]
fn the_same_losses() {
    let mut input = lines(20_000);
    input.push_str("{\"big\": 123456789012345678901234567890}\n");
    input.push_str(&lines(20_000));
    let mut options = Options::new(Format::Ndjson, Format::Msgpack);
    let (_, refused, _) = check(input.as_bytes(), &options);
    assert!(refused.unwrap_err().contains("record 20001"));
    options.on_loss = OnLoss::Approximate;
    let (_, done, _) = check(input.as_bytes(), &options);
    assert_eq!(done, Ok((40_001, 0)));
}
