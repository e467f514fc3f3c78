-- Pauses keys, or resumes them (`on` is 1 or 0): all of the controller (`scope` 'controller'), of a namespace
-- (`namespace <ns>`), or one object (`object <key>`). `by` is the author of the pause. Paused keys stay due and get
-- no jobs; a run in progress ends as usual. Returns the jobs to add.
--- @include "ledger/rules/dispatch-ready"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local kind, subject = string.match(scope, '^(%a+) ?(.*)$')
if on == '1' then
  redis.call('HSET', PAUSES, scope, string.format('%.0f %s', now, by))
else
  redis.call('HDEL', PAUSES, scope)
end
control.pauses = redis.call('HLEN', PAUSES)
if kind == 'controller' then
  control.paused = on
elseif kind == 'namespace' then
  local held = redis.call('ZRANGEBYSCORE', THROTTLED, '+inf', '+inf', 'LIMIT', 0, maxThrottledFlowsChecked)
  for _, queue in ipairs(held) do
    if string.match(queue, '^%a+:(.-)/') == subject and on == '0' then redis.call('ZADD', THROTTLED, now, queue) end
  end
else
  local e = load(subject)
  if e.f.state == 'ready' or e.f.state == 'dispatched' or e.f.state == 'paused' then
    local resumed = e.f.state == 'paused' and not pausedObject(e)
    becomeReady(e, resumed and now or dueSince(e))
    save(e)
  end
end
return dispatch()
