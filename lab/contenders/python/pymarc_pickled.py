# contender: pymarc (pickled records)
# library: pymarc
# format: pickle
# made from: json
# gives: record
# only: marc
# install: pip install pymarc
# untrusted: runs code: never load bytes that you did not write
"""pymarc's Record objects through pickle, as in a cache. This process writes the reference bytes
itself, from the MARC-in-JSON lines."""
import pickle
from importlib.metadata import version as installed_version

from pymarc import JSONHandler

decode = pickle.loads
encode = pickle.dumps


def from_plain(plain):
    return JSONHandler().elements(plain)[0]


def to_plain(record):
    return record.as_dict()


def version():
    return f"{installed_version('pymarc')}, pickle protocol {pickle.DEFAULT_PROTOCOL}"
