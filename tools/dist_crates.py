#!/usr/bin/env python3
"""Packs the crates as `cargo publish` uploads them, in dist/:

    python3 tools/dist_crates.py [--cargo cargo]

    dist/regauge-VERSION.crate
    dist/regauge-cli-VERSION.crate
    …

`make dist-crates-check` compiles what is packed: nothing of the repository is in its reach.
"""

import argparse
import json
import shutil
import subprocess
import sys

from dist_common import BUILD, DIST, commit, report, said, version, warn_of_changes


def published():
    """Returns the crates that go to the registry, each after those that it depends on."""
    packages = json.loads(said("cargo", "metadata", "--no-deps", "--format-version", "1", "--locked"))["packages"]
    waiting = {one["name"]: {part["name"] for part in one["dependencies"] if part["kind"] != "dev"}
               for one in packages if one["publish"] != []}
    ordered = []
    while waiting:
        ready = sorted(name for name, needed in waiting.items() if not needed & waiting.keys())
        if not ready:
            sys.exit(f"the crates depend on each other in a circle: {', '.join(sorted(waiting))}")
        ordered += ready
        for name in ready:
            del waiting[name]
    return ordered


def crate_path(name):
    """Returns where a packed crate is."""
    return DIST / f"{name}-{version()}.crate"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cargo", default="cargo")
    arguments = parser.parse_args()
    warn_of_changes()
    DIST.mkdir(exist_ok=True)
    names = published()
    folder = BUILD / "crates"
    options = ["--allow-dirty"] if commit().endswith("-dirty") else []
    done = subprocess.run([*arguments.cargo.split(), "package", "--quiet", "--locked", "--no-verify", *options,
                           "--target-dir", folder, *(part for name in names for part in ["-p", name])])
    if done.returncode != 0:
        sys.exit("cargo package failed")
    for name in names:
        shutil.copy2(folder / "package" / crate_path(name).name, crate_path(name))
        report(crate_path(name))


if __name__ == "__main__":
    main()
