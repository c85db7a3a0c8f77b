"""Summarises the store's tests as a table with a column for each server."""

import re
import subprocess
from collections import defaultdict

ENGINES = ["sqlite", "postgres", "mysql", "mongodb", "cassandra"]
# Those that tools/servers.py starts.
TITLES = ["SQLite", "PostgreSQL", "MariaDB", "FerretDB", "Cassandra"]
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
        if found := OUTCOME.match(line):
            name, outcome = found.groups()
            # A test that names no engine is an SQLite test, or needs no database.
            engine = next((one for one in ENGINES if one in name), "sqlite")
            count = self.counts[self.suite, engine]
            count[0] += outcome == "ok"
            count[1] += outcome != "ignored"
            if self.suite not in self.suites:
                self.suites.append(self.suite)
        elif found := KILLS.match(line):
            self.kills[found[1]] = int(found[2])

    def table(self, skipped):
        """Counts passed and all tests by suite and engine; a missing server has passed nothing."""
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


def follow(tests, folder, environment):
    """Runs the test programs in the package's folder, shows their output, and returns 0 if all
    passed, with the report of them."""
    report = Report()
    status = 0
    for suite, program in tests:
        print(f"\n{suite}", flush=True)
        report.suite = suite
        # More threads than cores: most of the time a test waits for its server.
        command = [program, "--show-output", "--test-threads=8"]
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace") as process:
            for line in process.stdout:
                report.read(line)
                # The output of passing tests is not needed here.
                if not line.startswith(("---- ", "successes:")):
                    print(line, end="", flush=True)
        status = status or process.returncode
    return status, report
