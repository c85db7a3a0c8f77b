#!/usr/bin/env python3
"""Checks that the store is the same in all languages: what the command, the Python package and the
Ruby gem put, the others can read, and the bytes in the database are the same except for the time in
the envelope. The fourth reader is this script, which knows the envelope only from docs/store.md.

    python3 tools/store_languages_check.py --regauge target/debug/regauge

The Python package is the one that `--python` (an interpreter) can import, with PYTHONPATH if
necessary, by default the sources if they contain the extension; the gem is that of `--ruby` with
RUBYLIB, by default the sources if they contain the extension. A language whose binding is not built
is skipped with a message; with `--need python,ruby` that is a failure.
"""

import argparse
import itertools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Every format here can hold this; BSON requires a document, which it is.
VALUE = {
    "id": 17,
    "name": "Ada Lovelace",
    "text": ["", "naïve", "\U0001F600", "line\nbreak", "x" * 300, "yes", "2001-01-01"],
    "numbers": [0, -1, 127, 128, 255, 256, 65535, 65536, 2**31, -(2**31) - 1, 2**53 + 1, 2**63 - 1, -(2**63)],
    "floats": [0.5, -1.5, 1e300, 5e-324, 0.1],
    "nothing": None,
    "truths": [True, False],
    "nested": {"a": {"b": [[], {}, [[1]]]}, "many": {f"key {number}": number for number in range(20)}},
}
CODECS = [
    "json", "yaml", "msgpack", "bson", "cbor", "marshal", "pickle",
    "json+gzip", "msgpack+zstd", "cbor+lz4", "marshal+zstd", "yaml+lz4",
]
# Ruby's own Marshal writes a link if the same string recurs, and a frozen literal or a key is the
# same string: different bytes for the same value. Python's pickle also has its memo.
OWN_BYTES = {"marshal", "pickle"}
FORMATS = [None, "json", "yaml", "msgpack", "bson", "cbor", "marshal", "pickle", "marc", "marcxml", "marc-json",
           "toml"]
COMPRESSIONS = ["none", "zstd", "lz4", "gzip"]

RUBY = """
require "json"
require "regauge"
act, url, codec, key = ARGV
Regauge::Store.open(url, codec: act == "put" ? codec : nil) do |store|
  if act == "put"
    store.store(key, JSON.parse(STDIN.read))
  else
    STDOUT.write(JSON.generate(store.fetch(key)))
  end
end
"""

PYTHON = """
import json, sys
import regauge
act, url, codec, key = sys.argv[1:]
with (regauge.Store(url, codec=codec) if act == "put" else regauge.Store(url)) as store:
    if act == "put":
        store[key] = json.load(sys.stdin)
    else:
        json.dump(store[key], sys.stdout)
"""


class Command:
    """The command, run in a shell."""

    name = "command"

    def __init__(self, regauge):
        self.regauge = regauge

    def put(self, url, codec, key):
        run([self.regauge, "store", "put", "--db", url, "--codec", codec, key, "-", "--from", "json"])

    def get(self, url, key):
        return json.loads(run([self.regauge, "store", "get", "--db", url, key, "-", "--to", "json"]))


class Script:
    """A language, through its own script."""

    def __init__(self, name, interpreter, script, environment):
        self.name = name
        self.start = [*interpreter, script]
        self.environment = environment

    def put(self, url, codec, key):
        run([*self.start, "put", url, codec, key], self.environment)

    def get(self, url, key):
        return json.loads(run([*self.start, "get", url, "-", key], self.environment))

    def missing(self, name):
        """Returns why the binding cannot be used, or nothing."""
        probe = {"ruby": "require 'regauge'; Regauge::Store", "python": "import regauge; regauge.Store"}[name]
        flag = "-e" if name == "ruby" else "-c"
        try:
            done = subprocess.run([*self.start[:-1], flag, probe], env=self.environment, capture_output=True,
                                  text=True, check=False)
        except OSError as error:
            return str(error)
        return (done.stderr.strip().splitlines() or ["it failed"])[-1] if done.returncode else None


