# contender: ruamel.yaml (safe)
# library: ruamel.yaml
# format: yaml
# pace: 25 kB/s
# gives: data
# install: pip install ruamel.yaml
# untrusted: safe
"""`YAML(typ="safe")`: plain values. In C if ruamel.yaml.clibz is installed."""
from io import BytesIO

import ruamel.yaml


def _yaml():
    yaml = ruamel.yaml.YAML(typ="safe")
    yaml.allow_unicode = True
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    return yaml


def decode(data):
    return _yaml().load(data)


def encode(value):
    out = BytesIO()
    _yaml().dump(value, out)
    return out.getvalue()


def version():
    return ruamel.yaml.__version__ + (" with libyaml" if ruamel.yaml.__with_libyaml__ else "")
