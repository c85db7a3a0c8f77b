# contender: test never starts
# library: never-starts
# format: json
# gives: data
# install: pip install never-starts
# untrusted: safe
# usual: yes
"""A usual one that does not even say hello."""
import time

time.sleep(600)
