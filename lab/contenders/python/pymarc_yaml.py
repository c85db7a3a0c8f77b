# contender: pymarc (yaml)
# library: pymarc
# format: yaml
# gives: record
# only: marc
# install: pip install pymarc PyYAML
# untrusted: safe
# yaml: 1.1
# pace: 400 kB/s
"""`as_dict` of each record through PyYAML over libyaml.
On the way back pymarc's JSONHandler takes the dict apart."""
from importlib.metadata import version as installed_version

import yaml
from pymarc import JSONHandler


def decode(data):
    return JSONHandler().elements(yaml.load(data, Loader=yaml.CSafeLoader))[0]


def encode(record):
    return yaml.dump(
        record.as_dict(),
        Dumper=yaml.CSafeDumper,
        sort_keys=False,
        allow_unicode=True,
        encoding="utf-8",
    )


def version():
    return installed_version("pymarc") + ", PyYAML " + installed_version("PyYAML")
