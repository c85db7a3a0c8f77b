# contender: pymarc (cbor)
# library: pymarc
# format: cbor
# gives: record
# only: marc
# install: pip install pymarc cbor2
# untrusted: safe
"""`as_dict` of each record through cbor2.
On the way back pymarc's JSONHandler takes the dict apart."""
from importlib.metadata import version as installed_version

import cbor2
from pymarc import JSONHandler


def decode(data):
    return JSONHandler().elements(cbor2.loads(data))[0]


def encode(record):
    return cbor2.dumps(record.as_dict())


def version():
    return installed_version("pymarc") + ", cbor2 " + installed_version("cbor2")
