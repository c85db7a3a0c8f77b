# contender: test refuses
# library: refuses
# usual: yes
# format: own
# made from: json
# gives: data
# install: pip install refuses
# untrusted: safe
"""A library that cannot encode this data."""
import json

decode = json.loads


def encode(value):
    raise TypeError("the library knows no dictionaries")


def version():
    return "1.0"
