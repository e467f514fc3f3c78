-- Removes wakes that the queue has. `accepted` is a JSON list of key and text in turn, as they were read; a wake that
-- was recorded since is kept. `all` is `begin` or `end`, around waking every key, or empty. Returns `{ keys left, 1
-- if every key must be woken }`, or nothing if another bridge holds the stream.
--- @include "scripts/owed-wakes"

if not isOurs(token) then return {} end
local mark = markOf()
if not mark then return { 0, 0 } end
local list = cjson.decode(accepted)
for i = 1, #list, 2 do
  if redis.call('HGET', OWED, list[i]) == list[i + 1] then
    redis.call('HDEL', OWED, list[i])
    mark.count = math.max(0, mark.count - 1)
  end
end
if all == 'begin' then mark.all = 'begun' end
if all == 'end' and mark.all == 'begun' then mark.all = nil end
-- Another program deleted the hash.
if mark.count > 0 and redis.call('EXISTS', OWED) == 0 then overflow(mark) end
save(mark)
return { mark.count, mark.all and 1 or 0 }
