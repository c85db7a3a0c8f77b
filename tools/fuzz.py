#!/usr/bin/env python3
"""Fuzzes every target (or one) for some seconds, starting from corpus/.

    python3 tools/fuzz.py [--seconds 60] [--target json]

Needs `cargo install cargo-fuzz` and a nightly toolchain. New inputs stay in fuzz/corpus/, crashes
in fuzz/artifacts/; neither is committed. Ends with 1 when a target fails.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = {"ndjson": "json", "marc_json": "json", "pairs": "json", "yaml_writer": "msgpack"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--target")
    arguments = parser.parse_args()
    if not shutil.which("cargo-fuzz"):
        sys.exit("cargo-fuzz is missing: cargo install cargo-fuzz")
    manifest = (ROOT / "fuzz/Cargo.toml").read_text()
    targets = re.findall(r'\[\[bin\]\]\nname = "(\w+)"', manifest)
    if arguments.target:
        if arguments.target not in targets:
            sys.exit(f"no target {arguments.target}: there are {', '.join(targets)}")
        targets = [arguments.target]
    failed = []
    for target in targets:
        corpus = ROOT / "fuzz/corpus" / target
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "corpus" / SEEDS.get(target, target)
        folders = [str(corpus)]
        folders += [str(folder) for folder in (seeds / "valid", seeds / "invalid") if folder.is_dir()]
        command = ["cargo", "+nightly", "fuzz", "run", target, *folders, "--",
                   f"-max_total_time={arguments.seconds}", "-timeout=10", "-rss_limit_mb=2048",
                   "-max_len=4096"]
        print(f"fuzz: {target}", flush=True)
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            failed.append(target)
    print(f"fuzz: {len(targets)} targets, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
