-- Takes back leases that have ended, then dispatches the next keys. Returns `{ ms until a key may be due or -1,
-- jobs... }`.
--- @include "ledger/rules/backoff"
--- @include "ledger/rules/dispatch-ready"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

clampLeases()
if recovered() then
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', LEASES, key)
    local e = load(key)
    if not held(e) then
      clear(e, 'state')
      expire(e)
      save(e)
    end
  end
end
-- The registered slots may be wrong, as those of dead workers are for about a lease: so one job may always be out.
local answer = dispatch(1)
local next
local function consider(at)
  if at and at > 0 and at < (next or math.huge) then next = at end
end
consider(tonumber(redis.call('ZRANGE', WAITS, 0, 0, 'WITHSCORES')[2]))
consider(tonumber(redis.call('ZRANGE', THROTTLED, 0, 0, 'WITHSCORES')[2]))
if not recovered() then consider(setting('claimsFrom', 0)) end
if limitOpens('controller') > now and redis.call('ZCARD', READY) > 0 then consider(limitOpens('controller')) end
if flowsLeft == 0 then next = now end -- more may be due
table.insert(answer, 1, next and next < math.huge and math.max(0, math.ceil(next - now)) or -1)
return answer
