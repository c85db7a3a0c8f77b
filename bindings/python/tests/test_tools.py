"""Conversion, inspection, detection, and the command."""

from __future__ import annotations

import contextlib
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

import regauge
from regauge.__main__ import _command


def test_a_writer_that_is_not_closed_loses_nothing(tmp_path):
    path = tmp_path / "a.ndjson"
    writer = regauge.ndjson.Writer(path)
    writer.write({"a": 1})
    with pytest.warns(ResourceWarning, match="found a Writer that was not closed"):
        del writer
        gc.collect()
    assert path.read_bytes() == b'{"a":1}\n'
    code = f"import regauge; w = regauge.ndjson.Writer({str(path)!r}); [w.write(index) for index in range(30000)]"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert path.read_bytes().splitlines()[-1] == b"29999"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with regauge.ndjson.Writer(path) as closed:
            closed.write(1)
        del closed
        gc.collect()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("read", [regauge.ndjson.iter_load, lambda path: regauge.events(path, "ndjson")])
def test_a_pipe_that_this_process_writes(tmp_path, read):
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def write():
        with open(path, "wb") as file:
            file.write(b"1\n2\n")

    thread = threading.Thread(target=write)
    thread.start()
    assert len(list(read(path))) >= 2
    thread.join()
    # Ctrl-C ends the waiting for a writer that writes nothing.
    code = f"import regauge\nfor _ in regauge.iter_load({str(path)!r}, 'ndjson'): pass"
    waiting = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    with open(path, "wb") as file:
        file.write(b"1\n")
        file.flush()
        # It may not wait yet when the first one comes.
        for _ in range(60):
            time.sleep(0.5)
            waiting.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert "KeyboardInterrupt" in waiting.communicate(timeout=0.5)[1]
                break
    assert waiting.wait(timeout=1) != 0


def test_a_format_is_asked_for_by_the_name_of_its_argument(tmp_path):
    path = tmp_path / "unknown"
    path.write_bytes(b"???")
    with pytest.raises(ValueError, match="pass format= with one of"):
        regauge.inspect(path)
    with pytest.raises(ValueError, match="pass from_= with one of"):
        regauge.convert(path, tmp_path / "a.json")
    with pytest.raises(regauge.DecodeError, match="found no format in the first bytes"):
        regauge.loads(b'{"items": [1, {"when": tru}]}')


def test_convert(tmp_path):
    source, target = tmp_path / "a.ndjson", tmp_path / "a.msgpack"
    source.write_bytes(b'{"a": 1}\n{"a": [2.5]}\n')
    report = regauge.convert(source, target)
    assert report == {"documents": 2, "bad_records": 0, "exact": True, "losses": {}}
    assert list(regauge.iter_load(target)) == [{"a": 1}, {"a": [2.5]}]
    assert regauge.load(source) == [{"a": 1}, {"a": [2.5]}]
    (tmp_path / "b.yaml").write_text("a: !foo 1\n")
    with pytest.raises(regauge.EncodeError, match="on_loss|objects") as caught:
        regauge.convert(tmp_path / "b.yaml", tmp_path / "b.json")
    assert caught.value.path == "$.a"
    assert not (tmp_path / "b.json").exists()
    report = regauge.convert(tmp_path / "b.yaml", tmp_path / "b.json", objects="data")
    assert report["losses"] == {"type": 1}
    with pytest.raises(ValueError, match="the same file"):
        regauge.convert(source, source, to="json")
    for missing, arguments in [
        ("none.json", ("none.json", "b.json")),
        ("none/b.json", ("a.ndjson", "none/b.json")),
    ]:
        with pytest.raises(FileNotFoundError) as caught:
            regauge.convert(*(tmp_path / name for name in arguments))
        assert caught.value.filename == str(tmp_path / missing)


def test_a_failed_conversion_leaves_the_target_as_it_was(tmp_path):
    source, target = tmp_path / "a.json", tmp_path / "b.msgpack"
    source.write_bytes(b'{"a": [1, 2')
    target.write_bytes(b"kept")
    target.chmod(0o640)
    with pytest.raises(regauge.DecodeError):
        regauge.convert(source, target)
    assert target.read_bytes() == b"kept"
    source.write_bytes(b'{"a": 1}')
    regauge.convert(source, target)
    assert regauge.load(target) == {"a": 1}
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.msgpack"]


