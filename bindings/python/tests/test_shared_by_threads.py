"""Objects shared by threads: readers, writers, records, stores, and changing containers.

With the GIL, these tests check that nothing is lost when a thread releases it; without it, also
that nothing is freed while it is being read.
"""

from __future__ import annotations

import asyncio
import collections
import gc
import io
import os
import subprocess
import sys
import sysconfig
import threading
import time

import pytest

import regauge
from regauge.marc import Field, JSONWriter, MARCReader, MARCWriter, Record, Subfield, XMLReader, XMLWriter

THREADS = 8
# Longer if threads run in parallel.
SECONDS = 2.0 if sysconfig.get_config_var("Py_GIL_DISABLED") else 0.5
FORMATS = [
    regauge.json, regauge.msgpack, regauge.cbor, regauge.bson, regauge.yaml, regauge.pickle, regauge.marshal
]


@pytest.fixture(autouse=True)
def turns_change_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*functions):
    """Runs functions concurrently, from the same moment on; raises what one of them raised."""
    start = threading.Barrier(len(functions))
    results, raised = [None] * len(functions), []

    def run(at, function):
        start.wait()
        try:
            results[at] = function()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in enumerate(functions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread waits for ever"
    if raised:
        raise raised[0]
    return results


def test_the_module_is_declared_safe():
    # An interpreter without the GIL re-enables it for a module that does not support that.
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("an interpreter with the global lock")
    code = "import sys, regauge.marc; regauge.json.loads(b'[]'); print(sys._is_gil_enabled())"
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.stdout, done.stderr) == ("False\n", "")


# --- One thread changes what others are writing.


def change_dict(held, until):
    turn = 0
    while time.monotonic() < until:
        for name in range(40):
            held[f"key {name} {turn % 3}"] = [turn, {"deep": f"text {turn}" * 3}, "é" * (turn % 50)]
        for name in list(held)[::2]:
            held.pop(name, None)
        if turn % 16 == 0:
            held.clear()
        turn += 1


def change_list(held, until):
    turn = 0
    while time.monotonic() < until:
        held.extend([turn, f"text {turn}" * 3, {"a": [turn]}] for _ in range(40))
        held[:] = held[::2]
        if len(held) > 500 or turn % 16 == 0:
            del held[:]
        held.append({"x": turn})
        turn += 1


@pytest.mark.parametrize("module", FORMATS, ids=lambda module: module.__name__.rpartition(".")[2])
@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"default": str}], ids=str)
def test_containers_that_change_while_they_are_written(module, options):
    until = time.monotonic() + SECONDS / 4
    rows, pairs = [], {}
    document = {"rows": rows, "pairs": pairs, "both": [rows, pairs]}

    def write():
        # At least once, on a machine where others have the processor.
        more = True
        while more:
            more = time.monotonic() < until
            back = module.loads(module.dumps(document, **options))
            assert list(back) == (["both", "pairs", "rows"] if options.get("sort_keys") else list(document))
            assert all(isinstance(row, (list, dict)) for row in back["rows"])

    together(lambda: change_dict(pairs, until), lambda: change_list(rows, until), *[write] * 4)
    # No references to what was written are kept.
    assert sys.getrefcount(rows) < 10
    module.dumps({"rows": list(rows), "pairs": dict(pairs)})


def test_tuples_and_fields_of_objects_that_change():
    import dataclasses

    @dataclasses.dataclass
    class Row:
        name: str
        rest: list

    row = Row("a", [1])
    until = time.monotonic() + SECONDS / 2

    def change():
        turn = 0
        while time.monotonic() < until:
            row.name = f"name {turn}" * 5
            row.rest = [turn] * (turn % 20)
            turn += 1

    def write():
        while time.monotonic() < until:
            back = regauge.json.loads(regauge.json.dumps((row, {"row": row})))
            assert set(back[0]) == {"name", "rest"} and back[0]["name"].startswith(("a", "name"))

    together(change, write, write, write)


