#!/usr/bin/env python3
"""Packs the archives of `make dist-linux` as a container image of the gateway:

    python3 tools/dist_image.py [--architecture x86_64 …]

    dist/regauge-VERSION-image.tar

The image is an OCI archive for amd64 and arm64. It holds the static binary, its configuration and licences,
and nothing else: no shell, no package. It runs as the user 65532, with a root that may be read-only and the
data in a volume. Nothing but Python is needed to make it, and the same archives make the same bytes.
"""

import argparse
import datetime
import hashlib
import json

from dist_common import ARCHITECTURES, DIST, ROOT, commit, commit_time, packed, report, tar, unpacked, version

USER = 65532
DATA = "var/lib/regauge"
CONFIGURATION = "etc/regauge/gateway.toml"
NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
TYPES = "application/vnd.oci.image"
# Where each file of the archive goes.
PLACES = {"regauge": "usr/bin/regauge", **{name: f"usr/share/doc/regauge/{name}" for name in
          ["LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY"]}}
PROBE = ["CMD", "/usr/bin/regauge", "serve", "--ready", "--config", f"/{CONFIGURATION}"]


def image_path():
    """Returns where the image is."""
    return DIST / f"regauge-{version()}-image.tar"


def image_name():
    """Returns the name and the tag with which it is loaded."""
    return f"regauge:{version()}"


class Layout:
    """An OCI image layout: https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md."""

    def __init__(self):
        self.files = {"oci-layout": (b'{"imageLayoutVersion":"1.0.0"}', 0o644)}

    def blob(self, content, media, **more):
        """Keeps a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = (content, 0o644)
        return {"mediaType": f"{TYPES}.{media}", "digest": f"sha256:{digest}", "size": len(content), **more}

    def document(self, content, media, **more):
        """Keeps a JSON document; returns its descriptor."""
        return self.blob(as_json(content), media, **more)


def as_json(content):
    """Returns a document without white space."""
    return json.dumps(content, separators=(",", ":")).encode()


def created():
    """Returns the time of the commit, as the specification writes it."""
    return datetime.datetime.fromtimestamp(commit_time(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def labels():
    """Returns what the image says of itself."""
    return {"title": "regauge gateway", "version": version(), "revision": commit(), "licenses": "MIT OR Apache-2.0",
            "source": "https://github.com/regauge/regauge",
            "description": "The documents of many tenants over HTTP, in any of regauge's formats"}


def layer(architecture):
    """Returns the tar of the only layer."""
    held = unpacked(architecture)
    files = {place: (held[name], 0o755 if name == "regauge" else 0o644) for name, place in PLACES.items()}
    files[CONFIGURATION] = ((ROOT / "packaging/image/gateway.toml").read_bytes(), 0o644)
    # SQLite keeps large temporary tables in /tmp.
    return tar(files, folders={DATA: (0o700, USER), "tmp": (0o1777, 0)})


def configuration(architecture, content):
    """Returns how a container of the image runs."""
    return {
        "architecture": NAMES[architecture], "os": "linux", "created": created(),
        "config": {
            "User": f"{USER}:{USER}", "Entrypoint": ["/usr/bin/regauge"],
            "Cmd": ["serve", "--config", f"/{CONFIGURATION}"], "WorkingDir": f"/{DATA}",
            "Env": ["PATH=/usr/bin", "LANG=C.UTF-8"], "ExposedPorts": {"8750/tcp": {}}, "Volumes": {f"/{DATA}": {}},
            "Labels": {f"org.opencontainers.image.{name}": text for name, text in labels().items()},
            "StopSignal": "SIGTERM",
            # Docker's own addition, which others ignore.
            "Healthcheck": {"Test": PROBE, "Interval": 30 * 10**9, "Timeout": 10 * 10**9, "StartPeriod": 5 * 10**9},
        },
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(content).hexdigest()]},
        "history": [{"created": created(), "created_by": "tools/dist_image.py"}],
    }


def add(layout, architecture):
    """Adds the image of an architecture; returns the descriptor of its manifest."""
    content = layer(architecture)
    manifest = {
        "schemaVersion": 2, "mediaType": f"{TYPES}.manifest.v1+json",
        "config": layout.document(configuration(architecture, content), "config.v1+json"),
        "layers": [layout.blob(packed(content), "layer.v1.tar+gzip")],
    }
    return layout.document(manifest, "manifest.v1+json", platform={"architecture": NAMES[architecture], "os": "linux"})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--architecture", action="append", choices=ARCHITECTURES, help="default: all")
    arguments = parser.parse_args()
    layout = Layout()
    manifests = [add(layout, one) for one in arguments.architecture or ARCHITECTURES]
    # The tag names all of them together: a reader takes the one for its machine.
    index = {"schemaVersion": 2, "mediaType": f"{TYPES}.index.v1+json", "manifests": manifests}
    tagged = layout.document(index, "index.v1+json", annotations={"org.opencontainers.image.ref.name": image_name()})
    layout.files["index.json"] = (as_json({**index, "manifests": [tagged]}), 0o644)
    image_path().write_bytes(tar(layout.files))
    report(image_path())


if __name__ == "__main__":
    main()
