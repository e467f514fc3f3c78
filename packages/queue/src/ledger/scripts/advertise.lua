-- Advertises idle slots, or retracts them if `advertises` is 0: `tokens` is a JSON list with one token per slot.
-- Returns the leased keys that were assigned to these slots before, one after the other and without cached objects,
-- because their messages may have been lost. Deletes expired advertisements.
--- @include "ledger/rules/advertised-slots"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/start-run"

local assigned = {}
for _, slot in ipairs(listed(tokens)) do
  local e, advertisedAt = assignedTo(slot)
  if e then
    for _, each in ipairs(leasedKey(e, slot, advertisedAt)) do
      assigned[#assigned + 1] = each
    end
  elseif advertises == '1' then
    advertise(slot, worker, version, askedAt)
  else
    retract(slot)
  end
end
-- A job may be with a worker that has become busy. If a slot is idle, it gets the key of that job.
local dispatched = advertises == '1' and recovered() and overdueKey()
if dispatched then
  local e = load(dispatched)
  if not held(e) and assign(e) then save(e) end
end
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', ADVERTISED, '-inf', now, 'LIMIT', 0, 100)) do
  retract(slot)
end
return assigned
