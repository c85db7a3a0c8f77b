# contender: test unprepared
# library: unprepared
# usual: yes
# format: own
# made from: json
# gives: data
# install: pip install unprepared
# untrusted: safe
"""Its adapter fails before the library has the data."""
import json

decode = json.loads


def from_plain(plain):
    raise TypeError("the adapter knows no dictionaries")


def encode(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def version():
    return "1.0"
