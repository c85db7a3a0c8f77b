# contender: bson
# library: pymongo
# usual: yes
# format: bson
# gives: data
# install: pip install pymongo
# untrusted: safe
"""The codec of MongoDB's own driver, with its C extension if that was built, as it is in the
wheels."""
import bson
import pymongo

decode = bson.decode
encode = bson.encode


def version():
    return f"of pymongo {pymongo.version}" + ("" if bson.has_c() else ", without C")
