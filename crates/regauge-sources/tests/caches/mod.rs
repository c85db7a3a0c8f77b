//! Servers to test with: their URLs are in the environment (`make test-caches` starts servers and sets them).

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use regauge_sources::{Flow, Item, Part, Result, Source, Summary, Wanted};

/// Returns the URL of a server, if there is one: `redis`, and perhaps which of its URLs.
///
/// # Panics
/// If it is missing, and `REGAUGE_TEST_REQUIRED` names the server.
pub fn url(server: &str, which: &str) -> Option<String> {
    let name = format!("REGAUGE_TEST_{}{which}", server.to_uppercase().replace('-', "_"));
    match std::env::var(&name) {
        Ok(url) if !url.is_empty() => Some(url),
        _ => {
            let required = std::env::var("REGAUGE_TEST_REQUIRED").unwrap_or_default();
            assert!(!required.split(',').any(|one| one == server), "{name} is not set");
            println!("skipped: {name} is not set; `make test-caches` sets it");
            None
        }
    }
}

/// Returns an item as a line: kind, key, part and value.
pub fn line(item: &Item<'_>) -> String {
    let part = match item.part {
        None => "-".into(),
        Some(Part::Index(index)) => index.to_string(),
        Some(Part::Member) => "member".into(),
        Some(Part::Score(score)) => score.to_string(),
        Some(Part::Field(field)) => field.escape_ascii().to_string(),
    };
    let value = item.value.map_or("-".into(), |value| value.escape_ascii().to_string());
    format!("{} {} {part} {value}", item.kind.name(), item.key.escape_ascii())
}

/// Reads a source. Returns its items in order.
pub fn read(source: &mut dyn Source, wanted: &Wanted<'_>) -> (Vec<String>, Result<Summary>) {
    let mut lines = Vec::new();
    let result = source.read(wanted, &mut |item| {
        lines.push(line(item));
        Ok(Flow::Continue)
    });
    lines.sort();
    (lines, result)
}

/// A connection of its own to a server of Redis, which fills it and looks into it.
pub struct Raw(BufReader<TcpStream>);

impl Raw {
    /// Connects to `redis://host:port`.
    pub fn open(url: &str) -> Raw {
        let address = url.rsplit(['/', '@']).next().unwrap();
        Raw(BufReader::new(TcpStream::connect(address).unwrap()))
    }

    /// Sends a command of words, and returns the answer: nested ones in one list.
    pub fn ask(&mut self, words: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut request = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            request.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
            request.extend_from_slice(word);
            request.extend_from_slice(b"\r\n");
        }
        self.0.get_mut().write_all(&request).unwrap();
        let mut found = Vec::new();
        self.answer(&mut found);
        found
    }

    /// Sends a command of words without blanks.
    pub fn run(&mut self, command: &str) -> Vec<Vec<u8>> {
        let words: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        let answer = self.ask(&words);
        assert!(
            !answer.first().is_some_and(|first| first.starts_with(b"-")),
            "{command}: {answer:?}"
        );
        answer
    }

    fn answer(&mut self, found: &mut Vec<Vec<u8>>) {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at(1);
        match kind {
            "$" if rest != "-1" => {
                let mut value = vec![0; rest.parse::<usize>().unwrap() + 2];
                self.0.read_exact(&mut value).unwrap();
                value.truncate(value.len() - 2);
                found.push(value);
            }
            "*" if rest != "-1" => (0..rest.parse().unwrap()).for_each(|_| self.answer(found)),
            "-" => found.push(line.trim_end().into()),
            "+" | ":" => found.push(rest.into()),
            _ => {}
        }
    }
}
