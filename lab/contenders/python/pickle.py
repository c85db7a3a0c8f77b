# contender: pickle
# library: pickle
# usual: yes
# format: pickle
# gives: data
# install: comes with Python
# untrusted: runs code: never load bytes that you did not write
"""The C implementation in the standard library, with its default protocol."""
import pickle
import platform

decode = pickle.loads
encode = pickle.dumps


def version():
    return f"protocol {pickle.DEFAULT_PROTOCOL} of Python {platform.python_version()}"
