"""The cache with diskcache's interface, compared with diskcache itself if it is installed."""

from __future__ import annotations

import collections
import concurrent.futures
import datetime
import pickle
import random
import threading
import time
import zoneinfo

import pytest

import regauge
from regauge.compat.diskcache import (
    ENOVAL, Cache, Deque, Index, Timeout, adopt, memoize_stampede,
)

try:
    import diskcache
except ImportError:
    diskcache = None


def _caches(tmp_path):
    yield Cache(tmp_path / "ours")
    if diskcache is not None:
        yield diskcache.Cache(str(tmp_path / "theirs"))


def test_both_do_the_same(tmp_path):
    """These statements hold for diskcache, too."""
    seen = []
    for cache in _caches(tmp_path):
        with cache:
            said = []
            say = said.append
            say(cache.set("a", {"x": (1, 2), "y": {3}}))
            say(cache.get("a"))
            say(cache["a"] == {"x": (1, 2), "y": {3}})
            say(cache.get("b", 5))
            say(cache.set("short", 1, expire=0.05, tag="t"))
            say(cache.get("short", expire_time=True, tag=True)[::2])
            time.sleep(0.06)
            say(cache.get("short", "gone"))
            say("short" in cache)
            say(cache.add("short", 2))
            say(cache.add("short", 3))
            say(cache.touch("short", expire=100))
            say(cache.touch("none"))
            say(cache.incr("n"))
            say(cache.incr("n", 10))
            say(cache.decr("n", 2))
            say(cache.incr("m", 1, default=41))
            with pytest.raises(KeyError):
                cache.incr("none", default=None)
            say(cache.pop("n"))
            say(cache.pop("n", "default"))
            say(cache.delete("m"))
            say(cache.delete("m"))
            with pytest.raises(KeyError):
                cache["m"]
            with pytest.raises(KeyError):
                del cache["m"]
            for key in (1, b"x", ("a", 1, ("b", None)), 2.5, None, "\0odd", True):
                cache[("key", key)] = key
                say(cache[("key", key)])
            for number in range(20):
                cache.set(f"tagged{number}", number, tag="odd" if number % 2 else "even")
            say(cache.evict("odd"))
            say(len(cache))
            cache.set("old", 1, expire=-1)
            # diskcache may have deleted it by itself already.
            cache.expire()
            say(sorted(map(repr, cache)))
            say(cache.clear())
            say(len(cache))
            seen.append(said)
    assert len(seen[0]) > 30
    for said in seen[1:]:
        assert said == seen[0]


def test_time_zones(tmp_path):
    """They come back as they were, or are refused."""
    when = datetime.datetime(2020, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Warsaw"), fold=1)
    for cache in _caches(tmp_path):
        with cache:
            cache["a"] = [when, when.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2), "CEST"))]
            assert [str(one.tzinfo) for one in cache["a"]] == ["Europe/Warsaw", "CEST"]
            assert cache["a"][0].fold == 1

    class Own(datetime.tzinfo):
        def utcoffset(self, when):
            return datetime.timedelta(hours=1)

    with Cache(tmp_path / "refused") as cache:
        with pytest.raises(regauge.EncodeError, match="time zone"):
            cache["a"] = when.replace(tzinfo=Own())


def test_memoize(tmp_path):
    for cache in _caches(tmp_path):
        calls = []

        @cache.memoize(name="square", expire=60, typed=True, tag="t")
        def square(x, *, y=0):
            calls.append(x)
            return x * x + y

        assert [square(2), square(2), square(2, y=1), square(2.0)] == [4, 4, 5, 4.0]
        assert calls == [2, 2, 2.0]
        assert square.__cache_key__(2) in cache
        assert cache.evict("t") == 3
        with pytest.raises(TypeError):
            cache.memoize(len)
        cache.close()


def test_keys_come_back_as_they_were(tmp_path):
    keys = ["a", "", "\0", "é", b"a", 1, -5, 2.5, None, ("a", ("b", 1), b"c"), ()]
    with Cache(tmp_path) as cache:
        for number, key in enumerate(keys):
            cache[key] = number
        assert set(cache) == set(keys) == set(reversed(cache)) and len(cache) == len(keys)
        assert {cache[key] for key in keys} == set(range(len(keys)))
        with pytest.raises(TypeError, match="in a key"):
            cache[frozenset()] = 1


def test_what_lacks_says_so(tmp_path):
    with Cache(tmp_path) as cache:
        with pytest.raises(NotImplementedError):
            cache.get("a", read=True)
        assert not hasattr(cache, "check")
        with pytest.raises(regauge.EncodeError):
            cache["a"] = object()
        assert cache.stats(enable=True) == (0, 0)
        cache["a"] = 1
        cache.get("a"), cache.get("b")
        assert cache.stats(reset=True) == (1, 1) and cache.stats() == (0, 0)
        assert cache.size_limit == 2**30 and cache.reset("size_limit", 5) == 5
    with pytest.raises(ValueError, match="eviction_policy"):
        Cache(tmp_path, eviction_policy="least-recently-used")


