-- Records wakes (a JSON list) for a queue, of at most `most` keys. Returns 0 if another bridge holds the stream.
--- @include "scripts/owed-wakes"
--- @include "scripts/merge-wakes"

if not isOurs(token) then return 0 end
local mark = markOf() or { since = now, count = 0 }
if mark.all ~= 'due' then
  for _, w in ipairs(cjson.decode(wakes)) do
    local before = redis.call('HGET', OWED, w.key)
    if not before then mark.count = mark.count + 1 end
    redis.call('HSET', OWED, w.key, cjson.encode(before and folded(w, before) or w))
  end
  if mark.count > tonumber(most) then overflow(mark) end
end
save(mark)
return 1
