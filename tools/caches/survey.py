"""Turns the labels of keys into rows of the manifest, by asking the server what was stored.

A row is one value: a string, a field of a hash, an element of a list, a member of a set or of a sorted set, a field
of an entry of a stream. Its `part` is nothing for a string, the name of a field, the index in a list, `sha1:` and
the first 16 digits for a member, `ID/FIELD` in a stream.
"""

import hashlib
import itertools
import re

INTEGER = re.compile(rb"-?(0|[1-9][0-9]{0,18})")
FLOAT = re.compile(rb"-?[0-9]+\.[0-9]+([eE][-+]?[0-9]+)?|-?[0-9]+[eE][-+]?[0-9]+")
PAGE = 1000


def scalar(data):
    """Returns which scalar some bytes are."""
    if INTEGER.fullmatch(data):
        return "integer"
    return "float" if FLOAT.fullmatch(data) else "text"


def batches(items, size):
    items = iter(items)
    while batch := list(itertools.islice(items, size)):
        yield batch


def member(data):
    return "sha1:" + hashlib.sha1(data).hexdigest()[:16]


def parts(client, key, kind):
    """Yields each value of a key that is not a string: its part, and its bytes."""
    match kind:
        case "list":
            for at in itertools.count(0, PAGE):
                page = client.lrange(key, at, at + PAGE - 1)
                yield from ((index, data) for index, data in enumerate(page, at))
                if len(page) < PAGE:
                    return
        case "set":
            yield from sorted((member(data), data) for data in client.sscan_iter(key, count=PAGE))
        case "zset":
            yield from sorted((member(data), data) for data, _ in client.zscan_iter(key, count=PAGE))
        case "hash":
            yield from sorted((name.decode(), data) for name, data in client.hscan_iter(key, count=PAGE))
        case "stream":
            for entry, fields in client.xrange(key):
                yield from ((f"{entry.decode()}/{name.decode()}", data) for name, data in fields.items())
        case _:
            raise ValueError(f"{key}: unknown kind {kind}")


def row(family, database, one, part, said, size, data, expires):
    """Returns a row. `said` is the label of the key, or of a field."""
    codec = said["codec"]
    if codec == "scalar":
        codec = scalar(data)
    made = {"key": one["key"], "database": database, "kind": one["kind"], "part": part, "family": family,
            "framework": one["framework"], "envelope": said["envelope"], "steps": said["steps"], "codec": codec,
            "names": said["names"], "bytes": size, "expires_ms": expires if expires > 0 else None}
    for name in ("content", "note"):
        if name in said:
            made[name] = said[name]
    return made


def rows(client, family, database, labels):
    """Yields the rows of some labels, in their order. A key that is not there is an error."""
    for batch in batches(labels, 500):
        pipe = client.pipeline(transaction=False)
        for one in batch:
            pipe.execute_command("PEXPIRETIME", one["key"])
            if one["kind"] == "string":
                pipe.get(one["key"]) if one["codec"] == "scalar" else pipe.strlen(one["key"])
            else:
                pipe.type(one["key"])
        answers = iter(pipe.execute())
        for one, expires, found in zip(batch, answers, answers):
            if expires == -2:
                raise ValueError(f"{family}: the key {one['key']} was not written")
            if one["kind"] == "string":
                size, data = (len(found), found) if isinstance(found, bytes) else (found, None)
                yield row(family, database, one, None, one, size, data, expires)
                continue
            if found.decode() != one["kind"]:
                raise ValueError(f"{family}: the key {one['key']} is a {found.decode()}, not a {one['kind']}")
            fields = one.get("fields", {})
            for part, data in parts(client, one["key"], one["kind"]):
                said = fields.get(part, one)
                yield row(family, database, one, part, said, len(data), data, expires)
