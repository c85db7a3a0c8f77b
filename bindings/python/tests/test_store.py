"""The object store as a mapping."""

from __future__ import annotations

import asyncio
import concurrent.futures
import datetime
import decimal
import os
import pickle
import shelve
import signal
import sqlite3
import sys
import warnings

import pytest

import regauge

UTC = datetime.timezone.utc


@pytest.fixture
def url(tmp_path):
    return f"sqlite:{tmp_path / 'objects.db'}"


@pytest.mark.parametrize(
    "codec", ["json", "msgpack", "msgpack+zstd", "cbor+lz4", "yaml", "marshal+gzip", "pickle", "bson"]
)
def test_a_mapping(url, codec):
    value = {"n": [1, 2.5, None, True], "text": "é"}
    with regauge.Store(url, codec=codec) as store:
        assert len(store) == 0 and "a" not in store and list(store) == []
        store["a"] = value
        store["b/1"] = {}
        assert store["a"] == value and "a" in store and len(store) == 2
        assert store.get("c") is None and store.get("c", 7) == 7
        assert list(store) == ["a", "b/1"]
        assert list(store.items()) == [("a", value), ("b/1", {})]
        assert list(store.values()) == [value, {}]
        assert store.codec == codec and store.engine.startswith("SQLite")
        with pytest.raises(KeyError) as caught:
            store["c"]
        assert caught.value.args == ("c",)
        with pytest.raises(KeyError):
            del store["c"]
    with regauge.Store(url) as store:
        assert store.codec == codec, "the collection keeps its codec"
        assert store.pop("a") == value and store.pop("a", None) is None
        with pytest.raises(KeyError):
            store.pop("a")
        assert store.setdefault("b/1", [1]) == {}
        if codec != "bson":
            assert store.setdefault("d", [1]) == [1] and store["d"] == [1]
        store.clear()
        assert len(store) == 0
    with pytest.raises(ValueError, match="closed store"):
        store["a"]


def test_documents_are_those_of_the_format(url, tmp_path):
    """The table contains an envelope and the exact bytes of dumps."""
    store = regauge.Store(url, codec="cbor")
    store["a"] = {"when": datetime.date(2026, 11, 21), "what": decimal.Decimal("1.50")}
    with sqlite3.connect(tmp_path / "objects.db") as raw:
        [(key, value)] = raw.execute("SELECT key, value FROM objects")
    assert key == b"a" and value[:4] == b"\xc1\x67\x10\x05"
    assert value[16:] == regauge.cbor.dumps(store["a"])
    assert store["a"] == {"when": datetime.date(2026, 11, 21), "what": decimal.Decimal("1.50")}
    known = store.stat("a")
    assert known["codec"] == "cbor" and known["stored_bytes"] == len(value)
    assert known["document_bytes"] == len(value) - 16 and known["created"] > 1_700_000_000
    assert store.get_document("a", "cbor") == value[16:]
    store.put_document("b", b'{"x": [1, 2]}', "json")
    assert store["b"] == {"x": [1, 2]}
    assert store.get_document("b", "yaml") == b"x:\n- 1\n- 2\n"
    assert store.get_document("c") is None and store.stat("c") is None
    with pytest.raises(regauge.DecodeError, match='key "c"') as caught:
        store.put_document("c", b'{"x": [1, }', "json")
    assert caught.value.key == '"c"' and caught.value.offset == 10


def test_scans(url):
    store = regauge.Store(url, codec="json")
    assert list(store.scan()) == []
    names = [f"user/{number:05}" for number in range(2_500)]
    assert store.put_many((name, {"n": name}) for name in names) == 2_500
    store.put_many({"user": 0, "user0": 1, "zz": 2})
    assert [key for key, _ in store.scan(prefix="user/")] == names
    assert [key for key, _ in store.scan(prefix="user/", reverse=True)] == names[::-1]
    assert list(store.scan_keys(from_="user/00007", to="user/00010")) == names[7:10]
    assert list(store.scan_keys(prefix="user/", from_="user/02498")) == names[2498:]
    assert list(store.scan_keys(prefix="user/", to="user/00002")) == names[:2]
    assert list(store.scan(from_="user0")) == [("user0", 1), ("zz", 2)]
    assert len(list(store.scan_keys(prefix=""))) == len(store) == 2_503
    found = store.get_many(["user/00001", "none", "zz"])
    assert found == {"user/00001": {"n": "user/00001"}, "zz": 2}
    store.delete_many(names[:2_000])
    assert len(store) == 503 and store.volume()[0] == 503
    assert "scan" in dir(store) and store == store and store != regauge.Store(url)


