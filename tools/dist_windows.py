#!/usr/bin/env python3
"""Builds the command for Windows on Linux, with mingw-w64, and packs it with its licences:

    python3 tools/dist_windows.py [--profile release] [--cargo cargo]

    dist/regauge-VERSION-x86_64-windows.zip

The program needs nothing but Windows 10 or later. No time, user or folder of this machine gets into the archive.
"""

import argparse
import pathlib

import third_party
from dist_common import (DIST, FEATURES, ROOT, TEXTS, WINDOWS, built, need, need_target, report, version,
                         warn_of_changes, windows_path, zipped)

MINGW = "x86_64-w64-mingw32"
# The C runtime, and the part of GCC that is linked in.
RUNTIMES = {
    "mingw-w64 (its runtime)": pathlib.Path("/usr/share/doc/mingw-w64-common/copyright"),
    "libgcc (GPL-3.0-or-later WITH GCC-exception-3.1)": pathlib.Path("/usr/share/doc/gcc-mingw-w64-base/copyright"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="release", help="the profile that cargo builds with")
    parser.add_argument("--cargo", default="cargo")
    arguments = parser.parse_args()
    need(f"{MINGW}-gcc", "gcc-mingw-w64-x86-64")
    need_target(WINDOWS)
    warn_of_changes()
    DIST.mkdir(exist_ok=True)
    tools = {f"CARGO_TARGET_{WINDOWS.replace('-', '_').upper()}_LINKER": f"{MINGW}-gcc"}
    program = built(WINDOWS, arguments.profile, arguments.cargo, tools, "regauge.exe")
    files = {name: (ROOT / name).read_bytes() for name in TEXTS}
    files["regauge.exe"] = program.read_bytes()
    files["LICENSES-THIRD-PARTY"] = third_party.text(FEATURES, [WINDOWS], RUNTIMES).encode()
    path = windows_path()
    path.write_bytes(zipped(files, path.stem + "/"))
    report(path)


if __name__ == "__main__":
    main()
