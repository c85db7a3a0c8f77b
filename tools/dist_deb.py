#!/usr/bin/env python3
"""Packs the archives of `make dist-linux` as Debian packages, for Debian, Ubuntu and their derivatives:

    python3 tools/dist_deb.py [--architecture x86_64 …]

    dist/regauge_VERSION-1_amd64.deb
    dist/regauge_VERSION-1_arm64.deb

A package has the command, man pages, completions for bash, zsh and fish, and a systemd service for
`regauge serve`, which is not started. packaging/debian has its texts. The same archive makes the same bytes.
"""

import argparse
import email.utils
import hashlib
import os
import shutil
import subprocess

from dist_common import ARCHITECTURES, BUILD, DIST, ROOT, commit_time, need, packed, report, unpacked, version

TEXTS = ROOT / "packaging" / "debian"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
DOC = "usr/share/doc/regauge"
# Where each file of the archive goes; those that Debian wants compressed have `.gz`.
PLACES = {
    "regauge": "usr/bin/regauge",
    "README.md": f"{DOC}/README.md.gz",
    "CHANGELOG.md": f"{DOC}/changelog.gz",
    "LICENSES-THIRD-PARTY": f"{DOC}/LICENSES-THIRD-PARTY.gz",
    "completions/regauge.bash": "usr/share/bash-completion/completions/regauge",
    "completions/_regauge": "usr/share/zsh/vendor-completions/_regauge",
    "completions/regauge.fish": "usr/share/fish/vendor_completions.d/regauge.fish",
}
CONFIGURATION = "etc/regauge/gateway.toml"


def deb_version():
    """Returns the version of the package."""
    return f"{version()}-1"


def deb_path(architecture):
    """Returns where the package of an architecture is."""
    return DIST / f"regauge_{deb_version()}_{DEBIAN[architecture]}.deb"


def changelog():
    """Returns the changelog of the package itself."""
    date = email.utils.formatdate(commit_time())
    return (f"regauge ({deb_version()}) unstable; urgency=medium\n\n  * Version {version()}; changelog.gz lists its "
            f"changes.\n\n -- The regauge contributors <regauge@users.noreply.github.com>  {date}\n").encode()


def copyright_file():
    """Returns the copyright file, with the text of the licence that Debian does not have."""
    text = (ROOT / "LICENSE-MIT").read_text().strip()
    lines = [f" {line}" if line.strip() else " ." for line in text.splitlines()]
    return (TEXTS / "copyright").read_text().replace("@MIT@", "\n".join(lines)).encode()


def installed(architecture):
    """Returns what the package installs, by path: (bytes, mode)."""
    files = {}
    for name, content in unpacked(architecture).items():
        place = PLACES.get(name)
        if name.startswith("man/"):
            place = f"usr/share/man/man1/{name.removeprefix('man/')}.gz"
        if place:
            content = packed(content) if place.endswith(".gz") else content
            files[place] = (content, 0o755 if name == "regauge" else 0o644)
    files[f"{DOC}/changelog.Debian.gz"] = (packed(changelog()), 0o644)
    files[f"{DOC}/copyright"] = (copyright_file(), 0o644)
    files["usr/share/lintian/overrides/regauge"] = ((TEXTS / "lintian-overrides").read_bytes(), 0o644)
    files["usr/lib/systemd/system/regauge.service"] = ((TEXTS / "regauge.service").read_bytes(), 0o644)
    files[CONFIGURATION] = ((TEXTS / "gateway.toml").read_bytes(), 0o644)
    return files


def control(architecture, files):
    """Returns the files that tell dpkg about the package."""
    size = sum(-(-len(content) // 1024) for content, _ in files.values())
    text = (TEXTS / "control").read_text()
    for name, value in {"VERSION": deb_version(), "ARCHITECTURE": DEBIAN[architecture], "SIZE": size}.items():
        text = text.replace(f"@{name}@", str(value))
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {path}\n" for path, (content, _) in sorted(files.items()))
    made = {"control": (text.encode(), 0o644), "md5sums": (sums.encode(), 0o644),
            "conffiles": (f"/{CONFIGURATION}\n".encode(), 0o644)}
    made |= {name: ((TEXTS / name).read_bytes(), 0o755) for name in ["postinst", "prerm", "postrm"]}
    return made


def stage(architecture):
    """Writes the tree of a package; returns its folder."""
    folder = BUILD / "deb" / architecture
    shutil.rmtree(folder, ignore_errors=True)
    files = installed(architecture)
    files |= {f"DEBIAN/{name}": made for name, made in control(architecture, files).items()}
    for place, (content, mode) in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    for one in [folder, *folder.rglob("*")]:
        if one.is_dir():
            one.chmod(0o755)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--architecture", action="append", choices=ARCHITECTURES, help="default: all")
    arguments = parser.parse_args()
    need("dpkg-deb", "dpkg")
    for architecture in arguments.architecture or ARCHITECTURES:
        path = deb_path(architecture)
        subprocess.run(["dpkg-deb", "-Zxz", "--root-owner-group", "--build", stage(architecture), path], check=True,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(commit_time())}, stdout=subprocess.DEVNULL)
        report(path)


if __name__ == "__main__":
    main()
