-- Advertises idle slots, or retracts them if `stands` is 0: `tokens` is a JSON list with one token per slot. Returns
-- the leased keys that were assigned to these slots before, one after the other and without cached objects, because
-- their messages may have been lost. Deletes expired advertisements.
--- @include "ledger/rules/advertised-slots"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/start-run"

local given = {}
for _, slot in ipairs(listed(tokens)) do
  local e, offeredAt = givenTo(slot)
  if e then
    for _, each in ipairs(leasedKey(e, slot, offeredAt)) do
      given[#given + 1] = each
    end
  elseif stands == '1' then
    standing(slot, worker, version, askedAt)
  else
    withdraw(slot)
  end
end
-- A job may be with a worker that has become busy. If a slot is idle, it gets the key of that job.
local rung = stands == '1' and settled() and overlooked()
if rung then
  local e = load(rung)
  if not held(e) and give(e) then save(e) end
end
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', OFFERS, '-inf', now, 'LIMIT', 0, 100)) do
  withdraw(slot)
end
return given
