# contender: json
# library: json
# usual: yes
# format: json
# gives: data
# install: comes with Python
# untrusted: safe
"""The standard library, with compact output and no ASCII escapes, like every other contender.

Half of a surrogate pair has no UTF-8: once there is one, `encode` writes ASCII escapes from then on,
as `dumps` does by default.
"""
import json
import platform

# `dumps` builds a new encoder on every call with non-default arguments: keep one instead.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=True).encode

decode = json.loads


def encode(value):
    global _encode
    try:
        return _encode(value).encode("utf-8")
    except UnicodeEncodeError:
        _encode = json.JSONEncoder(separators=(",", ":"), check_circular=True).encode
        return _encode(value).encode("utf-8")


def version():
    return f"of Python {platform.python_version()}"
