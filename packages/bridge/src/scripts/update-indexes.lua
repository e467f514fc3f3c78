-- Replaces the index entries of objects. `filings` is a JSON list of `[key, { file: [[term, note], ...] }]`, with
-- all entries that the object has from now on. The members of an index are the term, the key and the note, with zero
-- bytes between them.
--- @include "scripts/stream"

if not isOurs(token) then return 0 end
local terms = 0
local function each(key, files, take)
  for id, entries in pairs(files) do
    terms = terms + #entries
    if terms > maxTerms then refuse('so many terms') end
    for _, entry in ipairs(entries) do
      take(id, entry[1] .. '\0' .. key .. '\0' .. entry[2])
    end
  end
end
for _, filing in ipairs(listed(filings, maxRecords, maxIndexEntryBytes)) do
  local key, files = filing[1], filing[2]
  local text = redis.call('HGET', FILED, key) or '{}'
  local ok, before = pcall(cjson.decode, #text <= maxIndexEntryBytes and text or '')
  if ok then each(key, before, function(id, member) redis.call('ZREM', file(id), member) end) end
  each(key, files, function(id, member)
    redis.call('ZADD', file(id), 0, member)
    redis.call('SADD', FILES, id)
  end)
  if next(files) then
    redis.call('HSET', FILED, key, cjson.encode(files))
  else
    redis.call('HDEL', FILED, key)
  end
end
return 1
