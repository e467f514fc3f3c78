-- Backoff: `first * 2^(fails-1)`, at most `longest`, spread over its upper half by `jitter` in [0, 1), like client-go's
-- exponential limiter with wait.Jitter. A failure starts a window; only a failure after its end counts again and
-- starts a longer one.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/wait"

local function window(fails)
  local full = math.min(setting('longest', 300000), setting('first', 500) * 2 ^ math.min(fails - 1, 40))
  return math.max(1, math.floor(full * (0.5 + tonumber(jitter) / 2)))
end

-- Counts a failure and starts a backoff window. With span, a time that a server asked for, the window lasts so long and
-- nothing is counted. Does nothing within the last window: a wake had started this run early.
local function fail(e, span)
  if number(e, 'notBefore') > now then return end
  if span == nil then
    e.f.fails = number(e, 'fails') + 1
    span = window(e.f.fails)
  end
  e.f.notBefore = now + span
  clear(e, 'wokenEarly')
end

-- The key that was assigned under this token no longer belongs to its slot.
local function forgetAssignment(token)
  local slot = string.match(token, '^([^:]*):')
  if slot then redis.call('HDEL', ASSIGNED, slot) end
end

-- The lease of a run ended without an outcome. The first time, the key is due at once. After that it backs off: an
-- object that kills every worker must not loop. One wake per window runs the key within it; a wake during the run
-- counts, too.
local function expire(e)
  if e.f.token then forgetAssignment(e.f.token) end
  clear(e, 'token', 'until', 'claim')
  e.f.class = e.f.class or e.f.ran
  if number(e, 'fails') == 0 then
    e.f.fails = 1
    waitUntil(e, now, 'lease ended')
    return
  end
  fail(e)
  local wasWoken = not e.f.answers or number(e, 'wakes') > number(e, 'answers')
  if e.f.forced == '1' then
    waitUntil(e, now, 'lease ended')
  elseif wasWoken and number(e, 'wokenEarly') == 0 then
    e.f.wokenEarly = 1
    waitUntil(e, now, 'lease ended')
  else
    waitUntil(e, number(e, 'notBefore'), 'lease ended')
  end
end
