"""Knows each kind of string that applications store without a framework: what makes, encodes and decodes it."""

import base64
import hashlib
import hmac
import importlib
import json
import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from caches import samples


@dataclass(frozen=True)
class Kind:
    """A kind of string. `weight` says how often there is one, `needs` names a module that may be missing."""

    name: str
    weight: int
    key: str
    make: Callable
    encode: Callable = str.encode
    decode: Callable = bytes.decode
    codec: str = "text"
    steps: tuple = ()
    content: str | None = None
    needs: str | None = None


def image(rng, _):
    """Returns a small PNG of random pixels."""
    side = rng.choice([8, 16, 24])
    pixels = b"".join(b"\0" + rng.randbytes(side * 3) for _ in range(side))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))


def web_token(rng, length):
    """Returns a JWT, signed with HMAC-SHA256."""
    def part(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    claims = {"sub": str(rng.randrange(10**6)), "iat": 1_770_000_000 + rng.randrange(10**7),
              "scope": samples.prose(rng, 20)}
    signed = part(b'{"alg":"HS256","typ":"JWT"}') + b"." + part(json.dumps(claims).encode())
    return signed + b"." + part(hmac.digest(b"not a secret", signed, hashlib.sha256))


def site(rng, length):
    head = f"<head><title>{samples.prose(rng, 20)}</title></head>"
    return f"<!DOCTYPE html>\n<html>{head}<body>{samples.html(rng, length)}</body></html>"


def feed(rng, length):
    items = "".join(f"<item><title>{samples.prose(rng, 20)}</title></item>" for _ in range(max(1, length // 60)))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>{items}</channel></rss>'


def table(rng, length):
    return "id,name,amount\n" + "".join(f"{rng.randrange(10**6)},{rng.choice(samples.NAMES)},{rng.random() * 100:.2f}\n"
                                        for _ in range(max(2, length // 25)))


def struct_message(rng, length):
    """Returns a message of protobuf, of the type Struct."""
    from google.protobuf.struct_pb2 import Struct

    message = Struct()
    message.update({"user": rng.randrange(10**6), "note": samples.prose(rng, length), "on": True})
    return message.SerializeToString(deterministic=True)


def document(rng, length):
    """Returns a value of JSON's types, of any shape."""
    return samples.PLAIN[rng.choice(["user", "product", "rows", "numbers", "settings"])](rng, length)


def scalar_document(rng, _):
    return rng.choice(["a text", "größe", True, False, None, [], {}, rng.random()])


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def indented(value):
    return json.dumps(value, indent=2).encode()


def lines(value):
    return b"".join(compact(one) + b"\n" for one in value)


def unlines(data):
    return [json.loads(line) for line in data.splitlines()]


def same(data):
    return data


def module(name):
    """Returns a module, or what a module made of native code has under a name like that of a module."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        parent, _, inner = name.rpartition(".")
        if not parent:
            raise
        return getattr(module(parent), inner)


def packed(name, encoder, decoder, text=False):
    """Returns encoder and decoder of JSON, or of text, that some module compresses."""
    def encode(value):
        return bytes(getattr(module(name), encoder)(value.encode() if text else compact(value)))

    def decode(data):
        found = bytes(getattr(module(name), decoder)(data))
        return found.decode() if text else json.loads(found)

    return {"encode": encode, "decode": decode}


def coded(name, encoder, decoder):
    """Returns encoder and decoder of some module."""
    return {"encode": lambda value: getattr(module(name), encoder)(value),
            "decode": lambda data: getattr(module(name), decoder)(data)}


def yaml(value):
    return module("yaml").safe_dump(value, allow_unicode=True, sort_keys=False).encode()


def unyaml(data):
    return module("yaml").safe_load(data)


JSON = {"encode": compact, "decode": json.loads, "codec": "json"}
BYTES = {"encode": same, "decode": same}

KINDS = [
    Kind("integer", 8, "counter:{}", lambda rng, _: rng.randrange(-10**6, 10**9), lambda value: str(value).encode(), int,
         "integer"),
    Kind("float", 2, "rate:{}", lambda rng, _: rng.random() * 1000, lambda value: repr(value).encode(), float, "float"),
    Kind("text", 6, "note:{}:text", samples.text),
    Kind("empty", 1, "lock:{}", lambda *_: "", content="empty"),
    Kind("uuid", 3, "request:{}:id", lambda rng, _: str(uuid.UUID(int=rng.getrandbits(128), version=4)), content="uuid"),
    Kind("jwt", 3, "token:{}", web_token, **BYTES, content="jwt"),
    Kind("hex", 2, "digest:{}", lambda rng, _: f"{rng.getrandbits(256):064x}", content="hex"),
    Kind("url", 2, "short:{}", lambda rng, _: f"https://example.com/a/{rng.randrange(10**6)}?q=1", content="url"),
    Kind("time", 2, "user:{}:seen", lambda rng, _: samples.moment(rng).isoformat(), content="time"),
    Kind("html", 4, "page:/articles/{}", site, content="html"),
    Kind("xml", 1, "feed:{}.rss", feed, content="xml"),
    Kind("csv", 1, "export:{}.csv", table, content="csv"),
    Kind("base64", 2, "thumb:{}:b64", lambda rng, length: rng.randbytes(max(20, length // 2)), base64.b64encode,
         base64.b64decode, content="base64"),
    Kind("json", 14, "user:{}:session", document, **JSON),
    Kind("json indented", 3, "config:{}", document, indented, json.loads, "json"),
    Kind("json scalar", 1, "feature:{}", scalar_document, **JSON, content="scalar"),
    Kind("ndjson", 1, "events:{}:ndjson", samples.rows, lines, unlines, "json", content="ndjson"),
    Kind("json gzip", 3, "api:{}:gz", document, **packed("gzip", "compress", "decompress"), codec="json", steps=("gzip",)),
    Kind("json zlib", 3, "api:{}:z", document, **packed("zlib", "compress", "decompress"), codec="json", steps=("zlib",)),
    Kind("json zstd", 3, "api:{}:zst", document, **packed("zstandard", "compress", "decompress"), codec="json",
         steps=("zstd",), needs="zstandard"),
    Kind("json lz4", 2, "api:{}:lz4", document, **packed("lz4.frame", "compress", "decompress"), codec="json",
         steps=("lz4",), needs="lz4.frame"),
    Kind("json snappy", 1, "api:{}:sz", document, **packed("cramjam.snappy", "compress_raw", "decompress_raw"), codec="json",
         steps=("snappy",), needs="cramjam.snappy"),
    Kind("html gzip", 2, "page:/a/{}:gz", site, **packed("gzip", "compress", "decompress", text=True), steps=("gzip",),
         content="html"),
    Kind("msgpack", 5, "player:{}", document, **coded("msgpack", "packb", "unpackb"), codec="msgpack", needs="msgpack"),
    Kind("cbor", 2, "device:{}", document, **coded("cbor2", "dumps", "loads"), codec="cbor", needs="cbor2"),
    Kind("bson", 2, "doc:{}", samples.product, **coded("bson", "encode", "decode"), codec="bson", needs="bson"),
    Kind("yaml", 2, "deploy:{}:yml", samples.product, yaml, unyaml, "yaml", needs="yaml"),
    Kind("protobuf", 3, "event:{}:pb", struct_message, **BYTES, codec="binary", content="protobuf",
         needs="google.protobuf.struct_pb2"),
    Kind("png", 1, "avatar:{}.png", image, **BYTES, codec="binary", content="png"),
    Kind("random", 1, "key:{}:aes", lambda rng, length: rng.randbytes(max(16, length // 4)), **BYTES, codec="binary",
         content="random"),
]
