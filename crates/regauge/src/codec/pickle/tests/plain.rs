//! Plain data as a flat sequence and through the machine: the same events, or the same error.

use regauge_testdata::Random;

use super::*;
use crate::codec::tests::figures;
use crate::policy::event::recorder::{Pieces, Recorder};

type Outcome = (Vec<String>, std::result::Result<u64, (ErrorKind, Option<u64>, String)>);

/// Returns all events of the bytes, and how they ended; fed in `pieces`, or whole if that is 0.
fn outcome(bytes: &[u8], limits: Limits, exact: bool, plain: bool, pieces: usize) -> Outcome {
    let options = Options { exact, ..Options::default() };
    let mut parser = Parser::new(options, limits);
    if !plain {
        parser.flat.give_up();
    }
    let mut events = Recorder::default();
    let mut reader = match pieces {
        0 => Reader::from_slice(parser, bytes),
        pieces => Reader::from_read(parser, Pieces(bytes, pieces)),
    };
    let ended = match reader.next(&mut events) {
        Ok(_) => Ok(reader.offset()),
        Err(error) => Err((error.kind(), error.offset(), error.message().to_owned())),
    };
    (events.lines, ended)
}

#[track_caller]
fn same(bytes: &[u8], limits: Limits) -> bool {
    for exact in [false, true] {
        // How often the machine checks what it holds depends on the pieces.
        let default = Limits::default();
        let bounded = limits.nodes != default.nodes || limits.record_bytes != default.record_bytes;
        for pieces in [0, 1, 5] {
            if bounded && pieces > 0 {
                break;
            }
            let plain = outcome(bytes, limits, exact, true, pieces);
            let machine = outcome(bytes, limits, exact, false, pieces);
            assert_eq!(plain, machine, "{} {exact} {pieces}", bytes.escape_ascii());
        }
    }
    let mut flat = flat::Flat::new(&limits, usize::MAX);
    flat.run(bytes, true, false) == flat::Ran::Whole
}

/// Generates the same programs on every machine.
struct Programs(Random);

impl Programs {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    fn memo(&mut self, bytes: &mut Vec<u8>) {
        match self.below(8) {
            0..=2 => bytes.push(0x94),
            3 => bytes.extend_from_slice(&[b'q', self.below(6) as u8]),
            4 => bytes.extend_from_slice(&[b'r', self.below(6) as u8, 0, 0, 0]),
            _ => {}
        }
    }

    fn text(&mut self, bytes: &mut Vec<u8>) {
        match self.below(8) {
            0 => bytes.extend_from_slice(b"X\x02\0\0\0ab"),
            1 => bytes.extend_from_slice(b"\x8d\x01\0\0\0\0\0\0\0c"),
            2 => bytes.extend_from_slice(&[b"X\x50\0\0\0", [b'd'; 80].as_slice()].concat()),
            3 => bytes.extend_from_slice(b"\x8c\x02\xc3\xa9"),
            4 => bytes.extend_from_slice(&[b'h', self.below(8) as u8]),
            5 => bytes.extend_from_slice(&[b'j', self.below(8) as u8, 0, 0, 0]),
            _ => bytes.extend_from_slice(b"\x8c\x01e"),
        }
        self.memo(bytes);
    }

    fn leaf(&mut self, bytes: &mut Vec<u8>) {
        match self.below(16) {
            0 => bytes.push(b'N'),
            1 => bytes.push(0x88),
            2 => bytes.push(0x89),
            3 => bytes.extend_from_slice(&[b'K', self.below(256) as u8]),
            4 => bytes.extend_from_slice(b"M\x01\x02"),
            5 => bytes.extend_from_slice(b"J\xff\xff\xff\x80"),
            6 => bytes.extend_from_slice(b"G\x3f\xf8\0\0\0\0\0\0"),
            7 => bytes.extend_from_slice(b"\x8a\x03\0\0\xfe"),
            8 => bytes.extend_from_slice(b"C\x02\xff\0"),
            9 if self.below(4) == 0 => bytes.extend_from_slice(b"\x8a\x09\0\0\0\0\0\0\0\x80\0"),
            10 if self.below(8) == 0 => bytes.extend_from_slice(b"\x8c\x01\xff"),
            11 if self.below(8) == 0 => bytes.extend_from_slice(b"KM"),
            _ => self.text(bytes),
        }
    }

    fn key(&mut self, bytes: &mut Vec<u8>, depth: usize) {
        match self.below(24) {
            0 => self.value(bytes, depth + 1),
            1..=3 => self.leaf(bytes),
            _ => self.text(bytes),
        }
    }

    fn values(&mut self, bytes: &mut Vec<u8>, depth: usize) {
        for _ in 0..self.below(4) {
            self.value(bytes, depth + 1);
        }
    }

