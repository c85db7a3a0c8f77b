#!/usr/bin/env python3
"""Tests tools/data.py with a stand-in for GitHub: downloads, checksums, messages."""

import http.server
import io
import json
import pathlib
import tarfile
import tempfile
import threading
import unittest
import zlib

import data

COMMIT = "c" * 40
RECORDS = b"00026" + b"a" * 21 + b"00027" + b"b" * 22 + b"00028" + b"c" * 23
FILES = {
    "some folder/a.json": b"[1]",
    "some folder/b#.json": b"[2]",
    "z.rz": zlib.compress(b"inflated"),
    "three.mrc": RECORDS,
    **{f"many/{number}": str(number).encode() for number in range(data.RAW_MAX + 1)},
}


def tar(files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


FILES["inner.tgz"] = tar({"inner/c.json": b"[3]"})
ANSWERS = {
    **{f"/raw/owner/name/{COMMIT}/{data.urllib.parse.quote(path)}": content for path, content in FILES.items()},
    f"/archives/owner/name/tar.gz/{COMMIT}": tar({f"name-{COMMIT}/{path}": content for path, content in FILES.items()}),
}


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        answer = ANSWERS.get(self.path)
        self.send_response(404 if answer is None else 200)
        self.end_headers()
        self.wfile.write(answer or b"")

    def log_message(self, *_):
        pass


def one(to, files, path="", expected=None, **more):
    source = {"github": "owner/name", "commit": COMMIT, "path": path, **more.pop("source", {})}
    return {"to": to, "from": source, "licence": "MIT", "sha256": data.digest(expected), "files": files, **more}


TABLE = [
    one("raw", ["a.json"], "some folder/", {"a.json": b"[1]", "b.json": b"[2]"},
        renamed={"b.json": "some folder/b#.json"}),
    one("many", [str(number) for number in range(data.RAW_MAX + 1)], "many/",
        {str(number): str(number).encode() for number in range(data.RAW_MAX + 1)}),
    one("inflated", ["z.rz"], "", {"z.text": b"inflated"}, inflate=[".rz", ".text"]),
    one("archive", ["c.json"], "inner/", {"c.json": b"[3]"}, source={"archive": "inner.tgz"}),
    one("joined", [], "", {"all": RECORDS + RECORDS[26:53]}, joined={"all": ["three.mrc", "three.mrc#1+1"]}),
]


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = pathlib.Path(folder.name) / "data"
        self.near = pathlib.Path(folder.name) / "near"
        data.TOLD = self.data / "nothing"

    def files(self):
        return {str(path.relative_to(self.data)) for path in self.data.rglob("*") if path.is_file()}

    def test_every_way_of_downloading(self):
        self.assertEqual(data.fill(TABLE, self.data, []), [])
        self.assertEqual((self.data / "joined/all").read_bytes(), RECORDS + RECORDS[26:53])
        self.assertEqual((self.data / "inflated/z.text").read_bytes(), b"inflated")
        self.assertEqual(len(self.files()), 1 + 2 + data.RAW_MAX + 1 + 3)

    def test_what_is_there_is_kept_and_what_is_not_listed_goes(self):
        data.fill(TABLE, self.data, [])
        (self.data / "raw/a.json").write_bytes(b"changed")
        (self.data / "raw/old.json").write_bytes(b"not listed")
        before = (self.data / "many/1").stat().st_mtime_ns
        self.assertEqual(data.fill(TABLE, self.data, []), [])
        self.assertEqual((self.data / "raw/a.json").read_bytes(), b"[1]")
        self.assertNotIn("raw/old.json", self.files())
        self.assertEqual((self.data / "many/1").stat().st_mtime_ns, before)

    def test_a_folder_comes_first_if_its_bytes_are_right(self):
        for name, content in {"a.json": b"[1]", "b.json": b"[2]"}.items():
            (self.near / "raw").mkdir(parents=True, exist_ok=True)
            (self.near / "raw" / name).write_bytes(content)
        gone = [{**TABLE[0], "from": {**TABLE[0]["from"], "github": "owner/gone"}}]
        self.assertEqual(data.fill(gone, self.data, [self.near]), [])
        (self.near / "raw/a.json").write_bytes(b"[0]")
        (self.data / "raw/a.json").unlink()
        (problem,) = data.fill(gone, self.data, [self.near])
        self.assertIn("raw: ", problem)
        self.assertIn(f"owner/gone/{COMMIT}/some%20folder/", problem)
        self.assertIn("404", problem)
        self.assertNotIn("complete", self.files())

    def test_wrong_bytes_are_not_written(self):
        wrong = [{**TABLE[0], "sha256": "0" * 64}, TABLE[2]]
        (problem,) = data.fill(wrong, self.data, [])
        self.assertIn("expected " + "0" * 64, problem)
        self.assertEqual(self.files(), {"inflated/z.text"})

    def test_a_damaged_archive_is_named(self):
        path = f"/raw/owner/name/{COMMIT}/inner.tgz"
        whole = ANSWERS[path]
        self.addCleanup(ANSWERS.__setitem__, path, whole)
        ANSWERS[path] = whole[:-20]
        (problem,) = data.fill([TABLE[3]], self.data, [])
        self.assertIn("archive: ", problem)
        self.assertEqual(self.files(), set())

    def test_the_table(self):
        table = json.loads(data.TABLE.read_text())
        places = [f"{one['to']}/{name}" for one in table for name in [*data.wanted(one), *one.get("joined", {})]]
        self.assertEqual(len(places), len(set(places)))
        for one in table:
            self.assertTrue(one["licence"] and len(one["sha256"]) == 64, one["to"])
            self.assertTrue(len(one["from"].get("commit", "c" * 40)) == 40, one["to"])
            for place in places:
                self.assertFalse(".." in place.split("/") or place.startswith("/"), place)
        here = [one for one in table if "here" in one["from"]]
        self.assertEqual(len(here), 2)
        for one in here:
            self.assertEqual(data.digest(data.published(one)), one["sha256"])


if __name__ == "__main__":
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    data.RAW, data.ARCHIVES = f"{base}/raw", f"{base}/archives"
    unittest.main()
