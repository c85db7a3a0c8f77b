# contender: PyYAML (safe)
# library: PyYAML
# format: yaml
# yaml: 1.1
# pace: 30 kB/s
# gives: data
# install: pip install PyYAML
# untrusted: safe
"""`safe_load` and `safe_dump`, in Python. Key order is kept, text is not escaped."""
import yaml


def decode(data):
    return yaml.load(data, Loader=yaml.SafeLoader)


def encode(value):
    options = {"sort_keys": False, "allow_unicode": True, "encoding": "utf-8"}
    return yaml.dump(value, Dumper=yaml.SafeDumper, **options)


def version():
    return f"{yaml.__version__}"
