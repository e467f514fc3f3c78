-- Counts the keys by state. Returns `{ due, ms the oldest has waited, scheduled, running, parked, failing, 16 times
-- the mean run time in ms, paused, 1 if all are paused }`.
--
-- Ready keys in a paused namespace are counted per flow, once the flow was found to be paused. Of the timers that
-- are over, the first 200 are checked for a pause.
--- @include "ledger/rules/order"

local overdue = redis.call('ZCOUNT', WAITS, '-inf', now)
local due, paused, oldest = overdue + redis.call('ZCARD', READY) + redis.call('ZCARD', DISPATCHED), 0, now
local function consider(set)
  local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
  if head[2] then oldest = math.min(oldest, tonumber(head[2])) end
end
local over = redis.call('ZRANGEBYSCORE', WAITS, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 200)
for i = 1, #over, 2 do
  local e = { key = over[i], f = { paused = type(read(P .. ':key:' .. over[i], 'HGET', 'paused')) == 'string' or nil } }
  if pausedKey(e) then
    paused = paused + 1
  else
    oldest = math.min(oldest, tonumber(over[i + 1]))
  end
end
consider(DISPATCHED)
local throttled = redis.call('ZRANGEBYSCORE', THROTTLED, '+inf', '+inf', 'LIMIT', 0, maxMembersChecked)
for _, queue in ipairs(throttled) do
  paused = paused + redis.call('ZCARD', P .. ':queue:' .. queue)
end
if #throttled == 0 then
  consider(READY)
else
  for class in pairs(rank) do
    for _, flow in ipairs(redis.call('ZRANGE', P .. ':flows:' .. class, 0, maxFlowsChecked - 1)) do
      consider(P .. ':queue:' .. class .. ':' .. flow)
    end
  end
  for _, queue in ipairs(redis.call('ZRANGEBYSCORE', THROTTLED, '-inf', '(+inf', 'LIMIT', 0, maxMembersChecked)) do
    consider(P .. ':queue:' .. queue)
  end
end
local all = control.paused == '1'
if all then
  paused, oldest = due, now
end
return {
  math.max(0, due - paused),
  now - oldest,
  redis.call('ZCARD', WAITS) - overdue,
  redis.call('ZCARD', LEASES),
  redis.call('ZCARD', PARKED),
  redis.call('ZCARD', FAILING),
  setting('meanRunTime', 0),
  paused + redis.call('ZCARD', PAUSED),
  all and 1 or 0,
}
