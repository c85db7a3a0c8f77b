# contender: test lossy pickle
# library: lossy
# format: pickle
# gives: data
# install: pip install lossy
# untrusted: runs code: never load bytes that you did not write
"""Makes a list of every tuple and text of every key, as a way through JSON would."""
import pickle


def _poorer(value):
    if isinstance(value, (list, tuple)):
        return [_poorer(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _poorer(one) for key, one in value.items()}
    return value


def decode(data):
    return _poorer(pickle.loads(data))


encode = pickle.dumps


def version():
    return "1.0"
