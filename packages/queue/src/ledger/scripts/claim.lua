-- Takes a key under a lease.
--
-- `token` is the slot's and the run's. A repeated one gets the same claim, without a cached object and lists: a lost
-- reply must not lock the claimer out. A key without an entry can be claimed: the run reads its object live. A key that
-- a newer version of the function has run is refused to an older one while a worker of a newer one is registered.
-- Returns `{ 'claimed', leased key... }` or `{ refusal }`.
--- @include "ledger/rules/advertised-slots"
--- @include "ledger/rules/backoff"
--- @include "ledger/rules/entry"
--- @include "ledger/rules/start-run"

if assignedTo(token) then return { 'slot taken' } end
retract(token)
local e = load(key)
local known = (e.f.wakes or e.f.settled) ~= nil
clear(e, 'job') -- whatever comes of it
local function refuseSince(why)
  save(e)
  return { why }
end

if number(e, 'until') > now + lease then
  clampLeases()
  e.f['until'] = now + lease
end
if held(e) then
  if e.f.token == token and e.f.claim then return { 'claimed', unpack(leasedKey(e, token, askedAt)) } end
  return refuseSince('leased')
end
if not recovered() then return refuseSince('recovering') end
if e.f.token then expire(e) end
local at = e.f.state == 'waits' and redis.call('ZSCORE', WAITS, key)
if at and tonumber(at) > now then return refuseSince('waiting') end
if e.f.state == 'parked' then return refuseSince('parked') end
if e.f.state == 'paused' then return refuseSince('paused') end
if e.f.state == 'ready' then return refuseSince('not its turn') end
if not e.f.state and known then return refuseSince('nothing due') end
local leased, refusal = leaseTo(e, token, token, askedAt, version)
if not leased then return refuseSince(refusal) end
save(e)
return { 'claimed', unpack(leased) }
