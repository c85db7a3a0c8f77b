#!/usr/bin/env python3
"""Checks the image of `make dist-image` as it would be used: started by runc, without a daemon.

    python3 tools/dist_image_check.py

The container of this machine's architecture runs as the image says, as a user without a name or a right, with
a root that cannot be written and a network of its own. Its own health check says when it is ready; then a
tenant is made, a document is put and read back, and read again after a restart. Needs root, and Debian's
packages runc, skopeo and umoci.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from dist_common import BUILD, need
from dist_image import CONFIGURATION, DATA, PLACES, PROBE, USER, image_name, image_path

FOLDER = BUILD / "image-check"
CONTAINER = "regauge-image-check"
EXPECTED = {*PLACES.values(), CONFIGURATION}
# Runs in the container's network: sends a request, prints status and body.
CLIENT = """
import sys, urllib.request, urllib.error
method, path, token, body = sys.argv[1:]
request = urllib.request.Request("http://127.0.0.1:8750" + path, body.encode() or None, method=method,
    headers={"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=10) as answer:
        print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
"""


def run(*command, **options):
    """Runs a command; returns what it prints, or stops with it."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def bundle():
    """Unpacks the image for runc; returns the folder."""
    if not image_path().exists():
        sys.exit(f"found no {image_path().name}: run `make dist-image` first")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    # skopeo checks every digest, and takes the image of this machine's architecture.
    run("skopeo", "copy", "--quiet", f"oci-archive:{image_path()}:{image_name()}", f"oci:{FOLDER}/layout:it")
    run("umoci", "unpack", "--image", f"{FOLDER}/layout:it", FOLDER / "bundle")
    root = FOLDER / "bundle/rootfs"
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    if found != EXPECTED:
        sys.exit(f"the image holds {sorted(found)}, expected {sorted(EXPECTED)}")
    return FOLDER / "bundle"


def restrict(folder):
    """Gives the container a volume and a /tmp, and takes everything else from it."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    user = config["process"]["user"]
    if (user["uid"], user["gid"]) != (USER, USER):
        sys.exit(f"the image runs as {user}, expected {USER}")
    data = FOLDER / "data"
    data.mkdir(mode=0o700)
    os.chown(data, USER, USER)
    config["root"]["readonly"] = True
    config["process"] |= {"terminal": False, "capabilities": {}, "noNewPrivileges": True}
    mounts = [one for one in config["mounts"] if one["destination"] not in {"/tmp", f"/{DATA}"}]
    mounts.append({"destination": f"/{DATA}", "type": "bind", "source": str(data), "options": ["bind", "rw"]})
    mounts.append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev"]})
    config["mounts"] = mounts
    path.write_text(json.dumps(config))


class Container:
    """A running container of the image."""

    def __init__(self, folder):
        with open(FOLDER / "log", "ab") as log:
            subprocess.run(["runc", "run", "--detach", "--bundle", folder, CONTAINER], check=True,
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        for _ in range(100):
            if subprocess.run(["runc", "exec", CONTAINER, *PROBE[1:]], capture_output=True).returncode == 0:
                break
            time.sleep(0.1)
        else:
            sys.exit(f"the container is not ready after 10 s\n{(FOLDER / 'log').read_text()}")
        self.process = json.loads(run("runc", "state", CONTAINER))["pid"]

    def command(self, *arguments):
        """Returns what regauge prints in the container."""
        return run("runc", "exec", CONTAINER, "/usr/bin/regauge", *arguments)

    def ask(self, method, path, token, body=""):
        """Returns status and body of a request from the container's own network."""
        answer = run("nsenter", f"--net=/proc/{self.process}/ns/net", sys.executable, "-c", CLIENT, method, path,
                     token, body)
        return answer.strip()

    def stop(self):
        """Asks it to stop, as `docker stop` does, and expects that it does within 10 s."""
        run("runc", "kill", CONTAINER, "TERM")
        for _ in range(100):
            if json.loads(run("runc", "state", CONTAINER))["status"] == "stopped":
                run("runc", "delete", CONTAINER)
                return
            time.sleep(0.1)
        sys.exit("the container still runs 10 s after SIGTERM")


def expect(found, expected):
    """Stops unless an answer begins as expected."""
    if not found.startswith(expected):
        sys.exit(f"found {found!r}, expected {expected!r}")


def main():
    if os.geteuid() != 0:
        sys.exit("containers need root: sudo make dist-image-check")
    for program in ["runc", "skopeo", "umoci"]:
        need(program, program)
    folder = bundle()
    restrict(folder)
    try:
        container = Container(folder)
        container.command("store", "tenants", "--data", f"/{DATA}", "create", "acme")
        made = container.command("store", "tenants", "--data", f"/{DATA}", "token", "create", "acme")
        token = next(word for word in made.split() if word.startswith("rgt_"))
        # The running gateway knows a new token within a second.
        time.sleep(2)
        expect(container.ask("PUT", "/v1/objects/k", token, '{"a":[1,2.5,null]}'), "201")
        expect(container.ask("GET", "/v1/objects/k", token), '200 {"a":[1,2.5,null]}')
        expect(container.ask("GET", "/v1/objects/k", "rgt_none"), "401")
        container.stop()
        container = Container(folder)
        expect(container.ask("GET", "/v1/objects/k", token), '200 {"a":[1,2.5,null]}')
        container.stop()
    finally:
        subprocess.run(["runc", "delete", "--force", CONTAINER], capture_output=True)
    size = sum(path.stat().st_size for path in pathlib.Path(folder / "rootfs").rglob("*") if path.is_file())
    print(f"the image: {len(EXPECTED)} files, {size / 1e6:.1f} MB; ready by its own health check, a document put, "
          "and read again after a restart, with a root that cannot be written")


if __name__ == "__main__":
    main()
