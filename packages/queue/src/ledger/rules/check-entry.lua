-- Repairs the entry of a key that another client changed: a key that is not in the set of its state becomes ready, and
-- a forgotten flow takes turns again.
--- @include "ledger/rules/quarantine"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

-- The fields that inItsSet reads, and `fails`.
local checkedFields = { 'state', 'token', 'until', 'settled', 'wakes', 'queue', 'paused', 'fails' }

-- False if another client took the key out of its set, or put it into a second one: then the key becomes ready.
-- `scores` has for each state the scores of the i-th key and of others in its set, or false.
local function inItsSet(e, scores, i)
  for state, ofSet in pairs(scores) do
    if (ofSet[i] ~= false) ~= (state == e.f.state) then return false end
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
local function repairEntry(key)
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
-- Checks entries, and repairs those that are wrong. One command for each set finds all of them in it, and only an entry
-- that is wrong is read completely: a scrubber does this all the time.
local function checkEntries(keys)
  if #keys == 0 then return end
  local function scoresIn(set) return redis.call('ZMSCORE', set, unpack(keys)) end
  local failing, scores = scoresIn(FAILING), {}
  for state, set in pairs(setOf) do
    scores[state] = scoresIn(set)
  end
  for i, key in ipairs(keys) do
    local e = { key = key, f = {} }
    local values = read(P .. ':key:' .. key, 'HMGET', unpack(checkedFields))
    for j, field in ipairs(checkedFields) do
      e.f[field] = values[j] or nil
    end
    if e.f.fails and not failing[i] then redis.call('ZADD', FAILING, now, key) end
    if not inItsSet(e, scores, i) then repairEntry(key) end
  end
end
