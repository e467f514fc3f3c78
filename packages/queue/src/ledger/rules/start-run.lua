-- Starts the run of a due key: for a job, for an advertised slot, or chained to a run that its worker has just
-- settled.
--
-- `take` returns the claim as JSON, a cached object or '', and lists or ''. If the key must not start here and now,
-- it returns nil and the reason, and the key becomes ready or waits again. The cached object is not older than what
-- the previous run has written: that run reported the version that it observed, and no data were lost since. The
-- same holds for the lists, with all deltas since that run began.
--
-- `handOver` first takes a key that has an unused job. Jobs are used within milliseconds, unless all workers that
-- could take them are busy; and those take chained keys, never the job.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/wait"

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

-- A leased key, as every script returns it.
local function leasedKey(e, slot, askedAt, copy, lists)
  return { slot, e.f.token, askedAt, e.key, e.f.claim, copy or '', lists or '' }
end

-- Leases a due key to a slot, under a new token. Returns the leased key, or nil and why its run must not start here and
-- now: then the key is ready, or waits.
local function leaseTo(e, slot, token, askedAt, version)
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
  return leasedKey(e, slot, askedAt, copy, lists)
end

-- The key of the job that has been unused for longest, if for long enough.
local function overlooked()
  local rung, since = unpack(redis.call('ZRANGE', RUNG, 0, 0, 'WITHSCORES'))
  return rung and tonumber(since) <= now - overdueJobAge and rung
end
local function nextToRun()
  local rung = overlooked()
  if rung then return rung end
  if limitOpens('controller') > now then return nil end
  local key = nextInTurn()
  if key then control.bell = setting('bell', 0) + 1 end
  return key
end

-- Chains the next key to the run of `e` that was just settled: leases it to the same slot. It may be the same key.
-- Returns the leased key, or nil.
local function handOver(e, token, askedAt, version)
  if not settled() or control.paused == '1' then return nil end
  local key = nextToRun()
  if not key then return nil end
  local other = key == e.key and e or load(key)
  leaveQueue(other)
  local leased = not held(other) and leaseTo(other, token, token, askedAt, version)
  if other ~= e then save(other) end
  return leased
end
