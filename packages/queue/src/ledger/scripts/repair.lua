-- Checks some of the ledger's own keys, as a scan found them (`names`, a JSON list of Redis keys), and repairs what
-- another client changed: a key that is not in the set of its state becomes ready, and a forgotten flow takes turns
-- again. Returns what was wrong.
--- @include "ledger/rules/quarantine"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local typeOf = typesOfLedger()
typeOf.key, typeOf.history, typeOf.flows, typeOf.queue = 'hash', 'list', 'zset', 'zset'
typeOf.object, typeOf.lists, typeOf.deltas = 'string', 'string', 'set'
local function typeOfJobKey(name)
  if string.match(name, '^%x+%-%d+$') then return 'hash' end
  if string.match(name, '^%x+%-%d+:lock$') or string.match(name, '^de:') then return 'string' end
end

-- False if another client took the key out of its set, or put it into a second one: look then makes the key ready.
local function inItsSet(e)
  for state, set in pairs(setOf) do
    if (redis.call('ZSCORE', set, e.key) ~= false) ~= (state == e.f.state) then return false end
  end
  if not e.f.state then return not e.f.token and (e.f.settled or e.f.wakes) end
  if e.f.state == 'leased' then return e.f.token and tonumber(e.f['until']) end
  if e.f.state == 'paused' then return pausedObject(e) end
  if e.f.state ~= 'ready' then return true end
  if pausedObject(e) then return false end
  local class, flow = string.match(e.f.queue or '', '^(%a+):(.*)$')
  if not flow or not redis.call('ZSCORE', P .. ':queue:' .. e.f.queue, e.key) then return false end
  return redis.call('ZSCORE', P .. ':flows:' .. class, flow) or redis.call('ZSCORE', THROTTLED, e.f.queue)
end
local function checkEntry(key)
  local e = load(key)
  if e.f.fails and not redis.call('ZSCORE', FAILING, key) then redis.call('ZADD', FAILING, now, key) end
  if inItsSet(e) then return end
  found[#found + 1] = 'key:' .. key
  e.f.deltas = 'lost'
  if held(e) then
    leaveAll(key)
    enter(e, 'leased', e.f['until'])
  else
    leaveAll(key)
    clear(e, 'token', 'until', 'claim', 'observedIn', 'state')
    e.f.wakes = number(e, 'wakes')
    becomeReady(e, now)
  end
  save(e)
end

local keys = {}
for _, name in ipairs(listed(names, maxKeysPerRepair)) do
  local kind, subject = string.match(string.sub(name, #P + 2), '^(%a+):?(.*)$')
  local isRight = quarantineUnless(name, kind == 'jobs' and typeOfJobKey(subject) or typeOf[kind])
  if kind == 'key' and isRight then keys[#keys + 1] = subject end
end
for _, key in ipairs(keys) do
  checkEntry(key)
end
return found
