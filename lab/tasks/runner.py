"""Shared by the Python programs of tasks: the protocol of docs/measure.md, and the clock.

A program defines its cases and calls `serve`. A case has a name, a `check` that does the work once
and returns figures (or raises Wrong), and a `work` that takes the number of iterations. With steps,
`work` calls `mark` at each.
"""
import gc
import json
import os
import platform
import sys
import time

CASES = {}
ABSENT = []
MARKS = []


class Wrong(Exception):
    """The result differs from the input."""


def define(name, check, work, version=""):
    CASES[name] = (check, work, version)


def absent(name, install="", why=None):
    """A case for which this machine lacks something, or the full reason if nothing can be installed."""
    ABSENT.append({"name": name, "install": install, "why": why})


def mark():
    """Marks the end of a step of a line."""
    MARKS.append(time.perf_counter_ns())


def steps(count, step):
    """Yields the ranges of each step."""
    return [range(start, min(start + step, count)) for start in range(0, count, step)]


def attempt(name):
    check = CASES[name][0]
    try:
        return {"figures": check() or {}}
    except Wrong as wrong:
        return {"wrong": str(wrong)}


def work(name, iterations):
    call = CASES[name][1]
    MARKS.clear()
    # Garbage of another case must not be attributed to this one.
    gc.collect()
    cpu_began = time.process_time_ns()
    began = time.perf_counter_ns()
    call(iterations)
    spent = time.perf_counter_ns() - began
    cpu = time.process_time_ns() - cpu_began
    return {"ns": spent, "cpu_ns": cpu, "marks": [at - began for at in MARKS]}


def answer(command, ready):
    what = command["do"]
    if what == "ready":
        ready(command)
        cases = [{"name": name, "version": case[2]} for name, case in CASES.items()]
        return {"cases": cases, "absent": ABSENT}
    if what == "try":
        return attempt(command["case"])
    if what == "work":
        return work(command["case"], command["iterations"])
    raise ValueError(f"the program knows no command {what!r}")


def serve(ready, version=""):
    """Answers commands until told to exit."""
    # A library that prints must not break the protocol.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def say(message):
        answers.write(json.dumps(message) + "\n")
        answers.flush()

    runtime = f"{platform.python_implementation()} {platform.python_version()}"
    say({"ok": True, "runtime": runtime, "version": version,
         "gc": "on, run before each sample"})
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "exit":
            break
        try:
            say({"ok": True, **answer(command, ready)})
        except Exception as error:
            say({"ok": False, "error": f"{type(error).__name__}: {error}"})
