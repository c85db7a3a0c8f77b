#!/usr/bin/env python3
"""Holds every copy of two versions against the workspace's Cargo.toml: regauge's own, and the oldest
Rust that compiles it; and the packages that the bindings lock against those of the workspace.

    python3 tools/version.py check          what `make lint` runs
    python3 tools/version.py check v1.2.3   before a release: also that this is the version's tag
    python3 tools/version.py write          after changing Cargo.toml: writes both into every copy

The copies are in files that cannot read Cargo.toml: Cargo has no variable for the version of a path
dependency, the bindings are workspaces of their own, and an installed gem has no workspace at all.
The wheel, the gem and the programs take theirs from these. Measured results name the version that was
measured, so they are no copies.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = "Cargo.toml"
OWN = r'(?m)^version = "(.*?)"'
RUST = r'(?m)^rust-version = "(.*?)"'
LOCKED = r'\nname = "regauge[a-z_-]*"\nversion = "(.*?)"'
# Each pattern has to match at least once, and its group is the version.
OWN_COPIES = [
    (SOURCE, r'(?m)^regauge.* version = "(.*?)"'),
    ("Cargo.lock", LOCKED),
    ("bindings/python/Cargo.toml", OWN),
    ("bindings/python/Cargo.lock", LOCKED),
    ("bindings/ruby/lib/regauge/version.rb", r'VERSION = "(.*?)"'),
    ("bindings/ruby/ext/regauge_native/Cargo.toml", OWN),
    ("bindings/ruby/ext/regauge_native/Cargo.lock", LOCKED),
]
RUST_COPIES = [
    ("bindings/python/Cargo.toml", RUST),
    ("bindings/ruby/ext/regauge_native/Cargo.toml", RUST),
    ("bindings/ruby/ext/regauge_native/extconf.rb", r"Rust ([\d.]*\d)"),
    (".ci/run", r"Rust ([\d.]*\d)"),
    ("README.md", r"Rust ([\d.]*\d)"),
]


def differing(copies, version):
    """Returns what differs from a version, as (path, match); a match of None: it is not there."""
    found = []
    for path, pattern in copies:
        matches = list(re.finditer(pattern, (ROOT / path).read_text()))
        found += [(path, match) for match in matches or [None] if match is None or match[1] != version]
    return found


def check(own, rust):
    """Returns one line for each copy that differs."""
    problems = []
    for copies, version in [(OWN_COPIES, own), (RUST_COPIES, rust)]:
        for path, match in differing(copies, version):
            line = "" if match is None else f":{match.string.count(chr(10), 0, match.start(1)) + 1}"
            what = "no version" if match is None else match[1]
            problems.append(f"{path}{line}: found {what}, expected {version}, from {SOURCE}")
    for manifest in sorted([*ROOT.glob("crates/*/Cargo.toml"), ROOT / "benches/Cargo.toml"]):
        for name in ["version", "rust-version"]:
            if f"\n{name}.workspace = true\n" not in manifest.read_text():
                problems.append(f"{manifest.relative_to(ROOT)}: expected {name}.workspace = true")
    problems += drifted()
    top = re.search(r"(?m)^## (\S+)", (ROOT / "CHANGELOG.md").read_text())
    if top is None or top[1] not in ("Unreleased", own):
        problems.append(f"CHANGELOG.md: found {top and top[1]} at the top, expected Unreleased or {own}")
    return problems


def locked(path):
    """Returns the versions of a lock file's packages, by name and what Cargo takes for compatible."""
    found = {}
    for name, version in re.findall(r'\nname = "(.*?)"\nversion = "(.*?)"', (ROOT / path).read_text()):
        compatible = re.match(r"0\.0\.\d+|0\.\d+|\d+", version)[0]
        found.setdefault((name, compatible), version)
    return found


def drifted():
    """Returns one line for each package that a binding has in another version than the workspace, whose tests
    are of that one."""
    own = locked("Cargo.lock")
    problems = []
    for path in ["bindings/python/Cargo.lock", "bindings/ruby/ext/regauge_native/Cargo.lock"]:
        for (name, compatible), version in locked(path).items():
            wanted = own.get((name, compatible), version)
            if version != wanted:
                problems.append(f"{path}: found {name} {version}, expected {wanted}, from Cargo.lock")
    return problems


def check_tag(tag, own):
    """Returns what keeps a tag from being a release of this version."""
    problems = [] if tag == f"v{own}" else [f"found the tag {tag}, expected v{own}, from {SOURCE}"]
    if not re.search(rf"(?m)^## {re.escape(own)} ", (ROOT / "CHANGELOG.md").read_text()):
        problems.append(f"CHANGELOG.md: found no section {own} with its date")
    return problems


def write(own, rust):
    """Writes the versions into every copy that differs."""
    for copies, version in [(OWN_COPIES, own), (RUST_COPIES, rust)]:
        for path, match in reversed(differing(copies, version)):
            if match is None:
                continue  # check names it
            # From the end of a file to its start: the places of earlier matches stay.
            text = (ROOT / path).read_text()
            (ROOT / path).write_text(text[: match.start(1)] + version + text[match.end(1):])
            print(f"{path}: {match[1]} becomes {version}")


def main():
    if sys.argv[1:] not in (["check"], ["write"]) and (len(sys.argv) != 3 or sys.argv[1] != "check"):
        sys.exit(__doc__)
    text = (ROOT / SOURCE).read_text()
    own, rust = re.search(OWN, text)[1], re.search(RUST, text)[1]
    if sys.argv[1] == "write":
        write(own, rust)
    problems = check(own, rust)
    if len(sys.argv) == 3:
        problems += check_tag(sys.argv[2], own)
    for problem in problems:
        print(f"version: {problem}", file=sys.stderr)
    print(f"version: {own}, Rust {rust}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
