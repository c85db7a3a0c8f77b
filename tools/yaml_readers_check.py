#!/usr/bin/env python3
"""Checks that other programs read from our YAML what we wrote.

    python3 tools/yaml_readers_check.py [--regauge target/release/regauge] [--readers NAME,…]
                                        [--seed 1] [--documents 2000]

Writes documents as JSON, converts them to YAML with `regauge convert`, loads that with every
installed reader, and compares with the original: types count, so `'1'` is not 1 and 1.0 is not 1.
The readers are PyYAML (its pure Python loader, and libyaml's), ruamel.yaml (YAML 1.2), Ruby's
Psych, and our own. The documents are

- text that readers mistake for something else, and every text of up to three hostile characters, as
  a value, an item, a key, between brackets, and alone;
- values of every kind, randomly nested, from a seed that is printed;
- types that JSON lacks: bytes, points in time, infinities, keys that are not text, references;
- the real files that `make data` fetches, if they are there: JSON, and YAML, which is read the way
  PyYAML does, written again, and must load as before.

Exits with 1 if a reader sees another value, and with 2 if a named one is not installed.
"""

import argparse
import datetime
import itertools
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

HOSTILE = """
yes Yes YES no No NO on On ON off OFF y Y n N true True TRUE false null Null NULL nULL ~ = <<
0 1 -1 +1 -0 00 012 0o7 0x1F 0b11 1_000 1,000 1__ 0_ 1:30 12:30:45 190:20:30.15 -1:30 1.5 .5 5. -.5
1e3 1E3 1.e3 1e+3 1.0e+3 1.5e-3 1.2.3 .inf -.inf +.inf .Inf .INF .nan .NaN inf nan 0.0 -0.0 ._ . ..
2001-01-01 2001-1-1 2001-12-14t21:59:43.10-05:00 2001-12-14T21:59:43Z 20011214 2001-12 +2001-01-01
--- ... ---a ...a - -- -a --a ? ?a : :a a: :: a:b http://a:80/b#c # #a a# !a ! !! !!str & &a * *a
| > |- >+ % %a %YAML @ @a ` `a , ,a [ ] { } [] {} [a] {a} ' '' 'a 'a' " "" "a" \\ \\n a\\b ( ) ; / $ ^
""".split() + [
    "", " ", "  ", " a", "a ", "- a", "-  a", "--- a", "... a", "? a", ": a", "a: b", "a : b", "a :",
    "a #b", "a # b", "# a", "2001-12-14 21:59:43.10 -5", "2001-12-15 2:59:43.10", "a, b", "[a, b]",
    "{a: b}", "!a b", "&a b", "*a b", "it's", "'a' b", '"a" b', "a 'b'", "it's: x", "12 x", "1 2",
    "\t", "a\tb", "\ta", "a\t", "a:\tb", "a\t#b", "\n", "\n\n", "a\n", "a\n\n", "\na", "a\nb", "a\n\nb",
    " a\nb", "a\n b", "a \nb", "a\n ", "a\n  \nb", "a\n\tb", "a\nb\n\n\n", "- a\n- b", "a: b\nc: d\n",
    "# a\nb", "---\na", "a\n---\nb", "a\n...\n", "%a\nb", "a\r", "a\r\nb", "\r", "'\n'", '"\n"', "|\n a",
    "\0", "\x01", "\x07\x08\x0b\x0c\x1b", "\x1b[0m", "\x7f", "a\x7f\nb", "\x80", "\x85", "a\x85b",
    "\x9f", "\xa0", "\xa0a\xa0", "\u2028", "a\u2028b", "a\u2029\nb", "\ufeff", "a\ufeff", "\ufffe",
    "\uffff", "\U0001fffe", "\U0010ffff", "\ue000", "\u200b", "é", "日本語", "🦀 # crab", "🦀: crab",
    "x" * 1000, "x" * 1001, "x" * 1025, "x " * 600 + "x", "é" * 600, "'" * 600, "\x01" * 300,
    "a\nb" * 500, "key: " * 300,
]

# Pieces of random text, and of the exhaustive short ones.
PIECES = ["a", "y", "N", "o", "0", "1", "9", "-", "+", ".", ":", "#", " ", ",", "?", "=", "<", "~",
          "'", '"', "\\", "\n", "\t", "%", "!", "&", "*", "[", "}", "_", "e", "x", "é", "\x85"]


def surround(text):
    """Yields a text in every position that it can have."""
    inner = deepen([text, {text: text}], 64)
    return [text, {"k": text, text: 1}, [text, [text], {text: [text], "k": {text: text}}], inner]


