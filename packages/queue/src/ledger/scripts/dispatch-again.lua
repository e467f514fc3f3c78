-- Makes the key of a lost job ready again. Does nothing if the job was used meanwhile.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local since = redis.call('ZSCORE', RUNG, key)
local e = load(key)
if since and (e.f.bell or '0') == bell then
  redis.call('ZREM', RUNG, key)
  clear(e, 'bell')
  becomeReady(e, since)
  save(e)
end
return 1
