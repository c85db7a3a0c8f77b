#!/usr/bin/env python3
"""Makes values of Django's and Flask's caches and sessions, Celery's messages, and files of joblib and diskcache with
these frameworks, and lets them read what regauge puts back.

    python3 tools/envelopes_python.py make corpus/envelopes
    python3 tools/envelopes_python.py check path/to/regauge

Needs django, django-redis, lz4, flask, cachelib, celery, msgpack, pyyaml, joblib and diskcache; a framework that is not
installed is named, and skipped. `make` writes a folder for each, with `expected.json`: for each file its layer, what it
says, the value, and the secret and the salt that it was signed with.
"""

import hashlib
import importlib.metadata
import json
import pathlib
import pickle
import platform
import subprocess
import sys
import tempfile
from unittest import mock

NOW = 1_800_000_000
EXPIRES = "2096-10-02T07:06:40Z"
LIFETIME = 4_000_000_000 - NOW
SECRET = "not a secret"
VALUES = {
    "dict": {"id": 7, "name": "Ada", "price": 2.5, "tags": ["a", "b"], "in": {"yes": True, "none": None}},
    "long": {"lines": [f"line {at} of a page that is worth compressing" for at in range(60)]},
    "text": "h\u00e9llo",
}


def setting(folder):
    """Configures Django, once."""
    import django
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            SECRET_KEY=SECRET,
            DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
            CACHES={"default": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache", "LOCATION": folder},
                    "table": {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "cache"}},
            USE_TZ=True,
        )
        django.setup()
        from django.core.management import call_command

        call_command("createcachetable", verbosity=0)


def django_cases(folder):
    """Yields the name of each file, its bytes, and what is expected."""
    from django.core import signing
    from django.core.cache import caches
    from django.db import connection

    setting(folder)
    with mock.patch("time.time", return_value=NOW):
        salted = signing.dumps(VALUES["dict"], salt="shop.orders")
        cookie = signing.get_cookie_signer(salt="django.contrib.messages").sign_object(VALUES["dict"], compress=True)
    keyed = expected("django-signed", "json", ["base64"], VALUES["dict"], signed=at(NOW), secret=SECRET)
    yield "signed-salt.txt", salted.encode(), {**keyed, "salt": "shop.orders"}
    yield "messages.txt", cookie.encode(), keyed
    for name, value in VALUES.items():
        timeout = LIFETIME if name != "text" else None
        with mock.patch("time.time", return_value=NOW + 0.5):
            caches["default"].clear()
            caches["default"].set("key", value, timeout)
            caches["table"].set("key", value, None)
        path = next(pathlib.Path(folder).glob("*.djcache"))
        expires = {"expires": EXPIRES.replace("Z", ".5Z")} if timeout else {}
        yield f"file-{name}.djcache", path.read_bytes(), expected("django-cache-file", "pickle", ["zlib"], value, **expires)
        with connection.cursor() as cursor:
            cursor.execute("SELECT value FROM cache WHERE cache_key LIKE '%key'")
            row = cursor.fetchone()[0]
        yield f"table-{name}.txt", row.encode(), expected("django-cache-table", "pickle", ["base64"], value)
        with mock.patch("time.time", return_value=NOW):
            signed = signing.dumps(value, salt="django.contrib.sessions.SessionStore", compress=True)
            pickled = signing.dumps(value, serializer=Pickles)
        steps = ["base64", "zlib"] if signed.startswith(".") else ["base64"]
        yield f"session-{name}.txt", signed.encode(), expected("django-signed", "json", steps, value, signed=at(NOW), secret=SECRET)
        yield f"signed-pickle-{name}.txt", pickled.encode(), expected(
            "django-signed", "pickle", ["base64"], value, signed=at(NOW), secret=SECRET)


class Pickles:
    """The serializer that Django had until 5.0."""

    def dumps(self, value):
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)

    def loads(self, data):
        raise NotImplementedError


def django_redis_cases(_):
    from django_redis.compressors import gzip, lz4, zlib

    for name, value in VALUES.items():
        pickled = pickle.dumps(value, pickle.DEFAULT_PROTOCOL)
        # The two others are compressed files of a pickle, without an envelope.
        for module, kind in ((zlib, "Zlib"), (gzip, "Gzip"), (lz4, "Lz4")):
            packed = getattr(module, f"{kind}Compressor")({}).compress(pickled)
            layer = "zlib" if kind == "Zlib" else None
            yield f"{kind.lower()}-{name}.bin", packed, expected(layer, "pickle", [], value)


