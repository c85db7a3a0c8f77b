# contender: PyYAML (unsafe, C)
# library: PyYAML
# format: yaml
# yaml: 1.1
# pace: 400 kB/s
# gives: data
# install: pip install PyYAML
# untrusted: runs code: tags name classes and functions that it calls
"""The loader that builds any object, on libyaml. Key order is kept, text is not escaped."""
import yaml

# Without libyaml this would be the same contender as the first: it is reported as missing.
if not yaml.__with_libyaml__:
    raise ImportError("PyYAML was built without libyaml")


def decode(data):
    return yaml.load(data, Loader=yaml.CUnsafeLoader)


def encode(value):
    options = {"sort_keys": False, "allow_unicode": True, "encoding": "utf-8"}
    return yaml.dump(value, Dumper=yaml.CDumper, **options)


def version():
    return f"{yaml.__version__} with libyaml"
