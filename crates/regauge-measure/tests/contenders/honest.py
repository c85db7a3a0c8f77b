# contender: test honest
# library: honest
# format: json
# gives: data
# install: pip install honest
# untrusted: safe
"""Gives back what it got."""
import json

decode = json.loads


def encode(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def version():
    return "1.0"
