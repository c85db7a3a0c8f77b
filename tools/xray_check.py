#!/usr/bin/env python3
"""Compares what `regauge xray` says of a generated cache with the cache's manifest.

    python3 tools/xray_check.py path/to/regauge FOLDER      FOLDER is what tools/caches_generate.py made

Prints the share of values that are named rightly, in all and by family, and what is not. Fails below 99%.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

WANTED = 0.99
# What the manifest calls text or binary, and xray by what it is.
TEXT = {"text", "html", "xml", "uuid", "jwt", "empty", "float", "integer", "json"}
BINARY = {"unknown", "png", "jpeg", "gif", "webp", "pdf", "zip", "hyperloglog", "igbinary", "snappy", "java", "sqlite",
          "encrypted"}
# Parts of hashes have a name; members have none, and are compared as a group.
NAMED = {"hash": "field", "list": "index"}


def place(kind, part):
    return None if kind not in NAMED else part


def said(line):
    """Returns where a line of xray is, and what it says."""
    part = line["part"] and line["part"].get(NAMED.get(line["kind"], ""))
    return ((line["database"], line["key"], place(line["kind"], part)),
            (tuple(line["envelopes"]), tuple(line["steps"]), line["codec"], tuple(line["classes"])))


def is_right(row, found):
    envelopes, steps, codec, _ = found
    wanted = row["codec"]
    if wanted == "text":
        is_codec = codec in TEXT
    elif wanted == "binary":
        is_codec = codec in BINARY
    elif wanted == "json":
        is_codec = codec in ("json", "ndjson")
    elif wanted in ("integer", "float"):
        is_codec = codec in ("integer", "float")
    else:
        is_codec = codec == wanted
    return is_codec and (row["envelope"] is None or row["envelope"] in envelopes)


def main(regauge, folder):
    found = defaultdict(list)
    with subprocess.Popen([regauge, "xray", folder / "dump.rdb", "--list"], stdout=subprocess.PIPE) as run:
        for line in run.stdout:
            at, what = said(json.loads(line))
            found[at].append(what)
    if run.returncode:
        sys.exit(f"xray ended with {run.returncode}")
    right, rows, wrong, names = Counter(), Counter(), Counter(), Counter()
    for line in (folder / "manifest.ndjson").open():
        row = json.loads(line)
        if row["kind"] == "stream":
            continue
        at = (row["database"], row["key"], place(row["kind"], row["part"]))
        candidates = found.get(at, [])
        match = next((one for one in candidates if is_right(row, one)), None)
        rows[row["family"]] += 1
        if match:
            candidates.remove(match)
            right[row["family"]] += 1
            names[tuple(row["names"]) == tuple(sorted(match[3]))] += bool(row["names"])
        else:
            instead = candidates[0][:3] if candidates else "nothing"
            wrong[(row["family"], row["envelope"], "+".join(row["steps"]), row["codec"], row.get("content"), str(instead))] += 1
    for family, count in rows.most_common():
        print(f"{right[family]:>8} of {count:>8}  {right[family] / count:8.2%}  {family}")
    total, all_right = rows.total(), right.total()
    for what, count in wrong.most_common(20):
        print(f"  not right {count:>6}: {what}")
    print(f"classes: {names[True]} of {names.total()} values name the same ones as the manifest")
    print(f"{all_right} of {total} values are named rightly: {all_right / total:.3%}")
    if all_right < WANTED * total:
        sys.exit(1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: xray_check.py path/to/regauge FOLDER")
    main(sys.argv[1], Path(sys.argv[2]))
