# contender: test lossy
# library: lossy
# format: json
# gives: data
# install: pip install lossy
# untrusted: safe
"""Loses the order of keys and the sign of zero, and nothing that counts as wrong."""
import json


def decode(data):
    value = json.loads(data)
    value["zero"] = abs(value["zero"])
    return value


def encode(value):
    return json.dumps(value, sort_keys=True).encode("utf-8")


def version():
    return "1.0"
