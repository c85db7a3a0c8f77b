# contender: json
# library: json
# usual: yes
# format: json
# gives: data
# install: comes with Python
# untrusted: safe
"""The standard library, with compact output and no ASCII escapes, like every other contender."""
import json
import platform

# `dumps` builds a new encoder on every call with non-default arguments: keep one instead.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=True).encode

decode = json.loads


def encode(value):
    return _encode(value).encode("utf-8")


def version():
    return f"of Python {platform.python_version()}"
