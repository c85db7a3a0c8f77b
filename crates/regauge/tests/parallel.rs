//! With several threads, the output, the errors and the bad records are the same as with one.

use std::io::{self, Cursor, Read, Seek as _, SeekFrom, Write as _};

use regauge::convert::{Input, ReadAt, convert};
use regauge::output::{FileOutput, StreamOutput};
use regauge::reader::Skipped;
use regauge::{Format, OnLoss, Options};

type Outcome = (Vec<u8>, Result<(u64, u64), String>, Vec<(String, Vec<u8>)>);

/// Keeps a broken record; those without a name share one entry.
fn keep(bad: &mut Vec<(String, Vec<u8>)>, piece: Skipped) {
    match (piece.error, bad.last_mut()) {
        (Some(error), _) => bad.push((error.to_string(), piece.bytes)),
        (None, Some((_, bytes))) if piece.continues => bytes.extend(piece.bytes),
        (None, Some((name, bytes))) if name.is_empty() => bytes.extend(piece.bytes),
        (None, _) => bad.push((String::new(), piece.bytes)),
    }
}

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
        &mut |piece: Skipped| {
            keep(&mut bad, piece);
            Ok(())
        },
    );
    let done = done
        .map(|summary| (summary.documents, summary.bad_records))
        .map_err(|error| error.to_string());
    (output, done, bad)
}

/// Runs with random access: from an input that is read a few bytes at a time, into a file that is
/// written at any position.
fn run_at(input: &[u8], options: &Options, jobs: usize) -> Outcome {
    struct Pieces<'a>(&'a [u8]);

    impl ReadAt for Pieces<'_> {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.0[self.0.len().min(offset as usize)..];
            let got = rest.len().min(buffer.len()).min(1 + offset as usize % 50_000);
            buffer[..got].copy_from_slice(&rest[..got]);
            Ok(got)
        }
        fn size(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }
        fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
            Ok(Box::new(self.0))
        }
    }

    let mut options = options.clone();
    options.jobs = jobs;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"before").unwrap();
    let mut bad = Vec::new();
    let mut on_bad = |piece: Skipped| {
        keep(&mut bad, piece);
        Ok(())
    };
    let output = FileOutput::new(file.try_clone().unwrap()).unwrap();
    let done = convert(Input::At(&Pieces(input)), output, &options, &mut on_bad)
        .map(|summary| (summary.documents, summary.bad_records))
        .map_err(|error| error.to_string());
    let mut written = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut written).unwrap();
    assert!(written.starts_with(b"before"));
    (written[6..].to_vec(), done, bad)
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
        for many in [run(input, options, jobs), run_at(input, options, jobs)] {
            assert_eq!(one.1, many.1);
            assert_eq!(one.2, many.2);
            // The partial output of a failed run is of no use, and need not be the same.
            assert!(one.1.is_err() || one.0 == many.0, "{jobs} threads write something else");
        }
    }
    one
}

#[test]
fn the_same_bytes() {
    let input = lines(40_000);
    assert!(input.len() > 2 << 20, "several parts");
    for to in [Format::Msgpack, Format::Ndjson, Format::Json, Format::Yaml] {
        for indent in [None, Some(2)] {
            let mut options = Options::new(Format::Ndjson, to);
            if to == Format::Json {
                options.json_write.indent = indent;
            }
            options.yaml_write.document_start = indent.is_some();
            let (output, done, _) = check(input.as_bytes(), &options);
            assert_eq!(done, Ok((40_000, 0)));
            assert!(!output.is_empty());
        }
    }
}

#[test]
fn nothing_and_little() {
    for input in ["", "\n\n", "1\n", "1"] {
        for to in [Format::Msgpack, Format::Ndjson, Format::Json, Format::Yaml] {
            let (_, done, _) = check(input.as_bytes(), &Options::new(Format::Ndjson, to));
            assert_eq!(done, Ok((u64::from(input.contains('1')), 0)));
        }
    }
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_not_taken_for_whole() {
    /// A file that had `size` bytes when reading began.
    struct Shrunk<'a> {
        left: &'a [u8],
        size: u64,
    }

    impl ReadAt for Shrunk<'_> {
        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            let rest = &self.left[self.left.len().min(offset as usize)..];
            let got = rest.len().min(buffer.len());
            buffer[..got].copy_from_slice(&rest[..got]);
            Ok(got)
        }
        fn size(&self) -> io::Result<u64> {
            Ok(self.size)
        }
        fn open(&self) -> io::Result<Box<dyn Read + Send + '_>> {
            Ok(Box::new(self.left))
        }
    }

    let input = lines(40_000);
    let size = input.len() as u64;
    let ends = |nth: usize| input.match_indices('\n').nth(nth).unwrap().0 + 1;
    // At the end of a line, inside a line, at the end of a part, with nothing left at all.
    for left in [ends(3), ends(20_000), ends(20_000) + 7, 512 << 10, ends(39_998), 0] {
        let mut options = Options::new(Format::Ndjson, Format::Msgpack);
        options.jobs = 2;
        let at = Shrunk { left: &input.as_bytes()[..left], size };
        let output = StreamOutput::new(io::sink());
        let error = convert(Input::At(&at), output, &options, &mut |_| Ok(())).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), regauge::ErrorKind::Truncated, "{text}");
        assert!(text.contains(&format!("byte {left}")), "{text}");
        assert!(text.contains("shrunk since reading began"), "{text}");
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
fn the_same_bad_records_where_all_are_bad() {
    let input = format!("{}{}{}", lines(10), "x\n".repeat(900_000), lines(10));
    let mut options = Options::new(Format::Ndjson, Format::Msgpack);
    options.skip_bad = true;
    let (_, done, bad) = check(input.as_bytes(), &options);
    assert_eq!(done, Ok((20, 900_000)));
    // A thousand are named, and the bytes of all are kept.
    assert_eq!(bad.len(), 1001);
    assert_eq!(bad.iter().map(|(_, bytes)| bytes.len()).sum::<usize>(), 1_800_000);
    assert!(bad[999].0.contains("record 1010"), "{}", bad[999].0);
}

#[test]
fn the_same_bad_record_where_it_is_long() {
    let long = "x".repeat(5 << 20);
    let input = format!("{}{long}\n{}{long}\n{}{long}", lines(10), lines(20_000), lines(10));
    let mut options = Options::new(Format::Ndjson, Format::Msgpack);
    options.skip_bad = true;
    let (_, done, bad) = check(input.as_bytes(), &options);
    assert_eq!(done, Ok((20_020, 3)));
    for (index, (message, bytes)) in bad.iter().enumerate() {
        assert!(message.contains("found `x"), "{message}");
        assert!(bytes.starts_with(b"xxx") && bytes.len() == (5 << 20) + usize::from(index < 2));
    }
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

/// Records longer than a part, and boundaries that fall on the edges of parts.
#[test]
fn long_records_and_edges() {
    let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(700_000));
    let options = Options::new(Format::Ndjson, Format::Msgpack);
    for filler in [0, 1, 2, 255, 256, 257] {
        // A line that ends just before, at and just after 256 KiB, then long and short ones.
        let first = format!("\"{}\"\n", "y".repeat((256 << 10) - 130 + filler));
        let input = [&first, "1\n", &long, "2\n\n3\n", &long, &long, "4"].concat();
        let (_, done, _) = check(input.as_bytes(), &options);
        assert_eq!(done, Ok((8, 0)));
    }
}
