#!/usr/bin/env python3
"""Fills a Redis server with values as real frameworks write them, and says in a manifest what each of them is.

    python3 tools/caches_generate.py make FOLDER                    20,000 values: dump.rdb and manifest.ndjson
    python3 tools/caches_generate.py make FOLDER --values 1000000 --only rails-cache sidekiq
    python3 tools/caches_generate.py check FOLDER                   the frameworks read a sample of their values,
                                                                    and the manifest is compared with it
    python3 tools/caches_generate.py run FOLDER -- COMMAND          a server with the dump, for COMMAND
    python3 tools/caches_generate.py list                           families, and what each of them needs

Each family is written by its framework, never by hand; one whose framework is not installed is named and skipped.
`make` starts a redis-server on a free port, or uses the one of `--url`, whose databases must be empty and which keeps
its dump where it is configured to. The same seed
makes the same keys and values, apart from what frameworks draw themselves: the times at which something was written,
and the identifiers of Active Job.

All families need, of Debian: redis-server ruby-redis ruby-activerecord ruby-sqlite3 ruby-actionpack ruby-redis-rack
ruby-sidekiq ruby-activejob php-cli php-redis php-igbinary php-mbstring and php-illuminate-cache, -redis, -queue,
-session, -container and -events; of PyPI: redis hiredis Django django-redis django-redis-sessions celery packaging
PyYAML rq Flask Flask-Caching Flask-Session msgpack zstandard pyzstd lz4 cramjam cbor2 pymongo protobuf.

`--ruby` names a command that runs Ruby, and may be repeated, for another Rails on the load path:
`--ruby "ruby -I rails/activesupport/lib"`.

The manifest has a row for each value, in JSON:

    key, database, kind, part   where it is; `tools/caches/survey.py` says what parts there are
    family, framework           what wrote it, with its version
    envelope                    the row of docs/envelopes.md, or null
    steps                       compression and base64 between the bytes and the innermost value, outermost first
    codec                       marshal, pickle, json, msgpack, yaml, cbor, bson, php-serialize, php-session,
                                igbinary, text, integer, float or binary
    names                       classes or globals that the innermost value names
    bytes, expires_ms           size of the value; when the key expires, in ms since 1970, or null
    content, note               what text or binary data holds, and what an envelope without a row adds
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

from caches import celery_family, django_family, flask_family, php_family, plain_family, rq_family, ruby_family
from caches import manifest_check, server, survey
from caches.family import Missing, Run

MODULES = (ruby_family, django_family, celery_family, rq_family, flask_family, php_family, plain_family)
FAMILIES = {one.name: one for module in MODULES for one in module.FAMILIES}


def write(run, path):
    """Writes a family, and its part of the manifest. Returns its versions, its number of values and the seconds."""
    family = FAMILIES[run.family]
    began = time.monotonic()
    versions = family.versions()
    client = run.client()
    if client.dbsize():
        raise ValueError(f"database {run.database} is not empty")
    values = keys = 0

    def counted():
        nonlocal keys
        for keys, one in enumerate(family.make(run), 1):
            yield one

    try:
        with open(path, "w") as out:
            for values, row in enumerate(survey.rows(client, family.name, run.database, counted()), 1):
                out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
        if client.dbsize() != keys:
            raise ValueError(f"{family.name}: {client.dbsize()} keys on the server, {keys} in the manifest")
    except Exception:
        # What it had written is not in the manifest.
        client.flushdb()
        raise
    return {"versions": versions | family.found_versions(), "keys": keys, "values": values,
            "seconds": round(time.monotonic() - began, 1)}


def verify(run):
    """Lets a family's framework read a sample. Returns how many values it read."""
    read = 0
    for key, expected, found in FAMILIES[run.family].check(run):
        if expected != found:
            raise ValueError(f"{run.family}: {key}: expected {expected!r:.300}, found {found!r:.300}")
        read += 1
    return read


def each(work, runs, jobs, *arguments):
    """Yields each family with what some work returned for it, or with the error, in their order."""
    # A process for each family: frameworks are configured once per process.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        waiting = [(run, pool.submit(work, run, *(argument(run) for argument in arguments))) for run in runs]
        for run, future in waiting:
            error = future.exception()
            yield run.family, error or future.result()


def plan(options, host, port):
    """Returns a run for each family that is wanted."""
    wanted = options.only or list(FAMILIES)
    total = sum(FAMILIES[name].share for name in wanted)
    return [Run(name, host, port, FAMILIES[name].database, max(10, int(options.values * FAMILIES[name].share / total)),
                options.seed, options.size, tuple(options.ruby or ("ruby",)), options.checks)
            for name in FAMILIES if name in wanted]


