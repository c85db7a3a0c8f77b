//! Finds where each document begins and ends in a file.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use regauge::Format;

use super::values::Values;
use crate::model::error::Error;

const RECORD_END: &str = "</record>";

/// Returns the start and end of every document in a file that regauge wrote.
pub(super) fn spans_of(path: &Path, format: Format) -> Result<Vec<(u64, u64)>, Error> {
    match format {
        Format::Json | Format::Ndjson | Format::MarcJson => {
            // JSON as regauge writes it has no line feed but those between documents.
            let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
            Ok(lines(&bytes))
        }
        Format::Yaml => {
            let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
            Ok(yaml_documents(&bytes))
        }
        Format::MarcXml => {
            let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
            Ok(xml_records(&text))
        }
        _ => {
            let mut spans = Vec::new();
            let mut values = Values::open(path, format)?;
            let mut start = 0;
            while values.next().map_err(|error| Error::Input(super::told(&error)))?.is_some() {
                spans.push((start, values.offset()));
                start = values.offset();
            }
            Ok(spans)
        }
    }
}

fn lines(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let end = start + line.len();
        let without = line.strip_suffix(b"\n").unwrap_or(line);
        if !without.is_empty() {
            spans.push((start as u64, (start + without.len()) as u64));
        }
        start = end;
    }
    spans
}

/// Splits a YAML stream at lines that begin with `---`, as no other line does: text of several
/// lines is indented, and text that begins with `---` is quoted.
fn yaml_documents(bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut starts = Vec::new();
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begins = line.starts_with(b"---");
        if begins && (line.len() == 3 || line[3].is_ascii_whitespace()) {
            starts.push(start as u64);
        }
        start += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([bytes.len() as u64]);
    starts.iter().copied().zip(ends).collect()
}

/// Splits MARCXML as regauge writes it: a `<` in text would be an entity.
fn xml_records(text: &str) -> Vec<(u64, u64)> {
    let mut spans = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("<record").map(|place| from + place)
        && let Some(end) = text[start..].find(RECORD_END).map(|place| start + place)
    {
        from = end + RECORD_END.len();
        spans.push((start as u64, from as u64));
    }
    spans
}

/// Writes the spans of a file that regauge wrote, as the runners read them.
pub(crate) fn write_spans(path: &Path, format: Format, out: &Path) -> Result<(), Error> {
    let flat: Vec<u64> =
        spans_of(path, format)?.into_iter().flat_map(|(start, end)| [start, end]).collect();
    let text = serde_json::to_vec(&flat).expect("numbers");
    std::fs::write(out, text).map_err(Error::io("write", out))
}

/// Reads the spans that a runner or we wrote.
pub(crate) fn read_spans(path: &Path) -> Result<Vec<(u64, u64)>, Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let flat: Vec<u64> = serde_json::from_slice(&bytes)
        .map_err(|error| Error::Input(format!("{}: {error}", path.display())))?;
    Ok(flat.chunks_exact(2).map(|span| (span[0], span[1])).collect())
}

/// Copies the documents of a JSON file that `keep` says, by index from 0.
pub(super) fn keep_documents(
    path: &Path,
    out: &Path,
    keep: &dyn Fn(u64) -> bool,
) -> Result<(), Error> {
    let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
    let mut file = BufWriter::new(File::create(out).map_err(Error::io("write", out))?);
    let mut copy = || -> std::io::Result<()> {
        for (index, (start, end)) in lines(&bytes).into_iter().enumerate() {
            if keep(index as u64) {
                file.write_all(&bytes[start as usize..end as usize])?;
                file.write_all(b"\n")?;
            }
        }
        file.flush()
    };
    copy().map_err(Error::io("write", out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_yaml() {
        let text = b"---\na: 1\n---\nb: |-\n  ---\n  x\n--- 'text'\n";
        let pieces: Vec<&[u8]> = yaml_documents(text)
            .into_iter()
            .map(|(start, end)| &text[start as usize..end as usize])
            .collect();
        assert_eq!(pieces, [&b"---\na: 1\n"[..], b"---\nb: |-\n  ---\n  x\n", b"--- 'text'\n"]);
    }

    #[test]
    fn records_of_xml() {
        let text = "<collection><record>a</record><record>b</record></collection>";
        let pieces: Vec<&str> = xml_records(text)
            .into_iter()
            .map(|(start, end)| &text[start as usize..end as usize])
            .collect();
        assert_eq!(pieces, ["<record>a</record>", "<record>b</record>"]);
    }
}
