"""`python -m regauge`: runs the full command, which is installed next to the interpreter."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig


def _command() -> str | None:
    """Returns the path of the command installed with this package."""
    name = "regauge.exe" if os.name == "nt" else "regauge"
    schemes = [None, sysconfig.get_preferred_scheme("user")]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(name)


def main() -> int:
    """Runs the command with this process's arguments."""
    path = _command()
    if path is None:
        print("regauge: the command is not installed: the wheels and the crate regauge-cli have it", file=sys.stderr)
        return 127
    arguments = [path, *sys.argv[1:]]
    if os.name == "nt":
        return subprocess.run(arguments).returncode
    os.execv(path, arguments)


if __name__ == "__main__":
    sys.exit(main())