def test_convert_a_part(tmp_path):
    source, target = tmp_path / "a.ndjson", tmp_path / "b.ndjson"
    source.write_bytes(b"".join(b'{"id":%d,"u":{"n":"x","m":1}}\n' % n for n in range(100)))
    report = regauge.convert(source, target, only=["id", "u.n"], rename={"u.n": "name"}, head=2)
    assert (report["documents"], report["unmatched"]) == (2, [])
    assert regauge.load(target) == [{"id": n, "u": {"name": "x"}} for n in range(2)]
    report = regauge.convert(source, target, drop=["u", "none"])
    assert report["unmatched"] == ["drop $.none"]
    assert regauge.load(target) == [{"id": n} for n in range(100)]
    samples = []
    for seed in (1, 1, 2):
        assert regauge.convert(source, target, sample=10, seed=seed)["documents"] == 10
        samples.append([one["id"] for one in regauge.load(target)])
    assert samples[0] == samples[1] != samples[2] and samples[0] == sorted(set(samples[0]))
    with pytest.raises(TypeError, match="found 'id' as only, expected a list of paths"):
        regauge.convert(source, target, only="id")
    with pytest.raises(ValueError, match='found "a..b" in drop'):
        regauge.convert(source, target, drop=["a..b"])
    with pytest.raises(ValueError, match="expected one that ends in a key"):
        regauge.convert(source, target, rename={"a[0]": "b"})
    assert len(regauge.load(target)) == 10


def test_convert_lets_others_run(tmp_path):
    source = tmp_path / "a.ndjson"
    source.write_bytes(b'{"a": [1, 2, 3, "text"]}\n' * 1_000_000)
    # On a busy machine it may finish before this thread has its turn.
    for _ in range(5):
        worker = threading.Thread(target=regauge.convert, args=(source, tmp_path / "a.cbor"))
        worker.start()
        turns = 0
        while worker.is_alive():
            turns += 1
        worker.join()
        if turns > 1000:
            return
    assert turns > 1000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers of Unix")
def test_a_signal_ends_the_work_on_a_large_file(tmp_path):
    class Interrupted(BaseException):
        pass

    def interrupt(*_):
        raise Interrupted

    source, target = tmp_path / "large.ndjson", tmp_path / "out.yaml"
    with open(source, "wb") as file:
        for _ in range(200):
            file.write(b'{"name": "value", "list": [1, 2.5, null]}\n' * 10_000)
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for work in (lambda: regauge.convert(source, target), lambda: regauge.inspect(source)):
            signal.setitimer(signal.ITIMER_REAL, 0.03)
            with pytest.raises(Interrupted):
                work()
                time.sleep(5)
            assert not target.exists(), "the work went on to its end"
    finally:
        signal.signal(signal.SIGALRM, before)
    assert os.listdir(tmp_path) == ["large.ndjson"]
    part = tmp_path / "part.ndjson"
    part.write_bytes(source.read_bytes()[:42 * 40_000])
    assert regauge.convert(part, target)["documents"] == 40_000
    assert regauge.inspect(part)["documents"] == 40_000


def test_inspect(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'{"items": [{"a": 1}, {"a": null}]}')
    found = regauge.inspect(path)
    assert found["format"] == "json" and found["documents"] == 1 and found["depth"] == 3
    assert found["paths"]["$.items[*].a"]["kinds"] == {"null": 1, "integer": 1}


def test_the_command():
    if _command() is None:
        pytest.skip("the command is not installed beside this interpreter")
    for command in ([_command()], [sys.executable, "-m", "regauge"]):
        done = subprocess.run([*command, "convert", "-", "-", "--from", "json", "--to", "yaml"],
                              input=b'{"a": [1]}', capture_output=True)
        assert done.stdout == b"a:\n- 1\n", done.stderr


def test_other_interpreters_are_told_what_they_lack():
    code = (
        "import sys; said = {**vars(sys.implementation), 'name': 'pypy'}\n"
        "sys.implementation = type(sys.implementation)(**said)\n"
        "try:\n    import regauge\n"
        "except ImportError as error:\n    print(error)"
    )
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(regauge.__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.startswith("found pypy, which lacks the C API"), done.stderr
