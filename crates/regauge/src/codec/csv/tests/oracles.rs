//! Other readers and writers of CSV: the `csv` crate, and Python's `csv` module if there is a Python.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;
use regauge_testdata::Random;

/// Fields with what is special in CSV, and what only looks so.
const PARTS: [&str; 16] = [
    "", "a", "1", ",", ";", "\"", "\"\"", "\n", "\r\n", "\r", " ", "\t", "é", "名前", "=1+1",
    "\u{FEFF}",
];

fn random_table(random: &mut Random) -> Vec<Vec<String>> {
    let field = |random: &mut Random| {
        (0..random.below(5)).map(|_| PARTS[random.below(PARTS.len())]).collect::<String>()
    };
    let width = 1 + random.below(5);
    (0..1 + random.below(5)).map(|_| (0..width).map(|_| field(random)).collect()).collect()
}

fn value(table: &[Vec<String>]) -> Vec<Value> {
    let row = |row: &Vec<String>| Value::Array(row.iter().map(|field| text(field)).collect());
    table.iter().map(row).collect()
}

fn without_header(format: Format) -> All {
    let mut options = options(format, format);
    options.csv.header = false;
    options
}

fn write(table: &[Vec<String>], format: Format) -> Vec<u8> {
    crate::write_values(&value(table), &without_header(format)).unwrap().0
}

#[test]
fn tables_come_back() {
    for seed in 1..3_000 {
        let table = random_table(&mut Random::new(seed));
        for format in [Format::Csv, Format::Tsv] {
            let bytes = write(&table, format);
            let read = read_values(&bytes, &without_header(format));
            assert_eq!(read.unwrap(), value(&table), "{}", bytes.escape_ascii());
        }
    }
}

/// Tables with a header and any types that are kept.
#[test]
fn documents_come_back_with_their_types() {
    let mut infer = options(Format::Csv, Format::Csv);
    infer.csv.types = Types::Infer;
    for seed in 1..3_000 {
        let mut random = Random::new(seed);
        let keys: Vec<String> = (0..1 + random.below(4))
            .map(|n| format!("{n}{}", PARTS[random.below(PARTS.len())]))
            .collect();
        let field = |random: &mut Random| match random.below(8) {
            0 => Value::Int(random.below(1 << 40) as i64 >> random.below(40)),
            1 => Value::F64(random.below(1000) as f64 / 8.0 - 50.0),
            2 => Value::Bool(random.below(2) == 0),
            3 => text(["1", "true", "1.0", "-0", "1e5", ""][random.below(6)]),
            _ => text(PARTS[random.below(PARTS.len())]),
        };
        let rows: Vec<Value> = (0..random.below(5))
            .map(|_| Value::Map(keys.iter().map(|key| (text(key), field(&mut random))).collect()))
            .collect();
        let (bytes, summary) = crate::write_values(&rows, &infer).unwrap();
        assert!(summary.fidelity.is_exact());
        let read = read_values(&bytes, &infer).unwrap();
        assert_eq!(read, rows, "{}", bytes.escape_ascii());
    }
}

/// Returns the rows that the `csv` crate reads.
fn by_crate(bytes: &[u8], delimiter: u8) -> Vec<Value> {
    let mut reader = ::csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes);
    let row = |row: ::csv::Result<::csv::StringRecord>| {
        Value::Array(row.unwrap().iter().map(text).collect())
    };
    reader.records().map(row).collect()
}

#[test]
fn the_csv_crate_reads_what_we_write() {
    for seed in 1..3_000 {
        let table = random_table(&mut Random::new(seed));
        for (format, delimiter) in [(Format::Csv, b','), (Format::Tsv, b'\t')] {
            let bytes = write(&table, format);
            assert_eq!(by_crate(&bytes, delimiter), value(&table), "{}", bytes.escape_ascii());
        }
    }
}

