/**
 * Backoff: \`first * 2^(fails-1)\`, at most \`most\`, spread over its upper half by \`jitter\` in [0, 1), as client-go's
 * exponential limiter with wait.Jitter has it. A window starts with a failure and grows only when one window is over.
 */
export const backoff = `
local function window(fails)
  local full = math.min(setting('most', 300000), setting('first', 500) * 2 ^ math.min(fails - 1, 40))
  return math.max(1, math.floor(full * (0.5 + tonumber(jitter) / 2)))
end

-- One more failure, unless the last one's window still lasts: then this run was the wake that pierced it.
local function fail(e, span)
  if number(e, 'notBefore') > now then return end
  if span == nil then
    e.f.fails = number(e, 'fails') + 1
    span = window(e.f.fails)
  end
  e.f.notBefore = now + span
  clear(e, 'pierced')
end

local function waitUntil(e, at, why)
  e.f.why = why
  if at <= now then becomeReady(e, now) else enter(e, 'waits', at) end
end

-- What was given under a token is its slot's no more.
local function forgetGiven(token)
  local slot = string.match(token, '^([^:]*):')
  if slot then redis.call('HDEL', GIVEN, slot) end
end

-- A run whose lease ended without a verdict. The first such end is forgiven, the next ones back off: an object that
-- kills every worker must not loop. One wake per window pierces it, also one that came during the run.
local function expire(e)
  if e.f.token then forgetGiven(e.f.token) end
  clear(e, 'token', 'until', 'claim')
  e.f.class = e.f.class or e.f.ran
  if number(e, 'fails') == 0 then
    e.f.fails = 1
    waitUntil(e, now, 'lease ended')
    return
  end
  fail(e)
  local heard = not e.f.answers or number(e, 'wakes') > number(e, 'answers')
  if e.f.forced == '1' then
    waitUntil(e, now, 'lease ended')
  elseif heard and number(e, 'pierced') == 0 then
    e.f.pierced = 1
    waitUntil(e, now, 'lease ended')
  else
    waitUntil(e, number(e, 'notBefore'), 'lease ended')
  end
end
`;
