# contender: pymarc (bson)
# library: pymarc
# format: bson
# gives: record
# only: marc
# install: pip install pymarc pymongo
# untrusted: safe
"""`as_dict` of each record through the codec of MongoDB's driver.
On the way back pymarc's JSONHandler takes the dict apart."""
from importlib.metadata import version as installed_version

import bson
from pymarc import JSONHandler


def decode(data):
    return JSONHandler().elements(bson.decode(data))[0]


def encode(record):
    return bson.encode(record.as_dict())


def version():
    return installed_version("pymarc") + ", pymongo " + installed_version("pymongo")
