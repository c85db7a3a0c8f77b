# contender: regauge (pickle)
# library: regauge
# format: pickle
# gives: data
# install: the Python package of regauge (bindings/python)
# untrusted: safe
"""`loads` and `dumps` with their defaults."""
import regauge

decode = regauge.pickle.loads
_dumps = regauge.pickle.dumps


def encode(value):
    encoded = _dumps(value)
    return encoded.encode("utf-8") if isinstance(encoded, str) else encoded


def version():
    return regauge.__version__
