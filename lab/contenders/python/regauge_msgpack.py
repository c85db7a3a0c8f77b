# contender: regauge (msgpack)
# library: regauge
# usual: yes
# format: msgpack
# gives: data
# install: the Python package of regauge (bindings/python)
# untrusted: safe
"""`loads` and `dumps` with their defaults."""
import regauge

decode = regauge.msgpack.loads
_dumps = regauge.msgpack.dumps


def encode(value):
    encoded = _dumps(value)
    return encoded.encode("utf-8") if isinstance(encoded, str) else encoded


def version():
    return regauge.__version__
