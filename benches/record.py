"""Keeps what a benchmark measured, for tools/figures.py.

A benchmark, in whichever language, appends lines of JSON to the file that REGAUGE_BENCH_JSON names:
what was sampled of one route, or the versions of what took part. Without that variable it only prints.
"""

import json
import os


def _append(line):
    path = os.environ.get("REGAUGE_BENCH_JSON")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def record(table, case, route, samples, unit="s", size=0, **more):
    """Keeps the samples of a route. The first route of a table and case is what the others are
    compared with; `size` is in bytes, or how many values one sample stands for."""
    _append({"table": table, "case": case, "route": route, "unit": unit, "bytes": size,
             "samples": list(samples), **more})


def versions(**found):
    """Keeps the versions of libraries and interpreters."""
    _append({"versions": found})
