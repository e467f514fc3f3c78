-- Makes the key of a lost job ready again. Does nothing if the job was used meanwhile.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local since = redis.call('ZSCORE', DISPATCHED, key)
local e = load(key)
if since and (e.f.job or '0') == jobNumber then
  redis.call('ZREM', DISPATCHED, key)
  clear(e, 'job')
  becomeReady(e, since)
  save(e)
end
return 1