def test_large_values_come_in_short_pages(url):
    store = regauge.Store(url)
    store.put_many({f"{number:02}": "x" * (1 << 20) for number in range(12)})
    assert [(key, len(value)) for key, value in store.scan(reverse=True)] == [
        (f"{number:02}", 1 << 20) for number in range(11, -1, -1)
    ]


def test_keys(url):
    store = regauge.Store(url)
    store[b"\xff\x00"] = 1
    store["é"] = 2
    store[""] = 3
    assert list(store) == ["", "é", b"\xff\x00"]
    assert store["é".encode()] == 2 and store[b""] == 3
    assert list(regauge.Store(url, keys="bytes")) == [b"", "é".encode(), b"\xff\x00"]
    for wrong in (1, None, ("a",)):
        with pytest.raises(TypeError, match="as a key, expected str or bytes"):
            store[wrong] = 1
    with pytest.raises(UnicodeEncodeError):
        store["\ud800"] = 1


def test_batches(url):
    store = regauge.Store(url, codec="msgpack")
    store["old"] = 1
    with store.batch() as batch:
        value = [1]
        batch["a"] = value
        value.append(2)
        batch.update({"b": "x", "c": "y"})
        del batch["old"]
        batch.delete("c")
        assert len(batch) == 4 and "a" not in store
    assert dict(store.items()) == {"a": [1], "b": "x"}
    with pytest.raises(ZeroDivisionError):
        with store.batch() as batch:
            batch["d"] = 1 // 0
            batch["e"] = 1
    with pytest.raises(regauge.EncodeError, match='key "f"'):
        with store.batch() as batch:
            batch["e"] = 1
            batch["f"] = object()
    assert list(store) == ["a", "b"]
    with store.batch() as batch:
        batch["a"] = [3]
        store.reencode("json")
        batch["b"] = {"n": 1}
    assert store.codec == "json" and dict(store.items()) == {"a": [3], "b": {"n": 1}}
    assert store.stat("b")["codec"] == "json"


