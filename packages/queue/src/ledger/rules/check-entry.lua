-- Repairs the entry of a key that another client changed: a key that is not in the set of its state becomes ready, and
-- a forgotten flow takes turns again.
--- @include "ledger/rules/quarantine"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

-- False if another client took the key out of its set, or put it into a second one: then checkEntry makes the key
-- ready.
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
-- The fields that inItsSet reads, and `fails`.
local checkedFields = { 'state', 'token', 'until', 'settled', 'wakes', 'queue', 'paused', 'fails' }
local function checkEntry(key)
  local seen = { key = key, f = {} }
  for i, value in ipairs(read(P .. ':key:' .. key, 'HMGET', unpack(checkedFields))) do
    seen.f[checkedFields[i]] = value or nil
  end
  if seen.f.fails and not redis.call('ZSCORE', FAILING, key) then redis.call('ZADD', FAILING, now, key) end
  if inItsSet(seen) then return end
  local e = load(key)
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
