-- Replaces one value of a key if it still is the old one, and keeps the expiry of the key and of the field.
-- KEYS: the key. ARGV: the kind, the old value, the new one, and the index, field or score.
-- Returns 0 if the value is gone, 1 if it has changed, 2 if it was replaced, 3 if the new member is there already.
local key, kind, old, new, part = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local found = redis.call('TYPE', key).ok
if found == 'none' then return 0 end
if found ~= kind then return 1 end
if kind == 'string' then
  if redis.call('GET', key) ~= old then return 1 end
  local left = redis.call('PTTL', key)
  local done = redis.pcall('SET', key, new, 'KEEPTTL')
  if type(done) == 'table' and done.err then
    -- Redis 5 and older have no KEEPTTL.
    redis.call('SET', key, new)
    if left >= 0 then redis.call('PEXPIRE', key, left) end
  end
elseif kind == 'hash' then
  local value = redis.call('HGET', key, part)
  if not value then return 0 end
  if value ~= old then return 1 end
  -- Fields expire since Redis 7.4, and setting one ends that.
  local expiry = redis.pcall('HPEXPIRETIME', key, 'FIELDS', 1, part)
  redis.call('HSET', key, part, new)
  if not expiry.err and expiry[1] and expiry[1] > 0 then
    redis.call('HPEXPIREAT', key, expiry[1], 'FIELDS', 1, part)
  end
elseif kind == 'list' then
  local value = redis.call('LINDEX', key, part)
  if not value then return 0 end
  if value ~= old then return 1 end
  redis.call('LSET', key, part, new)
elseif kind == 'set' then
  if redis.call('SISMEMBER', key, old) == 0 then return 0 end
  if old == new then return 2 end
  -- Added first, so that the key never is empty, which would end its expiry.
  if redis.call('SADD', key, new) == 0 then return 3 end
  redis.call('SREM', key, old)
elseif kind == 'zset' then
  local score = redis.call('ZSCORE', key, old)
  if not score then return 0 end
  if tonumber(score) ~= tonumber(part) then return 1 end
  if old == new then return 2 end
  if redis.call('ZSCORE', key, new) then return 3 end
  redis.call('ZADD', key, score, new)
  redis.call('ZREM', key, old)
else
  return 1
end
return 2
