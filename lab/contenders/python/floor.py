# contender: floor
# library: floor
# format: json
# gives: data
# install: comes with Python
# untrusted: safe
# floor: yes
"""No contender: what building the objects costs with no parsing, and writing with no walk.

`marshal` is the interpreter's own way to load constants: a byte for the type and a length before
each value, all strings as they will lie in memory, lists of known length, and a repeated key a
number that says which. Less work that ends in the same objects is not to be had in a stock
CPython (a compiled literal would share its strings and numbers instead of making them). Its bytes
are made before the clock starts. Encoding copies the finished bytes once.
"""
import json
import marshal
import platform

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=True).encode


def floor_prepare(document):
    return marshal.dumps(json.loads(document))


def floor_encode(document):
    return bytes(memoryview(document))


decode = marshal.loads


def encode(value):
    """For the check alone, which has to see that the objects are right."""
    return _encode(value).encode("utf-8")


def version():
    return f"marshal of Python {platform.python_version()}"
