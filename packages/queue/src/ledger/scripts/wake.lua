-- Records wakes, and dispatches the next keys.
--
-- `wakes` is a JSON list of `Wake`s, with `force` on forced ones. A wake makes an idle or parked key ready, at once or
-- `after` a time, and ends a longer wait. Within a backoff window one wake runs the key early; later ones wait for the
-- window's end, and no longer. A leased key is not dispatched: settle notices the wake. A ready key moves up if the
-- wake is more urgent. A resync wakes only idle keys. A forced wake ends any wait except a pause, which a wake of the
-- object itself may begin or end.
--
-- The cached object of a wake is kept for the run that is due. Deltas of other objects are kept if the previous run
-- left lists, or a run in progress may leave some. A change that the previous run has seen or made causes no run.
--
-- Most keys are woken alone, while no other key is ready. Such a key is assigned to an idle slot without entering a
-- queue first: half of the commands, and the same outcome.
--- @include "cache/cached-objects"
--- @include "ledger/rules/dispatch-ready"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/versions"
--- @include "ledger/rules/wait"

-- Only the newest known version begins a pause, but any version ends it, because the run reads the annotation again.
local function notePause(e, w)
  if w.paused == false then
    clear(e, 'paused')
  elseif w.paused and e.f['version:' .. w.kind] == w.resourceVersion then
    e.f.paused = e.f.paused or string.format('%.0f', now)
  end
end

-- True if the run before has left the changed object as it is now. Then the change causes no run.
local function isOfRunBefore(e, w)
  if not w.delta or w.uid or w.force or not e.f.seen or not hasLists(e) then return false end
  if not isSeen(e.f.seen, w.delta) or redis.call('EXISTS', P .. ':lists:' .. e.key) == 0 then return false end
  if newer(w.resourceVersion, e.f['version:' .. w.kind]) then e.f['version:' .. w.kind] = w.resourceVersion end
  return true
end

local function remember(e, w)
  local version = 'version:' .. w.kind
  if w.uid and w.uid ~= e.f.uid then clear(e, 'isNew') end -- an older version, too: etcd may have been restored
  if newer(w.resourceVersion, e.f[version]) then
    e.f[version] = w.resourceVersion
    if w.uid then clear(e, 'cachedObject', 'leftObject') end
    if w.uid and e.f.uid ~= w.uid then
      e.f.replaced = e.f.replaced or e.f.uid -- the one that a run may have seen
      clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error')
      e.f.uid = w.uid
    end
  end
  if isBeforeAnyRun(e, w) then
    if e.f.observedIn ~= control.incarnation then clear(e, 'isNew') end -- a run since may be lost with other data
    e.f.observedIn = control.incarnation
    if w.created and w.uid and w.uid == e.f.uid then e.f.isNew = 1 end
  end
  if w.force then clear(e, 'isNew') end
  notePause(e, w)
  keepObject(e, w)
  keepDelta(e, w)
  local text = e.f.reasons or '[]'
  local ok, reasons = pcall(cjson.decode, #text < maxReasonBytes and text or '[]')
  if not ok or type(reasons) ~= 'table' then reasons = {} end
  local known = false
  for _, r in ipairs(reasons) do
    known = known or r == w.reason
  end
  if not known and #reasons < 8 then
    reasons[#reasons + 1] = w.reason
    e.f.reasons = cjson.encode(reasons)
  end
  e.f.trace = w.trace or e.f.trace
  e.f.wakes = number(e, 'wakes') + 1
  local more = rank[w.class] < (rank[e.f.class] or 3)
  if more then e.f.class = w.class end
  return more
end

local function wait(w) return not w.force and tonumber(w.after) or 0 end

-- The time since which the key is due, if it becomes ready or paused now; otherwise nil or false: it stays as it is, or
-- waits.
local function readySince(e, w, moreUrgent)
  if e.f.state == 'paused' then return not pausedObject(e) and now end
  if (e.f.state == 'ready' or e.f.state == 'dispatched') and pausedObject(e) then return dueSince(e) end
  if e.f.state == 'dispatched' then return nil end
  local windowIsOver = number(e, 'notBefore') <= now or w.force
  if e.f.state == 'ready' then
    return moreUrgent and (redis.call('ZSCORE', READY, e.key) or now)
  elseif windowIsOver or number(e, 'wokenEarly') == 0 then
    if not windowIsOver then e.f.wokenEarly = 1 end
    local at = now + wait(w)
    if at == now then return now end
    if e.f.state ~= 'waits' or tonumber(redis.call('ZSCORE', WAITS, e.key) or 0) > at then becomeDue(e, at) end
  elseif e.f.state ~= 'waits' or tonumber(redis.call('ZSCORE', WAITS, e.key) or 0) > number(e, 'notBefore') then
    waitUntil(e, number(e, 'notBefore'), 'backoff')
  end
end

local all = listed(wakes, maxListItems)
for _, w in ipairs(all) do
  local e = load(w.key)
  if isOfRunBefore(e, w) then
    save(e)
  elseif w.class ~= 'resync' or w.force or not e.f.state then
    local moreUrgent = remember(e, w)
    local leased = e.f.state == 'leased'
    if leased and w.force then e.f.forced = 1 end
    if leased then e.f.wokenFor = math.min(tonumber(e.f.wokenFor) or math.huge, now + wait(w)) end
    local since = not leased and readySince(e, w, moreUrgent)
    if since and #all == 1 and assignAtOnce(e) then
      save(e)
      return {}
    end
    if since then becomeReady(e, since) end
    if e.f.state == 'waits' then clear(e, 'cachedObject') end
    save(e)
  end
end
return dispatch()