def test_culling(tmp_path):
    with Cache(tmp_path, size_limit=100_000) as cache:
        for number in range(3_000):
            cache[f"{number:05}"] = "x" * 100
        assert cache.volume() < 250_000
        cache.cull()
        assert 0 < cache.volume() <= 100_000
        assert "02999" in cache


def test_keys_come_in_the_order_in_which_they_were_put(tmp_path):
    for cache in _caches(tmp_path):
        keys = [5, "b", ("x", 1), "a", b"c", 2.5]
        for key in keys:
            cache[key] = 0
        cache["b"] = 1
        assert list(cache) == keys and list(reversed(cache)) == keys[::-1]
        assert cache.peekitem() == (2.5, 0) and cache.peekitem(last=False) == (5, 0)
        cache.close()
    with Cache(tmp_path / "many") as cache:
        keys = [(number * 7919) % 2500 for number in range(2500)]
        for key in keys:
            cache[key] = key
        assert list(cache) == keys and list(reversed(cache)) == keys[::-1]


def test_queues(tmp_path):
    """Both return the same keys and values, whatever else the cache holds."""
    seen = []
    for cache in _caches(tmp_path):
        # Otherwise diskcache removes expired values when it stores others.
        cache.reset("cull_limit", 0)
        at = random.Random(7)
        for key in (-3, "a", ("t",), b"x", "q-", "r-500000000000000"):
            cache[key] = "other"
        said = []
        for number in range(300):
            prefix, side = at.choice([None, "q"]), at.choice(["front", "back"])
            step = at.choice(["push", "push", "pull", "peek", "expired"])
            if step == "push":
                said.append(cache.push(number, prefix, side, tag="t"))
            elif step == "expired":
                said.append(cache.push(number, prefix, side, expire=-1))
            else:
                said.append(getattr(cache, step)(prefix, side=side, tag=number % 3 == 0, expire_time=number % 5 == 0))
        seen.append(said)
        if isinstance(cache, Cache):
            cache["s-999999999999998"] = 0
            with pytest.raises(ValueError, match="another can follow"):
                cache.push(0, "s")
        cache.close()
    assert len(seen[0]) == 300 and None not in seen[0]
    for said in seen[1:]:
        assert said == seen[0]


def test_transactions(tmp_path):
    for cache in _caches(tmp_path):
        timeout = Timeout if isinstance(cache, Cache) else diskcache.Timeout
        cache["a"] = 1
        with cache.transact():
            cache["b"] = cache["a"] + 1
            with cache.transact():
                del cache["a"]
                cache.incr("n", 5)
            assert "a" not in cache and cache["n"] == 5 and len(cache) == 2
            with concurrent.futures.ThreadPoolExecutor(1) as other:
                assert other.submit(lambda cache=cache: (cache.get("a"), cache.get("b"))).result() == (1, None)
        assert sorted(cache) == ["b", "n"]
        with pytest.raises(ZeroDivisionError), cache.transact():
            cache["b"] = 0
            cache["c"] = 1
            cache.push("x")
            cache.clear()
            1 / 0
        assert cache["b"] == 2 and sorted(cache) == ["b", "n"]
        with cache.transact():
            cache["b"] += 1
        assert cache["b"] == 3 and issubclass(timeout, Exception)
        cache.close()
    # The first transaction of a cache is undone as well.
    with Cache(tmp_path / "new") as cache:
        with pytest.raises(ZeroDivisionError), cache.transact():
            cache["a"] = 1
            1 / 0
        assert list(cache) == []
        with cache.transact():
            cache["a"] = 2
        assert cache["a"] == 2
    with Cache("sqlite::memory:") as cache:
        with pytest.raises(NotImplementedError, match="in a folder"), cache.transact():
            pass


