"""Writes Django's own Redis cache, its sessions, and django-redis with each serializer and compressor."""

import importlib.util

from caches import samples
from caches.family import Family, label, pickle_names, ttl


def configure(more=None, **caches):
    """Configures Django with some caches, once, and with an application that has a model. Returns the model."""
    import sys
    import types

    import django
    from django.conf import settings

    apps = types.ModuleType("shop.apps")
    sys.modules["shop.apps"] = apps
    settings.configure(
        SECRET_KEY="not a secret", CACHES=caches, USE_TZ=True, TIME_ZONE="UTC", ALLOWED_HOSTS=["*"],
        INSTALLED_APPS=["shop.apps.Shop"],
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}, **(more or {}),
    )
    from django.apps import AppConfig

    # A path that has no migrations and no templates.
    apps.Shop = type("Shop", (AppConfig,), {"name": "shop", "label": "shop", "path": "/", "__module__": "shop.apps"})
    django.setup()
    from django.db import models

    def text(self):
        return self.title

    meta = type("Meta", (), {"app_label": "shop"})
    fields = {"title": models.CharField(max_length=200), "price": models.DecimalField(max_digits=9, decimal_places=2),
              "added": models.DateTimeField(), "text": models.TextField()}
    return type("Article", (models.Model,), {"__module__": "shop.records", "Meta": meta, "__str__": text, **fields})


def article(model, rng, length):
    """Returns a record as a query would."""
    import decimal

    return model.from_db("default", ["id", "title", "price", "added", "text"],
                         [rng.randrange(10**6), samples.prose(rng, 30), decimal.Decimal(rng.randrange(10**6)) / 100,
                          samples.moment(rng), samples.prose(rng, length)])


def shown(value):
    """Returns what makes two values equal: a record has its fields, a response its body and headers."""
    if isinstance(value, list):
        return [shown(one) for one in value]
    if hasattr(value, "_state"):
        return {name: field for name, field in vars(value).items() if not name.startswith("_")}
    if hasattr(value, "headers"):
        return value.status_code, dict(value.headers), value.content
    return value


class Names:
    """Knows the globals of each shape: all values of a shape name the same."""

    def __init__(self, protocol):
        self.protocol, self.known = protocol, {}

    def of(self, shape, value):
        import pickle

        if shape not in self.known:
            self.known[shape] = pickle_names(pickle.dumps(value, self.protocol))
        return self.known[shape]


