-- The lists of other objects that a run leaves for the next one, and the changes of these objects since (deltas).
-- A run gets both, or lists live.
--- @include "ledger/rules/entry"

local function forgetLists(e)
  if e.f.news then redis.call('DEL', P .. ':news:' .. e.key) end
  clear(e, 'listed', 'news')
end

-- From now on no lists are given until a run has listed live.
local function loseNews(e)
  forgetLists(e)
  e.f.news = 'lost'
end

-- True if something of that size may be kept for every ready key.
local function fits(size) return redis.call('ZCARD', READY) * size < maxCachedObjectBytes end

local function keepNews(e, w)
  if e.f.listed and redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then forgetLists(e) end
  if not w.news or e.f.news == 'lost' or not (e.f.listed or e.f.state == 'leased') then return end
  local size = number(e, 'news') + #w.news
  if w.news == '' or size > maxDeltaBytes or not fits(size) then
    loseNews(e)
  elseif redis.call('SADD', P .. ':news:' .. e.key, w.news) == 1 then
    e.f.news = size
  end
end

-- The lists that the previous run left and the deltas since, as tab-separated JSON; empty if one of them is missing.
local function takeLists(e)
  local name = P .. ':news:' .. e.key
  local news = {}
  if e.f.listed and e.f.news then
    if read(name, 'SCARD') > maxDeltas then
      e.f.news = 'lost'
    else
      news = redis.call('SMEMBERS', name)
    end
  end
  local left = e.f.listed and e.f.sawIn == control.era and read(P .. ':lists:' .. e.key, 'GET')
  local size = 0
  for _, each in ipairs(news) do
    size = size + #each
  end
  local isAll = type(left) == 'string' and e.f.news ~= 'lost' and size == number(e, 'news')
  forgetLists(e)
  return isAll and table.concat({ left, unpack(news) }, '\t') or ''
end
