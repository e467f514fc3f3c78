-- A key's entry, which is read completely, changed, and written once; and the states of a key.
--
-- A key **waits** (for a time), is **ready** (it will be dispatched in order), **dispatched** (a job was added for
-- it), **leased** (a worker runs it), **paused** (due, but its object is paused), **parked**, or idle. Every state
-- except idle has a set; a key is in one of them at most. Only scripts move it.

-- Preallocates the fields that most entries have: the table is not rehashed as it grows.
local function fields()
  return {
    wakes = nil,
    state = nil,
    queue = nil,
    class = nil,
    reasons = nil,
    uid = nil,
    copy = nil,
    observedIn = nil,
    settled = nil,
    token = nil,
    ['until'] = nil,
    claim = nil,
    answers = nil,
    ran = nil,
    ranAt = nil,
    ranIn = nil,
    runUid = nil,
    ranBy = nil,
  }
end
local bytesRead = 0
local function load(key)
  local e, name, bytes = { key = key, f = fields(), was = fields() }, P .. ':key:' .. key, 0
  if read(name, 'HLEN') > maxHashFields then quarantine(name) end -- written by another client
  local flat = read(name, 'HGETALL')
  for i = 1, #flat, 2 do
    e.f[flat[i]], e.was[flat[i]] = flat[i + 1], flat[i + 1]
    bytes = bytes + #flat[i + 1]
  end
  bytesRead = bytesRead + bytes
  if bytesRead > maxEntriesBytes then refuse('so many bytes of entries') end
  if bytes > maxEntryBytes then
    quarantine(name)
    e.f, e.was = fields(), fields()
  end
  return e
end
local function save(e)
  local set, gone = {}, {}
  for field, value in pairs(e.f) do
    if value ~= e.was[field] then
      set[#set + 1] = field
      set[#set + 1] = value
    end
  end
  for field in pairs(e.was) do
    if e.f[field] == nil then gone[#gone + 1] = field end
  end
  if e.f.fails and not e.was.fails then redis.call('ZADD', FAILING, now, e.key) end
  if e.was.fails and not e.f.fails then redis.call('ZREM', FAILING, e.key) end
  if #set > 0 then redis.call('HSET', P .. ':key:' .. e.key, unpack(set)) end
  if #gone > 0 then redis.call('HDEL', P .. ':key:' .. e.key, unpack(gone)) end
  if e.was.settled and not e.was.wakes and e.f.state then -- the object was gone, and the entry about to expire
    redis.call('PERSIST', P .. ':key:' .. e.key)
    redis.call('PERSIST', P .. ':history:' .. e.key)
  end
end
local function number(e, field) return tonumber(e.f[field]) or 0 end
local function clear(e, ...)
  for _, field in ipairs({ ... }) do
    e.f[field] = nil
  end
end
local function held(e) return e.f.token and number(e, 'until') > now end

local setOf =
  { waits = WAITS, ready = READY, dispatched = DISPATCHED, leased = LEASES, parked = PARKED, paused = PAUSED }
local function leaveAll(key)
  for _, set in pairs(setOf) do
    redis.call('ZREM', set, key)
  end
end
local function leave(e)
  local set = setOf[e.f.state]
  if set then
    redis.call('ZREM', set, e.key)
  elseif e.f.state then
    leaveAll(e.key) -- a state that another client wrote
  end
  if e.f.queue then redis.call('ZREM', P .. ':queue:' .. e.f.queue, e.key) end
  clear(e, 'state', 'queue')
end
local function enter(e, state, at)
  leave(e)
  if state == 'waits' or state == 'parked' or state == 'paused' then clear(e, 'cachedObject') end
  e.f.state = state
  redis.call('ZADD', setOf[state], at, e.key)
end

-- Redis time may have gone back, or another server granted the lease: no lease ends later than one lease from now.
local function clampLeases()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', LEASES, now + lease + 1, '+inf', 'LIMIT', 0, maxMembersChecked)) do
    redis.call('ZADD', LEASES, now + lease, key)
    redis.call('HSET', P .. ':key:' .. key, 'until', now + lease)
  end
end
