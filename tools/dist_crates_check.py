#!/usr/bin/env python3
"""Checks the crates of `make dist-crates` as others use them: unpacked, without the repository.

    python3 tools/dist_crates_check.py [--cargo cargo]

Each crate has to hold what the registry shows and asks for, and no path. A crate in a temporary folder then depends
on all of them, and runs the examples of their documentation; the command is built from its crate, and converts,
measures, stores and serves with what the crates carry. The other dependencies have the versions of Cargo.lock.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib

from dist_common import BUILD, ROOT, need, said, version
from dist_crates import crate_path, published

# The registry takes no larger crate.
BYTES_MAX = 10 << 20
# What the examples need besides the crates.
MANIFEST = """
[package]
name = "outside"
version = "0.0.0"
edition = "2024"

[workspace]
members = ["regauge-cli-{version}"]

[features]
default = ["serde"]
serde = []

[dependencies]
serde = {{ version = "1", features = ["derive"] }}
tempfile = "3"
regauge = {{ version = "={version}", features = ["serde"] }}
{dependencies}

# The examples would take minutes to optimize.
[profile.dev]
debug = false

[patch.crates-io]
{patches}
"""


def dependencies(manifest):
    """Returns all dependencies of a manifest, as (name, table)."""
    places = [manifest, *manifest.get("target", {}).values()]
    kinds = ["dependencies", "build-dependencies", "dev-dependencies"]
    return [pair for place in places for kind in kinds for pair in place.get(kind, {}).items()]


def problems(name, folder):
    """Returns what an unpacked crate lacks."""
    manifest = tomllib.loads((folder / "Cargo.toml").read_text())
    package = manifest["package"]
    found = [f"no {key}" for key in ["description", "license", "repository", "readme", "keywords", "categories"]
             if not package.get(key)]
    if len(package.get("keywords", [])) > 5 or len(package.get("categories", [])) > 5:
        found.append("more than five keywords or categories")
    found += [f"no {file}" for file in ["LICENSE-APACHE", "LICENSE-MIT", package.get("readme", "README.md")]
              if not (folder / file).is_file() or not (folder / file).stat().st_size]
    for other, table in dependencies(manifest):
        if "path" in table:
            found.append(f"a path to {other}")
        if other.startswith("regauge") and table.get("version") != version():
            found.append(f"{other} {table.get('version')}, expected {version()}")
    for path in folder.rglob("*"):
        if path.is_file() and str(ROOT).encode() in path.read_bytes():
            found.append(f"{path.relative_to(folder)} names {ROOT}, a folder of this machine")
    if crate_path(name).stat().st_size > BYTES_MAX:
        found.append(f"{crate_path(name).stat().st_size} bytes, at most {BYTES_MAX}")
    return [f"{crate_path(name).name}: {problem}" for problem in found]


def unpack(names, outside):
    """Unpacks the crates into a folder, each checked; returns their folders by name."""
    folders, found = {}, []
    for name in names:
        path = crate_path(name)
        if not path.exists():
            sys.exit(f"found no {path.relative_to(ROOT)}: run `make dist-crates` first")
        with tarfile.open(path) as archive:
            archive.extractall(outside, filter="data")
        folders[name] = outside / path.stem
        found += problems(name, folders[name])
    if found:
        sys.exit("\n".join(found))
    return folders


def examples(folder):
    """Returns the documentation at the top of a library, and how many examples it has."""
    library = folder / "src" / "lib.rs"
    if not library.exists():
        return "", 0
    lines = [line[3:].removeprefix(" ") for line in library.read_text().splitlines() if line.startswith("//!")]
    return "\n".join(lines), sum(line == "```" for line in lines) // 2


def write_outside(outside, folders):
    """Writes a crate that depends on the unpacked ones and has their examples; returns how many."""
    libraries = [name for name, folder in folders.items() if (folder / "src" / "lib.rs").exists()]
    (outside / "Cargo.toml").write_text(MANIFEST.format(
        version=version(),
        dependencies="\n".join(f'{name} = "={version()}"' for name in libraries if name != "regauge"),
        patches="\n".join(f'{name} = {{ path = "{folders[name]}" }}' for name in libraries),
    ))
    shutil.copy2(ROOT / "Cargo.lock", outside / "Cargo.lock")
    (outside / "src").mkdir()
    modules, count = [], 0
    for name in libraries:
        text, found = examples(folders[name])
        (outside / "src" / f"{name}.md").write_text(text)
        # Re-exported, so that every crate is linked.
        modules.append(f'#[doc = include_str!("{name}.md")]\npub mod {name.replace("-", "_")}_ {{\n'
                       f"    pub use ::{name.replace('-', '_')} as library;\n}}\n")
        count += found
    (outside / "src" / "lib.rs").write_text("\n".join(modules))
    return count


class Cargo:
    """Runs cargo in the folder outside; what it builds stays for the next time."""

    def __init__(self, command, outside):
        self.command, self.outside, self.target = command.split(), outside, BUILD / "crates-outside"
        self.environment = {**os.environ, "CARGO_TARGET_DIR": str(self.target)}
        self.environment.pop("REGAUGE_COMMIT", None)

    def run(self, *arguments):
        """Returns the output of a cargo command, which has to succeed."""
        done = subprocess.run([*self.command, *arguments], cwd=self.outside, env=self.environment, text=True,
                              stdout=subprocess.PIPE)
        if done.returncode != 0:
            sys.exit(f"cargo {' '.join(arguments)} failed\n{done.stdout}")
        return done.stdout


def check_command(regauge, crate, folder):
    """Runs the command as one who has installed its crate."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "NO_COLOR": "1"}

    def good(*arguments, **options):
        done = subprocess.run([regauge, *arguments], cwd=folder, capture_output=True, env=environment, **options)
        if done.returncode != 0:
            sys.exit(f"regauge {' '.join(arguments)}: exit status {done.returncode}\n{done.stderr.decode()}")
        return done.stdout

    about = good("--version", "--verbose").decode()
    commit = json.loads((crate / ".cargo_vcs_info.json").read_text())["git"]["sha1"]
    for words in [f"regauge {version()}", f"commit: {commit}"]:
        if words not in about:
            sys.exit(f"--version --verbose: found {about!r}, expected {words!r}")
    converted = good("convert", "--from", "yaml", "--to", "json", "-", "-", input=b"a: [1, 2.50]")
    if converted != b'{"a":[1,2.5]}\n':
        sys.exit(f"convert: found {converted!r}")
    # The generators, the contenders' files and the page are in the crates.
    good("sample", "legislators", "orders.json", "--count", "50")
    good("measure", "orders.json", "--quick", "--only", "rust", "--progress", "never", "--json", "raw.json",
         "--out", "page")
    rows = json.loads((folder / "raw.json").read_text())["rows"]
    if not any(row["library"] == "serde_json" and row.get("timing") for row in rows):
        sys.exit("measure did not time serde_json")
    if len((folder / "page" / "report.html").read_bytes()) < 100_000:
        sys.exit("measure wrote a page without its fonts")
    good("store", "import", "--db", "sqlite:a.db", "orders.json", "--key", "id.bioguide")
    check_gateway(regauge, folder, environment)
    return about.strip().replace("\n", ", ")


