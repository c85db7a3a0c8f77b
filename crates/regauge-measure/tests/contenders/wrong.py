# contender: test wrong
# library: wrong
# format: json
# gives: data
# install: pip install wrong
# untrusted: safe
"""Changes a value on the way."""
import json

decode = json.loads


def encode(value):
    return json.dumps({**value, "name": "another"}).encode("utf-8")


def version():
    return "1.0"
