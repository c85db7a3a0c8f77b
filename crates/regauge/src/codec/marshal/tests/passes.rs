//! Both passes in one, compared with one after the other: the same events, or the same error.

use regauge_testdata::Random;

use crate::codec::marshal::{Options, Parser, Reader};
use crate::codec::tests::figures;
use crate::model::limits::Limits;
use crate::policy::event::Source as _;
use crate::policy::event::recorder::{Pieces, Recorder};
use crate::{Error, Format, Result};

type Outcome = std::result::Result<u64, (crate::ErrorKind, Option<u64>, String)>;

/// Returns the events of all documents, fed in pieces of `pieces` bytes or whole if that is 0, and
/// how they ended.
fn outcome(
    bytes: &[u8],
    options: &Options,
    limits: Limits,
    in_one: bool,
    pieces: usize,
) -> (Vec<String>, Outcome) {
    let mut events = Recorder::default();
    let mut parser = Parser::new(options.clone(), limits);
    parser.two_passes = !in_one;
    let mut reader = match pieces {
        0 => Reader::from_slice(parser, bytes),
        pieces => Reader::from_read(parser, Pieces(bytes, pieces)),
    };
    let all = |reader: &mut Reader<'_>, events: &mut Recorder| -> Result {
        while reader.next(events)? {}
        Ok(())
    };
    let ended = match all(&mut reader, &mut events) {
        Ok(()) => Ok(reader.offset()),
        Err(error) => Err((error.kind(), error.offset(), Error::message(&error).to_owned())),
    };
    (events.lines, ended)
}

/// Checks whether it is plain data; its events are then those that a sink with references gets.
#[track_caller]
fn plain(bytes: &[u8], options: &Options, limits: Limits) -> bool {
    let (mut events, mut expected) = (Recorder::default(), Recorder::default());
    (events.references, expected.references) = (true, true);
    if !Parser::new(options.clone(), limits).plain(bytes, &mut events) {
        return false;
    }
    let mut reader = Reader::from_slice(Parser::new(options.clone(), limits), bytes);
    let shown = bytes.escape_ascii();
    assert!(reader.next(&mut expected).is_ok_and(|more| more), "{shown}");
    assert_eq!(reader.offset(), bytes.len() as u64, "{shown}");
    assert_eq!(events.lines, expected.lines, "{shown}");
    true
}

#[track_caller]
fn same(bytes: &[u8], limits: Limits) -> bool {
    let mut is_read = false;
    for data in [false, true] {
        let options = Options { data, ..Options::default() };
        plain(bytes, &options, limits);
        for pieces in [0, 1, 7] {
            let (events, ended) = outcome(bytes, &options, limits, true, pieces);
            let (expected, expected_end) = outcome(bytes, &options, limits, false, pieces);
            let shown = bytes.escape_ascii();
            match (&ended, &expected_end) {
                // The wording of the end depends on what was known before it.
                (Err((kind, ..)), Err((expected, ..)))
                    if pieces > 0 && *expected == crate::ErrorKind::Truncated =>
                {
                    assert_eq!(kind, expected, "{shown} {data} {pieces}");
                }
                _ => assert_eq!(ended, expected_end, "{shown} {data} {pieces}"),
            }
            match ended {
                Ok(_) => assert_eq!(events, expected, "{shown} {data} {pieces}"),
                // A malformed document emits nothing if the scan comes first.
                Err(_) => assert!(events.starts_with(&expected), "{shown} {data} {pieces}"),
            }
            is_read |= ended.is_ok();
        }
    }
    is_read
}

/// Generates documents.
struct Documents {
    random: Random,
    bytes: Vec<u8>,
    objects: usize,
    symbols: usize,
}

impl Documents {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a symbol, usually one that has occurred before.
    fn symbol(&mut self, name: &[u8]) {
        if self.symbols > 0 && self.below(4) > 0 {
            let index = self.below(self.symbols);
            self.push(&[b';', if index == 0 { 0 } else { index as u8 + 5 }]);
        } else {
            self.push(&[b':', name.len() as u8 + 5]);
            self.push(name);
            self.symbols += 1;
        }
    }

    fn text(&mut self) {
        const TEXTS: [&[u8]; 6] = [b"a", b"", b"word", "\u{e9}".as_bytes(), b"\xff", &[b't'; 70]];
        let text = TEXTS[[0, 0, 1, 2, 2, 2, 3, 3, 4, 5][self.below(10)]];
        self.push(&[b'I', b'"', if text.is_empty() { 0 } else { text.len() as u8 + 5 }]);
        self.push(text);
        self.push(&[6]);
        // The symbol comes first of all, so its number is 0.
        if self.symbols == 0 {
            self.push(b":\x06E");
            self.symbols += 1;
        } else {
            self.push(b";\0");
        }
        let flag = if self.below(4) > 0 { b'T' } else { b'F' };
        self.push(&[flag]);
        self.objects += 1;
    }

