-- The order in which ready keys run.
--
-- A ready key is in the queue of its class and flow. A **flow** is a namespace, or the part of it that uses one
-- named account. The flows of a class take turns. Changes go first, then listings, then resyncs;
-- but of every eight dispatches one starts with listings and one with resyncs, so that no class starves. If the
-- account of a flow is throttled or its namespace is paused, the flow is skipped (`THROTTLED`) until that ends.
--- @include "ledger/rules/entry"

local function pausedBy(scope) return setting('pauses', 0) > 0 and redis.call('HEXISTS', PAUSES, scope) == 1 end
local function namespaceOf(key) return string.match(key, '^(.-)/') or '' end
-- True if an operator or an annotation paused the object itself.
local function pausedObject(e) return e.f.paused or pausedBy('object ' .. e.key) end
local function pausedKey(e)
  return control.paused == '1' or pausedObject(e) or pausedBy('namespace ' .. namespaceOf(e.key))
end
local nothingReady = false -- nextInTurn found no key, and no flow was added since
local function turn()
  nothingReady = false
  control.turn = setting('turn', 0) + 1
  return control.turn
end

local rank = { change = 0, listing = 1, resync = 2 }
local function enqueue(e, since)
  local class, flow = rank[e.f.class] and e.f.class or 'change', namespaceOf(e.key) .. '/' .. (e.f.account or '')
  e.f.queue = class .. ':' .. flow
  redis.call('ZADD', P .. ':queue:' .. e.f.queue, since, e.key)
  if not redis.call('ZSCORE', THROTTLED, e.f.queue) then
    redis.call('ZADD', P .. ':flows:' .. class, 'NX', turn(), flow)
  end
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
local function flowOpens(flow)
  local namespace, account = string.match(flow, '^(.-)/(.*)$')
  if not namespace then return nil end -- written by another client
  if pausedBy('namespace ' .. namespace) then return '+inf' end
  return account == '' and 0 or limitOpens('account ' .. account)
end

local flowsLeft = maxFlowsChecked
local function headOf(class)
  local flows = P .. ':flows:' .. class
  while flowsLeft > 0 do
    local flow = redis.call('ZRANGE', flows, 0, 0)[1]
    if not flow then return nil end
    flowsLeft = flowsLeft - 1
    local queue = class .. ':' .. flow
    local opens = flowOpens(flow)
    local head = opens and redis.call('ZRANGE', P .. ':queue:' .. queue, 0, 0)[1]
    if not head then
      redis.call('ZREM', flows, flow)
    elseif opens == '+inf' or opens > now then
      redis.call('ZREM', flows, flow)
      redis.call('ZADD', THROTTLED, opens, queue)
    else
      redis.call('ZADD', flows, turn(), flow)
      return head, queue, flow
    end
  end
end

local usualOrder = { 'change', 'listing', 'resync' }
local classOrder = { [0] = { 'resync', 'listing', 'change' }, [4] = { 'listing', 'change', 'resync' } }
-- Removes the next key from its queue and returns it.
local function nextInTurn()
  if nothingReady then return nil end
  for _, class in ipairs(classOrder[setting('dispatches', 0) % 8] or usualOrder) do
    local key, queue, flow = headOf(class)
    if key then
      redis.call('ZREM', P .. ':queue:' .. queue, key)
      redis.call('ZREM', READY, key)
      local account = string.match(flow, '^.-/(.+)$')
      spend('controller')
      if account then spend('account ' .. account) end
      return key
    end
  end
  nothingReady = flowsLeft > 0
  return nil
end
-- Updates the entry of a key that nextInTurn has removed from its queue: it is no longer ready.
local function leaveQueue(e)
  clear(e, 'queue')
  if e.f.state == 'ready' then clear(e, 'state') end
end
