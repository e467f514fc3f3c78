-- The body of `adopt`, which is called for a new server, or for one with other data: no key is claimed in the
-- recovery window, in which runs in progress announce themselves again. Jobs may have been lost, so keys that were
-- dispatched are dispatched again.
--- @include "ledger/rules/quarantine"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

quarantineForeignKeys()
local t = redis.call('TIME')
control.schema = SCHEMA
control.server = server
control.incarnation = server .. '-' .. t[1] .. '.' .. t[2]
control.firstIncarnation = control.firstIncarnation or control.incarnation
control.claimsFrom = now + recoveryWindow
-- Jobs beyond this limit count as lost, and are added again soon.
local dispatched = redis.call('ZRANGE', DISPATCHED, 0, maxMembersChecked - 1)
if #dispatched > 0 then redis.call('ZREM', DISPATCHED, unpack(dispatched)) end
redis.call('DEL', ADVERTISED, ADVERTISEMENTS, ASSIGNED)
for _, key in ipairs(dispatched) do
  local e = load(key)
  if not held(e) then
    clear(e, 'job')
    becomeReady(e, now)
    save(e)
  end
end
