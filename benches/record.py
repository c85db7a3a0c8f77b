"""Saves benchmark measurements for tools/figures.py.

A benchmark, in any language, appends JSON lines to the file named by REGAUGE_BENCH_JSON: the
samples of one route, or the versions of what took part. Without that variable it only prints.
"""

import json
import os


def _append(line):
    path = os.environ.get("REGAUGE_BENCH_JSON")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def record(table, case, route, samples, unit="s", size=0, **more):
    """Saves the samples of a route. The first route of a table and case is the baseline for the
    others; `size` is in bytes, or the number of values that one sample covers."""
    _append({"table": table, "case": case, "route": route, "unit": unit, "bytes": size,
             "samples": list(samples), **more})


def versions(**found):
    """Saves the versions of libraries and interpreters."""
    _append({"versions": found})