def flask_cases(_):
    import flask
    import itsdangerous

    app = flask.Flask("shop")
    app.secret_key = SECRET
    serializer = app.session_interface.get_signing_serializer(app)
    for name, value in VALUES.items():
        with mock.patch("time.time", return_value=NOW):
            signed = serializer.dumps({"value": value})
        steps = ["base64", "zlib"] if signed.startswith(".") else ["base64"]
        yield f"session-{name}.txt", signed.encode(), expected("flask-session", "json", steps, {"value": value}, signed=at(NOW), secret=SECRET)
    for hashed in (hashlib.sha1, hashlib.sha256, hashlib.sha512):
        for name, salt in (("plain", None), ("salt", "email-confirm")):
            arguments = {"signer_kwargs": {"digest_method": hashed}, **({"salt": salt} if salt else {})}
            serializer = itsdangerous.URLSafeTimedSerializer(SECRET, **arguments)
            with mock.patch("time.time", return_value=NOW):
                signed = serializer.dumps(VALUES["dict"])
            about = {"secret": SECRET, **({"salt": salt} if salt else {})}
            yield f"timed-{name}-{hashed().name}.txt", signed.encode(), expected(
                "flask-session", "json", ["base64"], VALUES["dict"], signed=at(NOW), **about)


def cachelib_cases(_):
    from cachelib.serializers import RedisSerializer

    for name, value in VALUES.items():
        yield f"value-{name}.bin", RedisSerializer().dumps(value), expected("cachelib", "pickle", [], value)


def joblib_cases(folder):
    """Files of joblib; of before 0.9.3, made by what later versions keep for them."""
    import joblib
    from joblib import numpy_pickle_compat

    for name, value in VALUES.items():
        old = pathlib.Path(folder) / "old"
        with open(old, "wb") as file:
            numpy_pickle_compat.write_zfile(file, pickle.dumps(value, 2))
        yield f"zfile-{name}.bin", old.read_bytes(), expected("joblib-zfile", "pickle", ["zlib"], value)
    for compress in ("zlib", "gzip", "bz2", "xz", "lzma", "lz4"):
        new = pathlib.Path(folder) / "new"
        joblib.dump(VALUES["dict"], new, compress=(compress, 3))
        # The others are compressed files of a pickle, without an envelope.
        layer = "zlib" if compress == "zlib" else None
        yield f"{compress}-dict.joblib", new.read_bytes(), expected(layer, "pickle", [], VALUES["dict"])


def diskcache_cases(folder):
    """The column `value` of a row, as each way of serialization writes it."""
    import diskcache

    for kind, disk in (("pickle", diskcache.Disk), ("json", diskcache.JSONDisk)):
        for name in ("dict", "long"):
            with diskcache.Cache(f"{folder}/{kind}-{name}", disk=disk) as cache:
                cache.set("key", VALUES[name])
                row = cache._sql("SELECT value FROM Cache").fetchone()[0]
            # A pickle is in no envelope.
            layer = "zlib" if kind == "json" else None
            yield f"{kind}-{name}.bin", bytes(row), expected(layer, kind, [], VALUES[name])


def celery_cases(_):
    import celery

    app = celery.Celery("shop", broker="memory://")
    queue = app.connection_for_write().default_channel._queue_for("celery")

    @app.task(name="shop.add")
    def add(one, two, note=None):
        return one + two

    embed = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}
    for serializer in ("json", "pickle", "msgpack", "yaml"):
        for compression in (None, "zlib"):
            add.apply_async((1, 2.5), {"note": "h\u00e9llo"}, task_id="t-1", serializer=serializer,
                            compression=compression)
            message = queue.get()
            message["headers"]["origin"] = "shop"
            message["properties"].update(reply_to="r-1", delivery_tag="d-1")
            steps = ["base64"] + (["zlib"] if compression else [])
            name = f"{serializer}-{compression or 'plain'}.json"
            yield name, json.dumps(message).encode(), expected(
                "celery-message", serializer, steps, [[1, 2.5], {"note": "h\u00e9llo"}, embed], task="shop.add", id="t-1")