def test_errors(url, tmp_path):
    store = regauge.Store(url, codec="json")
    with pytest.raises(regauge.EncodeError, match=r'key "a": at \$\.x\[0\]: found 1 bytes') as caught:
        store["a"] = {"x": [b"y"]}
    assert caught.value.path == "$.x[0]" and caught.value.key == '"a"'
    assert "a" not in store
    store["a"] = {"x": 1}
    with sqlite3.connect(tmp_path / "objects.db") as raw:
        [(value,)] = raw.execute("SELECT value FROM objects")
        broken = value[:-1] + bytes([value[-1] ^ 1])
        raw.execute("UPDATE objects SET value = ?", (broken,))
    with pytest.raises(regauge.StoreError, match='key "a": the checksum') as caught:
        store["a"]
    assert caught.value.kind == "damaged" and not caught.value.passing
    store["b"] = 1
    found = store.verify()
    assert found["values"] == 2 and found["bad"] == 1 and 'key "a"' in found["errors"][0]
    told = []
    assert store.verify(on_bad=told.append)["errors"] == []
    assert isinstance(told[0], regauge.StoreError)
    with pytest.raises(ZeroDivisionError):
        store.verify(on_bad=lambda _: 1 // 0)
    assert store.verify(prefix="b")["bad"] == 0
    for arguments in [("nothing:x",), (url, "two words"), (url, "objects", "json+snappy"),
                      ("sqlite:" + str(tmp_path / "none" / "x.db"),), (url, "a", "ndjson")]:
        with pytest.raises(regauge.StoreError) as caught:
            regauge.Store(*arguments)["a"] = 1
        assert caught.value.kind in ("usage", "engine"), arguments
    with pytest.raises(TypeError, match="colour"):
        regauge.Store(url, colour=1)
    with pytest.raises(ValueError, match="keys"):
        regauge.Store(url, keys="int")
    assert issubclass(regauge.StoreError, regauge.Error)


def test_hooks_and_options(url):
    class Point:
        def __init__(self, x):
            self.x = x

    store = regauge.Store(
        url, codec="marshal", default=lambda one: regauge.Object("ruby", "object", "Point", {"@x": one.x}),
        types={"Point": lambda fields: Point(fields["@x"])},
    )
    store["p"] = Point(7)
    assert store["p"].x == 7
    plain = regauge.Store(url)
    assert plain["p"] == regauge.Object("ruby", "object", "Point", {"@x": 7})
    wrapping = regauge.Store(url, "wrapped", "json", on_loss="wrap")
    wrapping["a"] = {"b": b"x", 5: (1,)}
    assert wrapping["a"] == {"b": b"x", 5: [1]}
    shallow = regauge.Store(url, "shallow", "json", limits={"depth": 3})
    with pytest.raises(regauge.LimitError):
        shallow["a"] = [[[[1]]]]


def test_changes_are_not_lost_between_threads(url):
    store = regauge.Store(url, codec="json", sync=False)
    others = [regauge.Store(url, sync=False) for _ in range(3)]

    def work(number):
        one = [store, *others][number % 4]
        for round in range(25):
            one.change("count", lambda count: count + 1, default=0)
            one[f"{number}/{round}"] = {"n": [number] * 50}
            assert one[f"{number}/{round}"] == {"n": [number] * 50}
        return number

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))
    assert store["count"] == 200 and len(store) == 201
    assert store.verify()["bad"] == 0
    assert not store.add("count", 0) and store.add("new", 0)


def test_a_hook_may_use_the_store(url):
    """The handle's lock is not held while Python code runs."""
    store = regauge.Store(url, codec="json")
    store["b"] = 5
    store["a"] = [1, 2]
    other = regauge.Store(url, object_hook=lambda map: other["b"])
    store["c"] = {"x": {}}
    assert other["c"] == 5
    nested = regauge.Store(url, default=lambda _: nested["b"])
    nested["d"] = [object()]
    assert nested["d"] == [5]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_fork_opens_its_own_connection(url):
    store = regauge.Store(url, codec="json")
    store["a"] = 1
    child = os.fork()
    if child == 0:
        try:
            store["b"] = store["a"] + 1
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert store["b"] == 2


def test_reencode(url):
    store = regauge.Store(url, codec="json")
    store.put_many({f"{number:04}": {"number": number, "name": "a name"} for number in range(1_200)})
    store["odd"] = {"n": 2**70}
    before = store.volume()[1]
    tried = store.reencode("msgpack", dry_run=True)
    assert tried["values"] == 1_201 and tried["bytes_after"] < tried["bytes_before"] <= before
    assert store.codec == "json" and store.stat("0000")["codec"] == "json"
    steps = []
    done = store.reencode("msgpack", progress=lambda values, changed: steps.append(values))
    assert done["changed"] + done["refused"] == 1_201 and steps == [500, 1_000]
    if done["refused"]:
        assert 'key "odd"' in done["errors"][0]
    assert store.codec == "msgpack" and store.stat("0000")["codec"] == "msgpack"
    assert store["0007"] == {"number": 7, "name": "a name"} and store["odd"] == {"n": 2**70}
    store["new"] = 1
    assert store.stat("new")["codec"] == "msgpack"
    assert store.verify()["bad"] == 0
    with pytest.raises(regauge.StoreError, match="no collection"):
        regauge.Store(url, "none").reencode("json")
    assert store.train(samples=1_201, size=4_000) > 100
    assert store.reencode("json+zstd")["changed"] >= 1_200
    assert store["0007"] == {"number": 7, "name": "a name"}
    assert regauge.Store.collections(url) == ["objects"]


