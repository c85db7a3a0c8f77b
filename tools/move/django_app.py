"""The Django application of tools/move_check.py: it fills a cache with values and sessions, and reads and writes it
under load. Its arguments are those of rails_app.rb."""

import collections
import datetime
import json
import random
import sys
import threading

DAY = 86_400
BATCH = 500
NAIVE = datetime.datetime(2026, 11, 26, 12, 30)


class Line:
    """A class of the application, which MessagePack cannot hold."""

    def __init__(self, id, text):
        self.id, self.text = id, text

    def __eq__(self, other):
        return isinstance(other, Line) and vars(self) == vars(other)


def line(fields):
    return Line(fields["id"], fields["text"])


def configure(url, code, found):
    """Configures Django as an application of that code does. Returns its cache."""
    import django
    from django.conf import settings

    options = {}
    if code != "old":
        import regauge.caches

        how = {"both": {"writes": "pickle"}, "new": {}, "locked": {"reads_pickle": False}}[code]

        def count(_):
            found["old entries read"] += 1

        options["serializer"] = regauge.caches.Serializer(
            "msgpack", types={"__main__.Line": line}, on_pickle=count, **how)
    backend = "django.core.cache.backends.redis.RedisCache"
    settings.configure(SECRET_KEY="not a secret", USE_TZ=True, SESSION_ENGINE="django.contrib.sessions.backends.cache",
                       CACHES={"default": {"BACKEND": backend, "LOCATION": url, "TIMEOUT": DAY, "OPTIONS": options}})
    django.setup()
    from django.core.cache import cache

    return cache


def value(n, generation, plain=False):
    """Returns what is at `n`, in the generation in which it was written. The last three kinds stay as they are until
    the application writes them again as plain data."""
    name = f"Article {n} of generation {generation}"
    match n % 10:
        case 0 | 1:
            return {"g": generation, "name": name, "price": n / 8, "tags": ["new", "sale", None, True]}
        case 2:
            return f"{generation}: {name}"
        case 3:
            return [generation, n, -n, n / 3, "h\u00e9llo"]
        case 4:
            return {"g": generation, "page": f"<p>{name}</p>\n" * 60}
        case 5:
            # A session.
            return {"g": generation, "_auth_user_id": str(n), "_auth_user_hash": f"{n:064x}", "cart": {"17": 2}}
        case 6:
            return {"g": generation, 1: [2**40, -1], "bytes": b"\xff\0", "at": NAIVE.replace(tzinfo=datetime.timezone.utc)}
        case 7:
            return {"g": 0, "kind": ["book"] if plain else {"book"}}
        case 8:
            return {"g": 0, "at": NAIVE.isoformat() if plain else NAIVE}
        case _:
            return {"g": 0, "line": {"id": n, "text": name} if plain else Line(n, name)}


def stays(n):
    return n % 10 > 6


def key(n):
    return f"django.contrib.sessions.cache{n:032d}" if n % 10 == 5 else f"articles/{n}"


def generation(found):
    if isinstance(found, dict):
        return found["g"]
    return found[0] if isinstance(found, list) else int(found.split(":")[0])


def is_right(n, found):
    return found == value(n, generation(found)) or (stays(n) and found == value(n, 0, plain=True))


def session(n):
    from django.contrib.sessions.backends.cache import SessionStore

    return SessionStore(f"{n:032d}")


def read(cache, n):
    if n % 10 == 5:
        # What the middleware reads: empty if the session is lost.
        return session(n).load() or None
    return cache.get(key(n))


def write(cache, n, made):
    if n % 10 == 5:
        store = session(n)
        store._session_cache = made
        store.save()
    else:
        cache.set(key(n), made)


class Work:
    """A process under load."""

    def __init__(self, cache, count, worker, seed, found):
        self.cache, self.count, self.worker, self.found = cache, count, worker, found
        self.numbers, self.seen, self.written, self.errors = random.Random(seed), {}, set(), []

    def is_mine(self, n):
        return n // 10 % 2 == self.worker and not stays(n)

    def step(self):
        n = self.numbers.randrange(self.count)
        at = self.seen.get(n, 0)
        # What was not read yet may have been written by the process before.
        if self.is_mine(n) and n in self.seen and self.numbers.randrange(3) == 0:
            write(self.cache, n, value(n, at + 1))
            self.seen[n] = at + 1
            self.written.add(n)
            self.found["writes"] += 1
            return
        now = read(self.cache, n)
        if now is None:
            self.found["misses"] += 1
            return
        self.found["reads"] += 1
        new = generation(now)
        # Nobody else writes what is mine, and no generation comes back.
        is_lost = new != at if self.is_mine(n) and n in self.seen else new < at
        if is_lost or not is_right(n, now):
            self.found["wrong"] += 1
            self.errors.append(f"{key(n)}: found {now!r:.200}, expected generation {at}")
        self.seen[n] = new

    def run(self):
        ended = threading.Event()
        threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
        while not ended.is_set():
            try:
                self.step()
            except Exception as error:
                self.found["exceptions"] += 1
                self.errors.append(f"{type(error).__name__}: {error}")


def main(what, url, count, code, worker, seed):
    found = collections.Counter()
    cache = configure(url, code, found)
    numbers = range(int(count))
    errors, written = [], []
    if what == "work":
        work = Work(cache, int(count), int(worker), int(seed), found)
        work.run()
        errors = work.errors[:5]
        written = [cache.make_key(key(n)) for n in work.written]
    else:
        plain = what == "rewrite"
        for start in range(0, len(numbers), BATCH):
            part = [n for n in numbers[start:start + BATCH] if stays(n) or not plain]
            if what == "again":
                cache.set_many(cache.get_many([key(n) for n in part]))
            else:
                cache.set_many({key(n): value(n, 0, plain) for n in part})
    print(json.dumps({"found": found, "errors": errors, "written": written}))


if __name__ == "__main__":
    main(*sys.argv[1:])
