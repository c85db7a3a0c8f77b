# contender: test late
# library: late
# format: json
# gives: data
# install: pip install late
# untrusted: safe
"""Right when it is checked, and gone when it is timed."""
import json
import os

calls = 0


def decode(data):
    global calls
    calls += 1
    if calls > 3:
        os._exit(9)
    return json.loads(data)


def encode(value):
    return json.dumps(value).encode("utf-8")


def version():
    return "1.0"
