# runtime: python
# name: Python
# suffix: py
# command: {data}/python/bin/python -B {runner} {adapter}
# command: python3 -B {runner} {adapter}
# windows command: python -B {runner} {adapter}
# environment: PYTHONHASHSEED=0
# needs: Python 3.7 or newer
# set up: always
# have: {program} -m ensurepip --version
# debian: python3 python3-venv
# step: make a virtual environment: {program} -m venv {data}/python
# step: install the pinned libraries into it: {data}/python/bin/python -m pip install --disable-pip-version-check --requirement {lab}/contenders/python/requirements.txt
"""Runs one Python contender for `regauge measure`.

    python3 python.py ADAPTER.py

Commands arrive on standard input, one JSON object per line; each is answered by one line of JSON on
the original standard output. `docs/measure.md` lists the commands. The parent measures memory and
enforces the time limits: this contains only what must happen inside the process, which is the work
and the clock around it.

If you add a command, add it to the other runners and to the native one too: all answer alike.
`PYTHONHASHSEED` fixes the order of hashed strings in every process and every run.
"""

import gc
import importlib.util
import json
import os
import platform
import sys
from itertools import repeat
from time import perf_counter_ns, process_time_ns

# A library that prints must not break the protocol: answers go to a private copy of standard
# output, and anything printed goes to standard error, which the parent keeps for reports.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)

# Imports must not search the folder of this file.
sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]


class Contender:
    """The adapter, and its data."""

    def __init__(self, path):
        spec = importlib.util.spec_from_file_location("regauge_contender", path)
        self.adapter = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.adapter)
        self.streams = hasattr(self.adapter, "decode_stream")
        self.data = b""
        self.documents = []
        self.objects = []

    def load(self, path, spans):
        """Reads the reference bytes; `spans` is a JSON list of start, end, start, end …"""
        self.objects = []
        with open(path, "rb") as file:
            self.data = file.read()
        if spans is None:
            self.documents = [self.data]
        else:
            with open(spans, "rb") as file:
                ends = json.load(file)
            self.documents = [
                self.data[start:end] for start, end in zip(ends[::2], ends[1::2])
            ]
        if not self.streams:
            self.data = b""

    def decoded(self):
        """Yields each object in turn, keeping none."""
        if self.streams:
            yield from self.adapter.decode_stream(self.data)
        else:
            decode = self.adapter.decode
            for document in self.documents:
                yield decode(document)

    def decode_all(self, times):
        if self.streams:
            decode = self.adapter.decode_stream
            for _ in repeat(None, times):
                for _record in decode(self.data):
                    pass
        else:
            decode = self.adapter.decode
            documents = self.documents
            for _ in repeat(None, times):
                for document in documents:
                    decode(document)

    def encode_all(self, times):
        objects = self.objects
        if self.streams:
            encode = self.adapter.encode_stream
            for _ in repeat(None, times):
                encode(objects)
        else:
            encode = self.adapter.encode
            for _ in repeat(None, times):
                for value in objects:
                    encode(value)


class CollectorClock:
    """Measures time in the cyclic collector. Hooks cost a little, so only some samples use them."""

    def __init__(self):
        self.spent_ns = 0
        self.started_ns = 0

    def __call__(self, phase, _info):
        if phase == "start":
            self.started_ns = perf_counter_ns()
        else:
            self.spent_ns += perf_counter_ns() - self.started_ns

    def __enter__(self):
        gc.callbacks.append(self)
        return self

    def __exit__(self, *_):
        gc.callbacks.remove(self)


def timed(iterator, spent):
    """Passes an iterator on and adds the time it takes to `spent[0]`."""
    while True:
        before = perf_counter_ns()
        value = next(iterator, timed)
        spent[0] += perf_counter_ns() - before
        if value is timed:
            return
        yield value


def check(contender, command):
    """Decodes the reference and writes the contender's result, one object at a time."""
    spent = [0]
    count = 0
    spans = []
    position = 0
    began = perf_counter_ns()
    objects = timed(contender.decoded(), spent)
    with open(command["out"], "wb") as out:
        if contender.streams:
            out.write(contender.adapter.encode_stream(objects))
        else:
            encode = contender.adapter.encode
            for count, value in enumerate(objects, 1):
                encoded = encode(value)
                out.write(encoded)
                spans += (position, position + len(encoded))
                position += len(encoded)
                if command["lines"]:
                    out.write(b"\n")
                    position += 1
    whole = perf_counter_ns() - began
    with open(command["out"] + ".spans", "w", encoding="ascii") as file:
        json.dump(spans, file)
    return {"documents": count, "decode_ns": spent[0], "encode_ns": whole - spent[0]}


def told(error):
    """An error in words; some libraries quote the whole document."""
    return f"{type(error).__name__}: {error}"[:500]


class RunnerError(Exception):
    """An error before the library had the data: it says nothing about the library."""


