"""Writes values of cachelib, of Flask-Caching and of Flask-Session."""

import pickle

from caches import samples
from caches.family import Family, label, pickle_names, ttl

MARK = "a byte ! before the pickle"


def known_names(known, shape, value):
    if shape not in known:
        known[shape] = pickle_names(pickle.dumps(value, pickle.HIGHEST_PROTOCOL))
    return known[shape]


class Caching(Family):
    """cachelib by itself, and through Flask-Caching: a byte `!` and a pickle; counters are integers in digits."""

    name = "flask-caching"
    share = 0.05
    database = 10
    packages = ("cachelib", "flask", "flask-caching", "redis")

    def caches(self, run):
        import flask
        from cachelib import RedisCache
        from flask_caching import Cache

        app = flask.Flask("shop")
        config = {"CACHE_TYPE": "RedisCache", "CACHE_REDIS_URL": run.url, "CACHE_KEY_PREFIX": "flask_cache_"}
        flask_caching = Cache(app, config=config)
        app.app_context().push()
        own = RedisCache(run.host, run.port, db=run.database, key_prefix="cachelib:", default_timeout=0)
        return {"cachelib": own, "flask-caching": flask_caching.cache}

    def case(self, run, index):
        rng = run.random(index)
        which = rng.choice(["cachelib", "flask-caching"])
        timeout = ttl(rng) or 0
        if rng.random() < 0.08:
            return which, f"hits:{index}", "integer", rng.randrange(10**6), timeout
        if which == "flask-caching" and rng.random() < 0.3:
            return which, f"view//articles/{index}", "html", samples.html(rng, run.length(rng)), timeout
        shape, value = samples.pick(rng, run.length(rng))
        return which, samples.key(shape, index), shape, value, timeout

    def make(self, run):
        caches, known, versions = self.caches(run), {}, self.versions()
        prefixes = {"cachelib": "cachelib:", "flask-caching": "flask_cache_"}
        for index in range(run.count):
            which, key, shape, value, timeout = self.case(run, index)
            framework = f"{which} {versions[which]}"
            if shape == "integer":
                caches[which].inc(key, value)
                yield label(prefixes[which] + key, "integer", framework=framework)
                continue
            caches[which].set(key, value, timeout=timeout)
            yield label(prefixes[which] + key, "pickle", framework=framework, names=known_names(known, shape, value),
                        note=MARK)

    def check(self, run):
        caches = self.caches(run)
        for index in run.sample(run.count):
            which, key, _, value, _ = self.case(run, index)
            yield key, value, caches[which].get(key)


class Sessions(Family):
    """Flask-Session: MessagePack or JSON."""

    name = "flask-session"
    share = 0.03
    database = 11
    packages = ("flask", "flask-session", "msgspec", "redis")

    def interfaces(self, run):
        import flask
        from flask_session import Session

        made = {}
        for serializer, prefix in (("msgpack", "session:"), ("json", "session-json:")):
            app = flask.Flask("shop")
            app.config.update(SESSION_TYPE="redis", SESSION_REDIS=run.client(), SESSION_SERIALIZATION_FORMAT=serializer,
                              SESSION_KEY_PREFIX=prefix, SECRET_KEY="not a secret")
            Session(app)
            made[serializer] = prefix, app
        return made

    def case(self, run, index):
        rng = run.random(index)
        data = {"_permanent": True, "user_id": rng.randrange(10**6), "csrf_token": f"{rng.getrandbits(160):040x}",
                "cart": samples.rows(rng, run.length(rng) // 2), "theme": rng.choice(["dark", None])}
        return rng.choice(["msgpack", "json"]), f"{rng.getrandbits(256):064x}", data

    def make(self, run):
        import datetime

        interfaces = self.interfaces(run)
        framework = f"flask-session {self.versions()['flask-session']}"
        for index in range(run.count):
            serializer, ident, data = self.case(run, index)
            prefix, app = interfaces[serializer]
            app.session_interface._upsert_session(datetime.timedelta(days=31), data, prefix + ident)
            yield label(prefix + ident, serializer, framework=framework)

    def check(self, run):
        interfaces = self.interfaces(run)
        for index in run.sample(run.count):
            serializer, ident, data = self.case(run, index)
            prefix, app = interfaces[serializer]
            yield ident, data, dict(app.session_interface._retrieve_session_data(prefix + ident))


FAMILIES = (Caching(), Sessions())