class DjangoCache(Family):
    """Django's own backend: pickles, and integers in digits."""

    name = "django-cache"
    share = 0.10
    database = 4
    packages = ("django", "redis")

    def cache(self, run):
        backend = "django.core.cache.backends.redis.RedisCache"
        self.article = configure(default={"BACKEND": backend, "LOCATION": run.url})
        from django.core.cache import cache

        return cache

    def case(self, run, cache, index):
        """Returns key, shape, value, expiry and version of a value."""
        from django.http import HttpResponse
        from django.utils.cache import learn_cache_key
        from django.utils.safestring import SafeString

        rng = run.random(index)
        length = run.length(rng)
        timeout, version = ttl(rng), rng.choice([None, None, None, 2])
        match rng.randrange(12):
            case 0:
                return f"views:{index}", "integer", rng.randrange(10**9), timeout, version
            case 1:
                return f"article:{index}", "record", article(self.article, rng, length), timeout, version
            case 2:
                records = [article(self.article, rng, length // 4) for _ in range(rng.randint(2, 6))]
                return f"article.list:{index}", "records", records, timeout, version
            case 3:
                html = SafeString(samples.html(rng, length))
                return f"template.cache.sidebar.{rng.getrandbits(128):032x}", "safe", html, timeout, version
            case 4:
                # What the middleware of the whole site stores: a page, under a key of two digests.
                request = self.request(index)
                response = HttpResponse(samples.html(rng, length))
                made = learn_cache_key(request, response, timeout, "", cache)
                return made, "response", response, timeout, None
            case 5:
                value = rng.choice([None, True, False, rng.random(), ""])
                return f"flag:{index}", f"small {type(value).__name__}", value, timeout, version
            case _:
                shape, value = samples.pick(rng, length)
                return samples.key(shape, index), shape, value, timeout, version

    def make(self, run):
        import pickle

        cache = self.cache(run)
        names = Names(pickle.HIGHEST_PROTOCOL)
        framework = f"django {self.versions()['django']}"
        for index in range(run.count):
            key, shape, value, timeout, version = self.case(run, cache, index)
            cache.set(key, value, timeout, version=version)
            made = cache.make_key(key, version=version)
            if shape == "integer":
                yield label(made, "integer", framework=framework)
                continue
            yield label(made, "pickle", framework=framework, names=names.of(shape, value))
            if shape == "response":
                # The names of the headers that the page depends on.
                yield label(self.header_key(cache, index), "pickle", framework=framework)

    def request(self, index):
        from django.http import HttpRequest

        request = HttpRequest()
        request.method, request.path = "GET", f"/articles/{index}/"
        request.META = {"SERVER_NAME": "example.com", "SERVER_PORT": "80"}
        return request

    def header_key(self, cache, index):
        from django.utils.cache import _generate_cache_header_key

        return cache.make_key(_generate_cache_header_key("", self.request(index)))

    def check(self, run):
        cache = self.cache(run)
        for index in run.sample(run.count):
            key, _, value, _, version = self.case(run, cache, index)
            yield key, shown(value), shown(cache.get(key, "missing", version=version))


class DjangoSessions(Family):
    """Django's sessions in its Redis cache: pickles."""

    name = "django-sessions"
    share = 0.04
    database = 5
    packages = ("django", "redis")

    def configure(self, run):
        configure(default={"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": run.url})

    def store(self, key):
        from django.contrib.sessions.backends.cache import SessionStore

        return SessionStore(key)

    def case(self, run, index):
        rng = run.random(index)
        key = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=32))
        data = {"_auth_user_id": str(rng.randrange(10**6)), "_auth_user_hash": f"{rng.getrandbits(256):064x}",
                "_auth_user_backend": "django.contrib.auth.backends.ModelBackend"}
        if rng.random() < 0.5:
            data |= {"cart": samples.numbers(rng, run.length(rng) // 4), "_session_expiry": 1_209_600}
        if rng.random() < 0.3:
            data["last_seen"] = samples.moment(rng)
        return key, data

    def save(self, key, data):
        session = self.store(key)
        # A new session would draw a key of its own.
        session._session_cache = dict(data)
        session.save(must_create=True)
        return session

    def make(self, run):
        import pickle

        self.configure(run)
        from django.core.cache import cache

        framework = f"django {self.versions()['django']}"
        for index in range(run.count):
            key, data = self.case(run, index)
            session = self.save(key, data)
            # As in Django's serializer.
            names = pickle_names(pickle.dumps(data, pickle.HIGHEST_PROTOCOL)) if "last_seen" in data else ()
            yield label(cache.make_key(session.cache_key), "pickle", framework=framework, names=names)

    def check(self, run):
        self.configure(run)
        for index in run.sample(run.count):
            key, data = self.case(run, index)
            yield key, data, dict(self.store(key).load())


class SignedSessions(DjangoSessions):
    """Sessions of django-redis-sessions: JSON that Django signs, compressed if that makes it smaller."""

    name = "django-signed"
    share = 0.03
    database = 13
    packages = ("django", "django-redis-sessions", "redis")

    def configure(self, run):
        configure({"SESSION_REDIS": {"url": run.url, "prefix": "session", "socket_timeout": 60}})

    def store(self, key):
        from redis_sessions.session import SessionStore

        return SessionStore(key)

    def case(self, run, index):
        key, data = super().case(run, index)
        # JSON has no times.
        data.pop("last_seen", None)
        return key, data

    def make(self, run):
        self.configure(run)
        client = run.client()
        framework = f"django-redis-sessions {self.versions()['django-redis-sessions']}"
        for index in range(run.count):
            key, data = self.case(run, index)
            session = self.save(key, data)
            made = session.get_real_stored_key(key)
            steps = ["base64", "zlib"] if client.getrange(made, 0, 0) == b"." else ["base64"]
            yield label(made, "json", framework=framework, envelope="django-signed", steps=steps)


# Serializer, compressor, a module that they need, and how often: most applications keep the default.
WAYS = [("pickle", "identity", None, 6), ("pickle", "zlib", None, 4), ("pickle", "gzip", None, 1),
        ("pickle", "lzma", None, 1), ("pickle", "lz4", "lz4", 2), ("pickle", "zstd", None, 3),
        ("json", "identity", None, 3), ("json", "zlib", None, 2), ("json", "zstd", None, 1),
        ("msgpack", "identity", "msgpack", 2), ("msgpack", "zlib", "msgpack", 1), ("msgpack", "lz4", "lz4", 1)]
COMPRESSORS = {"zlib": "zlib.ZlibCompressor", "gzip": "gzip.GzipCompressor", "lzma": "lzma.LzmaCompressor",
               "lz4": "lz4.Lz4Compressor", "zstd": "zstd.ZStdCompressor"}
SERIALIZERS = {"json": "json.JSONSerializer", "msgpack": "msgpack.MSGPackSerializer"}
# How a file compressed like this is known.
STEPS = {"lzma": "xz"}


class DjangoRedis(Family):
    """django-redis, each way with a prefix of its own; the default has none."""

    name = "django-redis"
    share = 0.12
    database = 6
    packages = ("django", "django-redis", "redis")

    def ways(self, run):
        """Returns the ways that can be had, and configures a cache for each."""
        ways = [way for way in WAYS if not way[2] or importlib.util.find_spec(way[2])]
        zstd = any(importlib.util.find_spec(name) for name in ("pyzstd", "zstandard", "backports.zstd"))
        ways = [way for way in ways if way[1] != "zstd" or zstd]
        caches = {}
        for serializer, compressor, _, _ in ways:
            options = {"CLIENT_CLASS": "django_redis.client.DefaultClient"}
            if serializer in SERIALIZERS:
                options["SERIALIZER"] = f"django_redis.serializers.{SERIALIZERS[serializer]}"
            if compressor in COMPRESSORS:
                options["COMPRESSOR"] = f"django_redis.compressors.{COMPRESSORS[compressor]}"
            first = not caches
            caches["default" if first else f"{serializer}-{compressor}"] = {
                "BACKEND": "django_redis.cache.RedisCache", "LOCATION": run.url, "OPTIONS": options,
                "KEY_PREFIX": "" if first else f"{serializer}-{compressor}"}
        self.article = configure(**caches)
        from django.core.cache import caches as made

        weights = [way[3] for way in ways]
        return [(*way[:2], made[name]) for way, name in zip(ways, caches)], weights

    def case(self, run, ways, weights, index):
        rng = run.random(index)
        way = rng.choices(ways, weights)[0]
        length = run.length(rng)
        timeout = ttl(rng)
        if rng.random() < 0.06:
            return *way, f"count:{index}", "integer", rng.randrange(10**7), timeout
        if way[0] == "pickle" and rng.random() < 0.1:
            return *way, f"article:{index}", "record", article(self.article, rng, length), timeout
        shape, value = samples.pick(rng, length, objects=way[0] == "pickle")
        return *way, samples.key(shape, index), shape, value, timeout

    def make(self, run):
        import pickle

        ways, weights = self.ways(run)
        names = Names(pickle.DEFAULT_PROTOCOL)
        framework = f"django-redis {self.versions()['django-redis']}"
        for index in range(run.count):
            serializer, compressor, cache, key, shape, value, timeout = self.case(run, ways, weights, index)
            cache.set(key, value, timeout)
            made = str(cache.client.make_key(key))
            if shape == "integer":
                yield label(made, "integer", framework=framework)
                continue
            # Short values are not compressed.
            packed = compressor in COMPRESSORS and cache.client.encode(value) != cache.client._serializer.dumps(value)
            steps = [STEPS.get(compressor, compressor)] if packed else []
            envelope = "zlib" if steps == ["zlib"] else None
            yield label(made, serializer, framework=framework, steps=steps, envelope=envelope,
                        names=names.of(shape, value) if serializer == "pickle" else ())

    def check(self, run):
        ways, weights = self.ways(run)
        for index in run.sample(run.count):
            *_, cache, key, _, value, _ = self.case(run, ways, weights, index)
            yield key, shown(value), shown(cache.get(key, "missing"))


FAMILIES = (DjangoCache(), DjangoSessions(), SignedSessions(), DjangoRedis())