def deepen(value, levels):
    """Nests the value in enough lists that it is written between brackets."""
    for _ in range(levels):
        value = [value]
    return value


def random_text(rng):
    kind = rng.randrange(10)
    if kind == 0:
        return rng.choice(HOSTILE)
    if kind == 1:
        return "\n".join(random_text(rng) for _ in range(rng.randrange(4)))
    if kind < 5:
        return "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 12)))
    words = ["value", "name", "Yes", "the", "10", "isn't", "(x)", "größe", "→", "a-b", "x/y", "5%"]
    return " ".join(rng.choice(words) for _ in range(rng.randrange(1, 6)))


def random_value(rng, depth):
    kind = rng.randrange(12 if depth else 8)
    if kind < 3:
        return random_text(rng)
    if kind == 3:
        return rng.choice([None, True, False])
    if kind == 4:
        return rng.randrange(-(10 ** rng.randrange(1, 40)), 10 ** rng.randrange(1, 40))
    if kind == 5:
        return rng.uniform(-1, 1) * 10.0 ** rng.randrange(-300, 300)
    if kind == 6:
        return rng.choice([0, -1, 0.0, -0.0, 1.0, 1e16, 1e22, 5e-324, 0.1, 2**63, -(2**63), 2**64])
    if kind == 7:
        return rng.choice([[], {}, "", [[]], {"a": {}}])
    if kind < 10:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(5))}


UTC = datetime.timezone.utc
SHARED = ["shared"]
# Types that JSON lacks, in the notation of `--on-loss wrap`, and the expected values.
BEYOND = [
    ({"$binary": {"base64": "AQL/", "subType": "00"}}, b"\x01\x02\xff"),
    ({"$binary": {"base64": "", "subType": "00"}}, b""),
    ([{"$numberDouble": "Infinity"}, {"$numberDouble": "-Infinity"}], [math.inf, -math.inf]),
    ({"a": {"$numberDouble": "NaN"}}, {"a": math.nan}),
    ({"a": {"$time": "2026-11-21T12:00:00.5Z"}},
     {"a": datetime.datetime(2026, 11, 21, 12, 0, 0, 500000, UTC)}),
    ([{"$time": "1999-12-31T23:59:59Z"}], [datetime.datetime(1999, 12, 31, 23, 59, 59, 0, UTC)]),
    ({"$key:1": "one", "1": "text", "$key:null": [], "$key:false": {"$key:-1.5": 1}},
     {1: "one", "1": "text", None: [], False: {-1.5: 1}}),
    ({"$key:{\"$binary\":{\"base64\":\"AQI=\",\"subType\":\"00\"}}": 1}, {b"\x01\x02": 1}),
    ({"a": {"$anchor": 1, "value": SHARED}, "b": {"$alias": 1}, "c": [{"$alias": 1}]},
     {"a": SHARED, "b": SHARED, "c": [SHARED]}),
    ([{"$anchor": 1, "value": {"k": 1}}, {"$anchor": 2, "value": []}, {"$alias": 2}, {"$alias": 1}],
     [{"k": 1}, [], [], {"k": 1}]),
]

# The same between brackets.
BEYOND += [(deepen(notation, 64), deepen(value, 64)) for notation, value in BEYOND]

# Loads every document of a file with Psych, and writes JSON in which types that JSON lacks are a
# list with "\0" and their class. Only classes known to Psych itself are resolved.
RUBY = r"""
require 'yaml'
require 'json'
require 'date'
def show(value)
  case value
  when nil, true, false, Integer then value
  when Float
    return value if value.finite?
    ["\0Float", value.to_s]
  when String
    value.encoding == Encoding::BINARY ? ["\0bytes", value.unpack1('H*')] : value
  when Array then value.map { |item| show(item) }
  when Hash
    if value.keys.all? { |key| key.is_a?(String) && key.encoding == Encoding::UTF_8 }
      value.to_h { |key, item| [key, show(item)] }
    else
      ["\0map", value.map { |key, item| [show(key), show(item)] }]
    end
  when Time then ["\0Time", value.to_r.to_s]
  else ["\0" + value.class.name, value.to_s]
  end
end
STDOUT.set_encoding('UTF-8')
stream = YAML.parse_stream(File.read(ARGV[0], encoding: 'UTF-8'))
stream.children.each do |document|
  value = document.children.empty? ? nil : Psych::Visitors::ToRuby.create.accept(document)
  puts JSON.generate(show(value), max_nesting: false)
end
"""


