//! Finds where each document begins and ends in a file.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use regauge::Format;

use super::values::Values;
use crate::model::error::Error;

const RECORD_END: &str = "</record>";

/// Called with the start and the end of a document.
type Each<'e> = &'e mut dyn FnMut(u64, u64) -> std::io::Result<()>;

/// Calls `each` for every document in a file that regauge wrote, and returns their number. Nothing is
/// kept: a stream may have a document for each byte.
pub(super) fn each_span(path: &Path, format: Format, each: Each) -> Result<u64, Error> {
    let mut count = 0;
    let mut each = |start: u64, end: u64| {
        count += 1;
        each(start, end)
    };
    let failed = || Error::io("write the spans of", path);
    match format {
        Format::Json | Format::Ndjson | Format::MarcJson => {
            // JSON as regauge writes it has no line feed but those between documents.
            let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
            lines(&bytes).try_for_each(|(start, end)| each(start, end)).map_err(failed())?;
        }
        Format::Yaml => {
            let bytes = std::fs::read(path).map_err(Error::io("read", path))?;
            yaml_documents(&bytes, &mut each).map_err(failed())?;
        }
        Format::MarcXml => {
            let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
            xml_records(&text, &mut each).map_err(failed())?;
        }
        _ => {
            let mut values = Values::open(path, format)?;
            let mut start = 0;
            while values.next().map_err(|error| Error::Input(super::told(&error)))?.is_some() {
                each(start, values.offset()).map_err(failed())?;
                start = values.offset();
            }
        }
    }
    Ok(count)
}

/// Returns the number of documents in a file of JSON lines that regauge wrote.
pub(super) fn count(path: &Path) -> Result<u64, Error> {
    each_span(path, Format::Ndjson, &mut |_, _| Ok(()))
}

/// Returns the start and the end of every line that is not empty.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let mut start = 0;
    let spans = bytes.split_inclusive(|byte| *byte == b'\n').map(move |line| {
        let from = start;
        start += line.len();
        (from as u64, (from + line.strip_suffix(b"\n").unwrap_or(line).len()) as u64)
    });
    spans.filter(|(start, end)| start != end)
}

/// Splits a YAML stream at lines that begin with `---`, as no other line does: text of several
/// lines is indented, and text that begins with `---` is quoted.
fn yaml_documents(bytes: &[u8], each: Each) -> std::io::Result<()> {
    let mut begun = None;
    let mut start = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let begins = line.starts_with(b"---");
        if begins
            && (line.len() == 3 || line[3].is_ascii_whitespace())
            && let Some(from) = begun.replace(start)
        {
            each(from, start)?;
        }
        start += line.len() as u64;
    }
    begun.map_or(Ok(()), |from| each(from, start))
}

/// Splits MARCXML as regauge writes it: a `<` in text would be an entity.
fn xml_records(text: &str, each: Each) -> std::io::Result<()> {
    let mut from = 0;
    while let Some(start) = text[from..].find("<record").map(|place| from + place)
        && let Some(end) = text[start..].find(RECORD_END).map(|place| start + place)
    {
        from = end + RECORD_END.len();
        each(start as u64, from as u64)?;
    }
    Ok(())
}

/// Writes the spans of a file that regauge wrote, as the runners read them.
pub(crate) fn write_spans(path: &Path, format: Format, out: &Path) -> Result<(), Error> {
    let mut file = BufWriter::new(File::create(out).map_err(Error::io("write", out))?);
    let mut separator = "[";
    each_span(path, format, &mut |start, end| {
        write!(file, "{separator}{start},{end}")?;
        separator = ",";
        Ok(())
    })?;
    let end = if separator == "[" { "[]" } else { "]" };
    file.write_all(end.as_bytes()).and_then(|()| file.flush()).map_err(Error::io("write", out))
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
        for (index, (start, end)) in lines(&bytes).enumerate() {
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

    /// Returns the documents of a file of this format.
    fn documents(text: &str, format: Format) -> Vec<&str> {
        let folder = tempfile::tempdir().unwrap();
        let (path, spans) = (folder.path().join("in"), folder.path().join("spans"));
        std::fs::write(&path, text).unwrap();
        write_spans(&path, format, &spans).unwrap();
        let spans = read_spans(&spans).unwrap();
        spans.into_iter().map(|(start, end)| &text[start as usize..end as usize]).collect()
    }

    #[test]
    fn documents_of_yaml() {
        let text = "---\na: 1\n---\nb: |-\n  ---\n  x\n--- 'text'\n";
        let pieces = documents(text, Format::Yaml);
        assert_eq!(pieces, ["---\na: 1\n", "---\nb: |-\n  ---\n  x\n", "--- 'text'\n"]);
    }

    #[test]
    fn records_of_xml() {
        let text = "<collection><record>a</record><record>b</record></collection>";
        let pieces = documents(text, Format::MarcXml);
        assert_eq!(pieces, ["<record>a</record>", "<record>b</record>"]);
    }

    #[test]
    fn documents_of_other_formats() {
        assert_eq!(documents("1\n\n[2]\n", Format::Ndjson), ["1", "[2]"]);
        assert_eq!(documents("\x01\x02", Format::Msgpack), ["\x01", "\x02"]);
        assert!(documents("", Format::Ndjson).is_empty());
    }
}
