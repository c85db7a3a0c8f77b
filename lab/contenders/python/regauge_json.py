# contender: regauge (json)
# library: regauge
# usual: yes
# format: json
# gives: data
# install: the Python package of regauge (bindings/python)
# untrusted: safe
"""`loads` and `dumps` with their defaults."""
import regauge

decode = regauge.json.loads
_dumps = regauge.json.dumps


def encode(value):
    encoded = _dumps(value)
    return encoded.encode("utf-8") if isinstance(encoded, str) else encoded


def version():
    return regauge.__version__
