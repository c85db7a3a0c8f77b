"""What the tools that make and check the distributed files share."""

import gzip
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUILD = ROOT / "build" / "dist"
ARCHITECTURES = ["x86_64", "aarch64"]
WINDOWS = "x86_64-pc-windows-gnu"
# Of the command, in everything that is distributed.
FEATURES = "servers,gateway,parquet"
# What `--version --verbose` says of them.
FEATURES_NAMED = ", ".join(sorted(FEATURES.split(",")))
# Texts of the repository in every archive.
TEXTS = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]


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


def windows_path():
    """Returns where the archive for Windows is."""
    return DIST / f"regauge-{version()}-x86_64-windows.zip"


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


def need_target(target):
    """Stops if the standard library of a target is missing."""
    if not os.path.isdir(f"{said('rustc', '--print', 'sysroot')}/lib/rustlib/{target}/lib"):
        sys.exit(f"found no standard library for {target}: rustup target add {target}")


def warn_of_changes():
    """Says that the binaries will say so, if files differ from the commit."""
    if commit().endswith("-dirty"):
        print("warning: files differ from the commit; the binaries say so", file=sys.stderr)


def built(target, profile, cargo, tools, program="regauge", link=()):
    """Builds the command for a target, with tools of the environment and arguments for the linker; returns the path
    of the binary."""
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    # No path of this machine in messages.
    flags = [f"--remap-path-prefix={home}=/cargo", f"--remap-path-prefix={ROOT}=/regauge"]
    flags += [f"-Clink-arg={argument}" for argument in link]
    environment = {
        **os.environ,
        **tools,
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
        f"CARGO_PROFILE_{profile.upper()}_STRIP": "symbols",
        "REGAUGE_COMMIT": commit(),
    }
    started = time.monotonic()
    done = subprocess.run([*cargo.split(), "build", "--quiet", "--locked", "--profile", profile, "--target", target,
                           "-p", "regauge-cli", "--features", FEATURES], cwd=ROOT, env=environment)
    if done.returncode != 0:
        sys.exit(f"{target}: cargo failed")
    print(f"{target}: built in {time.monotonic() - started:.0f} s", flush=True)
    return ROOT / "target" / target / ("debug" if profile == "dev" else profile) / program


def has_no_private_path(archive, binary):
    """Stops if a binary names a folder of this machine."""
    for private in [str(ROOT), os.path.expanduser("~/.cargo")]:
        if private.encode() in binary.read_bytes():
            sys.exit(f"{archive.name}: the binary names {private}, a folder of this machine")


def zipped(files, prefix=""):
    """Returns a zip with these files, by path. The same files make the same bytes."""
    buffer = io.BytesIO()
    moment = time.gmtime(commit_time())[:6]
    with zipfile.ZipFile(buffer, "w") as made:
        for path, content in sorted(files.items()):
            entry = zipfile.ZipInfo(prefix + path, moment)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 0
            made.writestr(entry, content, compresslevel=9)
    return buffer.getvalue()


def tar(files, prefix="", folders=None):
    """Returns a tar with these files, by path: (bytes, mode), and the folders that hold them, which belong to
    root unless `folders` has them: (mode, user). The same files make the same bytes."""
    buffer = io.BytesIO()
    moment = commit_time()
    special = folders or {}
    parents = {str(parent) for path in [*files, *special] for parent in pathlib.PurePath(path).parents} - {"."}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as made:
        for path in sorted(parents | set(special)):
            entry = tarfile.TarInfo(prefix + path)
            entry.type, entry.mtime = tarfile.DIRTYPE, moment
            entry.mode, entry.uid = special.get(path, (0o755, 0))
            entry.gid = entry.uid
            entry.uname = entry.gname = "" if entry.uid else "root"
            made.addfile(entry)
        for path, (content, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(prefix + path)
            entry.size, entry.mode, entry.mtime = len(content), mode, moment
            entry.uname = entry.gname = "root"
            made.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def packed(content):
    """Compresses, without a time or a name in the header."""
    return gzip.compress(content, 9, mtime=0)


def report(path):
    """Prints the size of what was written."""
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1e6:.1f} MB", flush=True)
