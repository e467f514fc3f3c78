-- The order in which ready keys run.
--
-- A ready key is in the queue of its class and flow. A **flow** (`lane` in the Lua code) is a namespace, or the part
-- of it that uses one named account. The flows of a class take turns. Changes go first, then listings, then resyncs;
-- but of every eight dispatches one starts with listings and one with resyncs, so that no class starves. If the
-- account of a flow is throttled or its namespace is paused, the flow is skipped (`SHUT`) until that ends.
--- @include "ledger/rules/entry"

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
  local every, burst, empty, closed =
    unpack(redis.call('HMGET', LIMITS, name .. ' every', name .. ' burst', name .. ' empty', name .. ' until'))
  local opens = tonumber(closed or 0) or 0
  if tonumber(every) and tonumber(burst) then
    opens = math.max(opens, (tonumber(empty or 0) or 0) - (tonumber(burst) - 1) * tonumber(every))
  end
  return opens
end
local function closed(account)
  return account
    and control.limited == '1'
    and (tonumber(redis.call('HGET', LIMITS, 'account ' .. account .. ' until') or 0) or 0) > now
end
local function spend(name)
  if control.limited ~= '1' then return end
  local every, empty = unpack(redis.call('HMGET', LIMITS, name .. ' every', name .. ' empty'))
  if tonumber(every) then
    redis.call('HSET', LIMITS, name .. ' empty', math.max(tonumber(empty or 0) or 0, now) + tonumber(every))
  end
end
local function laneOpens(lane)
  local namespace, account = string.match(lane, '^(.-)/(.*)$')
  if not namespace then return nil end -- written by another client
  if pausedBy('namespace ' .. namespace) then return '+inf' end
  return account == '' and 0 or limitOpens('account ' .. account)
end

local turnsLeft = maxFlowsChecked
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
