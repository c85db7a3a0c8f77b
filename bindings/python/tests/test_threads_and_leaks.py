"""Memory and threads: nothing leaks, on any exit, and threads do not disturb one another."""

from __future__ import annotations

import concurrent.futures
import gc
import pickle
import sys
import tracemalloc

import pytest

import regauge

LOADS = 100_000
GOOD = {
    "json": b'{"a": [1, 2.5, "text \xc3\xa9", null, 18446744073709551616], "b": {"c": true}}',
    "msgpack": regauge.msgpack.dumps({"a": [1, b"b", {1: 2}], "b": 2.5}),
    "cbor": regauge.cbor.dumps({"a": [1, {1, 2}, 2**70], "b": 2.5}),
    "bson": regauge.bson.dumps({"a": [1, {"x": None}], "b": regauge.ObjectId("00" * 12)}),
    "yaml": b"a: &x [1, 2]\nb: *x\nc: !foo {d: 1}\n",
    "marshal": regauge.marshal.dumps({"a": [1, regauge.Symbol("s")], "b": 2.5}),
    "pickle": pickle.dumps({"a": (1, {2, 3}), "b": [None, 2.5]}),
}


def _resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.parametrize("name", GOOD)
def test_nothing_leaks_of_good_and_bad_input(name):
    module = getattr(regauge, name)
    good, bad = GOOD[name], GOOD[name][:-3]

    def run(count):
        for _ in range(count // 2):
            value = module.loads(good)
            module.dumps(value)
            try:
                module.loads(bad)
            except regauge.DecodeError:
                pass

    run(2_000)
    gc.collect()
    blocks, resident = sys.getallocatedblocks(), _resident()
    run(LOADS // len(GOOD))
    gc.collect()
    assert abs(sys.getallocatedblocks() - blocks) < 500
    assert _resident() - resident < 8 << 20


def test_nothing_leaks_of_hooks_and_errors_on_the_way_out():
    class Odd:
        pass

    def run(count):
        for _ in range(count):
            with pytest.raises(regauge.EncodeError):
                regauge.json.dumps({"a": [1, {"b": Odd()}]})
            with pytest.raises(ZeroDivisionError):
                regauge.json.loads(GOOD["json"], object_hook=lambda _: 1 // 0)
            regauge.json.dumps([Odd()], default=lambda _: {"a": [1]})

    run(200)
    gc.collect()
    blocks = sys.getallocatedblocks()
    run(2_000)
    gc.collect()
    assert abs(sys.getallocatedblocks() - blocks) < 500


def test_references_are_counted():
    text = "a text of its own"
    value = {text: [text, text]}
    before = sys.getrefcount(text)
    for _ in range(100):
        regauge.json.dumps(value)
        regauge.pickle.dumps(value)
    assert sys.getrefcount(text) == before
    one = object()
    before = sys.getrefcount(one)
    for _ in range(100):
        assert regauge.json.loads(b'{"a": {}}', object_hook=lambda _: one) is one
    assert sys.getrefcount(one) == before
    assert sys.getrefcount(None) > 0


def test_threads():
    document = {"a": [1, 2.5, "é", None, {"b": True}]}

    def work(seed):
        for round in range(200):
            value = {f"key{seed}-{round % 50}": document}
            for module in (regauge.json, regauge.msgpack, regauge.yaml):
                assert module.loads(module.dumps(value)) == value
        return seed

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(16))) == list(range(16))
    assert gc.isenabled()


def test_memory_of_tracing_is_given_back():
    tracemalloc.start()
    try:
        for _ in range(50):
            regauge.json.loads(GOOD["json"])
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(500):
            regauge.json.loads(GOOD["json"])
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 64 << 10
