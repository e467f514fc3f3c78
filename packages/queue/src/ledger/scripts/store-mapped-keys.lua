-- Stores the keys that mapping code returned for a key, if the run of `token` still holds it. Returns 1, or 0 if it
-- does not.

local P = KEYS[1]
if redis.call('HGET', P .. ':key:' .. key, 'token') ~= token then return 0 end
if named == '' then
  redis.call('HDEL', P .. ':named', key)
else
  redis.call('HSET', P .. ':named', key, named)
end
return 1
