#!/usr/bin/env python3
"""Compares regauge with its peers on real documents, in one run.

    python3 bindings/python/benches/compare.py [--rounds 15] [--only json,msgpack,…]

Every peer's answer is compared before it is timed. A round runs each contender three times in turn;
a row has the ratio of the medians of thread CPU time, peer to regauge: above 1, regauge is faster.
Peers that are not installed are skipped. The documents are those that `make data` fetches.
"""

import argparse
import importlib
import importlib.metadata
import io
import json
import os
import pathlib
import pickle
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import regauge

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "benches"))

from record import record, versions  # noqa: E402

DATA = ROOT / "build" / "data"
DOCUMENTS = ["twitter", "canada", "citm_catalog", "github_events", "senators-48k"]
# The minimum ratio.
GOALS = {
    "json loads": 1.1, "json dumps": 1.0, "msgpack loads": 1.15, "msgpack dumps": 1.1,
    "cbor loads": 2.5, "cbor dumps": 8, "bson loads": 1.8, "bson dumps": 3,
    "yaml 1.1 loads": 40, "yaml loads": 40, "yaml dumps": 25, "pickle loads": 1 / 1.15,
    "marshal loads": 100, "marc read": 1.2, "marc touch": 5, "marc write": 1.2,
    "marcxml read": 3, "marcxml touch": 3, "marcxml write": 3,
}
used = {}


def peer(module, distribution=None):
    """Returns a peer's module, or None."""
    try:
        found = importlib.import_module(module)
    except ImportError:
        return None
    used[distribution or module] = importlib.metadata.version(distribution or module)
    return found


def time_once(function):
    """Returns nanoseconds of this thread's CPU time; the result is dropped outside the timing."""
    before = time.thread_time_ns()
    result = function()
    after = time.thread_time_ns()
    del result
    return after - before


def race(row, document, ours, peers, rounds, goal=None):
    """Prints a row."""
    peers = {name: one for name, one in peers.items() if one is not None}
    if not peers:
        return
    contenders = {"regauge": ours, **peers}
    times = {name: [] for name in contenders}
    for function in contenders.values():
        function()
    for _ in range(rounds):
        for name, function in contenders.items():
            times[name] += [time_once(function) for _ in range(3)]
    median = {name: statistics.median(taken) for name, taken in times.items()}
    mine = median["regauge"]
    ratios = {name: median[name] / mine for name in peers}
    goal = goal or GOALS[row]
    for name, taken in times.items():
        record(row, document, name, [statistics.median(taken[at:at + 3]) for at in range(0, len(taken), 3)],
               unit="ns", goal=round(goal, 2))
    verdict = "" if min(ratios.values()) >= goal else "  short"
    shown = "  ".join(f"{name} {ratio:.2f}x" for name, ratio in ratios.items())
    print(f"{row:16} {document:14} {mine / 1000:9.0f} us  {shown}  (goal {goal:.2f}x){verdict}", flush=True)


def same(one, other, what):
    """Asserts that the answers agree."""
    if one != other:
        sys.exit(f"{what}: regauge and its peer disagree")


