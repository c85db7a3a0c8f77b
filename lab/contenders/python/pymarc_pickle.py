# contender: pymarc (pickle)
# library: pymarc
# format: pickle
# gives: record
# only: marc
# install: pip install pymarc
# untrusted: runs code: never load bytes that you did not write
"""`as_dict` of each record through pickle, and pymarc's JSONHandler on the way back."""
import pickle
from importlib.metadata import version as installed_version

from pymarc import JSONHandler


def decode(data):
    return JSONHandler().elements(pickle.loads(data))[0]


def encode(record):
    return pickle.dumps(record.as_dict())


def version():
    return f"{installed_version('pymarc')}, pickle protocol {pickle.DEFAULT_PROTOCOL}"
