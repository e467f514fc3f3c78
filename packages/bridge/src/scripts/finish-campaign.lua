-- Marks a campaign as done, unless another one has begun since. Returns 1, or 0 if one has.
--- @include "scripts/campaign"

if not ok or type(last) ~= 'table' or last.name ~= name then return 0 end
last.done = decoded(done)
redis.call('SET', campaign, cjson.encode(last))
return 1
