"""What the tools that make and check the distributed files share."""

import gzip
import io
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUILD = ROOT / "build" / "dist"
ARCHITECTURES = ["x86_64", "aarch64"]


def triple(architecture):
    """Returns Rust's name of the target."""
    return f"{architecture}-unknown-linux-musl"


def version():
    """Returns the workspace's version."""
    return re.search(r'(?m)^version = "(.*?)"', (ROOT / "Cargo.toml").read_text())[1]


def archive_path(architecture):
    """Returns where the archive of an architecture is."""
    return DIST / f"regauge-{version()}-{architecture}-linux.tar.gz"


def unpacked(architecture):
    """Returns the files of an archive, by their paths in it."""
    path = archive_path(architecture)
    if not path.exists():
        sys.exit(f"found no {path.relative_to(ROOT)}: run `make dist-linux` first")
    with tarfile.open(path) as archive:
        return {one.name.split("/", 1)[1]: archive.extractfile(one).read() for one in archive if one.isfile()}


def own_architecture():
    """Returns the architecture of this machine, in Rust's words."""
    return {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())


def said(*command):
    """Returns what a command prints."""
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True,
                          cwd=ROOT).stdout.strip()


def commit():
    """Returns the commit that is checked out, with `-dirty` if a file differs from it."""
    return said("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")


def commit_time():
    """Returns the time of the commit: every file in an archive has it, so that packing again makes the same."""
    return int(said("git", "log", "-1", "--format=%ct"))


def need(program, package):
    """Stops if a program is missing, naming what to install."""
    if shutil.which(program) is None:
        sys.exit(f"found no {program}: apt-get install {package}")


def tar(files, prefix="", folders=None):
    """Returns a tar with these files, by path: (bytes, mode), and the folders that hold them, which belong to
    root unless `folders` has them: (mode, user). The same files make the same bytes."""
    buffer = io.BytesIO()
    time = commit_time()
    special = folders or {}
    parents = {str(parent) for path in [*files, *special] for parent in pathlib.PurePath(path).parents} - {"."}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as made:
        for path in sorted(parents | set(special)):
            entry = tarfile.TarInfo(prefix + path)
            entry.type, entry.mtime = tarfile.DIRTYPE, time
            entry.mode, entry.uid = special.get(path, (0o755, 0))
            entry.gid = entry.uid
            entry.uname = entry.gname = "" if entry.uid else "root"
            made.addfile(entry)
        for path, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(prefix + path)
            entry.size, entry.mode, entry.mtime = len(content), mode, time
            entry.uname = entry.gname = "root"
            made.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def packed(content):
    """Compresses, without a time or a name in the header."""
    return gzip.compress(content, 9, mtime=0)


def report(path):
    """Prints the size of what was written."""
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
