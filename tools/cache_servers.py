#!/usr/bin/env python3
"""Starts caches and databases on loopback for the tests of regauge-sources, and stops them.

    python3 tools/cache_servers.py test                  runs the tests on them
    python3 tools/cache_servers.py test -- COMMAND       and then COMMAND on the same servers
    python3 tools/cache_servers.py run -- COMMAND        starts what is available, runs COMMAND, stops
    python3 tools/cache_servers.py run --only redis -- COMMAND
    python3 tools/cache_servers.py install               installs those available from apt (as root)

`run` passes the URLs to COMMAND in variables (REGAUGE_TEST_REDIS, …), says which servers are skipped and why, and exits
with COMMAND's status. REGAUGE_TEST_REQUIRED names the servers that were started: a test that does not find one of these
fails, instead of being skipped.
"""

import argparse
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import servers
import servers_tls
from servers_common import Server, Unavailable, answers, run, wait_for
from servers_nosql import Cassandra, FerretDB
from servers_sql import MariaDB, PostgreSQL

CRATE = Path(__file__).resolve().parent.parent / "crates/regauge-sources"
PASSWORD = "p@ss"


class Cache(Server):
    """A cache, or several that belong together."""

    program = "redis-server"
    packages = ("redis-server",)
    patience = 20

    def require(self):
        if not shutil.which(self.program):
            raise Unavailable(f"{self.packages[0]} is not installed")

    def together(self, *commands):
        """A command that runs these, and ends with them."""
        lines = " & ".join(shlex.join(str(word) for word in command) for command in commands)
        return ["sh", "-c", f"{lines} & wait"], {}

    def redis(self, port, *options):
        """The command of a server that keeps nothing on disk."""
        return ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", self.folder, *options]

    def stop(self, *_):
        # Nothing is kept.
        self.kill()


class Redis(Cache):
    name = "redis"

    def prepare(self):
        self.tls = servers_tls.give(self)

    def command(self):
        options = ["--unixsocket", self.folder / "socket", "--unixsocketperm", "777"]
        if self.tls:
            certificate, key = self.tls
            options += ["--tls-port", self.port("tls"), "--tls-cert-file", certificate, "--tls-key-file", key,
                        "--tls-auth-clients", "no", "--tls-ca-cert-file", self.folder.parent / "tls/ca.pem"]
        return self.redis(self.port(), *options), {}

    def ready(self):
        return answers(self.port())

    def variables(self):
        found = {"REGAUGE_TEST_REDIS": f"redis://127.0.0.1:{self.port()}",
                 "REGAUGE_TEST_REDIS_SOCKET": f"unix:{self.folder}/socket"}
        if "tls" in self.state:
            # The driver trusts what the system does, which this replaces.
            found |= {"REGAUGE_TEST_REDIS_TLS": f"rediss://127.0.0.1:{self.port('tls')}",
                      "SSL_CERT_FILE": str(self.folder.parent / "tls/ca.pem")}
        return found


class Cluster(Cache):
    """Three masters."""

    name = "redis-cluster"
    numbers = range(3)

    def require(self):
        super().require()
        if not shutil.which("redis-cli"):
            raise Unavailable("redis-tools is not installed")

    def command(self):
        return self.together(*(
            self.redis(self.port(f"port {one}"), "--cluster-enabled", "yes", "--cluster-config-file", f"nodes-{one}",
                       "--cluster-port", self.port(f"bus {one}"), "--cluster-node-timeout", "2000")
            for one in self.numbers))

    def ready(self):
        return all(answers(self.port(f"port {one}")) for one in self.numbers)

    def start(self):
        super().start()
        nodes = [f"127.0.0.1:{self.port(f'port {one}')}" for one in self.numbers]
        run(["redis-cli", "--cluster", "create", *nodes, "--cluster-yes"])
        tells = ["redis-cli", "-p", self.port("port 0"), "cluster", "info"]
        wait_for(lambda: "cluster_state:ok" in run(tells), 20, "the cluster is not ready")

    def variables(self):
        return {"REGAUGE_TEST_REDIS_CLUSTER": f"redis://127.0.0.1:{self.port('port 0')}"}


class Sentinel(Cache):
    """A master with a password, and a Sentinel without one."""

    name = "redis-sentinel"

    def prepare(self):
        (self.folder / "sentinel.conf").write_text(
            f"port {self.port()}\nbind 127.0.0.1\ndir {self.folder}\n"
            f"sentinel monitor main 127.0.0.1 {self.port('master')} 1\nsentinel auth-pass main {PASSWORD}\n")
        # It writes into its configuration.
        if user := self.user():
            shutil.chown(self.folder / "sentinel.conf", user)

    def command(self):
        return self.together(self.redis(self.port("master"), "--requirepass", PASSWORD),
                             ["redis-server", self.folder / "sentinel.conf", "--sentinel"])

    def ready(self):
        return answers(self.port()) and answers(self.port("master"))

    def variables(self):
        secret = PASSWORD.replace("@", "%40")
        return {"REGAUGE_TEST_REDIS_SENTINEL": f"redis://:{secret}@127.0.0.1:{self.port()}",
                "REGAUGE_TEST_REDIS_LOCKED": f"redis://127.0.0.1:{self.port('master')}"}


class Memcached(Cache):
    name = "memcached"
    program = "memcached"
    packages = ("memcached",)

    def command(self):
        return ["memcached", "-l", "127.0.0.1", "-p", self.port(), "-m", "64"], {}

    def ready(self):
        return answers(self.port())

    def variables(self):
        return {"REGAUGE_TEST_MEMCACHED": f"memcached://127.0.0.1:{self.port()}"}


KINDS = [Redis, Cluster, Sentinel, Memcached, PostgreSQL, MariaDB, FerretDB, Cassandra]
NAMES = [kind.name for kind in KINDS]


def test(cargo, selection, only, required, command):
    """Builds the tests of the crate, and runs them on the servers; then a command."""
    tests = servers.programs(cargo, selection, CRATE)

    def act(tests, environment, skipped):
        status = 0
        for suite, program in tests:
            print(f"\n{suite}", flush=True)
            done = subprocess.run([program, "--show-output"], cwd=CRATE, env=environment)
            status = status or done.returncode
        if command:
            print(f"\n{shlex.join(command)}", flush=True)
            status = status or subprocess.run(command, env=environment).returncode
        for name, why in skipped.items():
            print(f"{name}: skipped: {why}")
        return status

    return servers.run(tests, only, required, act, KINDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="what", required=True)
    runs = commands.add_parser("run", help="start what can be had, run a command, stop")
    runs.add_argument("command", nargs="+")
    tests = commands.add_parser("test", help="build and run the tests on the servers")
    tests.add_argument("--cargo", default="cargo")
    tests.add_argument("--select", default="-p regauge-sources --all-features",
                       help="packages and features to build: those of another build use what it left")
    tests.add_argument("command", nargs="*", help="what to run after the tests, on the same servers")
    for one in (runs, tests):
        one.add_argument("--only", action="append", choices=NAMES, default=[])
        one.add_argument("--require", action="append", choices=NAMES, default=[], help="fail if this one is unavailable")
    commands.add_parser("install", help="install what apt has")
    arguments = parser.parse_args()
    if arguments.what == "run":
        return servers.run(arguments.command, arguments.only, arguments.require, every=KINDS)
    if arguments.what == "test":
        return test(arguments.cargo.split(), arguments.select.split(), arguments.only, arguments.require,
                    arguments.command)
    return servers.install(KINDS)


if __name__ == "__main__":
    sys.exit(main())
