#!/usr/bin/env python3
"""Starts servers of databases on loopback for the tests of the store, and stops them.

    python3 tools/servers.py run -- COMMAND        start what can be had, run COMMAND, stop
    python3 tools/servers.py run --only postgres -- COMMAND
    python3 tools/servers.py install               what apt has of them (as root)
    python3 tools/servers.py start|stop|kill NAME --folder FOLDER

`run` gives COMMAND the URL of each server in a variable (REGAUGE_TEST_POSTGRES, …), says which
servers are skipped and why, and ends with COMMAND's status. Each server has data of its own in a
temporary folder, which is in REGAUGE_TEST_SERVERS: tests that kill a server and start it again call
this program with it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from servers_common import Unavailable
from servers_nosql import Cassandra, FerretDB
from servers_sql import MariaDB, PostgreSQL

KINDS = [PostgreSQL, MariaDB, FerretDB, Cassandra]
NAMES = [kind.name for kind in KINDS]


def find(name):
    return next(kind for kind in KINDS if kind.name == name)


def run(command, only, required):
    started, environment, skipped = [], {}, []
    with tempfile.TemporaryDirectory(prefix="regauge-servers-") as folder:
        # The servers' users have to get at their own folders in it.
        os.chmod(folder, 0o755)
        try:
            for kind in KINDS:
                if only and kind.name not in only:
                    continue
                server = kind(folder)
                began = time.monotonic()
                try:
                    # Also where it failed: it may have got half-way.
                    started.append(server)
                    server.start()
                except Unavailable as why:
                    print(f"servers: {kind.name} skipped: {why}", file=sys.stderr)
                    skipped.append(kind.name)
                    continue
                seconds = time.monotonic() - began
                print(f"servers: {kind.name} started in {seconds:.1f} s", file=sys.stderr)
                environment[kind.variable] = server.url()
            missing = [name for name in required if name in skipped]
            if missing:
                print(f"servers: {', '.join(missing)} must be there", file=sys.stderr)
                return 1
            environment["REGAUGE_TEST_SERVERS"] = folder
            return subprocess.run(command, env={**os.environ, **environment}).returncode
        finally:
            for server in reversed(started):
                # Another call may have stopped and started it meanwhile.
                type(server)(folder).stop()


def install():
    packages = [name for kind in KINDS for name in getattr(kind, "packages", ())]
    print(f"servers: installing {' '.join(packages)}", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Debian starts a server as soon as it is installed; nobody wants that one here.
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
    runs.add_argument("--only", action="append", choices=NAMES, default=[])
    runs.add_argument("--require", action="append", choices=NAMES, default=[],
                      help="fail where this one cannot be had")
    runs.add_argument("command", nargs="+")
    commands.add_parser("install", help="install what apt has")
    for what in ("start", "stop", "kill", "url"):
        one = commands.add_parser(what)
        one.add_argument("name", choices=NAMES)
        one.add_argument("--folder", required=True)
    arguments = parser.parse_args()
    if arguments.what == "run":
        return run(arguments.command, arguments.only, arguments.require)
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
