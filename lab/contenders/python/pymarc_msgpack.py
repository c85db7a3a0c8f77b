# contender: pymarc (msgpack)
# library: pymarc
# format: msgpack
# gives: record
# only: marc
# install: pip install pymarc msgpack
# untrusted: safe
"""`as_dict` of each record through msgpack.
On the way back pymarc's JSONHandler takes the dict apart."""
from importlib.metadata import version as installed_version

import msgpack
from pymarc import JSONHandler


def decode(data):
    return JSONHandler().elements(msgpack.unpackb(data))[0]


def encode(record):
    return msgpack.packb(record.as_dict())


def version():
    return installed_version("pymarc") + ", msgpack " + installed_version("msgpack")
