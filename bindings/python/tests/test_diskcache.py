"""The cache with diskcache's interface, compared with diskcache itself if it is installed."""

from __future__ import annotations

import concurrent.futures
import time

import pytest

import regauge
from regauge.compat.diskcache import ENOVAL, Cache, adopt

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
        for name in ("transact", "push", "pull", "peek", "peekitem", "check"):
            assert not hasattr(cache, name)
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
