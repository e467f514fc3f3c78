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
  for _, queue in ipairs(redis.call('ZRANGEBYSCORE', SHUT, '-inf', now, 'LIMIT', 0, 200)) do
    redis.call('ZREM', SHUT, queue)
    local class, lane = string.match(queue, '^(%a+):(.*)$')
    if rank[class] then redis.call('ZADD', P .. ':turns:' .. class, 'NX', turn(), lane) end
  end
end

local function mayRing() return settled() and control.paused ~= '1' end
-- The number of idle slots for which no job is out.
local function roomFor(atLeast)
  local idle = math.max(1, setting('slots', 1)) - redis.call('ZCARD', LEASES)
  return math.max(atLeast or 0, idle) - redis.call('ZCARD', RUNG)
end

-- Assigns the key of an entry to an advertised slot, if no other key can come first and no limit is set.
local function giveAtOnce(e)
  if held(e) or not mayRing() or control.limited == '1' then return false end
  local turns = P .. ':turns:'
  if redis.call('EXISTS', turns .. 'change', turns .. 'listing', turns .. 'resync', SHUT) > 0 then return false end
  leave(e) -- drops the key's own timer: one that is found below is another key's
  if #redis.call('ZRANGEBYSCORE', WAITS, '-inf', now, 'LIMIT', 0, 1) > 0 then return false end
  nobodyWaits = true
  return roomFor() > 0 and give(e)
end

local function ringReady(atLeast)
  local bells = {}
  if nobodyWaits or not mayRing() then return bells end
  local room = roomFor(atLeast)
  while room > 0 and limitOpens('controller') <= now do
    local key = nextInTurn()
    if not key then return bells end
    local e = load(key)
    leaveQueue(e)
    if not held(e) then room = room - 1 end
    if not held(e) and not give(e) then
      enter(e, 'rung', now)
      if not e.f.bell then -- else its last job was not used, and serves now
        control.bell = setting('bell', 0) + 1
        e.f.bell = control.bell
        bells[#bells + 1] = key
        bells[#bells + 1] = tostring(control.bell)
      end
    end
    save(e)
  end
  return bells
end

local function ring(atLeast)
  promote()
  return ringReady(atLeast)
end
