# contender: ruamel.yaml
# library: ruamel.yaml
# format: yaml
# pace: 15 kB/s
# gives: data
# install: pip install ruamel.yaml
# untrusted: safe
"""As in the first example of its manual: the round-trip loader, whose maps and lists keep comments
and styles. A YAML object is created for each document, because it keeps state between calls."""
from io import BytesIO

import ruamel.yaml


def decode(data):
    return ruamel.yaml.YAML().load(data)


def encode(value):
    out = BytesIO()
    ruamel.yaml.YAML().dump(value, out)
    return out.getvalue()


def version():
    return ruamel.yaml.__version__