def formats(wanted, rounds):
    orjson, ormsgpack, msgspec = peer("orjson"), peer("ormsgpack"), peer("msgspec")
    cbor2, bson, yaml = peer("cbor2"), peer("bson", "pymongo"), peer("yaml", "PyYAML")
    # Python 3.12 and later.
    ruby, rocks = peer("rubymarshal"), peer("yamlrocks")
    for name in DOCUMENTS:
        raw = (DATA / "json" / f"{name}.json").read_bytes()
        value = json.loads(raw)
        wrapped = value if isinstance(value, dict) else {"all": value}
        if "json" in wanted and orjson:
            same(regauge.json.loads(raw), value, "json")
            same(orjson.loads(regauge.json.dumps(value)), value, "json")
            race("json loads", name, lambda: regauge.json.loads(raw),
                 {"orjson": lambda: orjson.loads(raw)}, rounds)
            race("json dumps", name, lambda: regauge.json.dumps(value),
                 {"orjson": lambda: orjson.dumps(value)}, rounds)
        if "msgpack" in wanted and ormsgpack and msgspec:
            packed = ormsgpack.packb(value)
            same(regauge.msgpack.loads(packed), value, "msgpack")
            same(regauge.msgpack.dumps(value), packed, "msgpack")
            race("msgpack loads", name, lambda: regauge.msgpack.loads(packed),
                 {"ormsgpack": lambda: ormsgpack.unpackb(packed),
                  "msgspec": lambda: msgspec.msgpack.decode(packed)}, rounds)
            race("msgpack dumps", name, lambda: regauge.msgpack.dumps(value),
                 {"ormsgpack": lambda: ormsgpack.packb(value),
                  "msgspec": lambda: msgspec.msgpack.encode(value)}, rounds)
        if "cbor" in wanted and cbor2:
            packed = cbor2.dumps(value)
            same(regauge.cbor.loads(packed), value, "cbor")
            same(cbor2.loads(regauge.cbor.dumps(value)), value, "cbor")
            race("cbor loads", name, lambda: regauge.cbor.loads(packed),
                 {"cbor2": lambda: cbor2.loads(packed)}, rounds // 2)
            race("cbor dumps", name, lambda: regauge.cbor.dumps(value),
                 {"cbor2": lambda: cbor2.dumps(value)}, rounds // 2)
        if "bson" in wanted and bson:
            packed = bson.encode(wrapped)
            same(regauge.bson.loads(packed), wrapped, "bson")
            same(bson.decode(regauge.bson.dumps(wrapped)), wrapped, "bson")
            race("bson loads", name, lambda: regauge.bson.loads(packed),
                 {"pymongo": lambda: bson.decode(packed)}, rounds)
            race("bson dumps", name, lambda: regauge.bson.dumps(wrapped),
                 {"pymongo": lambda: bson.encode(wrapped)}, rounds)
        if "pickle" in wanted:
            packed = pickle.dumps(value, 5)
            same(regauge.pickle.loads(packed), value, "pickle")
            race("pickle loads", name, lambda: regauge.pickle.loads(packed),
                 {"pickle": lambda: pickle.loads(packed)}, rounds)
        # PyYAML takes a hundred times as long.
        is_small = name in ("github_events", "senators-48k", "twitter")
        if "yaml" in wanted and (rocks or (yaml and is_small)):
            text = regauge.yaml.dumps(value)
            same(regauge.yaml.loads(text), value, "yaml")
            loads, dumps, few = {}, {}, rounds
            if rocks:
                same(rocks.loads(text), value, "yaml")
                loads["yamlrocks"] = lambda: rocks.loads(text)
                dumps["yamlrocks"] = lambda: rocks.dumps(value)
            if yaml and is_small:
                few = 3 if name == "twitter" else 5
                same(yaml.load(text, yaml.CSafeLoader), value, "yaml")
                loads["PyYAML C"] = lambda: yaml.load(text, yaml.CSafeLoader)
                dumps["PyYAML C"] = lambda: yaml.dump(value, Dumper=yaml.CSafeDumper)
                race("yaml 1.1 loads", name, lambda: regauge.yaml.loads(text, schema="1.1"),
                     {"PyYAML C": loads["PyYAML C"]}, few)
            race("yaml loads", name, lambda: regauge.yaml.loads(text), loads, few, goal=2 if rocks else None)
            race("yaml dumps", name, lambda: regauge.yaml.dumps(value), dumps, few, goal=1.5 if rocks else None)
        if "marshal" in wanted and ruby and name in ("github_events", "senators-48k"):
            from rubymarshal.reader import loads

            packed = regauge.marshal.dumps(value)
            same(regauge.marshal.loads(packed), value, "marshal")
            race("marshal loads", name, lambda: regauge.marshal.loads(packed),
                 {"rubymarshal": lambda: loads(packed)}, 3)


def records():
    """Returns distinct records of the data, with their bytes, in UTF-8."""
    seen, chunks = set(), []
    for path in sorted((DATA / "marc" / "binary").rglob("*")):
        if not path.is_file():
            continue
        data, at = path.read_bytes(), 0
        while data[at:at + 5].isdigit():
            chunk = data[at:at + int(data[at:at + 5])]
            if len(chunk) < 26 or chunk[-1] != 0x1D:
                break
            if chunk[9:10] == b"a" and chunk not in seen:
                seen.add(chunk)
                chunks.append(chunk)
            at += len(chunk)
    return chunks


def touch(reader, peer_names):
    """Reads every subfield."""
    count = 0
    for record in reader:
        if record is None:
            continue
        for field in record.fields() if peer_names else record.fields:
            for subfield in field.subfields() if peer_names else field.subfields:
                subfield.code, subfield.value
                count += 1
    return count


def marc(rounds):
    mrrc = peer("mrrc")
    if not mrrc:
        return
    from regauge.marc import MARCReader, MARCWriter, XMLReader, XMLWriter

    chunks = records()[:4000]
    data = b"".join(chunks)
    name = f"{len(chunks)} records"
    few = max(3, rounds // 5)
    race("marc read", name, lambda: sum(1 for _ in MARCReader(data)),
         {"mrrc": lambda: sum(1 for _ in mrrc.MARCReader(io.BytesIO(data)))}, few)
    race("marc touch", name, lambda: touch(MARCReader(data), False),
         {"mrrc": lambda: touch(mrrc.MARCReader(io.BytesIO(data)), True)}, few)
    mine = list(MARCReader(data))
    theirs = list(mrrc.MARCReader(io.BytesIO(data)))

    def write(writer, all_of_them):
        for record in all_of_them:
            writer.write(record)

    race("marc write", name, lambda: write(MARCWriter(io.BytesIO()), mine),
         {"mrrc": lambda: write(mrrc.MARCWriter(io.BytesIO()), theirs)}, few)
    for record in mine:
        record.fields
        record.leader.encoding_level = record.leader.encoding_level
    race("marc write", "fields touched", lambda: write(MARCWriter(io.BytesIO()), mine),
         {"mrrc": lambda: write(mrrc.MARCWriter(io.BytesIO()), theirs)}, few)
    kept = sum(MARCReader(chunk).__next__().as_marc() == chunk for chunk in chunks)
    print(f"byte-identical: {kept} of {len(chunks)} records")
    out = io.BytesIO()
    writer = XMLWriter(out)
    write(writer, mine[:1000])
    writer.close(close_fh=False)
    xml = out.getvalue()
    race("marcxml write", "1000 records", lambda: write(XMLWriter(io.BytesIO()), mine[:1000]),
         {"mrrc": lambda: [mrrc.record_to_xml(record) for record in theirs[:1000]]}, few)
    text = xml.decode()
    race("marcxml read", "1000 records", lambda: sum(1 for _ in XMLReader(xml)),
         {"mrrc": lambda: mrrc.xml_to_records(text)}, few)
    same(touch(XMLReader(xml), False), touch(mrrc.xml_to_records(text), True), "marcxml")
    race("marcxml touch", "1000 records", lambda: touch(XMLReader(xml), False),
         {"mrrc": lambda: touch(mrrc.xml_to_records(text), True)}, few)


# Loads a file and prints its peak resident memory. Uses the process's own high-water mark: that of
# getrusage starts from the memory of the parent process.
LOAD = """
import re, sys
{imports}
with open(sys.argv[1], "rb") as file:
    data = file.read()
value = {load}(data)
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


def memory():
    """Measures the peak memory of a process that loads 100 copies of twitter.json in one array."""
    if not os.path.exists("/proc/self/status"):
        return
    one = (DATA / "json" / "twitter.json").read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "array.json"
        path.write_bytes(b"[" + b",".join([one] * 100) + b"]")
        routes = {"regauge": ("import regauge", "regauge.json.loads")}
        if peer("orjson"):
            routes["orjson"] = ("import orjson", "orjson.loads")
        for name, (imports, load) in routes.items():
            program = LOAD.format(imports=imports, load=load)
            said = subprocess.run([sys.executable, "-c", program, path], check=True, text=True,
                                  stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
            megabytes = int(said.stdout) / 1000
            record("memory", "100 copies of twitter.json", name, [megabytes], unit="MB")
            print(f"memory           100 twitter.json {name} {megabytes:.0f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="json,msgpack,cbor,bson,pickle,yaml,marshal,marc,memory")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        sys.exit("no data: `make data` gets it")
    wanted = arguments.only.split(",")
    formats(wanted, arguments.rounds)
    if "marc" in wanted:
        marc(arguments.rounds)
    if "memory" in wanted:
        memory()
    versions(CPython=platform.python_version(), **used)
    shown = ", ".join(f"{name} {version}" for name, version in sorted(used.items()))
    print(f"CPython {platform.python_version()}; regauge {regauge.__version__}; {shown}")


if __name__ == "__main__":
    main()
