#!/usr/bin/env python3
"""Compares filters and selection on NDJSON with jaq and jq, as whole processes.

    python3 benches/query.py [--regauge PATH] [--megabytes 200] [--rounds 5]

The documents are the tweets of twitter.json, which `make data` fetches, one per line. Outputs are
compared before anything is timed. Peers that are not installed are named and skipped: `cargo
install jaq`, Debian's package `jq`.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

from whole import ROOT, peer, table

FILTERS = {
    "select(.user.followers_count > 1000) | {id, name: .user.screen_name}": "some keys of some documents",
    ".text | length": "one value of each document",
    "[.entities.hashtags[].text]": "a list of each document",
    ".": "everything",
    "del(.user)": "all but a key",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tweets = pathlib.Path(folder) / "tweets.ndjson"
        make(tweets, arguments.megabytes * 1_000_000)
        for filter_, what in FILTERS.items():
            ours = [arguments.regauge, "query", filter_, str(tweets)]
            compare(f"{what}: `{filter_}`", ours, filter_, tweets, arguments.rounds)
        ours = [arguments.regauge, "convert", "-q", str(tweets), "-", "--to", "ndjson"]
        compare("the same: `convert --drop user`", [*ours, "--drop", "user"], "del(.user)", tweets,
                arguments.rounds)


def compare(what, ours, filter_, tweets, rounds):
    """Times our command on two threads and on one, and the filter in the peers."""
    rows = [("regauge", [*ours, "--jobs", "2"], None), ("regauge, one thread", [*ours, "--jobs", "1"], None)]
    rows += [(name, [found, "-c", filter_, str(tweets)], None)
             for name in ("jaq", "jq") if (found := peer(name))]
    same(rows)
    # A bar would end a cell of the published table.
    table(what.replace("|", "\\|"), tweets.stat().st_size, rows, rounds)


def make(path, want):
    """Writes the tweets, repeated."""
    tweets = json.loads((ROOT / "build/data/json/twitter.json").read_text())["statuses"]
    lines = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in tweets).encode()
    with open(path, "wb") as file:
        for _ in range(max(1, want // len(lines))):
            file.write(lines)


def same(rows):
    """Asserts that all print the same values: jaq's `del` changes the order of keys, and jq before 1.8
    rounds integers beyond 2^53."""
    outputs = [subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.splitlines()
               for _, command, _ in rows]
    if len({len(lines) for lines in outputs}) != 1:
        raise AssertionError(f"numbers of outputs: {[len(lines) for lines in outputs]}")
    for lines in zip(*(lines[:1000] for lines in outputs)):
        rounded = [json.loads(line, parse_int=float) for line in lines]
        if any(one != rounded[0] for one in rounded):
            raise AssertionError(f"outputs differ: {lines}")


if __name__ == "__main__":
    main()
