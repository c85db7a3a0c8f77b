# contender: test wrong pickle
# library: wrong
# format: pickle
# gives: data
# install: pip install wrong
# untrusted: runs code: never load bytes that you did not write
"""Cuts a text short."""
import pickle


def decode(data):
    value = pickle.loads(data)
    value["name"] = value["name"][:3]
    return value


encode = pickle.dumps


def version():
    return "1.0"
