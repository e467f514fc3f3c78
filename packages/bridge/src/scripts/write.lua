-- Writes to the index, with the position that belongs to it. `writes` is the number of earlier writes: a repeat gets
-- the same answer as before, and any other number is refused with 0. `put` is a JSON list of key and record in turn,
-- or empty; `forget` one of keys. `emittedTo` has the subscribers to whom a list was emitted completely. If it or
-- `position` is empty, the stored one stays.
--- @include "scripts/stream"

if not isOurs(token) then return 0 end
local done = tonumber(held.writes) or 0
if done == writes + 1 then return 1 end
if done ~= tonumber(writes) then return 0 end
local function inPieces(list, take)
  for from = 1, #list, 500 do
    take(unpack(list, from, math.min(from + 499, #list)))
  end
end
if put ~= '' then inPieces(listed(put, 2 * maxRecords), function(...) redis.call('HSET', SEEN, ...) end) end
if forget ~= '' then inPieces(listed(forget, maxRecords), function(...) redis.call('HDEL', SEEN, ...) end) end
redis.call('HSET', STREAM, 'writes', writes + 1)
if position ~= '' then redis.call('HSET', STREAM, 'position', position) end
if emittedTo ~= '' then redis.call('HSET', STREAM, 'told', emittedTo) end
return 1
