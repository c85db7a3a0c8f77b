# contender: test dies
# library: dies
# format: json
# gives: data
# install: pip install dies
# untrusted: safe
"""Ends its process in the middle of the work."""
import os
import sys


def decode(data):
    print("the library gives up", file=sys.stderr, flush=True)
    os._exit(7)


encode = bytes


def version():
    return "1.0"
