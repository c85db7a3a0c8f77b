#!/usr/bin/env python3
"""Writes what this version of regauge stores into corpus/versions/VERSION, for the test that every later
version reads it (crates/regauge-cli/tests/versions.rs). Run once for each release, before its tag:

    python3 tools/keep_version.py --regauge target/release/regauge
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMATS = ["json", "yaml", "toml", "msgpack", "bson", "cbor", "marshal", "pickle"]
RECORDS = ["marc", "marcxml", "marc-json"]
PACKED = ["json+zstd", "msgpack+lz4", "cbor+gzip"]
DOCUMENT = '{"name":"Zażółć","list":[1,-2.5,9007199254740993,true,[]],"map":{"a":{"b":"c"}}}'


class Maker:
    """Runs the command in a folder."""

    def __init__(self, regauge, folder):
        self.regauge = pathlib.Path(regauge).resolve()
        self.folder = folder

    def run(self, arguments):
        """Runs the command with these arguments; returns what it prints."""
        done = subprocess.run([self.regauge, *arguments.split()], cwd=self.folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"regauge {arguments}: {done.stderr}")
        return done.stdout


def store(maker):
    """Makes a store with a collection for each codec, an adopted table, a dictionary and a series."""
    maker.run("convert one.json one.msgpack")
    for codec in FORMATS + PACKED:
        maker.run(f"store put --db sqlite:store.db -c {name(codec)} one one.json --codec {codec}")
    maker.run("sample catalog one.mrc --count 1")
    for codec in RECORDS:
        maker.run(f"store put --db sqlite:store.db -c {name(codec)} one one.mrc --codec {codec}")
    maker.run("store put --db sqlite:store.db -c wrapped one one.msgpack --codec json --on-loss wrap")
    many = "".join(f'{{"id":"{n:03}","text":"the order of customer {n % 7}"}}\n' for n in range(300))
    (maker.folder / "many.ndjson").write_text(many, encoding="utf-8")
    maker.run("store import --db sqlite:store.db -c trained many.ndjson --key id --codec msgpack+zstd")
    maker.run("store train --db sqlite:store.db -c trained")
    maker.run("store reencode --db sqlite:store.db -c trained --to json+zstd")
    text = ""
    for one in maker.run("store ls --db sqlite:store.db --collections").split():
        text += f"# {one}\n" + maker.run(f"store export --db sqlite:store.db -c {one}")
    maker.run("store put --db sqlite:store.db -c series --series sensor 2026-11-21T12:00:00.5Z one.json")
    return text + "# series\n" + maker.run("store scan --db sqlite:store.db -c series --series sensor")


def tenants(maker):
    """Makes a gateway's data folder: tenants of both places, active and suspended, and tokens."""
    maker.run("store tenants --data gateway create acme globex --codec json+zstd")
    maker.run("store tenants --data gateway create initech --place shared --rate 5")
    maker.run("store put --db sqlite:gateway/tenants/acme.db user/1 one.json --codec json+zstd")
    maker.run("store tenants --data gateway suspend globex")
    maker.run("store tenants --data gateway token create acme --scope read")
    shown = maker.run("store tenants --data gateway export acme")
    return maker.run("store tenants --data gateway list") + shown


def name(codec):
    """Returns the name of the collection of a codec."""
    return codec.replace("+", "_").replace("-", "_")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regauge", default=ROOT / "target" / "release" / "regauge")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder)
        maker = Maker(arguments.regauge, made)
        version = maker.run("--version").split()[-1]
        kept = ROOT / "corpus" / "versions" / version
        if kept.exists():
            sys.exit(f"{kept} exists: what a version wrote is never changed")
        (made / "one.json").write_text(DOCUMENT, encoding="utf-8")
        (made / "store.txt").write_text(store(maker), encoding="utf-8")
        (made / "gateway.txt").write_text(tenants(maker), encoding="utf-8")
        maker.run("measure one.json --quick --budget 6 --only json --json results.json")
        kept.mkdir(parents=True)
        results = made / "results.json"
        text = results.read_text(encoding="utf-8").replace(str(maker.regauge), "regauge")
        # No path of the machine is kept.
        text = re.sub(r"/tmp/[\w./-]*/", "", text.replace(str(pathlib.Path.home()), "~"))
        results.write_text(text, encoding="utf-8")
        for one in ["store.db", "store.txt", "gateway.txt", "results.json"]:
            shutil.copy(made / one, kept)
        # The key of the tokens is a secret, and is made again.
        shutil.copytree(made / "gateway", kept / "gateway", ignore=shutil.ignore_patterns("*.key", "*-wal", "*-shm"))


if __name__ == "__main__":
    main()
