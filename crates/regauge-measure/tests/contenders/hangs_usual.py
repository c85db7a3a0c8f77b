# contender: test hangs usual
# library: hangs-usual
# format: json
# gives: data
# install: pip install hangs-usual
# untrusted: safe
# usual: yes
"""A usual one that never comes back."""
import time


def decode(data):
    time.sleep(600)


encode = bytes


def version():
    return "1.0"
