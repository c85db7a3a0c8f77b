#!/usr/bin/env python3
"""Checks the archive of `make dist-windows` in wine.

    python3 tools/dist_windows_check.py --regauge target/release/regauge [--only NAME …]

The program converts every valid file of the corpus into several formats, and inspects each; output, messages and
exit status have to be those of the ordinary build for Linux, byte for byte. The functions in `CHECKS` then look at
what is peculiar to Windows: paths, files that are replaced, pipes, the console, Ctrl-C, databases, measuring.

wine is not Windows: what passes here is likely to work there, and no more.
"""

import argparse
import json
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile

from dist_check import Place, same
from dist_common import (BUILD, FEATURES_NAMED, ROOT, WINDOWS, has_no_private_path, need, said, version,
                         windows_path)

FOLDER = BUILD / "check" / "windows"
PREFIX = BUILD / "check" / "wine"
EXPECTED = ["regauge.exe", "README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "LICENSES-THIRD-PARTY"]
# Every version of Windows has these.
LIBRARIES = re.compile(r"advapi32|api-ms-win-.*|bcrypt(primitives)?|combase|crypt32|iphlpapi|kernel32|ktmw32|msvcrt|ncrypt|ntdll|ole32|"
                       r"oleaut32|psapi|secur32|shell32|user32|userenv|ws2_32")
# What Rust's standard library asks for random numbers; wine has it since version 9.
RANDOM = """#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
"""
CONTROL_C = 0xC000013A


def unpack():
    """Unpacks the archive, after a look at what it holds; returns the folder."""
    path = windows_path()
    if not path.exists():
        sys.exit(f"found no {path.relative_to(ROOT)}: run `make dist-windows` first")
    shutil.rmtree(FOLDER, ignore_errors=True)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(FOLDER)
    unpacked = FOLDER / path.stem
    missing = [name for name in EXPECTED if not (unpacked / name).is_file() or not (unpacked / name).stat().st_size]
    if missing:
        sys.exit(f"{path.name} has no {', '.join(missing)}")
    program = unpacked / "regauge.exe"
    needed = re.findall(r"DLL Name: (.*)\.dll", said("x86_64-w64-mingw32-objdump", "-p", program), re.IGNORECASE)
    foreign = [name for name in needed if not LIBRARIES.fullmatch(name.lower())]
    if foreign:
        sys.exit(f"{path.name}: the program needs {', '.join(foreign)}, which Windows lacks")
    has_no_private_path(path, program)
    return unpacked


def wine_environment():
    """Makes a Windows of its own for the check; returns the environment that selects it."""
    environment = {"WINEPREFIX": str(PREFIX), "WINEDEBUG": "-all", "HOME": str(BUILD), "LC_ALL": "C.UTF-8"}
    if not (PREFIX / "system.reg").exists():
        PREFIX.mkdir(parents=True, exist_ok=True)
        subprocess.run(["wine", "wineboot", "--init"], env={**os.environ, **environment}, capture_output=True, check=True)
        windows_10 = ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"]
        subprocess.run(["wine", *windows_10], env={**os.environ, **environment}, capture_output=True, check=True)
    library = PREFIX / "drive_c/windows/system32/bcryptprimitives.dll"
    if not library.exists():
        source = BUILD / "check" / "random.c"
        source.write_text(RANDOM)
        said("x86_64-w64-mingw32-gcc", "-shared", "-s", "-o", library, source, "-ladvapi32")
    return environment


class Windows(Place):
    """The program in wine, in a folder of its own."""

    def __init__(self, unpacked, environment):
        self.program = unpacked / "regauge.exe"
        super().__init__(FOLDER / "work", ["wine", self.program], environment)
        self.folder.mkdir()

    def fresh(self, name):
        """Returns the program in an empty folder."""
        place = object.__new__(Windows)
        place.__dict__.update(self.__dict__)
        place.folder = self.folder / name
        place.folder.mkdir()
        return place

    def put(self, name, content):
        """Writes a file."""
        (self.folder / name).write_bytes(content)

    def has(self, name, content):
        """Fails unless a file holds this."""
        found = (self.folder / name).read_bytes()
        assert found == content, f"{name} holds {found!r}, expected {content!r}"

    def names(self):
        """Returns the names in the folder, hidden ones too."""
        return sorted(path.name for path in self.folder.iterdir())

    def gives(self, status, *arguments, stdin=b"", says=""):
        """Runs the program; fails unless it ends with this status, and says this. Returns its output."""
        found, output, messages = self.run(*arguments, stdin=stdin)
        told = messages.decode(errors="replace")
        assert (found, says in told) == (status, True), (
            f"regauge {' '.join(map(str, arguments))}: status {found}, expected {status}; it says {told!r}, "
            f"expected {says!r}")
        return output

    def shell(self, line):
        """Runs a line in cmd.exe, where `regauge` is the program; returns its output."""
        (self.folder / "line.bat").write_bytes(
            f"@set PATH={self.windows(self.program.parent)};%PATH%\r\n@{line}\r\n".encode())
        done = subprocess.run(["wine", "cmd", "/c", "line.bat"], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, capture_output=True)
        (self.folder / "line.bat").unlink()
        assert done.returncode == 0, f"{line}: status {done.returncode}, {done.stdout!r}, {done.stderr!r}"
        return done.stdout

    @staticmethod
    def windows(path):
        """Returns a path as Windows writes it."""
        return "Z:" + str(path).replace("/", "\\")

    def started(self, *arguments, **more):
        """Starts the program, and returns the process."""
        return subprocess.Popen([*self.command, *arguments], cwd=self.folder, env=self.environment, **more)


def check_paths(place):
    """Drive letters, backslashes, names that are not ASCII, long names."""
    place.put("in.json", b'[1,"\xc3\xa9"]\n')
    (place.folder / "un dossier é").mkdir()
    name = "un dossier é\\données 漢字 🎉.yaml"
    place.gives(0, "convert", "in.json", name)
    place.has("un dossier é/données 漢字 🎉.yaml", b'- 1\n- \xc3\xa9\n')
    place.gives(0, "convert", ".\\un dossier é/données 漢字 🎉.yaml", place.windows(place.folder / "back.json"))
    place.has("back.json", b'[1,"\xc3\xa9"]\n')
    place.gives(0, "convert", "\\\\?\\" + place.windows(place.folder / "in.json"), "verbatim.msgpack")
    place.has("verbatim.msgpack", b"\x92\x01\xa2\xc3\xa9")
    place.gives(0, "convert", "back.json", "x" * 200 + ".json")
    place.gives(2, "convert", "absent.json", "out.yaml", says="absent.json: File not found")
    place.gives(2, "convert", "un dossier é", "out.yaml", says="un dossier é: is a directory, expected a file")
    place.gives(2, "convert", "in.json", "nowhere\\out.json", says="nowhere\\out.json: cannot be written: ")
    place.put("é.json", b"[1")
    place.gives(1, "convert", "é.json", "out.yaml", says="é.json: json: byte 2")
    place.gives(0, "query", "--arg", "name", "é漢", "$name", "in.json", "said.json")
    place.has("said.json", '"é漢"\n'.encode())


def check_replacing(place):
    """A file is kept without --force, replaced with it, and nothing else is left."""
    place.put("in.json", b"[1]")
    place.put("out.msgpack", b"precious")
    place.gives(2, "convert", "in.json", "out.msgpack", says="already exists and was kept; pass --force")
    place.has("out.msgpack", b"precious")
    place.gives(0, "convert", "in.json", "out.msgpack", "--force")
    place.has("out.msgpack", b"\x91\x01")
    place.gives(0, "convert", "in.json", "in.json", "--force", "--pretty")
    place.has("in.json", b"[\n  1\n]\n")
    place.put("bad.json", b"[1, 2")
    place.gives(1, "convert", "bad.json", "out.msgpack", "--force")
    place.has("out.msgpack", b"\x91\x01")
    place.put("big.json", b"[123456789012345678901234567890]")
    place.gives(3, "convert", "big.json", "out.msgpack", "--force")
    place.has("out.msgpack", b"\x91\x01")
    assert place.names() == ["bad.json", "big.json", "in.json", "out.msgpack"], place.names()


def check_in_place(place):
    """`query --in-place` keeps every other byte, CRLF too."""
    text = b"# a service\r\nname: web\r\nversion: \"1\"  # of the API\r\n"
    place.put("a.yaml", text)
    place.put("b.json", b'{ "version" : 1 }\r\n')
    place.gives(0, "query", "--in-place", '.version = "2"', "a.yaml")
    place.has("a.yaml", text.replace(b'"1"', b'"2"'))
    place.gives(0, "query", "--in-place", ".version += 1", "b.json")
    place.has("b.json", b'{ "version" : 2 }\r\n')
    assert place.names() == ["a.yaml", "b.json"], place.names()


def check_binary(place):
    """Standard input and output pass every byte, through pipes and redirections of cmd.exe."""
    place.put("in.json", b'["a\\r\\nb","\\u001a","x"]\n')
    expected = b"\x93\xa4a\r\nb\xa1\x1a\xa1x"
    assert place.gives(0, "convert", "in.json", "-", "--to", "msgpack") == expected
    back = place.gives(0, "convert", "-", "-", "--from", "msgpack", "--to", "json", stdin=expected)
    assert back == b'["a\\r\\nb","\\u001a","x"]\n', back
    place.shell("regauge convert - - --to msgpack --from json < in.json > out.msgpack")
    place.has("out.msgpack", expected)
    place.shell("regauge convert in.json - --to msgpack | regauge convert - piped.json --from msgpack")
    place.has("piped.json", back)
    place.shell("regauge convert in.json - --to cbor > twice.cbor")
    once = (place.folder / "twice.cbor").read_bytes()
    place.shell("regauge convert in.json - --to cbor >> twice.cbor")
    place.has("twice.cbor", once * 2)
    # Its lengths are known last.
    place.put("map.json", b'{"a":[1,{"b":"c"}]}')
    place.shell("regauge convert map.json - --to bson > patched.bson")
    place.gives(0, "convert", "map.json", "beside.bson")
    place.has("patched.bson", (place.folder / "beside.bson").read_bytes())
    place.gives(0, "convert", "in.json", "NUL", "--to", "msgpack")
    place.gives(2, "convert", "NUL", "-", "--to", "json", says="is empty, expected a document")


def check_compressed(place):
    """Every compression, with several threads."""
    lines = b"".join(b'{"number":%d,"text":"%s"}\n' % (number, b"x" * (number % 50)) for number in range(60_000))
    place.put("in.ndjson", lines)
    for suffix in ["gz", "zst", "lz4", "xz", "bz2"]:
        place.gives(0, "convert", "in.ndjson", f"it.msgpack.{suffix}", "--jobs", "4")
        place.gives(0, "convert", f"it.msgpack.{suffix}", "back.ndjson", "--jobs", "4", "--force")
        place.has("back.ndjson", lines)


def check_statuses(place):
    """Help, version, wrong usage, a key that is not there."""
    assert b"Usage: regauge" in place.gives(0, "--help")
    about = place.gives(0, "--version", "--verbose").decode()
    for words in [f"regauge {version()}", f"target: {WINDOWS}", FEATURES_NAMED]:
        assert words in about, f"found {about!r}, expected {words!r}"
    assert b"\r" not in place.gives(0, "convert", "--help")
    assert b"msgpack" in place.gives(0, "formats")
    place.gives(2, "convert", "--no-such-option", says="unexpected argument")
    place.gives(4, "store", "get", "--db", "sqlite:a.db", "absent", "-")
    assert b"Register-ArgumentCompleter" in place.gives(0, "completions", "powershell")


def check_store(place):
    """A database in SQLite, by a relative and an absolute path."""
    place.gives(0, "sample", "legislators", "orders.json", "--count", "50")
    place.gives(0, "store", "import", "--db", "sqlite:a.db", "orders.json", "--key", "id.bioguide")
    database = "sqlite:" + place.windows(place.folder / "a.db")
    keys = place.gives(0, "store", "ls", "--db", database).decode().split()
    assert len(keys) == 50, keys
    document = json.loads(place.gives(0, "store", "get", "--db", database, keys[0], "-", "--to", "json"))
    assert document["id"]["bioguide"] == keys[0], document
    place.gives(0, "store", "verify", "--db", database)
    (place.folder / "é").mkdir()
    place.gives(0, "store", "put", "--db", "sqlite:é\\b.db", "k", "orders.json")
    assert (place.folder / "é/b.db").exists()


def wait_for(what, seconds=30):
    """Waits until a function returns something true; returns that."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if found := what():
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def check_interruption(place):
    """Ctrl-C leaves neither half a file nor a temporary one; a killed process no half file."""
    for kind, left in [(signal.SIGINT, 0), (signal.SIGKILL, 1)]:
        process = place.started("convert", "-", "out.json", "--from", "ndjson", stdin=subprocess.PIPE,
                                stderr=subprocess.PIPE)
        process.stdin.write(b"[1]\n" * 100_000)
        process.stdin.flush()
        wait_for(lambda: any(name.startswith(".out.json.regauge-") for name in place.names()))
        process.send_signal(kind)
        status = process.wait(30)
        process.stdin.close()
        # A shell of Unix sees the last eight bits.
        if kind == signal.SIGINT:
            assert status == CONTROL_C & 0xFF, status
        wait_for(lambda: len(place.names()) == left)
        assert not (place.folder / "out.json").exists()
        for name in place.names():
            (place.folder / name).unlink()


def check_console(place):
    """A console gets its text in UTF-8 here, and in UTF-16 from the program."""
    place.put("in.json", '["é漢字"]\n'.encode())
    ours, theirs = pty.openpty()
    process = place.started("convert", "in.json", "-", "--to", "json", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    assert process.wait(30) == 0, shown
    assert "é漢字" in shown.decode(errors="replace"), shown


def check_measuring(place):
    """Libraries in the program are timed; what is not there says so."""
    place.gives(0, "sample", "legislators", "orders.json", "--count", "50")
    screen = place.gives(0, "measure", "orders.json", "--quick", "--only", "rust", "--progress", "never",
                         "--json", "raw.json", "--out", "report")
    raw = json.loads((place.folder / "raw.json").read_bytes())
    timed = {row["library"]: row for row in raw["rows"] if row.get("timing")}
    assert {"serde_json", "regauge"} <= set(timed), (sorted(timed), screen)
    assert raw["machine"]["system"].startswith("windows"), raw["machine"]
    assert timed["serde_json"]["timing"]["memory"]["peak"] > 1 << 20, timed["serde_json"]
    assert (place.folder / "report/report.html").exists()
    place.gives(0, "measure", "orders.json", "--quick", "--only", "json", "--only", "serde_json", "--progress",
                "never", "--out", "report", "--force")
    place.gives(1, "measure", "--setup", says="libraries cannot be set up")
    # Ctrl-C ends a longer run, which keeps what it has.
    process = place.started("measure", "orders.json", "--only", "serde_json", "--rounds", "4000", "--progress", "never",
                            "--json", "short.json", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(5)
    process.send_signal(signal.SIGINT)
    screen, messages = process.communicate(timeout=60)
    assert process.returncode == 0 and b"results so far are kept" in messages, (process.returncode, screen, messages)
    assert json.loads((place.folder / "short.json").read_bytes())["interrupted"]


def check_gateway(place):
    """The gateway answers, and Ctrl-C stops it."""
    place.gives(0, "store", "tenants", "--data", "data", "create", "acme")
    token = place.gives(0, "store", "tenants", "--data", "data", "token", "create", "acme").decode().split()[-1]
    place.put("gateway.toml", b'data = "data"\nlisten = "127.0.0.1:18750"\n')
    process = place.started("serve", "--config", "gateway.toml", stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    ask = ["curl", "--silent", "--fail", "--max-time", "10", "--header", f"authorization: Bearer {token}",
           "--header", "content-type: application/json", "--header", "accept: application/json"]
    value = "http://127.0.0.1:18750/v1/objects/k"
    try:
        put = [*ask, "--request", "PUT", "--data", '{"a":1}', value]
        wait_for(lambda: subprocess.run(put, capture_output=True).returncode == 0)
        assert json.loads(said(*ask, value)) == {"a": 1}
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, process.stderr.read()
    finally:
        process.kill()


CHECKS = [check_paths, check_replacing, check_in_place, check_binary, check_compressed, check_statuses, check_store,
          check_interruption, check_console, check_measuring, check_gateway]


def corpus(place, regauge):
    """Compares every conversion of the corpus with the ordinary build; returns what to say."""
    shutil.copytree(ROOT / "corpus", place.folder / "corpus")
    cases, succeeded = same(place, Place(place.folder, [regauge]))
    assert succeeded > cases / 2, f"{succeeded} of {cases} cases succeeded, expected most"
    return f"{cases} conversions and inspections as in the ordinary build ({succeeded} exact, the others refused alike)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", type=pathlib.Path, required=True, help="the ordinary build to compare with")
    parser.add_argument("--only", action="append", default=[], help="a check, such as paths or corpus; default: all")
    arguments = parser.parse_args()
    for program, package in [("wine", "wine wine64"), ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
                             ("curl", "curl")]:
        need(program, package)
    if not arguments.regauge.exists():
        sys.exit(f"found no {arguments.regauge}: run `make build` first")
    place = Windows(unpack(), wine_environment())
    checks = {check.__name__.removeprefix("check_"): check for check in CHECKS}
    checks["corpus"] = lambda fresh: corpus(fresh, arguments.regauge.resolve())
    chosen = {name: check for name, check in checks.items() if name in (arguments.only or checks)}
    failed = 0
    for name, check in chosen.items():
        started = time.monotonic()
        try:
            told = check(place.fresh(name)) or check.__doc__.strip()
        except (AssertionError, SystemExit) as error:
            told, failed = f"FAILED: {error}", failed + 1
        print(f"{name}: {told} ({time.monotonic() - started:.0f} s)", flush=True)
    print(f"{said('wine', '--version')}: {len(chosen) - failed} of {len(chosen)} checks passed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