def as_psych(value):
    """Returns the value as the script above shows it."""
    if isinstance(value, float) and not math.isfinite(value):
        return ["\0Float", "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"]
    if isinstance(value, bytes):
        return ["\0bytes", value.hex()]
    if isinstance(value, datetime.datetime):
        seconds = value - datetime.datetime(1970, 1, 1, tzinfo=UTC)
        seconds = (seconds.days * 86400 + seconds.seconds) * 10**6 + seconds.microseconds
        common = math.gcd(seconds, 10**6)
        return ["\0Time", f"{seconds // common}/{10**6 // common}"]
    if isinstance(value, list):
        return [as_psych(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: as_psych(item) for key, item in value.items()}
        return ["\0map", [[as_psych(key), as_psych(item)] for key, item in value.items()]]
    return value


def same(mine, other):
    """Returns whether values are deeply equal, including types, signs of zeros and key order."""
    stack = [(mine, other)]
    while stack:
        mine, other = stack.pop()
        if isinstance(mine, float) and isinstance(other, float):
            both = math.copysign(1, mine) == math.copysign(1, other)
            if not (mine == other and both or mine != mine and other != other):
                return False
        elif isinstance(mine, list) and isinstance(other, list):
            if len(mine) != len(other):
                return False
            stack.extend(zip(mine, other))
        elif isinstance(mine, dict) and isinstance(other, dict):
            if len(mine) != len(other):
                return False
            stack.extend(zip(mine, other))
            stack.extend(zip(mine.values(), other.values()))
        elif type(mine) is not type(other) or mine != other:
            return False
    return True


class Reader:
    """A program that reads YAML: returns the documents of a file."""

    #: The largest real file that it reads in a second or so.
    bytes_max = 5_000_000
    #: One of how many of the exhaustive documents it reads.
    stride = 1

    def __init__(self, name, load, bytes_max=bytes_max, stride=stride):
        self.name, self.load = name, load
        self.bytes_max, self.stride = bytes_max, stride

    def expected(self, value):
        return value


class Psych(Reader):
    def __init__(self):
        super().__init__("psych", self.run)

    @staticmethod
    def run(path):
        ran = subprocess.run(["ruby", "-e", RUBY, path], capture_output=True)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.decode(errors="replace").strip())
        return [json.loads(line) for line in ran.stdout.split(b"\n") if line]

    def expected(self, value):
        return as_psych(value)


class Ours(Reader):
    def __init__(self, regauge):
        super().__init__("regauge", self.run, bytes_max=1 << 40)
        self.regauge = regauge
        self.flags = []

    def run(self, path):
        command = [self.regauge, "convert", "-q", path, "-", "--to", "ndjson", "--documents", "keep"]
        ran = subprocess.run(command + self.flags, capture_output=True)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr.decode(errors="replace").strip())
        return [json.loads(line) for line in ran.stdout.split(b"\n") if line]


def installed(regauge):
    """Returns the installed readers, and names the missing ones."""
    readers = [Ours(regauge)]
    try:
        import yaml

        pure = yaml.SafeLoader
        readers.append(Reader("pyyaml", lambda path: load_all(yaml, path, pure), 300_000, 13))
        if yaml.__with_libyaml__:
            libyaml = yaml.CSafeLoader
            readers.append(Reader("pyyaml-libyaml", lambda path: load_all(yaml, path, libyaml)))
        else:
            print("not installed: PyYAML with libyaml", file=sys.stderr)
    except ImportError:
        print("not installed: PyYAML", file=sys.stderr)
    try:
        import ruamel.yaml

        readers.append(Reader("ruamel", lambda path: load_ruamel(ruamel.yaml, path), 300_000, 13))
    except ImportError:
        print("not installed: ruamel.yaml", file=sys.stderr)
    if shutil.which("ruby"):
        readers.append(Psych())
    else:
        print("not installed: ruby", file=sys.stderr)
    return readers


def load_all(yaml, path, loader):
    with open(path, "rb") as file:
        return list(yaml.load_all(file.read(), loader))


def load_ruamel(module, path):
    with open(path, "rb") as file:
        return list(module.YAML(typ="safe", pure=True).load_all(file.read()))