    fn value(&mut self, bytes: &mut Vec<u8>, depth: usize) {
        if depth > 5 {
            return self.leaf(bytes);
        }
        match self.below(12) {
            0..=2 => {
                bytes.push(b']');
                self.memo(bytes);
                for _ in 0..self.below(4) {
                    if self.below(2) == 0 {
                        self.value(bytes, depth + 1);
                        bytes.push(b'a');
                    } else {
                        bytes.push(b'(');
                        self.values(bytes, depth);
                        bytes.push(b'e');
                    }
                    self.memo(bytes);
                }
            }
            3..=5 => {
                bytes.push(b'}');
                self.memo(bytes);
                for _ in 0..self.below(4) {
                    let marked = self.below(2) == 0;
                    let pairs = if marked { self.below(4) } else { 1 };
                    if marked {
                        bytes.push(b'(');
                    }
                    for _ in 0..pairs {
                        self.key(bytes, depth);
                        self.value(bytes, depth + 1);
                    }
                    bytes.push(if marked { b'u' } else { b's' });
                }
            }
            6 => {
                bytes.push(b'(');
                self.values(bytes, depth);
                bytes.push([b't', b't', b't', b'l'][self.below(4)]);
                self.memo(bytes);
            }
            7 => {
                let count = self.below(3);
                for _ in 0..=count {
                    self.value(bytes, depth + 1);
                }
                bytes.push([0x85, 0x86, 0x87][count]);
                self.memo(bytes);
            }
            8 => bytes.push([b')', 0x8F, b'2', b'0'][self.below(16).min(3) % 4]),
            _ => self.leaf(bytes),
        }
    }

    fn pickle(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.value(&mut bytes, 0);
        if self.below(3) == 0 {
            let at = self.below(bytes.len());
            match self.below(3) {
                0 => bytes[at] = b"(.012NRabdelostu]})hq\x85\x86\x87\x94"[self.below(24)],
                1 => drop(bytes.remove(at)),
                _ => bytes.truncate(at),
            }
        }
        if self.below(16) > 0 {
            bytes.push(b'.');
        }
        if self.below(3) == 0 {
            // The end of a frame in valid places and in invalid ones, perhaps two.
            let first = self.below(bytes.len() + 2);
            let frame =
                |length: usize| [&[0x95], (length as u64).to_le_bytes().as_slice()].concat();
            if first < bytes.len() && self.below(2) == 0 {
                bytes.splice(first..first, frame(bytes.len() - first));
            }
            bytes.splice(0..0, frame(first));
        }
        if self.below(2) == 0 {
            bytes.splice(0..0, [0x80, 4]);
        }
        bytes
    }
}

#[test]
fn plain_data_is_what_the_machine_makes_of_it() {
    let mut random = Programs(Random::new(1));
    let (mut plain, mut all) = (0, 0);
    for round in 0..6000 {
        let mut limits = Limits::default();
        match round % 16 {
            0 => limits.nodes = random.below(30) as u64,
            1 => limits.depth = random.below(5) as u32,
            2 => limits.record_bytes = random.below(60) as u64,
            3 => limits.aliases = random.below(4) as u64,
            _ => {}
        }
        plain += usize::from(same(&random.pickle(), limits));
        all += 1;
    }
    // Ensures that the machine is not only compared with itself.
    assert!(plain > all / 5, "{plain} of {all} were plain");
}

#[test]
fn what_is_held_is_bounded_as_by_the_machine() {
    for values in [100, 4000, 4096, 5000, 9000] {
        for nodes in [10, 1000, 4096, 8192, 20_000] {
            let limits = Limits { nodes, ..Limits::default() };
            for part in
                [b"N".as_slice(), b"]", b"K\x01", b"](KKe", b"\x8c\x01a\x94", b"](", b"N\x85"]
            {
                let open = part.iter().filter(|byte| **byte == b'(').count();
                let close = if part.contains(&b'e') { 0 } else { open * values };
                let mut bytes = [b"](", part.repeat(values).as_slice()].concat();
                bytes.resize(bytes.len() + close, b'e');
                bytes.extend_from_slice(b"e.");
                let ends = |plain| outcome(&bytes, limits, false, plain, 0).1;
                assert_eq!(ends(true), ends(false), "{values} {nodes} {}", part.escape_ascii());
            }
        }
    }
}

#[test]
fn tuples_around_much_are_moved_for_a_while_only() {
    // Every level moves everything in it.
    let levels = 20_000;
    let bytes = [vec![b'N'], vec![0x85; levels], vec![b'.']].concat();
    let limits = Limits { depth: 1024, ..Limits::default() };
    let mut flat = flat::Flat::new(&limits, usize::MAX);
    assert_eq!(flat.run(&bytes, true, false), flat::Ran::GivenUp);
    let few = [vec![b'N'], vec![0x85; 100], vec![b'.']].concat();
    assert!(same(&few, limits));
}

/// Figures for docs/design.md, from documents of several kinds.
#[test]
#[ignore = "prints figures, which an optimized build has to give"]
fn how_much_faster() {
    for name in figures::DOCUMENTS {
        let bytes = figures::document(name, crate::Format::Pickle);
        let read = |flat: bool| {
            let mut parser = Parser::new(Options::default(), Limits::default());
            if !flat {
                parser.flat.give_up();
            }
            figures::to_msgpack(&mut Reader::from_slice(parser, &bytes))
        };
        assert_eq!(read(true), read(false));
        let ratio = regauge_testdata::ratio(|| drop(read(true)), || drop(read(false)));
        println!("the machine takes {ratio:.2} times as long as the flat sequence: {name}");
    }
}
