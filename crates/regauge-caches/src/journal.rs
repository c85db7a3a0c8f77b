//! What a migration has replaced, so that it can be undone: a line of JSON for each value, written to the disk
//! before the value is.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regauge::{Error, Result};
use regauge_sources::{At, Part};
use serde_json::{Value, json};

/// One replaced value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The number of the database.
    pub database: u64,
    /// The key.
    pub key: Vec<u8>,
    /// The place in the key.
    pub place: Place,
    /// The bytes before.
    pub old: Vec<u8>,
    /// The bytes afterwards.
    pub new: Vec<u8>,
}

/// The place of a value in its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// It is the key's only one.
    Whole,
    /// Under this field of a hash.
    Field(Vec<u8>),
    /// At this index of a list.
    Index(u64),
    /// It is a member of a set.
    Member,
    /// It is a member of a sorted set, with this score.
    Score(f64),
}

impl From<Option<Part<'_>>> for Place {
    fn from(part: Option<Part<'_>>) -> Place {
        match part {
            None => Place::Whole,
            Some(Part::Field(field)) => Place::Field(field.to_vec()),
            Some(Part::Index(index)) => Place::Index(index),
            Some(Part::Member) => Place::Member,
            Some(Part::Score(score)) => Place::Score(score),
        }
    }
}

impl Place {
    fn part(&self) -> Option<Part<'_>> {
        match self {
            Place::Whole => None,
            Place::Field(field) => Some(Part::Field(field)),
            Place::Index(index) => Some(Part::Index(*index)),
            Place::Member => Some(Part::Member),
            Place::Score(score) => Some(Part::Score(*score)),
        }
    }
}

impl Entry {
    /// Returns where the value is.
    pub fn at(&self) -> At<'_> {
        At { database: self.database, key: &self.key, part: self.place.part() }
    }

    fn line(&self) -> Value {
        let mut line = json!({
            "database": self.database,
            "key": STANDARD.encode(&self.key),
            "old": STANDARD.encode(&self.old),
            "new": STANDARD.encode(&self.new),
        });
        match &self.place {
            Place::Whole => {}
            Place::Field(field) => line["field"] = STANDARD.encode(field).into(),
            Place::Index(index) => line["index"] = (*index).into(),
            Place::Member => line["member"] = true.into(),
            // Infinity is no number of JSON.
            Place::Score(score) => line["score"] = score.to_string().into(),
        }
        line
    }

    fn parse(line: &str) -> Option<Entry> {
        let line: Value = serde_json::from_str(line).ok()?;
        let bytes = |name: &str| STANDARD.decode(line.get(name)?.as_str()?).ok();
        let has = |name: &str| line.get(name).is_some();
        let place = match () {
            () if has("field") => Place::Field(bytes("field")?),
            () if has("index") => Place::Index(line["index"].as_u64()?),
            () if has("score") => Place::Score(line["score"].as_str()?.parse().ok()?),
            () if has("member") => Place::Member,
            () => Place::Whole,
        };
        let database = line.get("database")?.as_u64()?;
        Some(Entry { database, key: bytes("key")?, place, old: bytes("old")?, new: bytes("new")? })
    }
}

/// How much is read at once, to find the end of the last whole line.
const BLOCK_BYTES: usize = 64 << 10;
/// How every entry begins.
const BEGIN: &[u8] = b"{\"database\":";

/// A journal that grows. Nobody else can open it meanwhile.
pub struct Journal {
    file: File,
}