def test_bytes_that_change_while_they_are_read():
    good = regauge.json.dumps([{"key": index, "text": "x" * index} for index in range(50)])
    data = bytearray(good)
    until = time.monotonic() + SECONDS / 2

    def change():
        while time.monotonic() < until:
            data[10:20] = b'"' * 10
            try:
                data[:] = good
                data.extend(b" " * 1000)
                del data[len(good):]
            except BufferError:
                pass

    def read():
        while time.monotonic() < until:
            try:
                assert isinstance(regauge.json.loads(data), list)
            except regauge.DecodeError:
                pass

    together(change, read, read)


def test_one_text_written_by_all_for_the_first_time():
    # Its UTF-8 is created and cached with the text by the first user.
    for turn in range(200):
        texts = [f"é{turn}{index}" * 10 for index in range(20)]
        expected = regauge.json.dumps([str(text) for text in [*map("".join, map(list, texts))]])
        assert together(*[lambda: regauge.json.dumps(texts)] * 4) == [expected] * 4


# --- Each thread has its own table of keys.


def test_keys_and_shapes_of_many_threads():
    document = {f"key {index}": {"id": index, "name": f"name {index}", "é": None} for index in range(100)}
    packed = {module: module.dumps(document) for module in FORMATS}

    def work():
        until = time.monotonic() + SECONDS / 4
        while time.monotonic() < until:
            for module, data in packed.items():
                found = module.loads(data)
                assert found == document
                found.clear()

    for _ in range(3):
        # Threads end, and leave their tables behind.
        together(*[work] * THREADS)
    gc.collect()
    assert regauge.json.loads(packed[regauge.json]) == document


def test_tables_of_threads_that_ended_are_freed():
    keys = [f"a key of its own {index}" for index in range(300)]
    data = regauge.json.dumps([dict.fromkeys(keys)] * 3)

    def run(count):
        for _ in range(count):
            together(*[lambda: regauge.json.loads(data)] * 4)
        gc.collect()
        regauge.json.loads(b"{}")
        gc.collect()
        return sys.getallocatedblocks()

    before = run(5)
    # 200 threads with 300 keys each would be 60,000.
    assert run(50) - before < 5_000


# --- Each document of a stream is handed out once.


