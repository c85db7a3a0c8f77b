#!/usr/bin/env python3
"""Checks the archives of `make dist-linux` as they would be used: unpacked, and run where there is nothing
else.

    python3 tools/dist_check.py --regauge target/release/regauge [--architecture x86_64 …]

Each binary is put into an empty folder, which becomes its root. There it converts every valid file of the
corpus into several formats, and inspects each; output, messages and exit status have to be those of the
ordinary build, byte for byte. It keeps documents in a database, and measures a file, which needs /proc. The
archive has to hold man pages, completions and licences. Another architecture than this machine's runs in QEMU,
where nothing can be measured: a contender is a process of its own, which QEMU cannot start. Needs root, for chroot.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import time

from dist_common import (ARCHITECTURES, BUILD, FEATURES_NAMED, ROOT, archive_path, has_no_private_path, need,
                         own_architecture, said, version)

# Where each file is converted to, as far as its content allows: a refusal has to be the same, too.
TARGETS = [["--to", "msgpack"], ["--to", "yaml"], ["--to", "json", "--on-loss", "wrap", "--objects", "wrap"]]
EXPECTED = ["regauge", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY",
            "completions/regauge.bash", "completions/_regauge", "completions/regauge.fish", "man/regauge.1",
            "man/regauge-convert.1", "man/regauge-measure.1", "man/regauge-store.1", "man/regauge-serve.1"]


class Place:
    """Runs the command: as built, or as the only program in its root."""

    def __init__(self, folder, command, more=None):
        self.folder, self.command = folder, command
        self.environment = {"PATH": os.environ["PATH"], "HOME": "/", "NO_COLOR": "1", **(more or {})}

    def run(self, *arguments, stdin=b""):
        """Returns what the command did: status, output, messages."""
        done = subprocess.run([*self.command, *arguments], cwd=self.folder, input=stdin, capture_output=True,
                              env=self.environment)
        return done.returncode, done.stdout, done.stderr

    def good(self, *arguments):
        """Returns the output of a command that has to succeed."""
        status, output, messages = self.run(*arguments)
        if status != 0:
            sys.exit(f"{' '.join(arguments)}: exit status {status}\n{messages.decode(errors='replace')}")
        return output.decode()


def unpack(architecture):
    """Unpacks an archive; returns its folder, after a look at what it holds."""
    path = archive_path(architecture)
    if not path.exists():
        sys.exit(f"found no {path.relative_to(ROOT)}: run `make dist-linux` first")
    folder = BUILD / "check" / architecture
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    subprocess.run(["tar", "-xzf", path, "-C", folder], check=True)
    unpacked = folder / f"regauge-{version()}-{architecture}-linux"
    missing = [name for name in EXPECTED if not (unpacked / name).is_file() or not (unpacked / name).stat().st_size]
    if missing:
        sys.exit(f"{path.name} has no {', '.join(missing)}")
    kind = said("readelf", "--program-headers", "--section-headers", "--dynamic", unpacked / "regauge")
    if "INTERP" in kind or "NEEDED" in kind:
        sys.exit(f"{path.name}: the binary needs a loader or libraries of the system")
    if ".symtab" in kind:
        sys.exit(f"{path.name}: the binary has its symbols, which nothing needs")
    has_no_private_path(path, unpacked / "regauge")
    return unpacked


def empty_root(architecture, unpacked):
    """Makes a folder with the command, an empty /tmp and the corpus; returns the command in that root."""
    root = BUILD / "check" / f"root-{architecture}"
    shutil.rmtree(root, ignore_errors=True)
    (root / "tmp").mkdir(parents=True)
    shutil.copy2(unpacked / "regauge", root / "regauge")
    shutil.copytree(ROOT / "corpus", root / "corpus")
    command = ["chroot", root, "/regauge"]
    if architecture != own_architecture():
        emulator = f"qemu-{architecture}-static"
        need(emulator, "qemu-user-static")
        shutil.copy2(shutil.which(emulator), root / emulator)
        command.insert(2, f"/{emulator}")
    return Place(root, command)


def documents():
    """Returns every valid file of the corpus, relative to the repository."""
    found = sorted(path.relative_to(ROOT) for path in ROOT.glob("corpus/*/valid/**/*") if path.is_file())
    if len(found) < 100:
        sys.exit(f"found {len(found)} valid files in corpus/, expected hundreds")
    return found


def same(installed, ordinary):
    """Compares all conversions and inspections; returns how many, and how many succeeded."""
    cases = [["convert", str(path), "-", *target] for path in documents() for target in TARGETS]
    cases += [["inspect", str(path)] for path in documents()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        pairs = pool.map(lambda case: (case, ordinary.run(*case), installed.run(*case)), cases)
        results = list(pairs)
    for case, expected, found in results:
        if found != expected:
            sys.exit(f"regauge {' '.join(case)}\n  ordinary build: {expected}\n  in the archive: {found}")
    return len(results), sum(expected[0] == 0 for _, expected, _ in results)


def measure(root):
    """Measures a file in the root, with the libraries that are in the command."""
    (root / "proc").mkdir()
    alone = Place(root, ["unshare", "--pid", "--fork", "--kill-child", f"--root={root}", "--mount-proc", "/regauge"])
    screen = alone.good("measure", "orders.json", "--quick", "--only", "rust", "--progress", "never", "--json", "raw.json")
    if "serde_json" not in (root / "raw.json").read_text():
        sys.exit(f"measure in an empty root did not time serde_json:\n{screen}")


def check(architecture, regauge):
    """Checks the archive of one architecture."""
    started = time.monotonic()
    installed = empty_root(architecture, unpack(architecture))
    about = installed.good("--version", "--verbose")
    for words in [f"regauge {version()}", f"target: {architecture}-unknown-linux-musl", FEATURES_NAMED]:
        if words not in about:
            sys.exit(f"--version --verbose of {architecture}: found {about!r}, expected {words!r}")
    cases, succeeded = same(installed, Place(installed.folder, [regauge]))
    if succeeded < cases / 2:
        sys.exit(f"{succeeded} of {cases} cases succeeded, expected most")
    installed.good("sample", "legislators", "orders.json", "--count", "50")
    installed.good("store", "import", "--db", "sqlite:a.db", "orders.json", "--key", "id.bioguide")
    measured = architecture == own_architecture()
    if measured:
        measure(installed.folder)
    print(f"{architecture}: {cases} conversions and inspections as in the ordinary build ({succeeded} exact, the "
          f"others refused alike), a store{', a measurement' if measured else ''}, in {time.monotonic() - started:.0f} s\n"
          f"  {about.strip().replace(chr(10), ', ')}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", type=pathlib.Path, required=True, help="the ordinary build to compare with")
    parser.add_argument("--architecture", action="append", choices=ARCHITECTURES, help="default: all")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("chroot needs root: sudo make dist-check")
    need("readelf", "binutils")
    need("unshare", "util-linux")
    if not arguments.regauge.exists():
        sys.exit(f"found no {arguments.regauge}: run `make build` first")
    for architecture in arguments.architecture or ARCHITECTURES:
        check(architecture, arguments.regauge.resolve())


if __name__ == "__main__":
    main()