impl Journal {
    /// Opens a journal to add to; a new one can be read by its owner only. A last line that was cut is removed.
    ///
    /// # Errors
    /// `InvalidData` for a file that is not a journal, which stays as it is; `WouldBlock` if another process has the
    /// journal open; otherwise those of the file.
    pub fn append(path: &Path) -> io::Result<Journal> {
        match regauge_os::create_private_file(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let mut file = File::options().append(true).read(true).open(path)?;
        lock(&file)?;
        let length = file.metadata()?.len();
        let end = whole_lines(&mut file, length)?;
        if end > 0 && !begins_with_entry(&file)? || end < length && !is_cut_entry(&file, end)? {
            return Err(no_journal());
        }
        if end < length {
            file.set_len(end)?;
        }
        Ok(Journal { file })
    }

    /// Adds entries. When this returns, they are on the disk.
    ///
    /// # Errors
    /// Those of the file.
    pub fn add<'e>(&mut self, entries: impl IntoIterator<Item = &'e Entry>) -> io::Result<()> {
        for entry in entries {
            // In one call, so that a full disk cuts no line but the last.
            self.file.write_all(format!("{}\n", entry.line()).as_bytes())?;
        }
        self.file.sync_data()
    }
}

/// Keeps other processes out until the file is closed, even by a crash.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "another process is using this journal; wait until it ends, or give another file",
        )),
        // A file system without locks.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns where the last whole line of a file of this length ends.
fn whole_lines(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut block = vec![0; BLOCK_BYTES];
    while end > 0 {
        let length = end.min(BLOCK_BYTES as u64) as usize;
        file.seek(SeekFrom::Start(end - length as u64))?;
        file.read_exact(&mut block[..length])?;
        let whole = block[..length].iter().rposition(|byte| *byte == b'\n');
        end -= (length - whole.map_or(0, |at| at + 1)) as u64;
        if whole.is_some() {
            break;
        }
    }
    Ok(end)
}

/// Returns whether the first line of a file is an entry.
fn begins_with_entry(mut file: &File) -> io::Result<bool> {
    // Another file may have no second line, and any length.
    file.seek(SeekFrom::Start(0))?;
    let mut begin = [0; BEGIN.len()];
    if let Err(error) = file.read_exact(&mut begin) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(false) } else { Err(error) };
    }
    if begin != BEGIN {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(0))?;
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    Ok(str::from_utf8(&line).is_ok_and(|line| Entry::parse(line).is_some()))
}