    fn link(&mut self) {
        // Now and then to an object that does not exist.
        let beyond = usize::from(self.below(30) == 0);
        let index = self.below(self.objects + beyond).min(100);
        self.push(&[b'@', if index == 0 { 0 } else { index as u8 + 5 }]);
    }

    fn count(&mut self, count: usize) {
        let told = if self.below(60) == 0 { count + 1 } else { count };
        self.push(&[if told == 0 { 0 } else { told as u8 + 5 }]);
    }

    fn value(&mut self, depth: usize) {
        let kinds = if depth > 4 { 16 } else { 26 };
        match self.below(kinds) {
            0 => self.push(b"0"),
            1 => self.push(b"T"),
            2 => self.push(b"F"),
            3 => {
                let number = [0, 6, 0xFA, 77 + 5][self.below(16).saturating_sub(12)];
                self.push(&[b'i', number]);
            }
            4 => self.push(b"i\x02\x01\x02"),
            5 => {
                let floats: [&[u8]; 4] = [b"f\x081.5", b"f\x08inf", b"f\x09-2.5", b"f\x071."];
                let float = floats[self.below(64).min(3)];
                self.push(float);
                self.objects += 1;
            }
            6 => {
                let bigs: [&[u8]; 3] = [
                    b"l+\x09\x01\x02\x03\x04\x05\x06\x07\xf8",
                    b"l-\x08\x01\x02\x03\x04\x05\x06",
                    b"l+\x0a\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a",
                ];
                let big = bigs[self.below(3)];
                self.push(big);
                self.objects += 1;
            }
            7 => self.symbol(b"s"),
            8 => {
                self.push(b"\"\x07\xff\x01");
                self.objects += 1;
            }
            9 | 10 if self.objects > 0 => self.link(),
            9..16 => self.text(),
            16..20 => {
                self.push(b"[");
                self.objects += 1;
                let count = self.below(5);
                self.count(count);
                (0..count).for_each(|_| self.value(depth + 1));
            }
            20..24 => {
                self.push(b"{");
                self.objects += 1;
                let count = self.below(4);
                self.count(count);
                self.pairs(count, depth);
            }
            24 => {
                self.push(b"o");
                let name: &[u8] = if self.below(3) == 0 { b"Set" } else { b"Foo" };
                self.objects += 1;
                self.symbol(name);
                let count = self.below(3);
                self.count(count);
                for _ in 0..count {
                    self.symbol(b"@a");
                    self.value(depth + 1);
                }
            }
            _ => {
                // A set as Ruby writes it.
                self.push(b"o:\x08Set\x06:\x0a@hash}\x06");
                self.symbols += 2;
                self.objects += 2;
                self.text();
                self.push(b"TF");
            }
        }
    }

    fn pairs(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            match self.below(12) {
                0 => self.value(depth + 1),
                1..=3 => self.symbol(b"key"),
                4 if self.objects > 0 => self.link(),
                _ => self.text(),
            }
            self.value(depth + 1);
        }
    }

    fn document(&mut self) {
        (self.objects, self.symbols) = (0, 0);
        self.push(&[4, 8]);
        self.value(0);
    }

    /// Returns one or two documents, now and then with a fault.
    fn bytes(&mut self) -> Vec<u8> {
        self.bytes.clear();
        self.document();
        if self.below(8) == 0 {
            self.document();
        }
        let mut bytes = self.bytes.clone();
        if self.below(4) == 0 {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 => bytes[at] = self.below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        bytes
    }
}

#[test]
fn one_pass_says_what_two_say() {
    let random = Random::new(7);
    let mut documents = Documents { random, bytes: Vec::new(), objects: 0, symbols: 0 };
    let (mut whole, mut are_plain) = (0, 0);
    for round in 0..8000 {
        let mut limits = Limits::default();
        match round % 16 {
            0 => limits.depth = documents.below(6) as u32,
            1 => limits.token_bytes = documents.below(70) as u64,
            2 => limits.aliases = documents.below(4) as u64,
            3 => limits.nodes = documents.below(4) as u64,
            _ => {}
        }
        let bytes = documents.bytes();
        whole += usize::from(same(&bytes, limits));
        are_plain += usize::from(plain(&bytes, &Options::default(), limits));
    }
    assert!(whole > 2000, "{whole} were read");
    assert!(are_plain > 200, "{are_plain} were plain data");
}

#[test]
fn a_fault_counts_more_than_what_the_sink_says() {
    // The sink refuses 77, and after it comes a byte that does not begin a value.
    let limits = Limits::default();
    for bytes in [
        &b"\x04\x08[\x07iRx"[..],
        b"\x04\x08[\x07iRi\x06",
        b"\x04\x08{\x06I\"\x06a\x06:\x06ETiR",
        b"\x04\x08{\x07I\"\x06a\x06:\x06ETiRx",
        b"\x04\x08[\x07o:\x08Foo\x06:\x07@aiRx",
        b"\x04\x08[\x07[\x06iR[\x06i",
        b"\x04\x08[\x07[\x06iR[\x07i\x06",
    ] {
        assert!(!same(bytes, limits));
    }
}

