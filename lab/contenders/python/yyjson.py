# contender: yyjson
# library: yyjson
# format: json
# gives: data
# install: pip install yyjson
# untrusted: safe
"""`loads` and `dumps`, which parse into a document and convert it to Python values."""
from importlib.metadata import version as installed_version

import yyjson

decode = yyjson.loads


def encode(value):
    return yyjson.dumps(value).encode("utf-8")


def version():
    return installed_version("yyjson")
