#!/usr/bin/env python3
"""Collects the effects of hostile documents in lab/safety/known.json, part of the binary.

    regauge measure FILE --safety only --json REPORT.json     # tests every installed library
    python3 tools/known_safety.py REPORT.json [REPORT.json ...]

Existing results stay, unless a report has newer ones for the same key. The key is that of
crates/regauge-measure/src/run/safety/known.rs.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent
TARGET = ROOT / "lab" / "safety" / "known.json"


def trials() -> str:
    text = (ROOT / "crates/regauge-measure/src/run/safety/mod.rs").read_text()
    return re.search(r"const TRIALS: u32 = (\d+);", text)[1]


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    known = json.loads(TARGET.read_text()) if TARGET.exists() else {}
    before = len(known)
    version = trials()
    for path in sys.argv[1:]:
        for row in json.loads(pathlib.Path(path).read_text())["rows"]:
            if row.get("safety"):
                runtime = ".".join(row["runtime_version"].split(".")[:2])
                known[f"{version} {runtime}: {row['contender']} {row['version']}"] = row["safety"]
    # One line each, so that diffs are readable.
    lines = (f"  {json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known))
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(known) - before} new results, {len(known)} in all")


main()
