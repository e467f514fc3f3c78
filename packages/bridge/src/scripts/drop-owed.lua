-- Drops the wakes owed to queues without subscriptions; a JSON list of queues.
--- @include "scripts/stream"

if not isOurs(token) then return 0 end
for _, queue in ipairs(cjson.decode(queues)) do
  redis.call('HDEL', BEHIND, queue)
  redis.call('UNLINK', S .. ':owed:' .. queue)
end
return 1
