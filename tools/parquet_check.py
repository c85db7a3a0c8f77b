#!/usr/bin/env python3
"""Checks that pyarrow, DuckDB and Polars read the Parquet files that the command writes as what they were written from.

    python3 tools/parquet_check.py --regauge target/debug/regauge

Skips readers that are not installed, and everything if the command was built without Parquet.
"""

import argparse
import datetime
import decimal
import importlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

UTC = datetime.timezone.utc

# Values in the notation of `--on-loss wrap`, and what Python's libraries make of them.
TYPES = {
    "bool": (True, True), "int": (-(2**63), -(2**63)), "unsigned": (2**64 - 1, 2**64 - 1), "float": (0.1, 0.1), "text": ("é\0", "é\0"),
    "bytes": ({"$binary": {"base64": "AP8=", "subType": "00"}}, b"\0\xff"),
    "money": ({"$decimal": "-12.50"}, decimal.Decimal("-12.50")),
    "big": ({"$integer": str(10**30)}, decimal.Decimal(10**30)),
    "at": ({"$time": "2026-11-21T12:00:00.000005Z"}, datetime.datetime(2026, 11, 21, 12, 0, 0, 5, UTC)),
    "early": ({"$time": "0001-01-01T00:00:00Z"}, datetime.datetime(1, 1, 1, tzinfo=UTC)),
    "local": ({"$localDateTime": "2026-11-21T12:00:00.5"}, datetime.datetime(2026, 11, 21, 12, 0, 0, 500000)),
    "date": ({"$localDate": "2026-11-21"}, datetime.date(2026, 11, 21)),
    "clock": ({"$localTime": "12:00:00.000005"}, datetime.time(12, 0, 0, 5)),
    "list": ([[1, None], None, []], [[1, None], None, []]),
    "map": ({"a": {"b": None, "c": [1.5]}}, {"a": {"b": None, "c": [1.5]}}),
}


def rows_of_pyarrow(path):
    return importlib.import_module("pyarrow.parquet").read_table(path).to_pylist()


def rows_of_duckdb(path):
    duckdb = importlib.import_module("duckdb")
    duckdb.sql("SET TimeZone = 'UTC'")
    result = duckdb.sql(f"SELECT * FROM '{path}'")
    return [dict(zip(result.columns, row)) for row in result.fetchall()]


def rows_of_polars(path):
    return importlib.import_module("polars").read_parquet(path).to_dicts()


# What a reader shows in another way: a decimal as a double, a zone of its own.
READERS = {
    "pyarrow": (rows_of_pyarrow, set()),
    "duckdb": (rows_of_duckdb, {"at", "early"}),
    "polars": (rows_of_polars, set()),
}


def filled(rows):
    """The rows with a null for each missing field, at every level that is the same in all of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [{name: row.get(name) for name in names} for row in rows]


class Check:
    def __init__(self, regauge, folder):
        self.regauge, self.folder, self.count, self.faults = regauge, folder, 0, []

    def write(self, lines, *options):
        source, target = self.folder / "in.ndjson", self.folder / "out.parquet"
        source.write_text("".join(json.dumps(line) + "\n" for line in lines))
        command = [self.regauge, "convert", source, target, "--force", "--quiet", *options]
        subprocess.run(command, check=True)
        return target

    def rows(self, name, lines, expected, *options):
        path = self.write(lines, *options)
        for reader, (rows, differ) in self.readers().items():
            found = rows(path)
            for number, (one, other) in enumerate(zip(found, expected)):
                for key in other:
                    if key not in differ and one.get(key) != other[key]:
                        self.faults.append(f"{reader}: {name}: row {number + 1}, {key}: found {one.get(key)!r}, expected {other[key]!r}")
            if len(found) != len(expected):
                self.faults.append(f"{reader}: {name}: found {len(found)} rows, expected {len(expected)}")
            self.count += 1

    def readers(self):
        return {name: reader for name, reader in READERS.items() if importlib.util.find_spec(name)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    formats = subprocess.run([arguments.regauge, "formats", "--json"], check=True, capture_output=True)
    if not any(one["name"] == "parquet" and one["read"] for one in json.loads(formats.stdout)):
        return print("parquet_check: skipped: this regauge was built without Parquet")
    missing = [name for name in READERS if not importlib.util.find_spec(name)]
    if missing:
        print(f"parquet_check: skipped: no {', '.join(missing)}")
    if len(missing) == len(READERS):
        return None
    with tempfile.TemporaryDirectory() as folder:
        check = Check(arguments.regauge.resolve(), pathlib.Path(folder))
        columns = [{name: pair[0] for name, pair in TYPES.items()}, {name: None for name in TYPES}]
        values = [{name: pair[1] for name, pair in TYPES.items()}, {name: None for name in TYPES}]
        check.rows("types", columns, values, "--unwrap")
        for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
            check.rows(codec, columns, values, "--unwrap", "--compress", codec)
        many = [{"n": n, "t": f"text {n % 9}", "l": list(range(n % 4))} for n in range(30_000)]
        check.rows("many", many, many)
        sparse = [{"a": 1}, {"b": [{"x": 1}]}, {}, {"a": None, "b": []}]
        check.rows("sparse", sparse, filled(sparse))
    for fault in check.faults[:20]:
        print(fault, file=sys.stderr)
    print(f"parquet_check: {check.count} files, {len(check.faults)} faults")
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main())
