"""The few commands of MongoDB that checks need, over its wire protocol (OP_MSG) and without a driver.

A document is a dict; its values are ints of 32 bits, `Long`, text, bytes, `Id`, dicts and lists.
"""

import socket
import struct
from urllib.parse import urlsplit


class Id(bytes):
    """An ObjectId."""

    @classmethod
    def of(cls, number):
        return cls(number.to_bytes(12, "big"))


class Long(int):
    """A number of 64 bits, as that of a cursor."""


def encode(document):
    """Returns a document as BSON."""
    body = b"".join(element(name, value) for name, value in document.items())
    return struct.pack("<i", len(body) + 5) + body + b"\0"


def element(name, value):
    kind, data = {
        int: lambda: (b"\x10", struct.pack("<i", value)),
        Long: lambda: (b"\x12", struct.pack("<q", value)),
        str: lambda: (b"\x02", struct.pack("<i", len(value.encode()) + 1) + value.encode() + b"\0"),
        Id: lambda: (b"\x07", bytes(value)),
        bytes: lambda: (b"\x05", struct.pack("<iB", len(value), 0) + value),
        dict: lambda: (b"\x03", encode(value)),
        list: lambda: (b"\x04", encode({str(at): one for at, one in enumerate(value)})),
    }[type(value)]()
    return kind + name.encode() + b"\0" + data


def decode(data, at=0):
    """Returns the document at an offset, and the offset after it."""
    end = at + struct.unpack_from("<i", data, at)[0]
    at += 4
    document = {}
    while (kind := data[at]) != 0:
        stop = data.index(b"\0", at + 1)
        name, at = data[at + 1:stop].decode(), stop + 1
        if kind in (0x03, 0x04):
            value, at = decode(data, at)
            document[name] = list(value.values()) if kind == 0x04 else value
        elif kind in (0x02, 0x05):
            size, at = struct.unpack_from("<i", data, at)[0], at + 4
            document[name] = data[at:at + size - 1].decode() if kind == 0x02 else data[at + 1:at + 1 + size]
            at += size + (kind == 0x05)
        else:
            size, read = {
                0x01: (8, lambda raw: struct.unpack("<d", raw)[0]), 0x07: (12, Id), 0x08: (1, lambda raw: raw != b"\0"),
                0x09: (8, lambda raw: struct.unpack("<q", raw)[0]), 0x0A: (0, lambda _: None),
                0x10: (4, lambda raw: struct.unpack("<i", raw)[0]), 0x11: (8, lambda raw: struct.unpack("<Q", raw)[0]),
                0x12: (8, lambda raw: Long.from_bytes(raw, "little", signed=True)),
            }[kind]
            document[name], at = read(data[at:at + size]), at + size
    return document, end


class Client:
    """A connection to the database of a URL."""

    def __init__(self, url):
        parts = urlsplit(url)
        self.database = parts.path.strip("/")
        self.socket = socket.create_connection((parts.hostname, parts.port))
        self.file = self.socket.makefile("rb")

    def run(self, command):
        """Runs a command, and returns its answer. Raises an error if the server refuses any of it."""
        body = b"\0\0\0\0\0" + encode(command | {"$db": self.database})
        self.socket.sendall(struct.pack("<iiii", 16 + len(body), 1, 0, 2013) + body)
        length = struct.unpack("<i", self.file.read(4))[0]
        answer, _ = decode(self.file.read(length - 4), 12 + 5)
        if answer.get("ok") != 1 or answer.get("writeErrors"):
            raise RuntimeError(f"{next(iter(command))}: {answer}")
        return answer

    def find(self, collection):
        """Yields all documents of a collection."""
        cursor = self.run({"find": collection, "batchSize": 1000})["cursor"]
        yield from cursor["firstBatch"]
        while cursor["id"]:
            cursor = self.run({"getMore": cursor["id"], "collection": collection, "batchSize": 1000})["cursor"]
            yield from cursor["nextBatch"]

    def close(self):
        self.socket.close()
