-- The lists of other objects that a run leaves for the next one, and the changes of these objects since (deltas).
-- A run gets both, or lists live.
--- @include "ledger/rules/entry"

-- True if a run has seen the object in the state of this delta: `seen` has the beginnings of such deltas, one a line.
local function isSeen(seen, delta)
  for start in string.gmatch(seen, '[^\n]+') do
    if string.sub(delta, 1, #start) == start then return true end
  end
  return false
end

local function forgetLists(e)
  if e.f.deltas then redis.call('DEL', P .. ':deltas:' .. e.key) end
  clear(e, 'leftLists', 'deltas', 'seen')
end

-- From now on no lists are given until a run has listed live. No delta is of the key's own object.
local function loseDeltas(e)
  forgetLists(e)
  e.f.deltas = 'lost'
end

-- True if something of that size may be kept for every ready key.
local function fits(size) return redis.call('ZCARD', READY) * size < maxCachedObjectBytes end

local function keepDelta(e, w)
  if e.f.leftLists and redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then forgetLists(e) end
  if not w.delta or e.f.deltas == 'lost' or not (e.f.leftLists or e.f.state == 'leased') then return end
  local size = number(e, 'deltas') + #w.delta
  if w.delta == '' or w.uid or size > maxDeltaBytes or not fits(size) then
    loseDeltas(e)
  elseif redis.call('SADD', P .. ':deltas:' .. e.key, w.delta) == 1 then
    e.f.deltas = size
  end
end

local function deltasOf(e)
  local name = P .. ':deltas:' .. e.key
  if not e.f.deltas then return {} end
  if read(name, 'SCARD') <= maxDeltas then return redis.call('SMEMBERS', name) end
  e.f.deltas = 'lost'
  return {}
end

-- False also if a delta since may be missing.
local function hasLists(e) return e.f.leftLists and e.f.deltas ~= 'lost' and e.f.observedIn == control.incarnation end

-- The lists that the previous run left and the deltas since, as tab-separated JSON; empty if one of them is missing.
local function takeLists(e)
  local deltas = e.f.leftLists and deltasOf(e) or {}
  local left = hasLists(e) and read(P .. ':lists:' .. e.key, 'GET')
  local size = 0
  for _, each in ipairs(deltas) do
    size = size + #each
  end
  local isAll = type(left) == 'string' and size == number(e, 'deltas')
  forgetLists(e)
  return isAll and table.concat({ left, unpack(deltas) }, '\t') or ''
end
