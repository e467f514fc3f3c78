-- Returns 1 if the id was recorded less than `lasts` ms ago, else 0.
--- @include "scripts/time"

if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then return 0 end
local at = redis.call('ZSCORE', KEYS[1], id)
return at and math.abs(now - at) < tonumber(lasts) and 1 or 0
