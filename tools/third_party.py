"""The licences of everything that is linked into the command, which have to accompany the binary."""

import json
import pathlib
import sys

from dist_common import said

NAMES = ("licen", "copying", "copyright", "notice", "unlicense")


def shipped(features, targets):
    """Returns the packages that are linked into the command on any of the targets."""
    tree = ["cargo", "tree", "--locked", "-p", "regauge-cli", "--features", features, "--prefix", "none",
            "--edges", "normal,no-proc-macro", "--format", "{p}", "--no-dedupe"]
    linked = set()
    for target in targets:
        lines = said(*tree, "--target", target).splitlines()
        linked |= {tuple(line.split()[:2]) for line in lines}
    metadata = json.loads(said("cargo", "metadata", "--format-version", "1", "--locked", "--all-features"))
    packages = [one for one in metadata["packages"]
                if one["source"] and (one["name"], f"v{one['version']}") in linked]
    return sorted(packages, key=lambda one: (one["name"], one["version"]))


def texts_of(folder):
    """Returns the licence texts of a crate, and of the C library in a folder of it."""
    files = [*folder.glob("*"), *folder.glob("*/*")]
    return [path.read_text(errors="replace").strip() for path in sorted(files)
            if path.is_file() and path.name.lower().startswith(NAMES) and path.suffix not in (".rs", ".py", ".toml")]


def text(features, targets, more):
    """Returns all licences, each text once, after the names of those that it belongs to. `more` has the files of
    those that are no crates, by name."""
    owners, without = {}, []
    for package in shipped(features, targets):
        name = f"{package['name']} {package['version']} ({package['license']})"
        found = texts_of(pathlib.Path(package["manifest_path"]).parent)
        if not found:
            without.append(name)
        for one in found:
            owners.setdefault(one, []).append(name)
    for name, path in more.items():
        owners.setdefault(path.read_text().strip(), []).append(name)
    parts = ["This program contains the following libraries, Rust's standard library (MIT OR Apache-2.0, "
             "https://www.rust-lang.org) and SQLite (public domain).\n"]
    if without:
        parts.append("Without a text of their own, under the licences that are named:\n\n" + "\n".join(without) + "\n")
    for one, names in sorted(owners.items(), key=lambda item: item[1]):
        parts.append("\n".join(["-" * 80, *names, "", one, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(text(sys.argv[1], sys.argv[2:], {}))
