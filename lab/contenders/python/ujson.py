# contender: ujson
# library: ujson
# format: json
# gives: data
# install: pip install ujson
# untrusted: safe
"""UltraJSON: `escape_forward_slashes` off, so that its output matches the others'."""
import ujson

decode = ujson.loads


def encode(value):
    return ujson.dumps(value, ensure_ascii=False, escape_forward_slashes=False).encode("utf-8")


def version():
    return ujson.__version__
