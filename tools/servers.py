#!/usr/bin/env python3
"""Starts database servers on loopback for the store's tests, and stops them.

    python3 tools/servers.py test                  runs the store's tests on them, prints a table
    python3 tools/servers.py run -- COMMAND        starts what is available, runs COMMAND, stops
    python3 tools/servers.py run --only postgres -- COMMAND
    python3 tools/servers.py install               installs those available from apt (as root)
    python3 tools/servers.py start|stop|kill NAME --folder FOLDER

`run` passes the URL of each server to COMMAND in a variable (REGAUGE_TEST_POSTGRES, …), says which
servers are skipped and why, and exits with COMMAND's status. Each server has its own data in a
temporary folder, named by REGAUGE_TEST_SERVERS: tests that kill a server and restart it call this
program with it. REGAUGE_TEST_REQUIRED names the servers that were started: a test that does not
find one of these fails, instead of being skipped. REGAUGE_TEST_TLS has the certificates of those
that speak TLS.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import servers_report
import servers_tls
from servers_common import Unavailable
from servers_nosql import Cassandra, FerretDB
from servers_sql import MariaDB, PostgreSQL

KINDS = [PostgreSQL, MariaDB, FerretDB, Cassandra]
STORE = Path(__file__).resolve().parent.parent / "crates/regauge-store"
NAMES = [kind.name for kind in KINDS]


def find(name):
    return next(kind for kind in KINDS if kind.name == name)


def attempt(server):
    """Starts a server. Returns the seconds that it took, or why it is unavailable."""
    began = time.monotonic()
    try:
        server.start()
    except Unavailable as why:
        print(f"servers: {server.name} skipped: {why}", file=sys.stderr)
        return why
    seconds = time.monotonic() - began
    print(f"servers: {server.name} started in {seconds:.1f} s", file=sys.stderr)
    return seconds


def run(command, only, required, act=lambda command, environment, skipped: subprocess.run(
        command, env=environment).returncode, every=KINDS):
    """Starts servers, runs `act` with their URLs, and stops them."""
    kinds = [kind for kind in every if not only or kind.name in only]
    with tempfile.TemporaryDirectory(prefix="regauge-servers-") as folder:
        # The servers' users need access to their own folders in it.
        os.chmod(folder, 0o755)
        with_tls = servers_tls.make(folder)
        servers = [kind(folder) for kind in kinds]
        try:
            with ThreadPoolExecutor(len(servers)) as at_once:
                outcomes = list(at_once.map(attempt, servers))
            skipped = {server.name: str(why) for server, why in zip(servers, outcomes)
                       if isinstance(why, Unavailable)}
            missing = [name for name in required if name in skipped or name not in
                       [kind.name for kind in kinds]]
            if missing:
                print(f"servers: {', '.join(missing)} must be there", file=sys.stderr)
                return 1
            there = [server for server in servers if server.name not in skipped]
            environment = {**os.environ, "REGAUGE_TEST_SERVERS": folder,
                           "REGAUGE_TEST_REQUIRED": ",".join(one.name for one in there),
                           **({"REGAUGE_TEST_TLS": str(Path(folder) / "tls")} if with_tls else {}),
                           **{name: said for one in there
                              for name, said in one.variables().items()}}
            return act(command, environment, skipped)
        finally:
            for server in reversed(servers):
                # Another call may have restarted it meanwhile.
                type(server)(folder).discard()


def programs(cargo, selection, crate=STORE):
    """Builds the tests of a crate. Returns the programs, each with the name of its test file."""
    command = [*cargo, "test", *selection, "--lib", "--tests", "--no-run", "--quiet",
               "--message-format=json-render-diagnostics"]
    built = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit(built.returncode)
    found = []
    for line in built.stdout.splitlines():
        one = json.loads(line)
        if one.get("executable") and Path(one["manifest_path"]).parent == crate and one["profile"]["test"]:
            found.append((Path(one["target"]["src_path"]).stem, one["executable"]))
    if not found:
        sys.exit(f"servers: {' '.join(selection)} has no tests of {crate.name}")
    return sorted(found)


def test(cargo, selection, only, required):
    """Builds the store's tests, runs them on the servers, and prints how many passed on each."""
    began = time.monotonic()
    tests = programs(cargo, selection)
    print(f"servers: tests built in {time.monotonic() - began:.0f} s", file=sys.stderr)
    began = time.monotonic()

    def act(tests, environment, skipped):
        status, report = servers_report.follow(tests, STORE, environment)
        print(report.table(skipped))
        return status

    status = run(tests, only, required, act)
    print(f"servers: tested in {time.monotonic() - began:.0f} s", file=sys.stderr)
    return status


def install(kinds=KINDS):
    packages = [name for kind in kinds for name in getattr(kind, "packages", ())]
    print(f"servers: installing {' '.join(packages)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Debian starts a server as soon as it is installed; that one is not needed here.
    command = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "-qq", "-y",
               "--no-install-recommends", *packages]
    policy = Path("/usr/sbin/policy-rc.d")
    ours = not policy.exists()
    if ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        return subprocess.run(command, env=environment, stdout=subprocess.DEVNULL).returncode
    finally:
        if ours:
            policy.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="what", required=True)
    runs = commands.add_parser("run", help="start what can be had, run a command, stop")
    runs.add_argument("command", nargs="+")
    tests = commands.add_parser("test", help="build and run the store's tests on the servers")
    tests.add_argument("--cargo", default="cargo")
    tests.add_argument("--select", default="-p regauge-store --features servers",
                       help="packages and features to build: those of another build use what it left")
    for one in (runs, tests):
        one.add_argument("--only", action="append", choices=NAMES, default=[])
        one.add_argument("--require", action="append", choices=NAMES, default=[],
                         help="fail if this one is unavailable")
    commands.add_parser("install", help="install what apt has")
    for what in ("start", "stop", "kill", "url"):
        one = commands.add_parser(what)
        one.add_argument("name", choices=NAMES)
        one.add_argument("--folder", required=True)
    arguments = parser.parse_args()
    if arguments.what == "run":
        return run(arguments.command, arguments.only, arguments.require)
    if arguments.what == "test":
        return test(arguments.cargo.split(), arguments.select.split(), arguments.only, arguments.require)
    if arguments.what == "install":
        return install()
    server = find(arguments.name)(arguments.folder)
    try:
        if arguments.what == "url":
            print(server.url())
        else:
            getattr(server, arguments.what)()
    except Unavailable as why:
        print(f"servers: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