def test_reencode_takes_what_others_put_meanwhile(tmp_path):
    url = f"sqlite:{tmp_path / 'a.db'}"
    store = regauge.Store(url, codec="pickle")
    store.put_many({f"{number:04}": number for number in range(1_000)})
    other = regauge.Store(url)

    def put(values, _changed):
        # The walk has passed this place, and the other handle still uses the old codec.
        if values == 500 and "00000" not in other:
            other["00000"] = "late"

    done = store.reencode("msgpack", progress=put)
    assert done["changed"] == 1_001
    assert {codec: values for codec, (values, _) in store.verify()["codecs"].items()} == {"msgpack": 1_001}


@pytest.mark.parametrize("rate", [0, -1.0, float("nan"), float("inf")])
def test_reencode_takes_a_rate_above_0(url, rate):
    store = regauge.Store(url, codec="json")
    store["a"] = 1
    with pytest.raises(regauge.StoreError, match="expected a number above 0"):
        store.reencode("msgpack", rate=rate)
    assert store.codec == "json"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_signal_ends_a_long_walk(url):
    store = regauge.Store(url, codec="json")
    store.put_many({f"{number:04}": number for number in range(1_000)})

    def late(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(TimeoutError):
            store.reencode("msgpack", rate=10)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert store.codec == "msgpack"
    assert store.reencode("msgpack")["changed"] > 500
    assert store.verify()["bad"] == 0


@pytest.mark.parametrize("name", [":memory:", "file::memory:", "file:x?mode=memory"])
def test_a_database_in_memory_has_one_connection(name):
    store = regauge.Store(f"sqlite:{name}", codec="json")
    store.put_many({f"{number:04}": number for number in range(600)})
    assert store.verify()["values"] == 600
    with pytest.raises(regauge.StoreError, match="one connection"):
        store.reencode("msgpack", progress=lambda *_: len(store))
    # What was done by then stays done.
    assert store.reencode("msgpack")["changed"] == 200
    assert store.verify()["codecs"]["msgpack"][0] == 600
    assert store.codec == "msgpack" and store["0007"] == 7
    if hasattr(os, "fork"):
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            try:
                store.get("0007")
            except regauge.StoreError as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert b"stays with the process that opened it" in os.read(read, 1_000)
        os.close(read)
        os.close(write)


def test_series(url):
    store = regauge.Store(url)
    series = store.series("temperature")
    start = datetime.datetime(2026, 11, 20, 22, tzinfo=UTC)
    hours = [start + datetime.timedelta(hours=number) for number in range(50)]
    assert series.put_many((time, number) for number, time in enumerate(hours)) == 50
    assert list(series) == hours and series.latest() == (hours[-1], 49)
    assert [value for _, value in series.scan(from_=hours[1], to=hours[4])] == [1, 2, 3]
    assert [value for _, value in series.scan(reverse=True)][:3] == [49, 48, 47]
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert series[hours[3].astimezone(zone)] == 3
    series[5] = "early"
    assert next(iter(series)) == regauge.Timestamp(0, 5) and series[5] == "early"
    series[-1] = "earlier"
    assert series[regauge.Timestamp(-1, 999_999_999)] == "earlier"
    del series[-1]
    with pytest.raises(KeyError):
        series[-1]
    with pytest.raises(ValueError, match="without a time zone"):
        series[datetime.datetime(2026, 1, 1)] = 1
    with pytest.raises(TypeError, match="as a time"):
        series["now"] = 1
    with pytest.raises(regauge.StoreError, match="zero bytes"):
        store.series("a\0b")
    other = store.series("temperature2")
    assert other.latest() is None
    text = regauge.Store(url, keys="bytes").series("temperature")
    assert text.latest() == (hours[-1], 49)


def test_asyncio(url):
    async def main():
        async with regauge.AsyncStore(url, codec="json") as store:
            value = {"a": [1]}
            task = asyncio.ensure_future(store.put("x", value))
            await asyncio.sleep(0)
            await task
            value["a"].append(2)
            await asyncio.gather(*(store.put(f"n/{number:03}", number) for number in range(300)))
            assert await store.get("x") == {"a": [1]} and await store.get("none", 5) == 5
            assert [value async for _, value in store.scan(prefix="n/")] == list(range(300))
            assert await store.get_many(["x", "n/007"]) == {"x": {"a": [1]}, "n/007": 7}
            async with store.batch() as batch:
                batch["y"] = 1
                del batch["x"]
            assert not await store.contains("x") and await store.delete("y")
            await store.put_many({"z": 1})
            assert await store.change("z", lambda one: one + 1) == 2
            assert not await store.add("z", 1) and await store.count() == 301
            assert (await store.verify())["bad"] == 0
            assert (await store.reencode("msgpack"))["changed"] == 301
            with pytest.raises(regauge.EncodeError):
                await store.put("bad", object())

    asyncio.run(main())


def test_the_loop_runs_while_the_database_works(tmp_path):
    async def main():
        async with regauge.AsyncStore(f"sqlite:{tmp_path / 'a.db'}") as store:
            await store.put_many({f"{number:06}": {"n": [number] * 20} for number in range(20_000)})
            turns = 0

            async def turn():
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            ticking = asyncio.ensure_future(turn())
            await store.verify()
            ticking.cancel()
            return turns

    assert asyncio.run(main()) > 20


def test_adopting_tables_and_shelves(tmp_path):
    path = tmp_path / "app.db"
    with sqlite3.connect(path) as raw:
        raw.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY, job BLOB)")
        raw.executemany(
            "INSERT INTO jobs VALUES (?, ?)",
            [(number, pickle.dumps({"n": number, "t": (1, 2)})) for number in range(1, 31)],
        )
    store = regauge.Store.adopt(
        f"sqlite:{path}", "jobs", table="jobs", key_column="id", value_column="job",
        key_kind="integer", assume="pickle",
    )
    assert store[7] == {"n": 7, "t": (1, 2)} and list(store)[:3] == [1, 2, 3] and len(store) == 30
    assert list(store.scan_keys(from_=9, to=12, reverse=True)) == [11, 10, 9]
    store[31] = {"n": 31, "t": ()}
    assert store["31"] == {"n": 31, "t": ()}
    found = store.verify()
    assert found["bare"] == 30 and found["values"] == 31 and found["bad"] == 0
    with pytest.raises(ValueError, match="prefix"):
        store.scan(prefix="1")
    done = store.reencode("pickle+zstd")
    assert done["changed"] == 31 and done["refused"] == 0 and store[7] == {"n": 7, "t": (1, 2)}

    with shelve.open(str(tmp_path / "shelf")) as shelf:
        shelf["a"] = {"x": [1, 2.5, "é"]}
        shelf["b"] = decimal.Decimal("1.5")
        shelf["c"] = _Class()
    from regauge.compat import shelve as compat

    target = regauge.Store(f"sqlite:{tmp_path / 'new.db'}", codec="cbor")
    report = compat.adopt(tmp_path / "shelf", target)
    assert report["copied"] == 2 and report["refused"] == 1
    assert "_Class" in report["errors"][0] and 'key "c"' in report["errors"][0]
    assert target["a"] == {"x": [1, 2.5, "é"]} and target["b"] == decimal.Decimal("1.5")
    if sys.version_info >= (3, 13):
        direct = regauge.Store.adopt(
            f"sqlite:{tmp_path / 'shelf'}", "shelf", table="Dict", assume="pickle"
        )
        assert direct["a"] == {"x": [1, 2.5, "é"]} and direct["c"].name.endswith("_Class")


class _Class:
    def __init__(self):
        self.a = 1


def test_marc(url, data):
    path = next(path for path in sorted((data / "marc" / "binary").rglob("*.mrc")))
    store = regauge.Store(url, codec="marc")
    record = next(iter(regauge.marc.iter_load(path)))
    store["r"] = record
    assert store["r"] == record
    with pytest.raises(TypeError, match="one record"):
        store["l"] = [record]


def test_nothing_leaks(url):
    import gc

    store = regauge.Store(url, codec="msgpack", sync=False)

    def run(count):
        for number in range(count):
            store["a"] = {"n": [number, "text"]}
            assert store["a"]["n"][0] == number
            assert store.get("none") is None
            with pytest.raises(regauge.EncodeError):
                store["b"] = object()
            list(store.scan())

    run(50)
    gc.collect()
    before = sys.getallocatedblocks()
    run(1_000)
    gc.collect()
    assert abs(sys.getallocatedblocks() - before) < 500
