"""Reads a sample of the values as the manifest describes them: takes off envelope and steps, and decodes what is left.

This uses the decoders of Python, so it is independent of the frameworks that wrote the values, and of the labels that
their writers gave. Marshal and PHP's formats have no decoder here; of those, the beginning is compared.
"""

import base64
import gzip
import importlib
import json
import lzma
import random
import re
import struct
import zlib

from caches.family import pickle_names
from caches.plain_kinds import module
from caches.survey import FLOAT, INTEGER, parts

STEPS = {
    "base64": base64.b64decode, "zlib": zlib.decompress, "gzip": gzip.decompress, "xz": lzma.decompress,
    "zstd": lambda data: module("zstandard").ZstdDecompressor().decompressobj().decompress(data),
    "lz4": lambda data: module("lz4.frame").decompress(data),
    "snappy": lambda data: bytes(module("cramjam.snappy").decompress_raw(data)),
}
# Each raises an error, or returns something false, if the bytes are not of that codec.
CODECS = {
    "marshal": lambda data: data[:2] == b"\x04\x08",
    "json": lambda data: [json.loads(line) for line in ([data] if data.count(b"\n{") < 1 else data.splitlines())],
    "msgpack": lambda data: (module("msgpack").unpackb(data, strict_map_key=False), True),
    "cbor": lambda data: (module("cbor2").loads(data), True),
    "bson": lambda data: (module("bson").decode(data), True),
    "yaml": lambda data: (module("yaml").safe_load(data), True),
    "php-serialize": lambda data: re.match(rb"[abidsOCE]:|N;", data) and data[-1:] in b";}",
    "php-session": lambda data: re.match(rb"[a-z_]+\|[abidsOCEN][:;]", data),
    "igbinary": lambda data: data[:4] == b"\0\0\0\2",
    "text": lambda data: (data.decode(), True),
    "integer": INTEGER.fullmatch,
    "float": FLOAT.fullmatch,
    "binary": lambda data: data,
}


def value(client, row):
    """Returns the bytes of a value."""
    match row["kind"]:
        case "string":
            return client.get(row["key"])
        case "list":
            return client.lindex(row["key"], row["part"])
        case "hash":
            return client.hget(row["key"], row["part"])
        case "stream":
            entry, name = row["part"].split("/", 1)
            return client.xrange(row["key"], entry, entry)[0][1][name.encode()]
    return next(data for part, data in parts(client, row["key"], row["kind"]) if part == row["part"])


def opened(row, data):
    """Takes an envelope and all steps off. Returns nothing if the value cannot be taken out without its framework."""
    steps = list(row["steps"])
    match row["envelope"]:
        case "rails-cache-7.1":
            assert data[:2] == b"\0\x11" and bool(data[2] & 128) == bool(steps)
            version = struct.unpack("<i", data[11:15])[0]
            data = data[15 + max(version, 0):]
            if "note" in row:
                return None
        case "rails-cache-7.0":
            assert data[0] == len(steps)
            data = data[1:]
        case "rails-cache-6.1":
            assert data[:2] == b"\x04\x08" and b"ActiveSupport::Cache::Entry" in data
            assert (b"@compressedT" in data) == bool(steps)
            return None
        case "celery-message":
            data = json.loads(data)["body"].encode()
        case "django-signed":
            assert data.startswith(b".") == ("zlib" in steps)
            data = data.lstrip(b".").split(b":")[0].translate(bytes.maketrans(b"-_", b"+/")) + b"=="
        case "sidekiq-job":
            assert {"class", "args", "jid"} <= json.loads(data).keys()
        case "active-job":
            # In a job of Sidekiq, as its only argument.
            [job] = json.loads(data)["args"]
            assert {"job_class", "job_id", "queue_name", "arguments"} <= job.keys()
    if "byte !" in row.get("note", ""):
        assert data[:1] == b"!"
        data = data[1:]
    for step in steps:
        data = STEPS[step](data)
    if row["envelope"] == "rails-cache-7.1" and row["codec"] == "msgpack":
        # Rails' own signature: the number 128 in two bytes.
        assert data[:2] == b"\xcc\x80"
        data = data[2:]
    return data


def mistake(row, data):
    """Returns what is wrong with a row, or nothing."""
    try:
        assert len(data) == row["bytes"], f"{len(data)} bytes"
        data = opened(row, data)
        if data is None:
            return None
        if row["codec"] == "pickle":
            names = sorted(pickle_names(data))
            return None if names == row["names"] else f"it names {names}"
        return None if CODECS[row["codec"]](data) else f"it begins with {data[:20]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def check(host, port, manifest, count):
    """Reads some rows of each kind. Returns how many rows of how many kinds, and the mistakes in them."""
    redis = importlib.import_module("redis")
    groups = {}
    chosen = random.Random(0)
    with open(manifest) as rows:
        for line in rows:
            row = json.loads(line)
            what = row["family"], row["kind"], row["envelope"], tuple(row["steps"]), row["codec"]
            group = groups.setdefault(what, [0])
            group[0] += 1
            # A sample of each group, in one pass.
            if len(group) <= count:
                group.append(row)
            elif (at := chosen.randrange(group[0])) < count:
                group[at + 1] = row
    clients, mistakes, read = {}, [], 0
    for _, *sample in groups.values():
        for row in sample:
            database = row["database"]
            client = clients.setdefault(database, redis.Redis(host=host, port=port, db=database))
            read += 1
            if wrong := mistake(row, value(client, row)):
                mistakes.append(f"{row['family']}: {row['key']} {row['part'] or ''}: {row['envelope']} {row['steps']} "
                                f"{row['codec']} {row['names']}: {wrong}")
    return read, len(groups), mistakes
