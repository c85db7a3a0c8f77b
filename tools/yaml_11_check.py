#!/usr/bin/env python3
"""Compares how `--yaml-schema 1.1` reads plain scalars, merge keys and lines with PyYAML's SafeLoader.

    python3 tools/yaml_11_check.py [--regauge target/debug/regauge] [--count 20000] [FILE.yaml ...]

Generates scalars from the parts of numbers, dates and words, and documents with line breaks of
every kind, and asks both for their values; files given as arguments are also read by both. Exits
with 1 if they differ, and with a note if PyYAML is missing. Intended differences: an impossible
date is text here and an error there, and fractional digits beyond the sixth are kept here.
"""

import argparse
import base64
import datetime
import json
import math
import random
import subprocess
import sys

PIECES = ["0", "1", "7", "8", "12", "59", "60", "2001", "-", "+", ".", "_", ":", "e", "E", "x", "b", "o",
          "0x", "0b", "T", "t", "Z", " ", "2001-12-14", "02:59:43", "yes", "No", "on", "Off", "true",
          "null", "~", ".inf", ".NaN", "a", "f", "y", "n", "=", "<", "1e+3", "5e-2", "09", "14", "12:30"]


def unwrap(value):
    """Returns the Python value of one in the wrapped notation."""
    if isinstance(value, list):
        return [unwrap(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name == "$numberDouble":
            return float(inner.replace("Infinity", "inf"))
        if name == "$localDate":
            return datetime.date.fromisoformat(inner)
        if name in ("$localDateTime", "$offsetDateTime", "$time"):
            return moment(inner)
        if name == "$binary":
            return base64.b64decode(inner["base64"])
        if name == "$integer":
            return int(inner)
        if name == "$literal":
            return {key: unwrap(item) for key, item in inner.items()}
    return {key_of(key): unwrap(item) for key, item in value.items()}


def moment(text):
    """Returns a date and time, its fraction cut to what Python holds."""
    head, dot, tail = text.partition(".")
    if dot:
        digits = len(tail) - len(tail.lstrip("0123456789"))
        text = f"{head}.{tail[:digits][:6]:0<6}{tail[digits:]}"
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def key_of(key):
    if not key.startswith("$key:"):
        return key
    inner = unwrap(json.loads(key.removeprefix("$key:")))
    return inner if inner.__hash__ else str(inner)


def same(ours, theirs):
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, float):
        return ours == theirs or (math.isnan(ours) and math.isnan(theirs)) or math.isclose(
            ours, theirs, rel_tol=1e-15)
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key]) for key in ours)
    return ours == theirs


BREAKS = ["\n", "\n", "\r\n", "\r", "\x85", "\u2028", "\u2029"]


def lines_document(source):
    """Returns a document with line breaks of every kind."""
    some = source.choice

    def lines(trail):
        """Returns indented lines, and empty ones."""
        words = ("".join(source.choices(["a", " ", "é", "-"], k=3)) for _ in range(source.randint(1, 5)))
        return "".join((f"  c{word}" + some(["", trail]) if some([True, True, False]) else "") + some(BREAKS)
                       for word in words)

    def value():
        style = source.randrange(6)
        if style == 0:
            return "x" + some(["", " "]) + some(BREAKS) + lines(" ")
        if style == 1:
            return "'x" + some(BREAKS) + lines(" ") + "  y'" + some(BREAKS)
        if style == 2:
            return '"x' + some(["", "\\"]) + some(BREAKS) + lines(some([" ", "\\"])) + '  y"' + some(BREAKS)
        if style == 3:
            return some("|>") + some(["", "+", "-"]) + some(BREAKS) + "  y" + some(BREAKS) + lines(" ")
        if style == 4:
            return "# comment" + some(BREAKS) + "  - x" + some(BREAKS) + "  - y" + some(BREAKS)
        return "[x," + some(BREAKS) + "  y" + some(BREAKS) + "  z]" + some(BREAKS)

    return "".join(f"k{index}: {value()}" for index in range(source.randint(1, 4)))


def compare_lines(regauge, yaml, source, count):
    """Returns the number of documents, and (text, ours, theirs) where PyYAML reads differently."""
    cases = []
    while len(cases) < count:
        text = lines_document(source)
        try:
            cases.append((text, yaml.safe_load(text)))
        except yaml.YAMLError:
            continue
    ours = read(regauge, "".join(f"---\n{text}" for text, _ in cases), "--documents", "join")
    return [(text, mine, theirs) for (text, theirs), mine in zip(cases, ours) if not same(mine, theirs)]


def read(regauge, text, *flags):
    command = [regauge, "convert", "-", "-", "--from", "yaml", "--to", "json", "--on-loss", "wrap",
               "--yaml-schema", "1.1", *flags]
    run = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True)
    return unwrap(json.loads(run.stdout))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default="target/debug/regauge")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    try:
        import yaml
    except ImportError:
        print("yaml_11_check: skipped, PyYAML is missing")
        return 0
    source = random.Random(arguments.seed)
    texts = list(dict.fromkeys(
        "".join(source.choices(PIECES, k=source.randint(1, 5))).strip() for _ in range(arguments.count)))
    cases = []
    for text in texts:
        try:
            value = yaml.safe_load(f"- {text}\n")
        except (yaml.YAMLError, ValueError, OverflowError, KeyError):
            continue
        if isinstance(value, list) and value in ([math.inf], [-math.inf]) and "inf" not in text.lower():
            # Beyond the range of a double, which we refuse.
            continue
        if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], (list, dict)):
            cases.append((text, value[0]))
    ours = read(arguments.regauge, "".join(f"- {text}\n" for text, _ in cases))
    wrong = [(text, mine, theirs) for (text, theirs), mine in zip(cases, ours) if not same(mine, theirs)]
    count = arguments.count // 10
    wrong += compare_lines(arguments.regauge, yaml, source, count)
    for text, mine, theirs in wrong[:20]:
        print(f"{text!r}: we read {mine!r}, PyYAML {theirs!r}")
    for file in arguments.files:
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        if not same(read(arguments.regauge, text), yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
            wrong.append(file)
            print(f"{file}: read differently")
    print(f"yaml_11_check: {len(cases)} scalars, {count} documents and {len(arguments.files)} files, {len(wrong)} differ")
    return 1 if wrong or len(cases) < len(texts) / 4 else 0


if __name__ == "__main__":
    sys.exit(main())
