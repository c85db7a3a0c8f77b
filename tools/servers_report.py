"""What `cargo test` says of the store's tests, as a table with a column for each server."""

import re
import subprocess
from collections import defaultdict

ENGINES = ["sqlite", "postgres", "mysql", "mongodb", "cassandra"]
# What tools/servers.py starts of them.
TITLES = ["SQLite", "PostgreSQL", "MariaDB", "FerretDB", "Cassandra"]
RUNNING = re.compile(r"\s+Running (?:unittests )?\S*?(\w+)\.rs ")
OUTCOME = re.compile(r"test (\S+) \.\.\. (ok|FAILED|ignored)")
# Tests that kill print this line themselves.
KILLS = re.compile(r"killed: (\w+) (\d+) rounds")


class Report:
    def __init__(self):
        # (suite, engine) -> [passed, all]
        self.counts = defaultdict(lambda: [0, 0])
        self.kills = {}
        self.suites = []
        self.suite = ""

    def read(self, line):
        if found := RUNNING.match(line):
            self.suite = found[1]
        elif found := OUTCOME.match(line):
            name, outcome = found.groups()
            # One that names no engine is one of SQLite, or needs no database.
            engine = next((one for one in ENGINES if one in name), "sqlite")
            count = self.counts[self.suite, engine]
            count[0] += outcome == "ok"
            count[1] += outcome != "ignored"
            if self.suite not in self.suites:
                self.suites.append(self.suite)
        elif found := KILLS.match(line):
            self.kills[found[1]] = int(found[2])

    def table(self, skipped):
        """Passed of all by suite and engine; a server that was not there has passed nothing."""
        def cell(suite, engine):
            passed, count = self.counts.get((suite, engine), (0, 0))
            if not count:
                return "-"
            return "skipped" if engine in skipped else f"{passed}/{count}"

        rows = [["", *TITLES]]
        rows += [[suite, *(cell(suite, one) for one in ENGINES)] for suite in self.suites]
        rows.append(["kill -9", *(str(self.kills.get(one, "-")) for one in ENGINES)])
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        lines = ["  ".join(text.rjust(width) if at else text.ljust(width)
                           for at, (text, width) in enumerate(zip(row, widths))) for row in rows]
        lines += [f"{name}: skipped: {why}" for name, why in skipped.items()]
        return "\n".join(lines)


def follow(command, environment):
    """Runs the command, shows what it says, and gives its status and the report of it."""
    report = Report()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in process.stdout:
            report.read(line)
            # Of tests that pass, what they print is not wanted here.
            if not line.startswith(("---- ", "successes:")):
                print(line, end="", flush=True)
    return process.returncode, report
