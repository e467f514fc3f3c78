-- The wakes that a stream owes one queue. Their mark in `S:behind` has the time (`since`), the number of keys
-- (`count`), and `all` if every key must be woken: `due` while wakes are not recorded, `begun` while they are
-- recorded again.
--- @include "scripts/stream"

local OWED = S .. ':owed:' .. queue
mustBe('hash', OWED)
local function markOf()
  local ok, mark = pcall(cjson.decode, redis.call('HGET', BEHIND, queue) or '')
  if ok and type(mark) == 'table' and mark.since and mark.count then return mark end
end
local function save(mark)
  if mark.count > 0 or mark.all then
    redis.call('HSET', BEHIND, queue, cjson.encode(mark))
  else
    redis.call('HDEL', BEHIND, queue)
    redis.call('UNLINK', OWED)
  end
end
-- Too many wakes to record: every key must be woken.
local function overflow(mark)
  redis.call('UNLINK', OWED)
  mark.count, mark.all = 0, 'due'
end
