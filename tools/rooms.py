#!/usr/bin/env python3
"""Checks the rooms of the crates in `CRATES`: no import runs to a room above, and in the library no format
imports another. The library shows at most `PUBLIC_MAX` modules.

Usage: python3 tools/rooms.py [--list]

`--list` also prints how many imports run from each room to each, and which modules import each other in a
circle. What is read are the paths that begin
with `crate::` in code that is no test; names that lib.rs re-exports count as the room they are from. A
method that is called on a value leaves no path, and is not seen.
"""

import collections
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent.parent / "crates"

# The rooms of each crate, from the ground up: a room may use itself and those before it.
CRATES = {
    "regauge": ["model", "policy", "bytes", "options", "codec", "convert", "sinks", "envelope", "edit", "serde", "matrix"],
    "regauge-measure": ["model", "plan", "run", "judge", "measure", "task"],
}
FORMATS = ["bson", "cbor", "csv", "json", "marc", "marshal", "msgpack", "pickle", "toml", "yaml"]
# MARC-in-JSON is JSON: it checks records, and leaves the bytes to JSON's reader and writer.
ALLOWED = [("codec/marc/json.rs", "json")]
# The formats, and the rooms that users need; the others are private or hidden.
PUBLIC_MAX = 15


def is_test(path):
    return "tests" in path.parts or re.search(r"(tests|suites|recorder|conformance|small)\.rs$", path.name)


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


def exports(src):
    """The names at the root of the crate, each with its path."""
    names = {}
    for path in re.findall(r"pub use (?:self::)?([^;]*);", code((src / "lib.rs").read_text())):
        names.update((name[-2] if name[-1] == "self" else name[-1], name) for name in expanded(path))
    return names


def imports(crate):
    """Every import as its file, the room and module of that file, and the names of its path."""
    src, rooms = FOLDER / crate / "src", CRATES[crate]
    exported = exports(src)
    for file in sorted(src.rglob("*.rs")):
        here = file.relative_to(src)
        if here.name == "lib.rs" or here.parts[0] == "bin" or is_test(here):
            continue
        own = [part.removesuffix(".rs") for part in here.parts if part != "mod.rs"]
        for names in paths(code(file.read_text())):
            if names[0] not in rooms:
                names = exported.get(names[0], names[:1]) + names[1:]
            yield here, own, names


def circles(edges):
    """The sets of modules that reach each other, the largest first."""

    def reached(module):
        seen, due = set(), [module]
        while due:
            for other in edges.get(due.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    due.append(other)
        return seen

    reach = {module: reached(module) for module in edges}
    together = {
        frozenset(two for two in reach[one] if one in reach.get(two, ())) for one in edges if one in reach[one]
    }
    return sorted((sorted(one) for one in together if len(one) > 1), key=len, reverse=True)


def check(crate):
    """The faults of a crate, how many imports run from each room to each, and its circles."""
    rooms, counts, faults = CRATES[crate], collections.Counter(), []
    edges = collections.defaultdict(set)
    for here, own, names in imports(crate):
        room, shown = own[0], "::".join(["crate", *names])
        if names[0] not in rooms:
            faults.append(f"{crate}: {here}: {shown} is in no room that tools/rooms.py lists")
            continue
        counts[room, names[0]] += 1
        edges["/".join(own[:2])].add("/".join(names[:2]))
        if rooms.index(names[0]) > rooms.index(room):
            faults.append(f"{crate}: {here}: {shown} is above the room `{room}`")
        this, other = (list(here.parts) + [""])[1], (names + [""])[1]
        if (crate, room, names[0]) == ("regauge", "codec", "codec") and this in FORMATS and other in FORMATS:
            if this != other and (here.as_posix(), other) not in ALLOWED:
                faults.append(f"{crate}: {here}: {shown} is another format; move down what both need")
    modules = {module: {other for other in edges[module] if other in edges and other != module} for module in edges}
    return faults, counts, circles(modules)


def is_module(names):
    """Returns whether a path is that of a module, and not of a type or a function."""
    path = FOLDER.joinpath("regauge/src", *names)
    return path.is_dir() or path.with_suffix(".rs").is_file()


def public():
    """Returns the modules that the documentation of the library lists at its root."""
    lines, found = (FOLDER / "regauge/src/lib.rs").read_text().splitlines(), []
    for before, line in zip(lines, lines[1:]):
        if line.startswith("pub mod ") and before != "#[doc(hidden)]":
            found += expanded(line[len("pub mod ") :].rstrip(";"))
        elif line.startswith("pub use ") and before == "#[doc(inline)]":
            found += filter(is_module, expanded(line[len("pub use ") :].rstrip(";")))
    return [names[-1] for names in found]


def main():
    faults = []
    for crate, rooms in CRATES.items():
        found, counts, round_about = check(crate)
        faults += found
        if "--list" in sys.argv:
            print(f"{crate}:")
            for room in rooms:
                print(f"  {room}: {', '.join(f'{to} {counts[room, to]}' for to in rooms if counts[room, to])}")
            for circle in round_about:
                print(f"  in a circle: {', '.join(circle)}")
    shown = public()
    if len(shown) > PUBLIC_MAX:
        faults.append(f"regauge: {len(shown)} public modules, expected at most {PUBLIC_MAX}: {', '.join(sorted(shown))}")
    print("\n".join(faults) or "rooms: no import runs upwards, and no format imports another")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
