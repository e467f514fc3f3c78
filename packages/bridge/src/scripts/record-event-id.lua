-- Records the id of an event, and forgets ids that are older than `lasts` ms, or not among the latest `most`.
--- @include "scripts/time"

if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], now, id)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lasts)
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + lasts, '+inf') -- the clock went back
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1 - most)
redis.call('PEXPIRE', KEYS[1], lasts)
