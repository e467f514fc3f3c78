-- Registers a worker process with its number of `slots`, for `lasts` ms; with 0 slots, removes it. The worker brings
-- the settings of its controller: backoff (`first`, `most`, ms), `attempts` ('' for no limit) and `limits`, a JSON
-- object of `{ name: { every, burst } }`. The settings of the newest version among the registered workers apply.
-- Workers of the past do not count: a function that is deleted and created again counts its versions from the
-- beginning. `scripts` names the script set of the worker's version. Those of live workers are kept, and that of the
-- last one.

if slots == '0' then
  redis.call('HDEL', WORKERS, worker)
else
  redis.call('HSET', WORKERS, worker, string.format('%.0f %s %s', now + lasts, slots, version))
  if redis.call('HLEN', P .. ':scripts') > maxHashFields then redis.call('DEL', P .. ':scripts') end
  local sets = redis.call('HGETALL', P .. ':scripts')
  for i = 1, #sets, 2 do
    if (tonumber(sets[i + 1]) or 0) <= now then redis.call('HDEL', P .. ':scripts', sets[i]) end
  end
  redis.call('HSET', P .. ':scripts', scripts, string.format('%.0f', now + lasts))
end
-- Drover does not write so many fields: another client did.
if redis.call('HLEN', WORKERS) > maxWorkers then redis.call('DEL', WORKERS) end
if redis.call('HLEN', LIMITS) > maxWorkers then redis.call('DEL', LIMITS) end
local sum, newest = 0, 0
local workers = redis.call('HGETALL', WORKERS)
for i = 1, #workers, 2 do
  local upTo, theirSlots, theirVersion = string.match(workers[i + 1], '^(%d+) (%d+) (%d+)$')
  if not upTo or tonumber(upTo) <= now then
    redis.call('HDEL', WORKERS, workers[i])
  else
    sum = sum + theirSlots
    newest = math.max(newest, tonumber(theirVersion))
  end
end
control.slots, control.newest = sum, newest
if slots ~= '0' and tonumber(version) >= newest then
  control.first, control.longest, control.attempts = first, longest, attempts
  local asked, names = decoded(limits), 0
  for _ in pairs(asked) do
    names = names + 1
  end
  if names > maxListItems then refuse('so many limits') end
  if (redis.call('HGET', LIMITS, 'asked') or '{}') ~= limits then
    local known = redis.call('HGETALL', LIMITS)
    for i = 1, #known, 2 do
      local name = string.match(known[i], '^(.*) every$') or string.match(known[i], '^(.*) burst$')
      if name and not asked[name] then redis.call('HDEL', LIMITS, known[i]) end
    end
    redis.call('HSET', LIMITS, 'asked', limits)
  end
  for name, limit in pairs(asked) do
    -- Even if the clock went back or the rate was raised, the limit stays closed no longer than a full bucket takes to
    -- drain.
    local empty =
      math.min(tonumber(redis.call('HGET', LIMITS, name .. ' empty') or 0) or 0, now + limit.burst * limit.every)
    redis.call('HSET', LIMITS, name .. ' every', limit.every, name .. ' burst', limit.burst, name .. ' empty', empty)
    control.limited = '1'
  end
end
return 1