class Check:
    """One run: converts, asks every reader, and counts."""

    def __init__(self, regauge, readers, folder):
        self.regauge, self.readers, self.folder = regauge, readers, folder
        self.counts = {reader.name: 0 for reader in readers}
        self.failures = 0

    def documents(self, title, values, notations=None, slow=True):
        """Checks a stream of documents; `notations` is what is written for them in the notation."""
        source, target = self.folder / "documents.ndjson", self.folder / "documents.yaml"
        for reader in self.readers:
            chosen = range(0, len(values), 1 if slow else reader.stride)
            with open(source, "w", encoding="utf-8") as file:
                for index in chosen:
                    json.dump((notations or values)[index], file, ensure_ascii=False)
                    file.write("\n")
            self.convert(source, target, *(["--unwrap"] if notations else []), "--documents", "keep")
            if isinstance(reader, Ours):
                reader.flags = ["--on-loss", "wrap"] if notations else []
                wanted = [(notations or values)[index] for index in chosen]
            else:
                wanted = [reader.expected(values[index]) for index in chosen]
            self.compare(title, reader, target, wanted)

    def file(self, path):
        """Checks a real file: one document."""
        target = self.folder / "file.yaml"
        self.convert(path, target, "--documents", "keep")
        value = parse(path.read_text(encoding="utf-8"))
        for reader in self.readers:
            if path.stat().st_size <= reader.bytes_max:
                self.compare(path.name, reader, target, [reader.expected(value)])

    def rewritten(self, path):
        """Checks a real YAML file, as PyYAML reads it and as it reads our output. Returns whether
        PyYAML can be asked."""
        reader = next((r for r in self.readers if r.name == "pyyaml-libyaml"), None)
        try:
            wanted = reader.load(str(path))
        except Exception:  # Not every file is one for PyYAML, or there is none.
            return False
        target = self.folder / "file.yaml"
        self.convert(path, target, "--yaml-schema", "1.1", "--from", "yaml")
        self.compare(str(path), reader, target, wanted)
        return True

    def convert(self, source, target, *flags):
        command = [self.regauge, "convert", "-q", "-f", str(source), str(target), *flags]
        subprocess.run(command, check=True)

    def compare(self, title, reader, path, wanted):
        try:
            found = reader.load(str(path))
        except Exception as error:  # Whatever a reader has against the file, it is a failure.
            return self.fail(f"{title}: {reader.name} cannot read it: {error}")
        if len(found) != len(wanted):
            return self.fail(f"{title}: {reader.name} reads {len(found)} documents of {len(wanted)}")
        for mine, other in zip(wanted, found):
            self.counts[reader.name] += 1
            if not same(mine, other):
                self.fail(f"{title}: {reader.name} reads {other!r:.300}, expected {mine!r:.300}")

    def fail(self, message):
        self.failures += 1
        if self.failures <= 20:
            print(message)


def parse(text):
    """Parses JSON as we read it: `-0` is a double, which has that value."""
    return json.loads(text, parse_int=lambda digits: -0.0 if digits == "-0" else int(digits))


def texts():
    """Yields the hostile texts, and all of up to three pieces: each once."""
    short = (
        "".join(parts) for length in range(1, 4) for parts in itertools.product(PIECES, repeat=length)
    )
    return list(dict.fromkeys(short))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--readers", help="only these, by name, between commas")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=2000, help="how many random ones")
    arguments = parser.parse_args()
    sys.setrecursionlimit(10_000)
    readers = installed(os.path.abspath(arguments.regauge))
    if arguments.readers:
        names = arguments.readers.split(",")
        missing = set(names) - {reader.name for reader in readers}
        if missing:
            parser.error(f"not installed or not known: {', '.join(sorted(missing))}")
        readers = [reader for reader in readers if reader.name in names]
    if all(isinstance(reader, Ours) for reader in readers):
        print("no reader of another project is installed: nothing is checked", file=sys.stderr)
        return 0
    rng = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory(prefix="regauge-yaml-") as folder:
        check = Check(os.path.abspath(arguments.regauge), readers, pathlib.Path(folder))
        check.documents("hostile text", [doc for text in HOSTILE for doc in surround(text)])
        check.documents("short text", [[t, {t: t}] for t in texts()], slow=False)
        values = [random_value(rng, 5) for _ in range(arguments.documents)]
        check.documents(f"random, seed {arguments.seed}", values)
        notations, read = zip(*BEYOND)
        check.documents("beyond JSON", read, notations)
        data = ROOT / "build/data"
        files = sorted((data / "json").glob("*.json")) if data.is_dir() else []
        if not files:
            if os.environ.get("CI") == "true":
                sys.exit(f"{data} does not exist: `make data` gets it")
            print("skipped: no real files (`make data` gets them)", file=sys.stderr)
        for path in files:
            check.file(path)
        asked = [check.rewritten(path) for path in sorted((data / "yaml").rglob("*.y*ml"))]
        print(f"{sum(asked)} of {len(asked)} YAML files load as before")
    for name, count in check.counts.items():
        print(f"{name:16} {count:7} documents")
    if check.failures:
        print(f"{check.failures} differences (seed {arguments.seed})")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
