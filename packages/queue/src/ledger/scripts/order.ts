import { maxFlowsChecked } from "../../redis/lua/script-bounds.ts";

/**
 * The order in which ready keys run.
 *
 * A ready key is in the queue of its class and flow. A **flow** (`lane` in the Lua code) is a namespace, or the part of
 * it that uses one named account. The flows of a class take turns. Changes go first, then listings, then resyncs; but
 * of every eight dispatches one starts with listings and one with resyncs, so that no class starves. If the account of
 * a flow is throttled or its namespace is paused, the flow is skipped (`SHUT`) until that ends.
 */
export const orderLua = `
local function pausedBy(scope) return setting('pauses', 0) > 0 and redis.call('HEXISTS', PAUSED, scope) == 1 end
local function namespaceOf(key) return string.match(key, '^(.-)/') or '' end
-- True if an operator or an annotation paused the object itself.
local function pausedObject(e) return e.f.paused or pausedBy('object ' .. e.key) end
local function pausedKey(e)
  return control.paused == '1' or pausedObject(e) or pausedBy('namespace ' .. namespaceOf(e.key))
end
local nobodyWaits = false -- nextInTurn found no key, and no flow was added since
local function turn()
  nobodyWaits = false
  control.turn = setting('turn', 0) + 1
  return control.turn
end

local rank = { change = 0, listing = 1, resync = 2 }
local function enqueue(e, since)
  local class, lane = rank[e.f.class] and e.f.class or 'change', namespaceOf(e.key) .. '/' .. (e.f.account or '')
  e.f.queue = class .. ':' .. lane
  redis.call('ZADD', P .. ':queue:' .. e.f.queue, since, e.key)
  if not redis.call('ZSCORE', SHUT, e.f.queue) then redis.call('ZADD', P .. ':turns:' .. class, 'NX', turn(), lane) end
end
local function becomeReady(e, since)
  if pausedObject(e) then return enter(e, 'paused', since) end
  enter(e, 'ready', since)
  enqueue(e, since)
end
-- Since when a key is ready, dispatched or paused.
local function dueSince(e) return tonumber(redis.call('ZSCORE', setOf[e.f.state], e.key) or now) end

-- Limits are leaky buckets (the generic cell rate algorithm): each stores the time at which its bucket is empty again.
-- A limit is also closed until the time that an external server asked for.
local function limitOpens(name)
  if control.limited ~= '1' then return 0 end
  local every, burst, empty, closed = unpack(redis.call('HMGET', LIMITS, name .. ' every', name .. ' burst', name .. ' empty', name .. ' until'))
  local opens = tonumber(closed or 0) or 0
  if tonumber(every) and tonumber(burst) then opens = math.max(opens, (tonumber(empty or 0) or 0) - (tonumber(burst) - 1) * tonumber(every)) end
  return opens
end
local function closed(account)
  return account and control.limited == '1' and (tonumber(redis.call('HGET', LIMITS, 'account ' .. account .. ' until') or 0) or 0) > now
end
local function spend(name)
  if control.limited ~= '1' then return end
  local every, empty = unpack(redis.call('HMGET', LIMITS, name .. ' every', name .. ' empty'))
  if tonumber(every) then redis.call('HSET', LIMITS, name .. ' empty', math.max(tonumber(empty or 0) or 0, now) + tonumber(every)) end
end
local function laneOpens(lane)
  local namespace, account = string.match(lane, '^(.-)/(.*)$')
  if not namespace then return nil end -- written by another client
  if pausedBy('namespace ' .. namespace) then return '+inf' end
  return account == '' and 0 or limitOpens('account ' .. account)
end

local turnsLeft = ${maxFlowsChecked}
local function headOf(class)
  local turns = P .. ':turns:' .. class
  while turnsLeft > 0 do
    local lane = redis.call('ZRANGE', turns, 0, 0)[1]
    if not lane then return nil end
    turnsLeft = turnsLeft - 1
    local queue = class .. ':' .. lane
    local opens = laneOpens(lane)
    local head = opens and redis.call('ZRANGE', P .. ':queue:' .. queue, 0, 0)[1]
    if not head then
      redis.call('ZREM', turns, lane)
    elseif opens == '+inf' or opens > now then
      redis.call('ZREM', turns, lane)
      redis.call('ZADD', SHUT, opens, queue)
    else
      redis.call('ZADD', turns, turn(), lane)
      return head, queue, lane
    end
  end
end

local usual = { 'change', 'listing', 'resync' }
local turnsOf = { [0] = { 'resync', 'listing', 'change' }, [4] = { 'listing', 'change', 'resync' } }
-- Removes the next key from its queue and returns it.
local function nextInTurn()
  if nobodyWaits then return nil end
  for _, class in ipairs(turnsOf[setting('bell', 0) % 8] or usual) do
    local key, queue, lane = headOf(class)
    if key then
      redis.call('ZREM', P .. ':queue:' .. queue, key)
      redis.call('ZREM', READY, key)
      local account = string.match(lane, '^.-/(.+)$')
      spend('controller')
      if account then spend('account ' .. account) end
      return key
    end
  end
  nobodyWaits = turnsLeft > 0
  return nil
end
-- Updates the entry of a key that nextInTurn has removed from its queue: it is no longer ready.
local function leaveQueue(e)
  clear(e, 'queue')
  if e.f.state == 'ready' then clear(e, 'state') end
end
`;

/**
 * Assigns ready keys to advertised slots, and adds jobs for the others: in all no more than there are idle slots, or
 * `atLeast`. The rest stays ready, so that the ledger decides the order, and is chained to runs that end. Returns
 * `{ key, job number, ... }`; the caller adds the jobs to BullMQ. A lost job is added again.
 */
export const dispatchLua = `
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
`;
