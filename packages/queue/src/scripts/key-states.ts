/**
 * The Lua that every script starts with.
 *
 * A key is in one state at a time: **due** (in `due`, with the time from which it may run), **rung** (a bell was added
 * for it), **leased** (a worker runs it), **parked**, or idle (in none of them). A script moves it; nothing else does.
 */
export const keyStates = `
local P = KEYS[1]
local DUE, RUNG, LEASES, PARKED = P .. ':due', P .. ':rung', P .. ':leases', P .. ':parked'

if now == '' then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
else
  now = tonumber(now)
end

local function entry(key) return P .. ':key:' .. key end
local function get(key, field) return redis.call('HGET', entry(key), field) end
local function number(key, field) return tonumber(get(key, field) or 0) end
local function set(key, ...) redis.call('HSET', entry(key), ...) end
local function unset(key, ...) redis.call('HDEL', entry(key), ...) end

local function leave(key)
  redis.call('ZREM', DUE, key)
  redis.call('ZREM', RUNG, key)
  redis.call('ZREM', LEASES, key)
  redis.call('ZREM', PARKED, key)
end
local function becomeDue(key, at) leave(key); redis.call('ZADD', DUE, at, key) end
local function park(key) leave(key); redis.call('ZADD', PARKED, now, key) end
`;

/**
 * Backoff: \`first * 2^(fails-1)\`, at most \`most\`, spread over its upper half by \`jitter\` in [0, 1), as client-go's
 * exponential limiter with wait.Jitter has it. A window starts with a failure and grows only when one window is over.
 */
export const backoff = `
local function window(fails)
  local full = math.min(tonumber(most), tonumber(first) * 2 ^ math.min(fails - 1, 40))
  return math.max(1, math.floor(full * (0.5 + tonumber(jitter) / 2)))
end

-- One more failure, unless the last one's window still lasts: then this run was the wake that pierced it.
local function fail(key, span)
  if number(key, 'notBefore') > now then return end
  local fails = number(key, 'fails')
  if span == nil then
    fails = fails + 1
    span = window(fails)
  end
  set(key, 'fails', fails, 'notBefore', now + span, 'pierced', 0)
end

-- A run whose lease ended without a verdict. The first such end is forgiven, the next ones back off: an object that
-- kills every worker must not loop.
local function expire(key)
  unset(key, 'token', 'until', 'claim')
  if number(key, 'fails') == 0 then
    set(key, 'fails', 1)
    becomeDue(key, now)
  else
    fail(key)
    becomeDue(key, math.max(now, number(key, 'notBefore')))
  end
end
`;

/**
 * Bells for due keys, as many as keep the workers busy: the rest wait in the ledger, where order is decided.
 * Answers \`{ key, bell number, class, ... }\`; the caller adds them to BullMQ. A bell that gets lost is rung again.
 */
export const ring = `
local function ring()
  local bells = {}
  local room = tonumber(bellLimit) - redis.call('ZCARD', RUNG)
  if room <= 0 then return bells end
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', DUE, '-inf', now, 'LIMIT', 0, room)) do
    leave(key)
    redis.call('ZADD', RUNG, now, key)
    local bell = redis.call('INCR', P .. ':bell')
    set(key, 'bell', bell)
    table.insert(bells, key)
    table.insert(bells, tostring(bell))
    table.insert(bells, get(key, 'class') or 'change')
  end
  return bells
end
`;
