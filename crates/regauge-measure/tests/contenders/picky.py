# contender: test picky
# library: picky
# format: json
# gives: data
# install: pip install picky
# untrusted: safe
"""Refuses one document and changes another, as real libraries do with odd records."""
import json


def decode(data):
    value = json.loads(data)
    if value["name"] == "n7":
        raise ValueError("n7 is not to its taste")
    if value["name"] == "n9":
        value["zero"] = 1.5
    return value


def encode(value):
    return json.dumps(value).encode("utf-8")


def version():
    return "1.0"