class Slow(io.RawIOBase):
    """A file whose every read lets other threads run."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def read(self, size=-1):
        time.sleep(0)
        return self.data.read(min(size, 4096))


COUNT = 3000


@pytest.mark.parametrize("name", ["ndjson", "msgpack", "cbor", "bson", "yaml", "pickle", "marshal"])
@pytest.mark.parametrize("kind", ["bytes", "file"])
def test_a_stream_shared_by_threads_gives_each_document_once(name, kind):
    module = getattr(regauge, name)
    with io.BytesIO() as file:
        writer = module.Writer(file)
        for index in range(COUNT):
            writer.write({"number": index, "text": "x" * 20})
        writer.close()
        data = file.getvalue()
    stream = module.iter_load(data if kind == "bytes" else Slow(data))
    found = together(*[lambda: [one["number"] for one in stream]] * THREADS)
    assert sorted(sum(found, [])) == list(range(COUNT))
    assert all(part == sorted(part) for part in found)


def test_broken_records_are_counted_once_and_stay_countable():
    data = b"".join(b'{"number": %d}\n' % index if index % 3 else b"{broken\n" for index in range(3000))
    bad = collections.deque()
    stream = regauge.ndjson.iter_load(data, bad="skip", on_bad=lambda error, line: bad.append(line))
    found = together(*[lambda: sum(1 for _ in stream)] * 4)
    assert sum(found) == 2000 and len(bad) == stream.bad_records == 1000
    assert stream.offset is None


def test_a_hook_that_asks_its_own_stream_is_told():
    seen = []

    def hook(value):
        if value["a"] == 1:
            with pytest.raises(ValueError, match="in use by this very thread"):
                next(stream)
            seen.append(stream.offset)
        if value["a"] == 2:
            stream.close()
        return value

    stream = regauge.ndjson.iter_load(b'{"a": 1}\n{"a": 2}\n{"a": 3}\n', object_hook=hook)
    assert list(stream) == [{"a": 1}, {"a": 2}]
    assert len(seen) == 1
    assert list(stream) == []


def test_a_stream_closed_by_another_ends_for_all():
    for _ in range(20):
        stream = regauge.ndjson.iter_load(Slow(b'{"a": 1}\n' * 20_000))
        counts = together(*[lambda: sum(1 for _ in stream)] * 3, lambda: time.sleep(0.002) or stream.close())
        assert sum(counts[:3]) <= 20_000
        assert next(stream, None) is None


@pytest.mark.parametrize("name", ["ndjson", "msgpack", "cbor", "bson", "yaml", "pickle", "marshal"])
@pytest.mark.parametrize("kind", ["path", "file"])
def test_a_writer_shared_by_threads_loses_nothing(name, kind, tmp_path):
    module = getattr(regauge, name)
    path = tmp_path / "out"
    file = open(path, "wb") if kind == "file" else None
    shared = ["held", {"by": "all"}]
    with module.Writer(file or path) as writer:

        def write(seed):
            for index in range(300):
                writer.write({"number": seed * 300 + index, "shared": shared, "twice": [shared, shared]})

        together(*[lambda seed=seed: write(seed) for seed in range(THREADS)])
    if file:
        file.close()
    found = list(module.iter_load(path))
    assert sorted(one["number"] for one in found) == list(range(300 * THREADS))
    assert all(one["twice"] == [shared, shared] for one in found)


def test_a_default_that_writes_to_its_own_writer_is_told(tmp_path):
    def default(_):
        for call in (lambda: writer.write(1), writer.close):
            with pytest.raises(ValueError, match="in use by this very thread"):
                call()
        return "x"

    writer = regauge.ndjson.Writer(tmp_path / "out", default=default)
    writer.write([object()])
    # The refused close did nothing.
    writer.write([1])
    writer.close()
    assert (tmp_path / "out").read_bytes() == b'["x"]\n[1]\n'


# --- Records.


def a_record(number):
    fields = [Field("001", data=f"n{number}")]
    for at in range(8):
        subfields = [Subfield("a", f"Subject {number}.{at} é"), Subfield("x", "y")]
        fields.append(Field("650", [" ", "0"], subfields))
    return Record(fields=fields, leader="00000cam a2200000 a 4500")


def test_a_record_shared_by_threads_has_one_list_of_fields():
    raw = a_record(1).as_marc()
    xml = io.BytesIO()
    with XMLWriter(xml) as writer:
        writer.write(a_record(1))
        data = xml.getvalue() + b"</collection>"
    for turn in range(300):
        # Created on first access, by all threads at once.
        record = next(XMLReader(data)) if turn % 3 == 0 else Record(raw)

        def work(seed):
            record.add_field(Field("500", [" ", " "], [Subfield("a", f"note {seed}")]))
            parts = [part for field in record for part in field]
            return record.fields, [field.tag for field in record], parts

        found = together(*[lambda seed=seed: work(seed) for seed in range(4)])
        assert all(fields is found[0][0] for fields, *_ in found)
        assert len(record.get_fields("500")) == 4 and len(record.fields) == 13
        assert len(Record(record.as_marc()).fields) == 13


def test_a_record_that_changes_while_it_is_written():
    record = Record(a_record(1).as_marc())
    until = time.monotonic() + SECONDS / 2

    def change():
        turn = 0
        while time.monotonic() < until:
            record.add_ordered_field(Field("600", ["1", "0"], [Subfield("a", f"name {turn} é")]))
            field = record["650"]
            field["a"] = f"other {turn}" * 3
            field.add_subfield("z", f"place {turn}")
            field.indicator1 = str(turn % 10)
            field.delete_subfield("z")
            record.fields[:] = [one for one in record.fields if one.tag != "600"]
            turn += 1

    def write():
        while time.monotonic() < until:
            again = Record(record.as_marc())
            assert again["001"].data == "n1" and len(again.get_fields("650")) == 8
            assert again["650"]["a"].startswith(("Subject", "other"))
            XMLWriter(io.BytesIO()).write(record)
            record.as_json()
            str(record)

    together(change, write, write, write)


@pytest.mark.parametrize("kind", ["marc", "xml"])
def test_a_reader_of_records_shared_by_threads(kind, tmp_path):
    path = tmp_path / "records"
    with (MARCWriter if kind == "marc" else XMLWriter)(open(path, "wb")) as writer:
        for number in range(COUNT):
            writer.write(a_record(number))
    with open(path, "rb", buffering=64) as file:
        reader = MARCReader(file) if kind == "marc" else XMLReader(file)
        found = together(*[lambda: [record["001"].data for record in reader]] * THREADS)
    assert sorted(sum(found, [])) == sorted(f"n{number}" for number in range(COUNT))
    assert reader.bad_records == 0


@pytest.mark.parametrize("kind", ["marc", "xml", "json"])
def test_a_writer_of_records_shared_by_threads(kind):
    file = io.StringIO() if kind == "json" else io.BytesIO()
    writer = {"marc": MARCWriter, "xml": XMLWriter, "json": JSONWriter}[kind](file)

    def write(seed):
        for number in range(200):
            writer.write(a_record(seed * 200 + number))

    together(*[lambda seed=seed: write(seed) for seed in range(THREADS)])
    writer.close(close_fh=False)
    data = file.getvalue()
    if kind == "json":
        numbers = [record["fields"][0]["001"] for record in regauge.json.loads(data)]
    else:
        numbers = [record["001"].data for record in (MARCReader if kind == "marc" else XMLReader)(data)]
    assert sorted(numbers) == sorted(f"n{number}" for number in range(200 * THREADS))


# --- Stores.


@pytest.mark.parametrize("where", ["memory", "file"])
def test_a_store_shared_by_threads(where, tmp_path):
    url = "sqlite::memory:" if where == "memory" else f"sqlite:{tmp_path / 'store.db'}"
    with regauge.Store(url, sync=False) as store:
        held = {"name": "held", "rows": [1]}

        def work(seed):
            for index in range(60):
                store[f"{seed}/{index}"] = {"seed": seed, "held": held, "text": "é" * index}
                assert store[f"{seed}/{index}"]["seed"] == seed
                store.change("count", lambda count: count + 1, default=0)
                with store.batch() as batch:
                    batch[f"batch/{seed}/{index}"] = index
                assert store.setdefault("one", seed) == store["one"]
            return sum(1 for _ in store.scan(prefix=f"{seed}/"))

        def change():
            for turn in range(3000):
                held["rows"] = list(range(turn % 30))
                held[f"k{turn % 7}"] = turn
                held.pop(f"k{(turn + 3) % 7}", None)

        counts = together(change, *[lambda seed=seed: work(seed) for seed in range(6)])
        assert counts[1:] == [60] * 6
        assert store["count"] == 360 and store.verify()["bad"] == 0
        assert len(list(store.scan_keys(prefix="batch/"))) == 360


def test_a_walk_shared_by_threads_gives_each_key_once():
    with regauge.Store("sqlite::memory:") as store:
        store.put_many({f"{number:05}": {"number": number} for number in range(5000)})
        for walk, value in ((store.scan(), True), (store.scan_keys(reverse=True), False)):
            found = together(*[lambda: [one[0] if value else one for one in walk]] * THREADS)
            assert sorted(sum(found, [])) == [f"{number:05}" for number in range(5000)]


def test_a_store_closed_by_another_thread():
    for _ in range(10):
        store = regauge.Store("sqlite::memory:")

        def work():
            try:
                for index in range(1000):
                    store[str(index)] = index
            except ValueError as error:
                assert "closed store" in str(error)

        together(work, work, lambda: time.sleep(0.002) or store.close())


def test_tasks_that_come_together_open_one_store():
    async def main():
        store = regauge.AsyncStore("sqlite::memory:")
        await asyncio.gather(*[store.put(str(index), index) for index in range(20)])
        assert await store.count() == 20
        assert await asyncio.gather(*[store.get(str(index)) for index in range(20)]) == list(range(20))
        await store.close()

    asyncio.run(main())


def test_an_arrow_stream_shared_by_threads():
    pyarrow = pytest.importorskip("pyarrow")
    data = b"".join(b'{"a": %d}\n' % at for at in range(5000))
    stream = regauge.to_arrow(data, format="ndjson", batch_size=100)
    read = lambda: pyarrow.RecordBatchReader.from_stream(stream).read_all().num_rows
    assert together(*[read] * 4) == [5000] * 4
