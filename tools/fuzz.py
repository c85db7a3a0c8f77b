#!/usr/bin/env python3
"""Fuzzes every target (or one) for some seconds each, starting from corpus/.

    python3 tools/fuzz.py [--seconds 60] [--target json] [--plain]

Needs `cargo install cargo-fuzz` and a nightly toolchain. New inputs stay in fuzz/corpus/, crashes
in fuzz/artifacts/; neither is committed. `--plain` needs neither: libFuzzer and its coverage,
without AddressSanitizer, from a fixed seed so that two runs try much the same inputs; only crashes
are kept. Exits with 1 if a target fails.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEEDS = {"ndjson": "json", "marc_json": "json", "pairs": "json", "yaml_writer": "msgpack",
         "parquet": "../crates/regauge-arrow/tests/files", "rdb": "../crates/regauge-sources/tests/files"}

JQ = ROOT / "corpus/suites/jq/jq.test"


def seeds_of(target, folder):
    """Writes seeds that no file of the corpus gives, for the targets that read two things."""
    cases = {"query": [], "select": ["-a\n{}", "+a.b\t-a.b.c\n{}", "=a[0]=x\n{}", "-*.a\t-b[*]\n{}"]}.get(target, [])
    document = '{"a": [{"b": 1, "c": null}], "b": {"a": "x", "c": [1.5, true]}, "a b": {}}'
    if target == "query":
        blocks = re.findall(r"(?m)^(?!#|%%)(.+)\n(.+)\n", JQ.read_text())
        cases = [f"{code}\n{document}" for code, document in blocks]
    if target == "edit":
        cases = [f"{name[0]}{seed}\n{path.read_bytes().decode(errors='replace')}" for name in ("json", "toml", "yaml")
                 for seed, path in enumerate(sorted((ROOT / f"corpus/{name}/valid").iterdir())) if path.is_file()]
    for number, case in enumerate(cases):
        (pathlib.Path(folder) / f"seed-{number}").write_text(case.replace("{}", document))


# The flags of cargo-fuzz, as far as a stable compiler accepts them.
COVERAGE = ["--cfg", "fuzzing", "-Cpasses=sancov-module", "-Cllvm-args=-sanitizer-coverage-level=4",
            "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
            "-Cllvm-args=-sanitizer-coverage-pc-table", "-Cllvm-args=-sanitizer-coverage-trace-compares"]


def build_plain(targets):
    """Builds the targets with the installed compiler; returns the folder of the programs."""
    version = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout
    host = re.search(r"^host: (\S+)$", version, re.MULTILINE).group(1)
    folder = ROOT / "fuzz/target/plain"
    environment = {**os.environ, "RUSTFLAGS": " ".join(COVERAGE),
                   # A few seconds of fuzzing are soon over; half an optimization is built in half the time.
                   "CARGO_PROFILE_RELEASE_OPT_LEVEL": "1", "CARGO_PROFILE_RELEASE_DEBUG": "0",
                   "CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS": "true",
                   "CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS": "true"}
    command = ["cargo", "build", "--release", "--quiet", "--manifest-path", "fuzz/Cargo.toml",
               "--target", host, "--target-dir", str(folder)]
    command += [part for target in targets for part in ("--bin", target)]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return folder / host / "release"


def lock():
    """Locks the packages that the workspace locks, so that those are fuzzed that are tested; Cargo adds the others."""
    own, copy = ROOT / "Cargo.lock", ROOT / "fuzz/Cargo.lock"
    if not copy.exists() or copy.stat().st_mtime < own.stat().st_mtime:
        shutil.copyfile(own, copy)


def options_of(target, seconds):
    """Returns the folders with seeds, and the options of libFuzzer."""
    seeds = ROOT / "corpus" / SEEDS.get(target, target)
    # Envelopes have a folder for each framework.
    folders = seeds.iterdir() if target == "envelopes" else (seeds / "valid", seeds / "invalid")
    folders = sorted(str(folder) for folder in folders if folder.is_dir())
    return folders, [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=4096"]


def run_plain(program, seconds):
    """Runs a target; returns whether it passed."""
    target = program.name
    folders, options = options_of(target, seconds)
    artifacts = ROOT / "fuzz/artifacts" / target
    artifacts.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as found:
        seeds_of(target, found)
        command = [str(program), found, *folders, *options, "-seed=1", "-print_final_stats=1",
                   f"-artifact_prefix={artifacts}/"]
        ran = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, errors="replace")
    executions = re.search(r"number_of_executed_units:\s*(\d+)", ran.stderr)
    print(f"fuzz: {target}: {executions[1] if executions else 'no'} executions", flush=True)
    passed = ran.returncode == 0 and executions is not None
    if not passed:
        print(ran.stderr[-20_000:], file=sys.stderr)
    return passed


def run(target, seconds):
    """Builds and runs a target with cargo-fuzz, and keeps what it finds; returns whether it passed."""
    folders, options = options_of(target, seconds)
    corpus = ROOT / "fuzz/corpus" / target
    corpus.mkdir(parents=True, exist_ok=True)
    seeds_of(target, corpus)
    print(f"fuzz: {target}", flush=True)
    command = ["cargo", "+nightly", "fuzz", "run", target, str(corpus), *folders, "--", *options]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--target")
    parser.add_argument("--plain", action="store_true", help="without cargo-fuzz and nightly, on all cores")
    arguments = parser.parse_args()
    if not arguments.plain and not shutil.which("cargo-fuzz"):
        sys.exit("cargo-fuzz is missing: cargo install cargo-fuzz, or pass --plain")
    manifest = (ROOT / "fuzz/Cargo.toml").read_text()
    targets = re.findall(r'\[\[bin\]\]\nname = "(\w+)"', manifest)
    if arguments.target:
        if arguments.target not in targets:
            sys.exit(f"no target {arguments.target}: there are {', '.join(targets)}")
        targets = [arguments.target]
    lock()
    if arguments.plain:
        programs = build_plain(targets)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            passed = list(pool.map(lambda target: run_plain(programs / target, arguments.seconds), targets))
    else:
        passed = [run(target, arguments.seconds) for target in targets]
    failed = [target for target, is_passed in zip(targets, passed) if not is_passed]
    print(f"fuzz: {len(targets)} targets, failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
