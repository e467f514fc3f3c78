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
  clear(e, 'leftLists', 'deltas')
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

-- The lists that the previous run left, and what it has seen; nil if there are none, or if a delta since is missing.
local function leftLists(e)
  if not e.f.leftLists or e.f.deltas == 'lost' or e.f.observedIn ~= control.incarnation then return nil end
  local left = read(P .. ':lists:' .. e.key, 'GET')
  if type(left) == 'string' then return string.match(left, '^([^\n]*)\n?(.*)$') end
end

-- The lists that the previous run left and the deltas since, as tab-separated JSON; empty if one of them is missing.
local function takeLists(e)
  local deltas = e.f.leftLists and deltasOf(e) or {}
  local left = leftLists(e)
  local size = 0
  for _, each in ipairs(deltas) do
    size = size + #each
  end
  local isAll = left and size == number(e, 'deltas')
  forgetLists(e)
  return isAll and table.concat({ left, unpack(deltas) }, '\t') or ''
end
