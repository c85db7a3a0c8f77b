#!/usr/bin/env python3
"""Builds the command for Linux as static binaries, which need nothing of the system, and packs each
with its man pages, completions and licences:

    python3 tools/dist_linux.py [--architecture x86_64 …] [--profile release] [--cargo cargo]

    dist/regauge-VERSION-x86_64-linux.tar.gz
    dist/regauge-VERSION-aarch64-linux.tar.gz

C code is compiled by zig, from PyPI, in an environment in build/dist: it has musl for both architectures. Rust's
own linker and musl make the binary. No time, user or folder of this machine gets into an archive.
"""

import argparse
import subprocess
import sys

import third_party
from dist_common import (ARCHITECTURES, BUILD, DIST, FEATURES, ROOT, TEXTS, archive_path, built, need_target,
                         own_architecture, packed, report, tar, triple, version, warn_of_changes)

ZIG = "ziglang==0.17.1"
COMPLETIONS = {"bash": "regauge.bash", "zsh": "_regauge", "fish": "regauge.fish"}


def zig():
    """Installs zig; returns its folder."""
    folder = BUILD / "zig"
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text() != ZIG:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check",
                        "--only-binary", ":all:", ZIG], check=True)
        stamp.write_text(ZIG)
    [found] = folder.glob("lib/python*/site-packages/ziglang")
    return found


def program(name, *lines):
    """Writes a shell script to build/dist; returns its path."""
    path = BUILD / name
    path.write_text("\n".join(["#!/usr/bin/env bash", *lines, ""]))
    path.chmod(0o755)
    return path


def compiler(architecture):
    """Returns a C compiler: zig, without the option in which crates name the target as Rust does, and without the
    checks that zig adds to code that is not optimized."""
    return program(
        f"cc-{architecture}",
        "for argument; do shift; case $argument in --target=*) ;; *) set -- \"$@\" \"$argument\" ;; esac; done",
        f"exec '{zig()}/zig' cc -target {architecture}-linux-musl -fno-sanitize=undefined \"$@\"",
    )


def build(architecture, profile, cargo):
    """Builds the command; returns the path of the binary."""
    target = triple(architecture)
    name = target.replace("-", "_")
    tools = {
        f"CC_{name}": str(compiler(architecture)),
        f"AR_{name}": str(program("ar", f"exec '{zig()}/zig' ar \"$@\"")),
        f"CARGO_TARGET_{name.upper()}_LINKER": "rust-lld",
    }
    # musl relocates itself from the short form of the table, which saves 1 MB.
    return built(target, profile, cargo, tools, link=["-zpack-relative-relocs"])


def documentation(binary):
    """Returns the man pages and completions that the command prints."""
    folder = BUILD / "man"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    subprocess.run([binary, "man", "--folder", folder], check=True)
    files = {f"man/{page.name}": page.read_bytes() for page in folder.iterdir()}
    for shell, name in COMPLETIONS.items():
        script = subprocess.run([binary, "completions", shell], capture_output=True, check=True)
        files[f"completions/{name}"] = script.stdout
    return files


def pack(architecture, binary, texts):
    """Writes the archive of one architecture."""
    files = {path: (content, 0o644) for path, content in texts.items()}
    files["regauge"] = (binary.read_bytes(), 0o755)
    path = archive_path(architecture)
    path.write_bytes(packed(tar(files, f"regauge-{version()}-{architecture}-linux/")))
    report(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--architecture", action="append", choices=ARCHITECTURES, help="default: all")
    parser.add_argument("--profile", default="release", help="the profile that cargo builds with")
    parser.add_argument("--cargo", default="cargo")
    arguments = parser.parse_args()
    chosen = arguments.architecture or ARCHITECTURES
    if own_architecture() not in chosen:
        sys.exit(f"the man pages come from the binary of this machine: add --architecture {own_architecture()}")
    for architecture in chosen:
        need_target(triple(architecture))
    warn_of_changes()
    DIST.mkdir(exist_ok=True)
    binaries = {one: build(one, arguments.profile, arguments.cargo) for one in chosen}
    texts = documentation(binaries[own_architecture()])
    for name in TEXTS:
        texts[name] = (ROOT / name).read_bytes()
    musl = {"musl (MIT)": zig() / "lib/libc/musl/COPYRIGHT"}
    targets = [triple(one) for one in ARCHITECTURES]
    texts["LICENSES-THIRD-PARTY"] = third_party.text(FEATURES, targets, musl).encode()
    for architecture, binary in binaries.items():
        pack(architecture, binary, texts)


if __name__ == "__main__":
    main()
