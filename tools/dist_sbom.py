#!/usr/bin/env python3
"""Writes what the command consists of, in dist/: a bill of materials in CycloneDX 1.6.

    python3 tools/dist_sbom.py

Each crate has its version, licence, checksum (that of Cargo.lock) and dependencies, as for the static binary for Linux
on x86_64. The same commit makes the same bytes.
"""

import json
import time
import tomllib

from dist_common import DIST, FEATURES, ROOT, commit_time, report, said, triple, version

COMMAND = "regauge-cli"


def reached(metadata):
    """Returns the packages that are compiled for the command, by id, and the ids that each depends on."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    queue = [next(id for id, package in packages.items() if package["name"] == COMMAND)]
    found = {}
    while queue:
        node = nodes[queue.pop()]
        if node["id"] in found:
            continue
        shipped = [one["pkg"] for one in node["deps"] if any(kind["kind"] != "dev" for kind in one["dep_kinds"])]
        found[node["id"]] = sorted(shipped)
        queue += shipped
    return {id: packages[id] for id in sorted(found)}, found


def purl(package):
    """Returns the package's URL (purl-spec, type cargo)."""
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package, checksums):
    """Returns a crate as a component."""
    made = {"type": "library", "bom-ref": purl(package), "name": package["name"], "version": package["version"],
            "purl": purl(package)}
    if package["license"]:
        made["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    checksum = checksums.get((package["name"], package["version"]))
    if checksum:
        made["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return made


def main():
    features = ",".join(f"{COMMAND}/{feature}" for feature in FEATURES.split(","))
    metadata = json.loads(said("cargo", "metadata", "--format-version", "1", "--locked", "--features", features,
                               "--filter-platform", triple("x86_64")))
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    checksums = {(one["name"], one["version"]): one.get("checksum") for one in lock["package"]}
    packages, needs = reached(metadata)
    root = next(package for package in packages.values() if package["name"] == COMMAND)
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(commit_time())),
            "component": {**component(root, checksums), "type": "application", "name": "regauge"},
        },
        "components": [component(package, checksums) for package in packages.values() if package is not root],
        "dependencies": [{"ref": purl(package), "dependsOn": [purl(packages[need]) for need in needs[id]]}
                         for id, package in packages.items()],
    }
    for one in bill["components"]:
        if "licenses" not in one or "hashes" not in one and not one["name"].startswith("regauge"):
            raise SystemExit(f"{one['purl']} has no licence or no checksum")
    DIST.mkdir(exist_ok=True)
    path = DIST / f"regauge-{version()}.cdx.json"
    path.write_text(json.dumps(bill, indent=1) + "\n")
    print(f"{len(bill['components'])} crates")
    report(path)


if __name__ == "__main__":
    main()