def make(options):
    folder = Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dump.rdb").unlink(missing_ok=True)
    began = time.monotonic()
    made, skipped, failed = {}, {}, False
    with connected(options, folder) as (host, port), tempfile.TemporaryDirectory(dir=folder) as scratch:
        runs = plan(options, host, port)
        for name, outcome in each(write, runs, options.jobs, lambda run: f"{scratch}/{run.family}"):
            # A framework may lack a package that it needs itself.
            if isinstance(outcome, (Missing, ModuleNotFoundError)):
                skipped[name] = str(outcome)
                print(f"skipped: {name}: {outcome}", flush=True)
            elif isinstance(outcome, Exception):
                failed = True
                print(f"failed: {name}: {type(outcome).__name__}: {outcome}", flush=True)
            else:
                made[name] = outcome
                versions = ", ".join(f"{package} {version}" for package, version in outcome["versions"].items())
                counts = f"{outcome['values']:,} values, {outcome['keys']:,} keys, {outcome['seconds']} s"
                print(f"{name}: {counts} ({versions})", flush=True)
        with open(folder / "manifest.ndjson", "wb") as manifest:
            for name in made:
                manifest.write(Path(scratch, name).read_bytes())
        save(host, port)
    # `check` needs those that were asked for, because they share the number of values.
    arguments = {name: getattr(options, name) for name in ("values", "seed", "size", "ruby", "only")}
    about = {"arguments": arguments, "families": made, "skipped": skipped}
    (folder / "made.json").write_text(json.dumps(about, indent=2) + "\n")
    values, keys = (sum(one[what] for one in made.values()) for what in ("values", "keys"))
    print(f"{values:,} values in {keys:,} keys, {time.monotonic() - began:.0f} s")
    summary(folder / "manifest.ndjson")
    return 1 if failed else 0


def summary(manifest):
    """Prints how many values there are of each envelope and codec."""
    counts = Counter()
    with open(manifest) as rows:
        for line in rows:
            row = json.loads(line)
            counts[row["envelope"] or "-", "+".join(row["steps"]) or "-", row["codec"]] += 1
    for (envelope, steps, codec), count in sorted(counts.items()):
        print(f"  {count:>9,}  {envelope:<16} {steps:<12} {codec}")


def save(host, port):
    import redis

    redis.Redis(host=host, port=port, socket_timeout=None).save()


def connected(options, folder):
    """Returns a context with the host and the port of the server to use."""
    if not options.url:
        return server.started(folder)
    parts = urlsplit(options.url)

    class Given:
        def __enter__(self):
            return parts.hostname or "127.0.0.1", parts.port or 6379

        def __exit__(self, *_):
            return None

    return Given()


def check(options):
    folder = Path(options.folder)
    about = json.loads((folder / "made.json").read_text())
    failed = False
    with connected(options, folder) as (host, port):
        given = argparse.Namespace(**about["arguments"], checks=options.checks)
        runs = [run for run in plan(given, host, port) if run.family in (options.only or about["families"])]
        for name, outcome in each(verify, runs, options.jobs):
            failed |= isinstance(outcome, Exception)
            said = outcome if isinstance(outcome, Exception) else f"{outcome} values read as written"
            print(f"{name}: {said}", flush=True)
        read, kinds, mistakes = manifest_check.check(host, port, folder / "manifest.ndjson", options.checks // 4)
    print(f"manifest: {read} values of {kinds} kinds, {len(mistakes)} mistakes", *mistakes[:50], sep="\n  ")
    return 1 if failed or mistakes else 0


def run(options):
    with server.started(Path(options.folder)) as (host, port):
        environment = {**os.environ, "REGAUGE_CACHES_URL": f"redis://{host}:{port}"}
        return subprocess.run(options.command, env=environment).returncode


def listing(_):
    """Prints the families, with the versions of what they need, or what is missing."""
    total = sum(family.share for family in FAMILIES.values())
    for name, family in FAMILIES.items():
        try:
            versions = family.versions()
            said = ", ".join(f"{package} {version}" for package, version in versions.items()) or "installed"
        except Missing as why:
            said = f"not available: {why}"
        print(f"{name:<16} {family.share / total:>5.0%}  database {family.database:<3} {said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="what")
    parser.add_argument("--list", action="store_true", help="list the families, as `list` does")
    makes = commands.add_parser("make", help="fill a server; write dump.rdb and manifest.ndjson")
    makes.add_argument("--values", type=int, default=20_000, help="about how many values (20,000)")
    makes.add_argument("--size", type=int, default=600, help="mean length of the text in a value (600)")
    makes.add_argument("--seed", type=int, default=1)
    makes.add_argument("--ruby", action="append", help="a command that runs Ruby (ruby); may be repeated")
    checks = commands.add_parser("check", help="read a sample of each family with its framework")
    for one in (makes, checks):
        one.add_argument("folder")
        one.add_argument("--url", help="a Redis server to use (a new one)")
        one.add_argument("--only", nargs="+", metavar="FAMILY", choices=list(FAMILIES), default=[])
        one.add_argument("--checks", type=int, default=200, help="how many values to check of each kind (200)")
        one.add_argument("--jobs", type=int, default=os.cpu_count(), help="families at once (one per core)")
    runs = commands.add_parser("run", help="start a server with the dump, and run a command")
    runs.add_argument("folder")
    runs.add_argument("command", nargs="+")
    commands.add_parser("list", help="list the families")
    options = parser.parse_args()
    work = {"make": make, "check": check, "run": run, "list": listing}.get("list" if options.list else options.what)
    if not work:
        parser.error("make, check, run or list?")
    try:
        return work(options)
    except Missing as why:
        print(f"caches_generate: {why}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