def run(command, environment=None):
    """Returns the output of a command that gets the value as JSON."""
    done = subprocess.run([str(part) for part in command], input=json.dumps(VALUE), env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(str(part) for part in command[:4])} …: {done.stderr.strip()}")
    return done.stdout


def crc32c(data):
    """Computes CRC-32C bit by bit: an implementation independent of the store's."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def unsealed(stored, codec):
    """Returns the payload of a stored value, checking its envelope as docs/store.md defines it."""
    assert stored[:2] == b"\xc1\x67", stored[:2]
    assert stored[2] >> 4 == 1, "version"
    name = FORMATS[stored[3]]
    compression = COMPRESSIONS[stored[2] & 15]
    assert codec == (name if compression == "none" else f"{name}+{compression}"), (codec, name, compression)
    checksum = int.from_bytes(stored[12:16], "little")
    assert checksum == crc32c(stored[:12] + stored[16:]), "checksum"
    payload, length = stored[16:], int.from_bytes(stored[8:12], "little")
    if compression == "gzip":
        payload = zlib.decompress(payload, wbits=31)
    if compression in ("none", "gzip"):
        assert len(payload) == length, (len(payload), length)
        if name == "json":
            assert json.loads(payload) == VALUE
    return payload


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=ROOT / "target/debug/regauge", type=pathlib.Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--ruby", default=shutil.which("ruby") or "ruby")
    parser.add_argument("--need", default="", help="languages that must be there")
    arguments = parser.parse_args()
    needed = set(filter(None, arguments.need.split(",")))

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "store.rb").write_text(RUBY)
        (folder / "store.py").write_text(PYTHON)
        languages = [Command(arguments.regauge.resolve())]
        rubylib = os.environ.get("RUBYLIB", str(ROOT / "bindings/ruby/lib"))
        # The sources, if an extension was put there for development; otherwise the installed
        # package.
        sources = ROOT / "bindings/python/python"
        built = sources if any(sources.glob("regauge/_regauge*.so")) else ""
        pythonpath = os.environ.get("PYTHONPATH", str(built))
        ruby = Script("ruby", [arguments.ruby, "-W0"], folder / "store.rb", {**os.environ, "RUBYLIB": rubylib})
        python = Script("python", [arguments.python, "-B"], folder / "store.py", {**os.environ, "PYTHONPATH": pythonpath})
        for language in (python, ruby):
            reason = language.missing(language.name)
            if reason is None:
                languages.append(language)
            elif language.name in needed:
                sys.exit(f"{language.name}: {reason}")
            else:
                print(f"skipped: {language.name}: {reason}")
        checks = compared = 0
        for codec in CODECS:
            url = f"sqlite:{folder / codec.replace('+', '-')}.db"
            for language in languages:
                language.put(url, codec, f"by {language.name}")
            rows = dict(sqlite3.connect(url.removeprefix("sqlite:")).execute("SELECT CAST(key AS TEXT), value FROM objects"))
            payloads = {}
            for language in languages:
                key = f"by {language.name}"
                payloads[language.name] = unsealed(rows[key], codec)
                for reader in languages:
                    found = reader.get(url, key)
                    if found != VALUE:
                        sys.exit(f"{codec}: {reader.name} reads another value than {language.name} put: {found}")
                    checks += 1
            for one, other in itertools.combinations(payloads, 2):
                if codec.split("+")[0] in OWN_BYTES:
                    continue
                if payloads[one] != payloads[other]:
                    sys.exit(f"{codec}: {one} and {other} store other bytes:\n{payloads[one][:200]}\n{payloads[other][:200]}")
                compared += 1
        names = ", ".join(language.name for language in languages)
        print(f"{len(CODECS)} codecs, {names}: {checks} values read, {compared} pairs of documents the same")


if __name__ == "__main__":
    main()