def at(seconds):
    import datetime

    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def expected(layer, form, steps, value, **facts):
    return {"layer": layer, "format": form, "steps": steps, "value": value, **facts}


FRAMEWORKS = {"django": django_cases, "django-redis": django_redis_cases, "flask": flask_cases,
              "cachelib": cachelib_cases, "celery": celery_cases,
              "joblib": joblib_cases, "diskcache": diskcache_cases}


def each_framework():
    """Yields each framework that is installed, with its version and its cases."""
    for name, cases in FRAMEWORKS.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                yield name, importlib.metadata.version(name), list(cases(folder))
            except (ImportError, importlib.metadata.PackageNotFoundError) as error:
                print(f"skipped: {name}: {error}")


def make(root):
    for name, version, cases in each_framework():
        folder = pathlib.Path(root) / f"{name}-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        for file, data, _ in cases:
            (folder / file).write_bytes(data)
        made_by = f"{name} {version}, Python {platform.python_version()}"
        index = {"made_by": made_by, "files": {file: want for file, _, want in cases}}
        (folder / "expected.json").write_text(json.dumps(index, indent=2) + "\n")
        print(f"{folder}: {len(cases)} files, made by {made_by}")


def kept(regauge, data, to):
    """Converts what is inside, and puts the same around it."""
    command = [regauge, "convert", "-", "-", "--envelope", "keep", "--to", to, "--quiet"]
    done = subprocess.run(command, input=data, capture_output=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.decode()}")
    return done.stdout


def read_django(file, data, folder):
    """Returns the value that Django reads."""
    from django.core.cache import caches
    from django.db import connection

    setting(folder)
    if file.startswith("file-"):
        cache = caches["default"]
        pathlib.Path(cache._key_to_file("key")).write_bytes(data)
        with mock.patch("time.time", return_value=NOW + 1):
            return cache.get("key")
    caches["table"].set("key", "another", None)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE cache SET value = %s WHERE cache_key LIKE '%%key'", [data.decode()])
    return caches["table"].get("key")


def read_celery(data):
    """Returns the body that a worker reads."""
    import kombu

    channel = kombu.Connection("memory://").channel()
    message = channel.message_to_python(json.loads(data))
    message.accept = {"application/json", "application/x-python-serialize", "application/x-msgpack", "application/x-yaml"}
    return json.loads(json.dumps(message.decode()))


def check(regauge):
    checks = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, _, cases in each_framework():
            for file, data, want in cases:
                targets = {"django-cache-file": ["pickle"], "django-cache-table": ["pickle"], "zlib": ["pickle"],
                           "cachelib": ["pickle"], "joblib-zfile": ["pickle"], "celery-message": ["json", "pickle", "msgpack", "yaml"]}.get(want["layer"], [])
                if name == "diskcache":
                    targets = ["json"] if want["layer"] else []
                for to in targets:
                    data_back = kept(regauge, data, to)
                    if name == "django":
                        found = read_django(file, data_back, django_folder(folder))
                    elif name == "celery":
                        found = read_celery(data_back)
                    elif name == "joblib":
                        import joblib

                        path = pathlib.Path(folder) / "back.joblib"
                        path.write_bytes(data_back)
                        found = joblib.load(path)
                    elif name == "diskcache":
                        import diskcache

                        found = diskcache.JSONDisk(folder).fetch(diskcache.core.MODE_RAW, None, data_back, False)
                    elif name == "cachelib":
                        from cachelib.serializers import RedisSerializer

                        found = RedisSerializer().loads(data_back)
                    else:
                        from django_redis.compressors.zlib import ZlibCompressor

                        found = pickle.loads(ZlibCompressor({}).decompress(data_back))
                    if found != want["value"]:
                        sys.exit(f"{name} {file} to {to}: expected {want['value']!r}, found {found!r}")
                    checks += 1
    print(f"{checks} values that regauge put back are read by their frameworks")


def django_folder(default):
    """Returns the folder of Django's file-based cache, which is configured once."""
    from django.core.cache import caches

    folder = getattr(caches["default"], "_dir", default)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder]:
            make(folder)
        case ["check", regauge]:
            check(regauge)
        case _:
            sys.exit("usage: envelopes_python.py make FOLDER | check path/to/regauge")
