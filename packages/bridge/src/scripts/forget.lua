-- Deletes all data of a stream without subscribers.
--- @include "scripts/stream"

if isOurs(token) then
  for _, id in ipairs(redis.call('SMEMBERS', FILES)) do
    redis.call('UNLINK', file(id))
  end
  local behind = redis.call('HGETALL', BEHIND)
  for i = 1, #behind, 2 do
    redis.call('UNLINK', S .. ':owed:' .. behind[i])
  end
  redis.call('UNLINK', SEEN, FILED, FILES, BEHIND)
  redis.call('DEL', STREAM)
end
return 1
