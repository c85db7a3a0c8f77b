# contender: yamlrocks
# library: yamlrocks
# usual: yes
# format: yaml
# gives: data
# install: pip install yamlrocks (needs Python 3.12 or newer)
# untrusted: safe
"""`loads` and `dumps` with their defaults, which are YAML 1.2."""
from importlib.metadata import version as installed_version

import yamlrocks

decode = yamlrocks.loads


def encode(value):
    encoded = yamlrocks.dumps(value)
    return encoded.encode("utf-8") if isinstance(encoded, str) else encoded


def version():
    return installed_version("yamlrocks")
