-- Ends a run with its outcome. Only the token that holds the key may do so. A repeated call gets the same answer and
-- changes nothing.
--
-- - `after`, `account`: empty if the outcome has no time, or the run used no named account.
-- - `record`: the run as JSON for the history, or empty. The script adds the end time by this server's clock, and
--   keeps the last `kept` runs. `ms`: the run's duration.
-- - `forget`: how long the last answer and the history are kept after the object is gone.
-- - `next`: the token under which the worker can run another key at once, as `version` of the function, or empty. If
--   no key is due, the slot is advertised under it for `worker`, unless that is empty. `askedAt`: when, by its clock.
-- - `observedKind`, `observedUid`, `observedVersion`: the version of its own object that the run has read or written
--   last. `cachedObject`, `cachedLists`: the object and the lists that it leaves. Empty if it reports none. `seen`: the
--   beginnings of deltas that cause no run, one a line. `keepFor`: how long these are kept, ms.
--
-- Returns `{ 'stale' }` or `{ 'settled', due, chained, jobs... }`: `due` is in how many ms the key is due again, or
-- -1; `chained` is a leased key, or `{}`.
--- @include "cache/observed"
--- @include "ledger/rules/advertised-slots"
--- @include "ledger/rules/backoff"
--- @include "ledger/rules/dispatch-ready"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/start-run"
--- @include "ledger/rules/versions"
--- @include "ledger/rules/wait"

local function dueIn(e)
  local at = e.f.state == 'waits' and redis.call('ZSCORE', WAITS, e.key)
  return at and math.max(0, math.ceil(tonumber(at) - now)) or -1
end

-- The key that the first answer chained, as that answer may have been lost; empty if its run no longer holds it.
local function chainedBefore(e)
  local other = e.f.chained and load(e.f.chained)
  if other and held(other) and other.f.token == next and other.f.claim then return leasedKey(other, next, askedAt) end
  return {}
end

local e = load(key)
local unknown = e.f.token ~= token
if unknown and e.f.settled == token then return { 'settled', dueIn(e), chainedBefore(e) } end
if unknown and (recovered() or e.f.announced == control.incarnation) then return { 'stale' } end

-- True if the key may have been woken since the run began. If the run is missing from the data, wakes may be, too.
local sawAll = not unknown and e.f.answers and sawAllWakes(e)
local wasWoken = unknown or not e.f.answers or (number(e, 'wakes') > number(e, 'answers') and not sawAll)
local again = wasWoken or verdict == 'interrupted' or e.f.forced == '1'
local anotherObject = e.f.uid ~= e.f.runUid
local againAt = e.f.forced == '1' and now or tonumber(e.f.wokenFor) or now
local ran, ranHere = e.f.ran, not unknown and e.f.ranIn == control.incarnation
leave(e)
clear(e, 'token', 'until', 'claim', 'leftObject', 'leftLists', 'seen', 'answers', 'announced', 'ran', 'ranIn', 'runUid')
clear(e, 'wokenFor')
recordObserved(e, ranHere)
if not e.f.leftLists then forgetLists(e) end
if sawAll then
  redis.call('DEL', P .. ':deltas:' .. e.key) -- the lists contain these changes
  clear(e, 'deltas', 'reasons', 'class', 'trace')
end
forgetAssignment(token)
e.f.settled = token
if account ~= '' then e.f.account = account end
after = tonumber(after)

local function backOff(why)
  e.f.class = e.f.class or ran
  local attempts = tonumber(control.attempts)
  if e.f.forced == '1' then
    becomeReady(e, now)
  elseif wasWoken and number(e, 'wokenEarly') == 0 then
    e.f.wokenEarly = 1
    becomeReady(e, now)
  elseif attempts and number(e, 'fails') >= attempts and not wasWoken then
    clear(e, 'notBefore', 'wokenEarly', 'class')
    e.f.why = why
    enter(e, 'parked', now)
  else
    waitUntil(e, number(e, 'notBefore'), why)
  end
end

if verdict == 'done' or verdict == 'gone' then
  clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error', 'replaced')
elseif verdict ~= 'conflict' then
  clear(e, 'conflicts')
end
if error ~= '' then e.f.error = error end
-- Marks the key as paused, unless the object has changed since the run read it.
if verdict == 'paused' and observedVersion ~= '' and (not e.f.uid or e.f.uid == observedUid) then
  local known = e.f['version:' .. observedKind]
  if not known or known == observedVersion or newer(observedVersion, known) then
    e.f.paused = string.format('%.0f', now)
  end
end
if verdict == 'throttled' then
  local closed = 'account ' .. account .. ' until'
  redis.call('HSET', LIMITS, closed, math.max(now + after, tonumber(redis.call('HGET', LIMITS, closed) or 0) or 0))
  control.limited = '1'
end

if anotherObject and again then
  becomeReady(e, now)
elseif verdict == 'retry' then
  fail(e, after)
  backOff('backoff')
elseif verdict == 'conflict' then
  e.f.conflicts = number(e, 'conflicts') + 1
  if e.f.conflicts > 8 then
    clear(e, 'conflicts')
    fail(e)
    backOff('backoff')
  else
    e.f.class = e.f.class or ran
    waitUntil(e, again and now or now + math.floor(10 * 2 ^ e.f.conflicts * (0.5 + tonumber(jitter) / 2)), 'conflict')
  end
elseif verdict == 'throttled' or verdict == 'paused' or verdict == 'interrupted' then
  e.f.class = e.f.class or ran
  becomeReady(e, now)
elseif again then
  e.f.class = e.f.class or ran
  becomeDue(e, after and math.min(againAt, now + after) or againAt)
elseif verdict == 'terminal' then
  clear(e, 'notBefore', 'wokenEarly')
  enter(e, 'parked', now)
elseif after then
  e.f.class = verdict == 'done' and 'resync' or ran
  waitUntil(e, now + after, verdict == 'done' and 'again' or 'wait')
elseif verdict == 'gone' then
  e.f = { settled = token, job = e.f.job }
end
clear(e, 'forced')
local gone = not e.f.state
promote()
local chained = next ~= '' and chainNext(e, next, askedAt, version) or {}
e.f.chained = chained[4]
if next ~= '' and worker ~= '' and not chained[1] then advertise(next, worker, version, askedAt) end
save(e)

local history = P .. ':history:' .. key
if record ~= '' then
  control.meanRunTime = control.meanRunTime
      and math.floor(control.meanRunTime + (ms * 16 - control.meanRunTime) / 8 + 0.5)
    or ms * 16
  read(history, 'LTRIM', 0, kept - 2)
  redis.call('LPUSH', history, string.format('{"at":%.0f,', now) .. record:sub(2))
end
if verdict == 'gone' and gone then
  redis.call('PEXPIRE', P .. ':key:' .. key, forget)
  redis.call('PEXPIRE', history, forget)
end
local due = dueIn(e)
local answer = dispatchReady()
table.insert(answer, 1, 'settled')
table.insert(answer, 2, due)
table.insert(answer, 3, chained)
return answer
