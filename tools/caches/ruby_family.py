"""Runs tools/caches_generate.rb, the half of the generator that is written in Ruby, once for each Ruby command.

The program prints its versions, then a label for each key, as JSON on lines; for `check`, what it read.
"""

import contextlib
import json
import shlex
import subprocess
from pathlib import Path

from caches.family import Family, Missing

PROGRAM = Path(__file__).resolve().parent.parent / "caches_generate.rb"


@contextlib.contextmanager
def answers(command):
    """Yields the lines that a program prints, as values. The first one has its versions, or why it is unavailable."""
    try:
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    except OSError as error:
        raise Missing(str(error)) from error
    with program:
        first = program.stdout.readline()
        if not first:
            program.wait()
            raise RuntimeError(f"{' '.join(command)}: exit status {program.returncode}")
        versions = json.loads(first)
        if "missing" in versions:
            raise Missing(versions["missing"])
        yield versions["versions"], (json.loads(line) for line in program.stdout)
    if program.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit status {program.returncode}")


class Program(Family):
    """A family whose values another program writes."""

    def commands(self, run, what):
        """Returns the commands to run, each of which writes a part of the values."""
        raise NotImplementedError

    def versions(self):
        self.versions_found = {}
        return {}

    def found_versions(self):
        return self.versions_found

    def make(self, run):
        self.versions_found = {}
        for command in self.commands(run, "make"):
            with answers(command) as (versions, labels):
                for package, version in versions.items():
                    known = self.versions_found.setdefault(package, version)
                    if version not in known.split(" and "):
                        self.versions_found[package] = f"{known} and {version}"
                yield from labels

    def check(self, run):
        for command in self.commands(run, "check"):
            with answers(command) as (_, found):
                for one in found:
                    yield one["key"], one.get("expected"), one.get("found")


class Ruby(Program):
    """A family of tools/caches_generate.rb."""

    # Whether each Ruby command writes a part; otherwise the first one writes all.
    each = False

    def __init__(self, name, share, database, each=False):
        self.name, self.share, self.database, self.each = name, share, database, each

    def commands(self, run, what):
        rubies = run.rubies if self.each else run.rubies[:1]
        for part, ruby in enumerate(rubies):
            yield [*shlex.split(ruby), str(PROGRAM), what, self.name, run.host, str(run.port), str(run.database),
                   str(max(10, run.count // len(rubies))), str(run.seed), str(run.size), str(run.checks), str(part)]

    def versions(self):
        super().versions()
        try:
            done = subprocess.run(["ruby", str(PROGRAM), "versions", self.name], capture_output=True, text=True)
        except OSError as error:
            raise Missing(str(error)) from error
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = json.loads(done.stdout.splitlines()[0])
        if "missing" in found:
            raise Missing(found["missing"])
        return found["versions"]


FAMILIES = (Ruby("rails-cache", 0.24, 2, each=True), Ruby("rails-sessions", 0.04, 3), Ruby("sidekiq", 0.10, 7))
