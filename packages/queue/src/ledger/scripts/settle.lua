-- Ends a run with its outcome. Only the token that holds the key may do so. A repeated call gets the same answer and
-- changes nothing.
--
-- - `after`, `account`: empty if the outcome has no time, or the run used no named account.
-- - `record`: the run as JSON for the history, or empty. The script adds the end time by this server's clock, and
--   keeps the last `kept` runs. `ms`: the run's duration.
-- - `forget`: how long the last answer and the history are kept after the object is gone.
-- - `next`: the token under which the worker can run another key at once, as `version` of the function, or empty. If
--   no key is due, the slot is advertised under it for `worker`, unless that is empty. `askedAt`: when, by its clock.
-- - `sawKind`, `sawUid`, `sawVersion`, `sawCopy`: the version of its own object that the run has read or written
--   last. `lists`: the lists that it leaves. Empty if it reports none.
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
local function handedBefore(e)
  local other = e.f.handed and load(e.f.handed)
  if other and held(other) and other.f.token == next and other.f.claim then return leasedKey(other, next, askedAt) end
  return {}
end

local e = load(key)
local unknown = e.f.token ~= token
if unknown and e.f.settled == token then return { 'settled', dueIn(e), handedBefore(e) } end
if unknown and (settled() or e.f.announced == control.era) then return { 'stale' } end

-- True if the key may have been woken since the run began. If the run is missing from the data, wakes may be, too.
local heard = unknown or not e.f.answers or number(e, 'wakes') > number(e, 'answers')
local again = heard or verdict == 'interrupted' or e.f.forced == '1'
local anotherObject = e.f.uid ~= e.f.runUid
local ran, ranHere = e.f.ran, not unknown and e.f.ranIn == control.era
leave(e)
clear(e, 'token', 'until', 'claim', 'left', 'listed', 'answers', 'announced', 'ran', 'ranIn', 'runUid')
learn(e, ranHere)
if not e.f.listed then forgetLists(e) end
forgetGiven(token)
e.f.settled = token
if account ~= '' then e.f.account = account end
after = tonumber(after)

local function backOff(why)
  e.f.class = e.f.class or ran
  local attempts = tonumber(control.attempts)
  if e.f.forced == '1' then
    becomeReady(e, now)
  elseif heard and number(e, 'pierced') == 0 then
    e.f.pierced = 1
    becomeReady(e, now)
  elseif attempts and number(e, 'fails') >= attempts and not heard then
    clear(e, 'notBefore', 'pierced', 'class')
    e.f.why = why
    enter(e, 'parked', now)
  else
    waitUntil(e, number(e, 'notBefore'), why)
  end
end

if verdict == 'done' or verdict == 'gone' then
  clear(e, 'fails', 'conflicts', 'notBefore', 'pierced', 'error', 'replaced')
elseif verdict ~= 'conflict' then
  clear(e, 'conflicts')
end
if error ~= '' then e.f.error = error end
-- Marks the key as paused, unless the object has changed since the run read it.
if verdict == 'paused' and sawVersion ~= '' and (not e.f.uid or e.f.uid == sawUid) then
  local known = e.f['version:' .. sawKind]
  if not known or known == sawVersion or newer(sawVersion, known) then e.f.paused = string.format('%.0f', now) end
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
elseif verdict == 'throttled' then
  e.f.class = e.f.class or ran
  becomeReady(e, now)
elseif again then
  e.f.class = e.f.class or ran
  becomeReady(e, now)
elseif verdict == 'paused' then
  e.f.class = e.f.class or ran
  becomeReady(e, now)
elseif verdict == 'terminal' then
  clear(e, 'notBefore', 'pierced')
  enter(e, 'parked', now)
elseif after then
  e.f.class = verdict == 'done' and 'resync' or ran
  waitUntil(e, now + after, verdict == 'done' and 'again' or 'wait')
elseif verdict == 'gone' then
  e.f = { settled = token, bell = e.f.bell }
end
clear(e, 'forced')
local gone = not e.f.state
promote()
local handed = next ~= '' and handOver(e, next, askedAt, version) or {}
e.f.handed = handed[4]
if next ~= '' and worker ~= '' and not handed[1] then standing(next, worker, version, askedAt) end
save(e)

local history = P .. ':history:' .. key
if record ~= '' then
  control.pace = control.pace and math.floor(control.pace + (ms * 16 - control.pace) / 8 + 0.5) or ms * 16
  read(history, 'LTRIM', 0, kept - 2)
  redis.call('LPUSH', history, string.format('{"at":%.0f,', now) .. record:sub(2))
end
if verdict == 'gone' and gone then
  redis.call('PEXPIRE', P .. ':key:' .. key, forget)
  redis.call('PEXPIRE', history, forget)
end
local due = dueIn(e)
local answer = ringReady()
table.insert(answer, 1, 'settled')
table.insert(answer, 2, due)
table.insert(answer, 3, handed)
return answer
