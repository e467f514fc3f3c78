import { bellOverlooked } from "../ledger.ts";
import { mostNews } from "../script-bounds.ts";

/**
 * Due keys become runs: by a bell, or handed over to a worker that has just settled another run.
 *
 * `take` answers the claim as JSON, a copy of the object or '', and lists or '', or nil and why the key must not start here
 * and now: then it takes turns again. The copy cannot be older than what the run before has written: that one told what it
 * saw, and nothing was lost since. Nor can the lists, with all news that were told since that run began.
 * `handOver` first looks for a key whose bell nobody has answered, though bells are answered within milliseconds: all
 * who could are busy, and would never come to it while they are handed one key after the other.
 */
export const take = `
-- What the run before has left of other kinds, and what was told since, as tab-separated JSON: all of it, or nothing.
local function takeLists(e)
  local name = P .. ':news:' .. e.key
  local news = {}
  if e.f.listed and e.f.news then
    if read(name, 'SCARD') > ${mostNews} then e.f.news = 'lost' else news = redis.call('SMEMBERS', name) end
  end
  local left = e.f.listed and e.f.sawIn == control.era and read(P .. ':lists:' .. e.key, 'GET')
  local size = 0
  for _, each in ipairs(news) do size = size + #each end
  local isAll = type(left) == 'string' and e.f.news ~= 'lost' and size == number(e, 'news')
  forgetLists(e)
  return isAll and table.concat({ left, unpack(news) }, '\\t') or ''
end

local function take(e, token, version)
  if pausedKey(e) then
    becomeReady(e, now)
    return nil, 'paused'
  end
  if closed(e.f.account) then
    becomeReady(e, now)
    return nil, 'throttled'
  end
  if number(e, 'ranBy') > tonumber(version) and setting('newest', 0) >= number(e, 'ranBy') then
    waitUntil(e, now + 100, 'newer function')
    return nil, 'outdated'
  end
  local versions = {}
  for field, value in pairs(e.f) do
    local kind = string.match(field, '^version:(.*)$')
    if kind then versions[kind] = value end
  end
  e.f.claim = cjson.encode({
    fails = number(e, 'fails'),
    reasons = e.f.reasons or '[]',
    class = e.f.class or 'change',
    uid = e.f.uid,
    replaced = e.f.replaced,
    trace = e.f.trace,
    versions = versions,
  })
  local left = e.f.left and read(P .. ':copy:' .. e.key, 'GET')
  local copy = e.f.copy or type(left) == 'string' and left
  if e.f.sawIn ~= control.era then copy = nil end
  local lists = takeLists(e)
  enter(e, 'leased', now + lease)
  e.f.token, e.f['until'] = token, now + lease
  e.f.wakes = number(e, 'wakes')
  e.f.answers, e.f.ran, e.f.runUid = e.f.wakes, e.f.class or 'change', e.f.uid
  e.f.ranAt, e.f.ranIn = now, control.era
  if tonumber(version) > 0 then e.f.ranBy = version end
  clear(e, 'reasons', 'class', 'trace', 'why', 'forced', 'copy', 'sawIn')
  return e.f.claim, copy or '', lists
end

-- A key whose bell nobody has answered.
local function overlooked()
  local rung, since = unpack(redis.call('ZRANGE', RUNG, 0, 0, 'WITHSCORES'))
  return rung and tonumber(since) <= now - ${bellOverlooked} and rung
end
local function nextToRun()
  local rung = overlooked()
  if rung then return rung end
  if limitOpens('controller') > now then return nil end
  local key = nextInTurn()
  if key then control.bell = setting('bell', 0) + 1 end
  return key
end

-- Hands the next key to a worker that has settled \`e\`, which may be that key. Answers what \`take\` does, or nothing.
local function handOver(e, token, version)
  if not settled() or control.paused == '1' then return nil end
  local key = nextToRun()
  if not key then return nil end
  local other = key == e.key and e or load(key)
  leaveQueue(other)
  local claim, copy, lists
  if not held(other) then claim, copy, lists = take(other, token, version) end
  if other ~= e then save(other) end
  if claim then return { key, claim, copy, lists } end
end
`;
