-- The lists of other objects that a run leaves for the next one, and the changes of these objects since (deltas).
-- A run gets both, or lists live.
--- @include "ledger/rules/entry"

local function forgetLists(e)
  if e.f.deltas then redis.call('DEL', P .. ':deltas:' .. e.key) end
  clear(e, 'leftLists', 'deltas')
end

-- From now on no lists are given until a run has listed live.
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
  if w.delta == '' or size > maxDeltaBytes or not fits(size) then
    loseDeltas(e)
  elseif redis.call('SADD', P .. ':deltas:' .. e.key, w.delta) == 1 then
    e.f.deltas = size
  end
end

-- The lists that the previous run left and the deltas since, as tab-separated JSON; empty if one of them is missing.
local function takeLists(e)
  local name = P .. ':deltas:' .. e.key
  local deltas = {}
  if e.f.leftLists and e.f.deltas then
    if read(name, 'SCARD') > maxDeltas then
      e.f.deltas = 'lost'
    else
      deltas = redis.call('SMEMBERS', name)
    end
  end
  local left = e.f.leftLists and e.f.observedIn == control.incarnation and read(P .. ':lists:' .. e.key, 'GET')
  local size = 0
  for _, each in ipairs(deltas) do
    size = size + #each
  end
  local isAll = type(left) == 'string' and e.f.deltas ~= 'lost' and size == number(e, 'deltas')
  forgetLists(e)
  return isAll and table.concat({ left, unpack(deltas) }, '\t') or ''
end
