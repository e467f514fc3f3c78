-- The body of `adopt`, which is called for a new server, or for one with other data: no key is claimed for `settling`
-- ms, in which runs in progress announce themselves again. Jobs may have been lost, so keys that were dispatched are
-- dispatched again.
--- @include "ledger/rules/put-aside"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

putAsideStrangers()
local t = redis.call('TIME')
control.schema = SCHEMA
control.server = server
control.era = server .. '-' .. t[1] .. '.' .. t[2]
control.origin = control.origin or control.era
control.claimsFrom = now + settling
-- Jobs beyond this limit count as lost, and are added again soon.
local rung = redis.call('ZRANGE', RUNG, 0, maxMembersChecked - 1)
if #rung > 0 then redis.call('ZREM', RUNG, unpack(rung)) end
redis.call('DEL', OFFERS, OFFERED, GIVEN)
for _, key in ipairs(rung) do
  local e = load(key)
  if not held(e) then
    clear(e, 'bell')
    becomeReady(e, now)
    save(e)
  end
end
