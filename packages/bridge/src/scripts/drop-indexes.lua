-- Deletes reverse indexes that no lookup needs any more; a JSON list of ids.
--- @include "scripts/stream"

if not isOurs(token) then return 0 end
for _, id in ipairs(listed(files, maxIndexes)) do
  redis.call('UNLINK', file(id))
  redis.call('SREM', FILES, id)
end
if redis.call('SCARD', FILES) == 0 then redis.call('UNLINK', FILED) end
return 1