def plain_in(contender, document):
    """Returns a document for the contender's library."""
    from_plain = getattr(contender.adapter, "from_plain", lambda plain: plain)
    try:
        return from_plain(json.loads(document))
    except Exception as error:
        raise RunnerError(told(error)) from error


def prepare(contender, command):
    """Writes reference bytes in the contender's own format, from JSON documents."""
    contender.load(command["path"], command["spans"])
    spans = []
    position = 0
    with open(command["out"], "wb") as out:
        for document in contender.documents:
            encoded = contender.adapter.encode(plain_in(contender, document))
            out.write(encoded)
            spans += (position, position + len(encoded))
            position += len(encoded)
    with open(command["out"] + ".spans", "w", encoding="ascii") as file:
        json.dump(spans, file)
    return {"documents": len(spans) // 2, "bytes": position}


def reveal(contender, command):
    """Converts bytes in the contender's own format into JSON lines, which regauge can read."""
    to_plain = getattr(contender.adapter, "to_plain", lambda plain: plain)
    contender.load(command["path"], command["spans"])
    with open(command["out"], "wb") as out:
        for value in contender.decoded():
            out.write(json.dumps(to_plain(value), ensure_ascii=False).encode("utf-8"))
            out.write(b"\n")
    return {"documents": len(contender.documents)}


def sift(contender, command):
    """Handles each record separately, so that a failing one does not hide the others: it leaves an
    empty span. A record of a stream gets the bytes before the first and after the last (XML)."""
    adapter = contender.adapter
    from_plain = getattr(adapter, "from_plain", lambda plain: plain)
    to_plain = getattr(adapter, "to_plain", lambda plain: plain)
    with open(command["path"], "rb") as file:
        data = file.read()
    with open(command["spans"], "rb") as file:
        ends = json.load(file)
    head, tail = data[: ends[0]], data[ends[-1] :]

    def again(piece):
        if command["json"]:
            own = adapter.encode(from_plain(json.loads(piece)))
            return json.dumps(to_plain(adapter.decode(own)), ensure_ascii=False).encode("utf-8")
        if contender.streams:
            return adapter.encode_stream(list(adapter.decode_stream(head + piece + tail)))
        return adapter.encode(adapter.decode(piece))

    spans = []
    position = 0
    with open(command["out"], "wb") as out:
        for start, end in zip(ends[::2], ends[1::2]):
            try:
                encoded = again(data[start:end])
            except Exception:
                encoded = b""
            out.write(encoded)
            spans += (position, position + len(encoded))
            position += len(encoded)
    with open(command["out"] + ".spans", "w", encoding="ascii") as file:
        json.dump(spans, file)
    return {"documents": len(spans) // 2}


def sample(contender, command):
    """Times `iterations` passes over the loaded data, decoding or encoding."""
    work = contender.decode_all if command["op"] == "decode" else contender.encode_all
    iterations = command["iterations"]
    if command["gc"]:
        with CollectorClock() as collector:
            began = perf_counter_ns()
            work(iterations)
            return {"ns": perf_counter_ns() - began, "gc_ns": collector.spent_ns}
    count = collections()
    cpu = process_time_ns()
    began = perf_counter_ns()
    work(iterations)
    spent = perf_counter_ns() - began
    cpu = process_time_ns() - cpu
    return {"ns": spent, "cpu_ns": cpu, "gc_count": collections() - count}


def collections():
    """Counts collections of all generations since the start. (CPython does not count allocations:
    the blocks it reports are those in use.)"""
    return sum(generation["collections"] for generation in gc.get_stats())


def answer(contender, command):
    """Handles one command with one answer."""
    name = command["do"]
    if name == "load":
        contender.load(command["path"], command["spans"])
        return {"documents": len(contender.documents)}
    if name == "check":
        return check(contender, command)
    if name == "prepare":
        return prepare(contender, command)
    if name == "reveal":
        return reveal(contender, command)
    if name == "sift":
        return sift(contender, command)
    if name == "hold":
        contender.objects = list(contender.decoded())
        return {"documents": len(contender.objects)}
    if name == "sample":
        return sample(contender, command)
    raise ValueError(f"the runner knows no command {name!r}")


def say(message):
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def main():
    runtime = f"{platform.python_implementation()} {platform.python_version()}"
    try:
        contender = Contender(sys.argv[1])
        say(
            {
                "ok": True,
                "runtime": runtime,
                "version": str(contender.adapter.version()),
                "gc": f"thresholds {gc.get_threshold()}",
            }
        )
    except ImportError as error:
        say({"ok": False, "missing": str(error), "runtime": runtime})
        return
    except Exception as error:
        say({"ok": False, "error": told(error), "runtime": runtime})
        return
    for line in sys.stdin.buffer:
        command = json.loads(line)
        if command["do"] == "exit":
            return
        try:
            say({"ok": True, **answer(contender, command)})
        except RunnerError as error:
            say({"ok": False, "error": str(error), "by": "runner"})
        except Exception as error:
            say({"ok": False, "error": told(error)})


main()
