"""Certificates for the servers that tools/servers.py starts: TLS is tested like the rest."""

import os
import shutil
import sys
from pathlib import Path

from servers_common import Unavailable, run

DAYS = "7"
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def make(folder):
    """Creates an authority, a certificate of it for loopback, and an unrelated authority.

    They are `ca.pem`, `server.pem` with `server.key`, and `stranger.pem` in `folder`/tls. Returns
    whether they could be created.
    """
    place = Path(folder) / "tls"
    place.mkdir()
    os.chmod(place, 0o755)
    openssl = shutil.which("openssl")
    if not openssl:
        print("servers: without TLS: there is no openssl", file=sys.stderr)
        return False
    names = place / "names"
    names.write_text("subjectAltName = IP:127.0.0.1\nbasicConstraints = critical, CA:FALSE\n")
    try:
        for name in ("ca", "stranger"):
            run([openssl, "req", "-x509", *KEY, "-days", DAYS, "-subj", f"/CN=regauge test {name}",
                 "-keyout", place / f"{name}.key", "-out", place / f"{name}.pem"])
        run([openssl, "req", *KEY, "-subj", "/CN=127.0.0.1", "-keyout", place / "server.key",
             "-out", place / "server.csr"])
        run([openssl, "x509", "-req", "-in", place / "server.csr", "-CA", place / "ca.pem",
             "-CAkey", place / "ca.key", "-CAcreateserial", "-days", DAYS, "-extfile", names,
             "-out", place / "server.pem"])
    except Unavailable as why:
        print(f"servers: without TLS: {why}", file=sys.stderr)
        return False
    return True


def give(server):
    """Copies the certificate into a server's own folder, readable only by its user. Returns the two
    paths, or nothing if there is none."""
    place = server.folder.parent / "tls"
    if not (place / "server.pem").exists():
        return None
    copies = [server.folder / "server.pem", server.folder / "server.key"]
    for copy in copies:
        shutil.copyfile(place / copy.name, copy)
        os.chmod(copy, 0o600)
        user = server.user()
        if user:
            shutil.chown(copy, user)
    return copies
