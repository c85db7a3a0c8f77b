# contender: pickle (protocol 5)
# library: pickle
# format: pickle-5
# gives: data
# install: comes with Python
# untrusted: runs code: never load bytes that you did not write
"""Protocol 5, the newest: apart from out-of-band buffers, it writes the same as protocol 4."""
import pickle
import platform
from functools import partial

decode = pickle.loads
encode = partial(pickle.dumps, protocol=5)


def version():
    return f"of Python {platform.python_version()}"
