#!/usr/bin/env python3
"""Checks the dependencies in the Cargo.lock of the workspace and of each binding: every licence is one that we can ship,
every source is the registry, and no crate of the core occurs in two versions.

    python3 tools/check_licences.py
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORKSPACES = [".", "bindings/python", "bindings/ruby/ext/regauge_native"]

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "bzip2-1.0.6", "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib",
}

# Peers that only the benchmarks link to, and that are never shipped. File-level copyleft does not
# matter there.
BENCHES_ONLY = {"alox-48", "alox-48-derive"}


def allowed(expression):
    """Evaluates an SPDX expression of ANDs and ORs against the list."""
    expression = expression.replace("/", " OR ")
    tokens = re.findall(r"\(|\)|AND|OR|[^\s()]+(?: WITH [^\s()]+)?", expression)

    def either():
        value = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            value = both() or value
        return value

    def both():
        value = term()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = term() and value
        return value

    def term():
        token = tokens.pop(0)
        if token == "(":
            value = either()
            tokens.pop(0)
            return value
        return token in ALLOWED

    return either()


def metadata_of(folder):
    """Returns what cargo says of a workspace."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    return json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT / folder).stdout)


def refused(packages):
    """Returns what may not be shipped."""
    problems = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        source = package["source"]
        if source and not source.startswith("registry+"):
            problems.append(f"{name} comes from {source}, not from the registry")
        licence = package["license"] or ""
        if package["name"] in BENCHES_ONLY and licence == "MPL-2.0":
            continue
        if not licence:
            problems.append(f"{name} names no licence")
        elif not allowed(licence):
            problems.append(f"{name} is under {licence}, which is not on the list")
    return problems


def main():
    metadata = metadata_of(".")
    packages = {package["id"]: package for folder in WORKSPACES for package in metadata_of(folder)["packages"]}
    problems = refused(packages.values())
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    core = next(id for id, name in names.items() if name == "regauge")
    reached, queue = set(), [core]
    while queue:
        node = nodes[queue.pop()]
        for dependency in node["deps"]:
            kinds = [kind["kind"] for kind in dependency["dep_kinds"]]
            if None in kinds and dependency["pkg"] not in reached:
                reached.add(dependency["pkg"])
                queue.append(dependency["pkg"])
    core_names = [names[id] for id in reached]
    for name in sorted(set(core_names)):
        if core_names.count(name) > 1:
            problems.append(f"the core depends on {name} in more than one version")
    for problem in problems:
        print(f"check_licences: {problem}", file=sys.stderr)
    print(f"check_licences: {len(packages)} packages, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
