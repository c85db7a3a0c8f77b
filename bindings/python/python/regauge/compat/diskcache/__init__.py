"""diskcache's interface on top of regauge's store: a cache, and a deque and a mapping that are kept in one.

    from regauge.compat.diskcache import Cache, Deque, Index

    cache = Cache("folder")
    cache.set("key", {"a": 1}, expire=60, tag="data")

Differences from diskcache 5.6:

- Values are written by a codec (pickle by default) and read without running anything: an object of
  a custom class is refused when it is stored, unless default= converts it, and types= restores it.
- Keys are str, bytes, int, float, bool, None and tuples of them; 1 and 1.0 are two keys. iterkeys
  yields them in the order of their bytes; so does iteration, if the database is not SQLite.
- eviction_policy is "least-recently-stored" or "none": a read does not write.
- transact needs SQLite files. It raises Timeout after ten seconds, whatever timeout= says; single calls
  raise regauge.StoreError then. Within a transaction, use the cache itself: `cache.store` is another
  connection.
- There is no check, no read=True with an open file, no disk=, and no FanoutCache. `cache.store.batch()`
  groups changes, `cache.store.verify()` checks.
- Counts of hits and misses are per process.
"""

from __future__ import annotations

from ._adopt import adopt
from ._cache import Cache
from ._keys import ENOVAL, UNKNOWN, Timeout, args_to_key
from ._persistent import Deque, Index
from ._recipes import memoize_stampede

__all__ = [
    "ENOVAL", "UNKNOWN", "Cache", "Deque", "Index", "Timeout", "adopt", "args_to_key", "memoize_stampede",
]
