#!/usr/bin/env python3
"""Checks the rooms of crates/regauge/src: no import runs to a room above, and no format imports another.

Usage: python3 tools/rooms.py [--list]

`--list` also prints how many imports run from each room to each. What is read are the paths that begin
with `crate::` in code that is no test; names that lib.rs re-exports count as the room they are from. A
method that is called on a value leaves no path, and is not seen.
"""

import collections
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).parent.parent / "crates/regauge/src"

# From the ground up: a room may use itself and those before it.
ROOMS = ["model", "policy", "bytes", "options", "codec", "convert", "sinks", "serde", "matrix"]
FORMATS = ["bson", "cbor", "json", "marc", "marshal", "msgpack", "pickle", "toml", "yaml"]
# MARC-in-JSON is JSON: it checks records, and leaves the bytes to JSON's reader and writer.
ALLOWED = [("codec/marc/json.rs", "json")]


def is_test(path):
    return "tests" in path.parts or re.search(r"(tests|suites|recorder)\.rs$", path.name)


def code(text):
    """The text without comments and without modules of tests."""
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"#\[cfg\(test\)\]\n(pub\(crate\) )?mod \w+ \{.*?\n\}", "", text, flags=re.S)


def expanded(path):
    """`a::{b, c::{d}}` as `a::b` and `a::c::d`, each as a list of names."""
    start = path.find("{")
    if start < 0:
        return [path.split(" as ")[0].strip().split("::")]
    prefix = [name for name in path[:start].strip().split("::") if name]
    items, depth = [""], 0
    for character in path[start + 1 : path.rindex("}")]:
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    return [prefix + rest for item in items if item.strip() for rest in expanded(item.strip())]


def paths(text):
    """Every path after `crate::`."""
    for match in re.finditer(r"\bcrate::([\w:]*)(\{[^;]*\}(?=;))?", text):
        yield from expanded(match[1] + (match[2] or ""))


def exports():
    """The names at the root of the crate, each with its path."""
    names = {}
    for path in re.findall(r"pub use (?:self::)?([^;]*);", code((SRC / "lib.rs").read_text())):
        names.update((name[-1], name) for name in expanded(path))
    return names


def main():
    exported, counts, faults = exports(), collections.Counter(), []
    for file in sorted(SRC.rglob("*.rs")):
        here = file.relative_to(SRC)
        if here.name == "lib.rs" or is_test(here):
            continue
        room = here.parts[0].removesuffix(".rs")
        for names in paths(code(file.read_text())):
            if names[0] not in ROOMS:
                names = exported.get(names[0], names[:1]) + names[1:]
            shown = "::".join(["crate", *names])
            if names[0] not in ROOMS:
                faults.append(f"{here}: {shown} is in no room that tools/rooms.py lists")
                continue
            counts[room, names[0]] += 1
            if ROOMS.index(names[0]) > ROOMS.index(room):
                faults.append(f"{here}: {shown} is above the room `{room}`")
            own, other = (list(here.parts) + [""])[1], (names + [""])[1]
            if (room, names[0]) == ("codec", "codec") and own in FORMATS and other in FORMATS:
                if own != other and (here.as_posix(), other) not in ALLOWED:
                    faults.append(f"{here}: {shown} is another format; move down what both need")
    if "--list" in sys.argv:
        for room in ROOMS:
            print(f"{room}: {', '.join(f'{to} {counts[room, to]}' for to in ROOMS if counts[room, to])}")
    print("\n".join(faults) or "rooms: no import runs upwards, and no format imports another")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
