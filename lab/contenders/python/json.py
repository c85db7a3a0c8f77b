# contender: json
# library: json
# usual: yes
# format: json
# gives: data
# install: comes with Python
# untrusted: safe
"""The standard library. Compact output and no ASCII escapes, as every other contender writes."""
import json
import platform

# `dumps` builds a new encoder on every call that is not all defaults: keep one, as it would.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=True).encode

decode = json.loads


def encode(value):
    return _encode(value).encode("utf-8")


def version():
    return f"of Python {platform.python_version()}"
