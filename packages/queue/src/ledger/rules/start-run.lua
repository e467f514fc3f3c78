-- Starts the run of a due key: for a job, for an advertised slot, or chained to a run that its worker has just
-- settled.
--
-- The key is leased to a slot, and its claim made: what the run is to answer. The claim comes with the object and the
-- lists that are cached for it.
--
-- `chainNext` first takes a key that has an unused job. Jobs are used within milliseconds, unless all workers that
-- could take them are busy; and those take chained keys, never the job.
--- @include "cache/cached-objects"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/wait"

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
    -- Set with observedIn, before any run in these data: none can have begun since, unless on another server.
    isFirst = e.f.isNew and not e.f.ranAt and e.f.observedIn == control.incarnation or nil,
  })
  local copy = takeObject(e)
  local lists = takeLists(e)
  enter(e, 'leased', now + lease)
  e.f.token, e.f['until'] = token, now + lease
  e.f.wakes = number(e, 'wakes')
  e.f.answers, e.f.ran, e.f.runUid = e.f.wakes, e.f.class or 'change', e.f.uid
  e.f.ranAt, e.f.ranIn = now, control.incarnation
  if tonumber(version) > 0 then e.f.ranBy = version end
  clear(e, 'reasons', 'class', 'trace', 'why', 'forced', 'cachedObject', 'observedIn', 'wokenFor')
  return leasedKey(e, slot, askedAt, copy, lists)
end

-- The key of the job that has been unused for longest, if for long enough.
local function overdueKey()
  local dispatched, since = unpack(redis.call('ZRANGE', DISPATCHED, 0, 0, 'WITHSCORES'))
  return dispatched and tonumber(since) <= now - overdueJobAge and dispatched
end
local function nextKey()
  local dispatched = overdueKey()
  if dispatched then return dispatched end
  if limitOpens('controller') > now then return nil end
  local key = nextInTurn()
  if key then control.dispatches = setting('dispatches', 0) + 1 end
  return key
end

-- Chains the next key to the run of `e` that was just settled: leases it to the same slot. It may be the same key.
-- Returns the leased key, or nil.
local function chainNext(e, token, askedAt, version)
  if not recovered() or control.paused == '1' then return nil end
  local key = nextKey()
  if not key then return nil end
  local other = key == e.key and e or load(key)
  leaveQueue(other)
  local leased = not held(other) and leaseTo(other, token, token, askedAt, version)
  if other ~= e then save(other) end
  return leased
end