def check_gateway(regauge, folder, environment):
    """Asks the gateway for its description and its page."""
    (folder / "gateway.toml").write_text('data = "data"\nlisten = "127.0.0.1:18752"\n')
    process = subprocess.Popen([regauge, "serve", "--config", "gateway.toml"], cwd=folder, env=environment,
                               stderr=subprocess.DEVNULL)
    try:
        for path, words in [("/openapi.json", '"openapi"'), ("/admin", "<html")]:
            answer = said("curl", "--silent", "--fail", "--retry", "20", "--retry-connrefused", "--retry-delay", "1",
                          f"http://127.0.0.1:18752{path}")
            if words not in answer:
                sys.exit(f"{path} of the gateway: found {answer[:200]!r}, expected {words}")
    finally:
        process.terminate()
        process.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cargo", default="cargo")
    arguments = parser.parse_args()
    need("curl", "curl")
    started = time.monotonic()
    names = published()
    with tempfile.TemporaryDirectory() as place:
        outside = pathlib.Path(place)
        folders = unpack(names, outside)
        count = write_outside(outside, folders)
        cargo = Cargo(arguments.cargo, outside)
        told = cargo.run("test", "--quiet", "--doc", "-p", "outside")
        ran = sum(int(passed) for passed in re.findall(r"test result: ok\. (\d+) passed", told))
        if ran != count or count < 5:
            sys.exit(f"{ran} examples passed, {count} are in the crates\n{told}")
        cargo.run("build", "--quiet", "-p", "regauge-cli", "--features", "gateway")
        used = outside / "used"
        used.mkdir()
        about = check_command(cargo.target / "debug" / "regauge", folders["regauge-cli"], used)
    print(f"{len(names)} crates: complete, {count} examples ran in a crate outside, and the command from its crate "
          f"({time.monotonic() - started:.0f} s)\n  {about}")


if __name__ == "__main__":
    main()