#[test]
fn records_that_are_too_long() {
    let bytes = b"\x04\x08[\x08I\"\x0aabcde\x06:\x06ETI\"\x0afghij\x06;\x00Tf\x081.5";
    for record_bytes in 0..bytes.len() as u64 + 2 {
        let limits = Limits { record_bytes, ..Limits::default() };
        let options = Options::default();
        let one = outcome(bytes, &options, limits, true, 0).1;
        assert_eq!(one, outcome(bytes, &options, limits, false, 0).1, "{record_bytes}");
        assert_eq!(one.is_ok(), record_bytes >= bytes.len() as u64);
    }
}

#[test]
fn many_values_that_are_not_plain() {
    // Bytes without an encoding, between text, and at the end a set.
    for (bytes_each, texts_each) in [(1, 0), (1, 1), (1, 20), (5, 1)] {
        let rounds = 150_usize;
        let count = (rounds * (bytes_each + texts_each) + 2) as u16;
        let [low, high] = count.to_le_bytes();
        let mut bytes = vec![4, 8, b'[', 2, low, high];
        bytes.extend_from_slice(b"I\"\x06a\x06:\x06ET");
        for _ in 0..rounds {
            bytes.extend_from_slice(&b"\"\x06\xff".repeat(bytes_each));
            bytes.extend_from_slice(&b"I\"\x06b\x06;\0T".repeat(texts_each));
        }
        for end in [&b"o:\x08Set\x06:\x0a@hash}\x06i\x06TF"[..], b"[\x06@\x02\x05\x00", b"R"] {
            let bytes = [bytes.as_slice(), end].concat();
            same(&bytes, Limits::default());
            same(&[bytes.as_slice(), b"\x04\x080"].concat(), Limits::default());
        }
    }
}

#[test]
fn large_values_that_are_not_plain() {
    // An object of 3,000 bytes, as an item, as a value and as a key, surrounded by plain data.
    let mut object = b"o:\x08Foo\x06:\x07@a[\x02\xb8\x0b".to_vec();
    object.resize(object.len() + 3000, b'T');
    let (word, nil) = (&b"I\"\x06a\x06:\x06ET"[..], &b"0"[..]);
    for parts in [
        &[&b"[\x08"[..], word, &object, nil][..],
        &[b"[\x08", word, &object, b"R"],
        &[b"{\x07", word, &object, b"@\x06", nil],
        &[b"{\x07", word, nil, &object, nil],
        &[b"[\x07{\x06", word, &object, b"[\x06@\x06"],
        &[b"[\x07{\x06", word, &object, b"[\x07@\x06"],
        &[&object],
    ] {
        let bytes = [b"\x04\x08".as_slice(), &parts.concat()].concat();
        same(&bytes, Limits::default());
        same(&[bytes.as_slice(), b"\x04\x08[\x06i\x06"].concat(), Limits::default());
    }
}

#[test]
fn plain_data_shares_nothing_that_can_change() {
    let is_plain = |bytes: &[u8]| plain(bytes, &Options::default(), Limits::default());
    assert!(is_plain(b"\x04\x08[\x08I\"\x06a\x06:\x06ET@\x06f\x081.5"));
    assert!(is_plain(b"\x04\x08{\x06I\"\x06a\x06:\x06ET[\x07@\x06i\x06"));
    for bytes in [
        // A link to an array, to a hash, to what contains it.
        &b"\x04\x08[\x07[\x00@\x06"[..],
        b"\x04\x08[\x07{\x00@\x06",
        b"\x04\x08[\x06@\x00",
        // A symbol, bytes, an object, a second document, one that is cut off, one that is too old.
        b"\x04\x08:\x06a",
        b"\x04\x08\"\x06a",
        b"\x04\x08o:\x08Foo\x00",
        b"\x04\x080\x04\x080",
        b"\x04\x08[\x06",
        b"\x05\x080",
        b"",
    ] {
        assert!(!is_plain(bytes), "{}", bytes.escape_ascii());
    }
}

/// Figures for docs/design.md, from documents of several kinds.
#[test]
#[ignore = "prints figures, which an optimized build has to give"]
fn how_much_faster() {
    for name in figures::DOCUMENTS {
        let bytes = figures::document(name, Format::Marshal);
        let read = |in_one: bool| {
            let mut parser = Parser::new(Options::default(), Limits::default());
            parser.two_passes = !in_one;
            figures::to_msgpack(&mut Reader::from_slice(parser, &bytes))
        };
        assert_eq!(read(true), read(false));
        let ratio = regauge_testdata::ratio(|| drop(read(true)), || drop(read(false)));
        println!("two passes take {ratio:.2} times as long as one: {name}");
    }
}
