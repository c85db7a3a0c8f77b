# contender: test prints
# library: prints
# format: json
# gives: data
# install: pip install prints
# untrusted: safe
"""Prints as libraries do that were debugged once: it must not disturb anything."""
import json


def decode(data):
    print("decoding", len(data), "bytes")
    return json.loads(data)


def encode(value):
    return json.dumps(value).encode("utf-8")


def version():
    return "1.0"
