# contender: ujson
# library: ujson
# format: json
# gives: data
# install: pip install ujson
# untrusted: safe
"""UltraJSON: `escape_forward_slashes` off, so that its output matches the others'.

Half of a surrogate pair has no UTF-8: once there is one, `encode` writes ASCII escapes from then on,
as `dumps` does by default.
"""
import ujson

_ascii = False

decode = ujson.loads


def encode(value):
    global _ascii
    try:
        return ujson.dumps(value, ensure_ascii=_ascii, escape_forward_slashes=False).encode("utf-8")
    except UnicodeEncodeError:
        _ascii = True
        return ujson.dumps(value, ensure_ascii=True, escape_forward_slashes=False).encode("utf-8")


def version():
    return ujson.__version__