def test_other_writers_wait_for_a_transaction(tmp_path):
    with Cache(tmp_path) as cache, Cache(tmp_path) as second:
        cache["total"] = cache["count"] = 0

        def work(handle):
            for _ in range(30):
                with handle.transact(retry=True):
                    cache_total, cache_count = handle["total"], handle["count"]
                    handle["count"] = cache_count + 1
                    handle["total"] = cache_total + 2
                handle.incr("count")

        threads = [threading.Thread(target=work, args=(handle,)) for handle in (cache, second, cache, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (cache["total"], cache["count"]) == (240, 240)


def _both(kind, tmp_path):
    yield {"deque": Deque, "index": Index}[kind], tmp_path / "ours"
    if diskcache is not None:
        yield {"deque": diskcache.Deque, "index": diskcache.Index}[kind], tmp_path / "theirs"


@pytest.mark.parametrize("maxlen", [None, 5])
def test_deque(tmp_path, maxlen):
    """Deques do what Python's does, in random order."""
    steps = ["append", "append", "appendleft", "pop", "popleft", "rotate", "reverse", "extend", "extendleft",
             "remove", "count", "set", "delete", "clear"]
    for make, folder in _both("deque", tmp_path):
        at = random.Random(11)
        deque, plain = make(directory=str(folder), maxlen=maxlen), collections.deque(maxlen=maxlen)
        for number in range(250):
            step = at.choice(steps)
            arguments = {"rotate": (at.randrange(-9, 9),), "reverse": (), "pop": (), "popleft": (), "clear": (),
                         "extend": ([number, None],), "extendleft": ([number, (1,)],)}.get(step, (number - 1,))
            said = []
            for one in (deque, plain):
                index = at.randrange(-6, 6) if one is deque else index
                call = {"set": lambda one=one: one.__setitem__(index, "x"),
                        "delete": lambda one=one: one.__delitem__(index)}.get(step)
                try:
                    said.append(call() if call else getattr(one, step)(*arguments))
                except (IndexError, ValueError) as error:
                    said.append(type(error))
            assert said[0] == said[1], (step, number)
            assert list(deque) == list(plain) and len(deque) == len(plain), (step, number)
            assert deque == list(plain) and list(reversed(deque)) == list(plain)[::-1]
        assert pickle.loads(pickle.dumps(deque)) == deque and deque.copy() == deque
        assert deque < [*plain, 1] and deque != [*plain, 1] and not deque > list(plain)


def test_index(tmp_path):
    """Mappings do what an ordered dict does, in random order."""
    for make, folder in _both("index", tmp_path):
        at = random.Random(13)
        index, plain = make(str(folder)), collections.OrderedDict()
        for number in range(250):
            step = at.choice(["set", "set", "pop", "popitem", "setdefault", "update", "get", "delete"])
            key = at.choice(["a", "b", 1, ("c", 2), b"d", 2.5, None])
            said = []
            last = at.random() < 0.5
            for one in (index, plain):
                calls = {"set": lambda one=one: one.__setitem__(key, number), "pop": lambda one=one: one.pop(key),
                         "popitem": lambda one=one: one.popitem(last=last),
                         "setdefault": lambda one=one: one.setdefault(key, number),
                         "update": lambda one=one: one.update({key: number}), "get": lambda one=one: one.get(key),
                         "delete": lambda one=one: one.__delitem__(key)}
                try:
                    said.append(calls[step]())
                except KeyError as error:
                    said.append(type(error))
            assert said[0] == said[1], (step, number)
            assert list(index.items()) == list(plain.items()) and list(reversed(index)) == list(reversed(plain))
            assert index == plain and index == dict(plain)
        index["z"] = 0
        assert index != plain and pickle.loads(pickle.dumps(index)) == index
        with pytest.raises(ZeroDivisionError), index.transact():
            index.clear()
            1 / 0
        assert index["z"] == 0 and index.peekitem() == ("z", 0) and len(make.fromcache(index.cache, y=1)) == len(index)
        assert index.push("x", "p") == "p-500000000000000" and index.pull("p") == ("p-500000000000000", "x")


def test_memoize_stampede(tmp_path, monkeypatch):
    calls = []
    with Cache(tmp_path) as cache:

        @memoize_stampede(cache, expire=60, name="square", tag="t")
        def square(x):
            calls.append(x)
            return x * x

        assert [square(3), square(3)] == [9, 9] and calls == [3]
        assert square.__cache_key__(3) in cache
        # Shortly before the result expires, a thread computes it again; the caller does not wait.
        cache.set(square.__cache_key__(3), (9, 30), expire=0.5, tag="t")
        monkeypatch.setattr(random, "random", lambda: 0.5)
        assert square(3) == 9
        while calls != [3, 3]:
            time.sleep(0.001)
        while cache.get(square.__cache_key__(3))[1] == 30:
            time.sleep(0.001)
        assert square(3) == 9 and calls == [3, 3] and cache.evict("t") == 1


def test_threads_count_right(tmp_path):
    with Cache(tmp_path) as cache:
        def work(_):
            for _ in range(50):
                cache.incr("n")

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        assert cache["n"] == 300


def test_adopt(tmp_path):
    pytest.importorskip("diskcache")
    source = diskcache.Cache(str(tmp_path / "theirs"))
    source.set("a", {"x": (1, 2)}, tag="t")
    source.set(("k", 1), [1.5, "é"], expire=1000)
    source.set(5, b"bytes")
    source.set("large", "x" * 200_000)
    source.set("binary", b"y" * 200_000)
    source.set("object", _Thing())
    source.close()
    with Cache(tmp_path / "ours") as cache:
        report = adopt(tmp_path / "theirs", cache)
        assert report["copied"] == 5 and report["refused"] == 1, report
        assert "_Thing" in report["errors"][0] and "object" not in cache
        assert cache["a"] == {"x": (1, 2)} and cache[("k", 1)] == [1.5, "é"]
        assert cache[5] == b"bytes" and cache["large"] == "x" * 200_000
        assert cache["binary"] == b"y" * 200_000
        assert 900 < cache.get(("k", 1), expire_time=True)[1] - time.time() < 1001
        assert cache.get("a", tag=True)[1] == "t"
    with Cache(tmp_path / "json", codec="json") as cache:
        report = adopt(tmp_path / "theirs", cache)
        assert report["refused"] >= 2 and "key" in report["errors"][0]
        assert cache.get(5, ENOVAL) is ENOVAL
    with pytest.raises(FileNotFoundError):
        adopt(tmp_path / "none", cache)


class _Thing:
    def __init__(self):
        self.a = 1
