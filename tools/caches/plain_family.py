"""Writes what applications store without a framework: strings of many kinds, and Redis' own structures."""

from caches import samples
from caches.family import Family, label, ttl
from caches.plain_kinds import KINDS, compact, module


class Plain(Family):
    """Strings of every kind that needs no framework."""

    name = "plain"
    share = 0.16
    database = 0
    packages = ("redis",)

    def kinds(self):
        found = []
        for kind in KINDS:
            try:
                if kind.needs:
                    module(kind.needs)
                found.append(kind)
            except ImportError as error:
                print(f"skipped: {kind.name} in plain: {error}", flush=True)
        return found, [kind.weight for kind in found]

    def case(self, run, kinds, weights, index):
        """Returns the key, the kind, the value and the expiry."""
        rng = run.random(index)
        kind = rng.choices(kinds, weights)[0]
        value = kind.make(rng, run.length(rng))
        return kind.key.format(index), kind, value, ttl(rng)

    def make(self, run):
        kinds, weights = self.kinds()
        client = run.client()
        for start in range(0, run.count, 500):
            pipe, made = client.pipeline(transaction=False), []
            for index in range(start, min(run.count, start + 500)):
                key, kind, value, timeout = self.case(run, kinds, weights, index)
                pipe.set(key, kind.encode(value), ex=timeout)
                made.append(label(key, kind.codec, framework="plain", steps=kind.steps, content=kind.content,
                                  envelope="zlib" if kind.steps == ("zlib",) else None))
            pipe.execute()
            yield from made

    def check(self, run):
        kinds, weights = self.kinds()
        client = run.client()
        for index in run.sample(run.count):
            key, kind, value, _ = self.case(run, kinds, weights, index)
            yield f"{key} ({kind.name})", value, kind.decode(client.get(key))


class Structures(Family):
    """Lists, sets, sorted sets, hashes, streams, bitmaps, HyperLogLogs and places."""

    name = "structures"
    share = 0.08
    database = 1
    packages = ("redis",)

    # Each makes a key of about this many values.
    SIZE = 12

    def leaderboard(self, pipe, rng, key):
        members = {f"player:{one}": rng.randrange(10**6) for one in rng.sample(range(10**6), self.SIZE)}
        pipe.zadd(key, members)
        return label(key, "text", kind="zset", framework="plain"), ("zset", members)

    def members(self, pipe, rng, key):
        members = {str(one).encode() for one in rng.sample(range(10**6), self.SIZE)}
        pipe.sadd(key, *members)
        return label(key, "integer", kind="set", framework="plain"), ("set", members)

    def recent(self, pipe, rng, key):
        items = [compact({"id": rng.randrange(10**6), "at": samples.moment(rng).isoformat()})
                 for _ in range(self.SIZE)]
        pipe.rpush(key, *items)
        return label(key, "json", kind="list", framework="plain"), ("list", items)

    def profile(self, pipe, rng, key):
        one = {"name": rng.choice(samples.NAMES), "visits": str(rng.randrange(10**5)), "ratio": f"{rng.random():.4f}1",
               "settings": compact(samples.settings(rng, 120)).decode(), "about": samples.prose(rng, 80), "empty": ""}
        pipe.hset(key, mapping=one)
        fields = {"settings": {"envelope": None, "steps": [], "codec": "json", "names": []}}
        return label(key, "scalar", kind="hash", framework="plain", fields=fields), (
            "hash", {name.encode(): value.encode() for name, value in one.items()})

    def events(self, pipe, rng, key):
        entries = [{"type": rng.choice(["view", "buy"]), "user": str(rng.randrange(10**6)), "note": samples.prose(rng, 30)}
                   for _ in range(self.SIZE // 3)]
        for at, entry in enumerate(entries, 1):
            pipe.xadd(key, entry, id=f"{1_770_000_000_000 + at}-0")
        stored = [{name.encode(): value.encode() for name, value in entry.items()} for entry in entries]
        return label(key, "scalar", kind="stream", framework="plain"), ("stream", stored)

    def visitors(self, pipe, rng, key):
        pipe.pfadd(key, *(f"visitor:{rng.randrange(10**6)}" for _ in range(rng.choice([5, 60, 2000]))))
        return label(key, "binary", framework="plain", content="hyperloglog"), ("prefix", b"HYLL")

    def days(self, pipe, rng, key):
        last = 0
        for _ in range(20):
            last = max(last, at := rng.randrange(4000))
            pipe.setbit(key, at, 1)
        return label(key, "binary", framework="plain", content="bitmap"), ("length", last // 8 + 1)

    def stores(self, pipe, rng, key):
        for one in rng.sample(range(10**6), self.SIZE):
            pipe.geoadd(key, (rng.uniform(-180, 180), rng.uniform(-80, 80), f"store:{one}"))
        return label(key, "text", kind="zset", framework="plain", content="geo"), ("size", self.SIZE)

    MAKERS = {"leaderboard:{}": leaderboard, "group:{}:members": members, "user:{}:recent": recent, "user:{}": profile,
              "stream:events:{}": events, "visitors:{}": visitors, "active:{}": days, "stores:{}": stores}

    def cases(self, run):
        """Yields index, key and maker of each structure."""
        makers = list(self.MAKERS.items())
        for index in range(max(len(makers), run.count // (self.SIZE - 2))):
            pattern, maker = makers[index % len(makers)]
            yield index, pattern.format(index), maker

    def make(self, run):
        client = run.client()
        pipe, made = client.pipeline(transaction=False), []
        for index, key, maker in self.cases(run):
            made.append(maker(self, pipe, run.random(index), key)[0])
            if len(made) == 200:
                pipe.execute()
                yield from made
                made = []
        pipe.execute()
        yield from made

    def check(self, run):
        client, unused = run.client(), run.client().pipeline()
        cases = list(self.cases(run))
        for at in run.sample(len(cases)):
            index, key, maker = cases[at]
            kind, expected = maker(self, unused, run.random(index), key)[1]
            yield key, expected, self.read(client, key, kind)
            unused.reset()

    def read(self, client, key, kind):
        match kind:
            case "zset":
                return {name.decode(): score for name, score in client.zrange(key, 0, -1, withscores=True)}
            case "set":
                return client.smembers(key)
            case "list":
                return client.lrange(key, 0, -1)
            case "hash":
                return client.hgetall(key)
            case "stream":
                return [fields for _, fields in client.xrange(key)]
            case "prefix":
                return client.get(key)[:4]
            case "length":
                return client.strlen(key)
            case "size":
                return client.zcard(key)


FAMILIES = (Plain(), Structures())