/// Returns whether what follows the last whole line begins as an entry does.
fn is_cut_entry(mut file: &File, start: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(BLOCK_BYTES as u64).read_to_end(&mut tail)?;
    let Some(rest) = tail.strip_prefix(BEGIN) else { return Ok(BEGIN.starts_with(&tail)) };
    let rest = &rest[rest.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
    let names =
        [&b",\"key\":\""[..], b",\"field\":\"", b",\"index\":", b",\"member\":", b",\"score\":\""];
    Ok(names.iter().any(|name| rest.starts_with(name) || name.starts_with(rest)))
}

#[cold]
fn no_journal() -> io::Error {
    let message = "found a file that is not a journal of migrate, expected one or a new name; it stays as it is";
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Reads a journal from its end, so that of two entries for one place the later one is undone first.
pub struct Entries {
    file: File,
    /// Lines that were read, the last of which is the next one.
    lines: Vec<u8>,
    /// Where they begin.
    start: u64,
}

impl Entries {
    /// Opens a journal, which nobody else can open meanwhile. The last line may have been cut when the migration was
    /// killed: its value was not replaced, so it is passed over.
    ///
    /// # Errors
    /// `WouldBlock` if another process has it open; otherwise those of the file.
    pub fn open(path: &Path) -> io::Result<Entries> {
        let mut file = File::open(path)?;
        lock(&file)?;
        let length = file.metadata()?.len();
        let start = whole_lines(&mut file, length)?;
        Ok(Entries { file, lines: Vec::new(), start })
    }

    /// Takes the last line that was not read yet, with its line break; an empty one before the first line.
    fn line(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let before = self.lines.len().saturating_sub(1);
            if let Some(at) = self.lines[..before].iter().rposition(|byte| *byte == b'\n') {
                return Ok(self.lines.split_off(at + 1));
            }
            if self.start == 0 {
                return Ok(std::mem::take(&mut self.lines));
            }
            // Twice as much for a long line, so that it is not moved for each block.
            let more = self.start.min(self.lines.len().max(BLOCK_BYTES) as u64);
            self.start -= more;
            let mut lines = vec![0; more as usize];
            self.file.seek(SeekFrom::Start(self.start))?;
            self.file.read_exact(&mut lines)?;
            lines.append(&mut self.lines);
            self.lines = lines;
        }
    }
}

impl Iterator for Entries {
    type Item = Result<Entry>;

    fn next(&mut self) -> Option<Result<Entry>> {
        let line = match self.line() {
            Ok(line) if line.is_empty() => return None,
            Ok(line) => line,
            Err(error) => return Some(Err(error.into())),
        };
        let entry = str::from_utf8(&line).ok().and_then(Entry::parse);
        Some(entry.ok_or_else(|| {
            let byte = self.start + self.lines.len() as u64;
            Error::syntax(format!("found a line that is no entry of a journal, at byte {byte}"))
                .hint("give the file that --journal named")
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(place: Place) -> Entry {
        Entry {
            database: 3,
            key: b"k\xFF".to_vec(),
            place,
            old: b"\x04\x080".to_vec(),
            new: vec![0xC0],
        }
    }

    #[test]
    fn entries_come_back_and_a_cut_line_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let places = [
            Place::Whole,
            Place::Field(b"f".to_vec()),
            Place::Index(7),
            Place::Member,
            Place::Score(f64::NEG_INFINITY),
            Place::Score(1.5),
        ];
        let all = places.map(entry);
        let mut journal = Journal::append(&path).unwrap();
        journal.add(&all[..1]).unwrap();
        drop(journal);
        Journal::append(&path).unwrap().add(&all[1..]).unwrap();
        let data = std::fs::metadata(&path).unwrap();
        assert_eq!(regauge_os::mode_if_shared(&data), None);
        let read = |path| {
            let mut entries = Entries::open(path).unwrap().collect::<Result<Vec<_>>>()?;
            entries.reverse();
            Ok::<_, Error>(entries)
        };
        assert_eq!(read(&path).unwrap(), all);
        let bytes = std::fs::read(&path).unwrap();
        for cut in 1..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let found = read(&path).unwrap();
            assert_eq!(found, all[..found.len()]);
            assert_eq!(found.len(), bytes[..cut].iter().filter(|byte| **byte == b'\n').count());
            Journal::append(&path).unwrap().add(&all[found.len()..]).unwrap();
            assert_eq!(read(&path).unwrap(), all);
        }
        std::fs::write(&path, format!("{}\n{{}}\n", all[0].line())).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains(&format!("at byte {}", all[0].line().to_string().len() + 1)),
            "{error}"
        );
    }

    #[test]
    fn long_lines_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let sizes = [0, 1, BLOCK_BYTES / 4 * 3, 5 * BLOCK_BYTES, 3, 0, 2 * BLOCK_BYTES, 7];
        let all = sizes.map(|size| Entry { old: vec![b'o'; size], ..entry(Place::Member) });
        Journal::append(&path).unwrap().add(&all).unwrap();
        let read: Vec<Entry> = Entries::open(&path).unwrap().map(Result::unwrap).collect();
        assert!(read.iter().eq(all.iter().rev()));
    }

    #[test]
    fn what_is_no_journal_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("note.txt");
        let whole = format!("{}\n", entry(Place::Whole).line());
        for bytes in [
            "no newline",
            "a line\n",
            "a line\nand another",
            "{}\n",
            "{\"database\": 1}",
            "{\"database\":1,\"name\":2}",
            &format!("{whole}a note"),
            &format!("a note\n{whole}"),
        ] {
            std::fs::write(&path, bytes).unwrap();
            let error = Journal::append(&path).err().expect(bytes);
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{bytes}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), bytes);
        }
    }

    #[test]
    fn a_journal_has_one_user_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.ndjson");
        let journal = Journal::append(&path).unwrap();
        let error = Journal::append(&path).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(error.to_string().contains("another process"), "{error}");
        assert_eq!(Entries::open(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(journal);
        let entries = Entries::open(&path).unwrap();
        assert_eq!(Journal::append(&path).err().unwrap().kind(), io::ErrorKind::WouldBlock);
        drop(entries);
        Journal::append(&path).unwrap();
    }
}
