# contender: test hangs
# library: hangs
# format: json
# gives: data
# install: pip install hangs
# untrusted: safe
"""Never comes back."""
import time


def decode(data):
    time.sleep(600)


encode = bytes


def version():
    return "1.0"
