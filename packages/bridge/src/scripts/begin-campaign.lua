-- Begins a campaign, unless it has begun. Returns its record as JSON.
--- @include "scripts/campaign"

if ok and type(last) == 'table' and last.name == name and last.startedAt then return was end
local begun = cjson.encode({ name = name, startedAt = tonumber(at) })
redis.call('SET', campaign, begun)
return begun
