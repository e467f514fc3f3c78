-- Assigns ready keys to advertised slots, and adds jobs for the others: in all no more than there are idle slots, or
-- `atLeast`. The rest stays ready, so that the ledger decides the order, and is chained to runs that end. Returns `{
-- key, job number, ... }`; the caller adds the jobs to BullMQ. A lost job is added again.
--- @include "ledger/rules/advertised-slots"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local function promote()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', WAITS, '-inf', now, 'LIMIT', 0, 200)) do
    local since = redis.call('ZSCORE', WAITS, key)
    redis.call('ZREM', WAITS, key)
    local e = load(key)
    if not held(e) then
      becomeReady(e, since)
      save(e)
    end
  end
  for _, queue in ipairs(redis.call('ZRANGEBYSCORE', THROTTLED, '-inf', now, 'LIMIT', 0, 200)) do
    redis.call('ZREM', THROTTLED, queue)
    local class, flow = string.match(queue, '^(%a+):(.*)$')
    if rank[class] then redis.call('ZADD', P .. ':flows:' .. class, 'NX', turn(), flow) end
  end
end

local function mayDispatch() return recovered() and control.paused ~= '1' end
-- The number of idle slots for which no job is out.
local function roomFor(atLeast)
  local idle = math.max(1, setting('slots', 1)) - redis.call('ZCARD', LEASES)
  return math.max(atLeast or 0, idle) - redis.call('ZCARD', DISPATCHED)
end

-- Assigns the key of an entry to an advertised slot, if no other key can come first and no limit is set.
local function assignAtOnce(e)
  if held(e) or not mayDispatch() or control.limited == '1' then return false end
  local flows = P .. ':flows:'
  if redis.call('EXISTS', flows .. 'change', flows .. 'listing', flows .. 'resync', THROTTLED) > 0 then return false end
  leave(e) -- drops the key's own timer: one that is found below is another key's
  if #redis.call('ZRANGEBYSCORE', WAITS, '-inf', now, 'LIMIT', 0, 1) > 0 then return false end
  nothingReady = true
  return roomFor() > 0 and assign(e)
end

local function dispatchReady(atLeast)
  local jobs = {}
  if nothingReady or not mayDispatch() then return jobs end
  local room = roomFor(atLeast)
  while room > 0 and limitOpens('controller') <= now do
    local key = nextInTurn()
    if not key then return jobs end
    local e = load(key)
    leaveQueue(e)
    if not held(e) then room = room - 1 end
    if not held(e) and not assign(e) then
      enter(e, 'dispatched', now)
      if not e.f.job then -- else its last job was not used, and serves now
        control.dispatches = setting('dispatches', 0) + 1
        e.f.job = control.dispatches
        jobs[#jobs + 1] = key
        jobs[#jobs + 1] = tostring(control.dispatches)
      end
    end
    save(e)
  end
  return jobs
end

local function dispatch(atLeast)
  promote()
  return dispatchReady(atLeast)
end