#[test]
fn we_read_what_the_csv_crate_writes() {
    for seed in 1..3_000 {
        let table = random_table(&mut Random::new(seed));
        let mut writer = ::csv::Writer::from_writer(Vec::new());
        table.iter().for_each(|row| writer.write_record(row).unwrap());
        let bytes = writer.into_inner().unwrap();
        // It writes a mark in front of the first field as it is, and nobody can tell it from one.
        if bytes.starts_with("\u{FEFF}".as_bytes()) {
            continue;
        }
        let read = read_values(&bytes, &without_header(Format::Csv));
        assert_eq!(read.unwrap(), value(&table), "{}", bytes.escape_ascii());
    }
}

/// Whatever bytes we read, the crate reads as the same rows.
#[test]
fn any_bytes_that_we_read_are_the_same_to_the_crate() {
    let mut read = 0;
    for seed in 1..20_000 {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> =
            (0..random.below(12)).map(|_| b"ab,,\n\n\r\"\" "[random.below(10)]).collect();
        if let Ok(rows) = read_values(&bytes, &without_header(Format::Csv)) {
            assert_eq!(by_crate(&bytes, b','), rows, "{}", bytes.escape_ascii());
            read += 1;
        }
    }
    assert!(read > 1000, "{read}");
}

/// Runs a Python program with this input, which it reads before it writes; `None` without a Python.
fn python(program: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new("python3")
        .args(["-c", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(output.stdout)
}

/// Python's `csv` module reads what we write, and we read what it writes, in each of its dialects.
#[test]
fn python_reads_and_writes_the_same() {
    const READ: &str = "\
import csv, io, json, sys
for line in sys.stdin.read().splitlines():
    tab, text = json.loads(line)
    rows = csv.reader(io.StringIO(text, newline=''), delimiter='\\t' if tab else ',', strict=True)
    print(json.dumps(list(rows)))";
    const WRITE: &str = "\
import csv, io, json, sys
for line in sys.stdin.read().splitlines():
    rows = json.loads(line)
    for dialect in ('excel', 'excel-tab', 'unix'):
        out = io.StringIO(newline='')
        csv.writer(out, dialect).writerows(rows)
        print(json.dumps([dialect == 'excel-tab', out.getvalue()]))";
    let tables: Vec<_> = (1..1_000).map(|seed| random_table(&mut Random::new(seed))).collect();
    let lines = |values: Vec<Value>| -> String {
        values.iter().map(|value| format!("{value}\n")).collect()
    };
    let ours = tables.iter().flat_map(|table| {
        [Format::Csv, Format::Tsv].map(|format| {
            let bytes = String::from_utf8(write(table, format)).unwrap();
            Value::Array(vec![Value::Bool(format == Format::Tsv), text(&bytes)])
        })
    });
    let Some(found) = python(READ, lines(ours.collect()).as_bytes()) else { return };
    let found = String::from_utf8(found).unwrap();
    assert_eq!(found.lines().count(), 2 * tables.len());
    for (index, line) in found.lines().enumerate() {
        let rows: Value = line.parse().unwrap();
        assert_eq!(rows, Value::Array(value(&tables[index / 2])));
    }
    let rows = tables.iter().map(|table| Value::Array(value(table))).collect();
    let theirs = String::from_utf8(python(WRITE, lines(rows).as_bytes()).unwrap()).unwrap();
    assert_eq!(theirs.lines().count(), 3 * tables.len());
    for (index, line) in theirs.lines().enumerate() {
        let Ok(Value::Array(parts)) = line.parse() else { panic!("{line}") };
        let [Value::Bool(tab), Value::Text(bytes)] = parts.as_slice() else { panic!("{line}") };
        if bytes.starts_with('\u{FEFF}') {
            continue;
        }
        let options = without_header(if *tab { Format::Tsv } else { Format::Csv });
        let read = read_values(bytes.as_bytes(), &options);
        let read = read.unwrap_or_else(|error| panic!("{error}: {bytes:?}"));
        assert_eq!(read, value(&tables[index / 3]), "{bytes:?}");
    }
}
