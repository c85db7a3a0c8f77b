# contender: test unpickles
# library: unpickles
# format: json
# gives: data
# install: pip install unpickles
# untrusted: safe
"""pickle, as Python has it. The format in its head is not what it reads: the test says that."""
import pickle

decode = pickle.loads
encode = pickle.dumps


def version():
    return "1.0"
