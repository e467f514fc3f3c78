-- Renews a lease. Returns 0 if another bridge holds the stream, or if the server has fewer than `writes` of our
-- writes: the last ones were lost.
--- @include "scripts/stream"

if not isOurs(token) or tonumber(held.writes) < tonumber(writes) then return 0 end
redis.call('HSET', STREAM, 'until', now + lease)
return 1
