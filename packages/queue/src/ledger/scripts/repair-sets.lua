-- Checks the Redis keys that every ledger has and those of BullMQ's queue, and repairs what another client changed:
-- a key of the wrong type is moved to `P:quarantine:*`, and listed. Returns what was wrong.
--- @include "ledger/rules/check-entry"
--- @include "ledger/rules/quarantine"

quarantineForeignKeys()
-- BullMQ processes no job while one of its keys has another type. Jobs are disposable: a job that is moved away with
-- its key is added again.
local jobs = {
  wait = 'list',
  active = 'list',
  paused = 'list',
  stalled = 'set',
  marker = 'zset',
  prioritized = 'zset',
  delayed = 'zset',
  completed = 'zset',
  failed = 'zset',
  meta = 'hash',
  events = 'stream',
  id = 'string',
  pc = 'string',
  limiter = 'string',
  ['stalled-check'] = 'string',
}
for name, wanted in pairs(jobs) do
  quarantineUnless(P .. ':jobs:' .. name, wanted)
end
for _, counter in ipairs({ P .. ':jobs:id', P .. ':jobs:pc' }) do
  local reply = redis.call('EXISTS', counter) == 1 and redis.pcall('INCR', counter)
  if type(reply) == 'table' and reply.err and string.find(reply.err, 'not an integer') then
    quarantineUnless(counter, 'none')
  end
end
-- 100 members of a set; the next ones about a second later.
local function someMembers(set)
  local pages = math.max(1, math.ceil(redis.call('ZCARD', set) / 100))
  local first = math.floor(now / 1000) % pages * 100
  return redis.call('ZRANGE', set, first, first + 99)
end
-- A scan of the entries does not find a member that has none. Such a key runs: the members of the other sets do when
-- their time is over.
for state, set in pairs({ ready = READY, parked = PARKED, paused = PAUSED }) do
  for _, key in ipairs(someMembers(set)) do
    if read(P .. ':key:' .. key, 'HGET', 'state') ~= state then checkEntry(key) end
  end
end
for _, key in ipairs(someMembers(FAILING)) do
  if read(P .. ':key:' .. key, 'HEXISTS', 'fails') ~= 1 then redis.call('ZREM', FAILING, key) end
end
return found
