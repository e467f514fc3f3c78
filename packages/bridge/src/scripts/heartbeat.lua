-- Registers a bridge of a group as live for `lasts` ms. Returns the live bridges.
--- @include "scripts/time"

if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 10 * lasts, '+inf') -- the clock went back
redis.call('ZADD', KEYS[1], now + lasts, bridge)
return redis.call('ZRANGE', KEYS[1], 0, 999)
