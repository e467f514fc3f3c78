-- Idle slots that workers advertise, each under a token of its own, and the keys that are assigned to them.
--
-- An advertisement lasts for `settling` ms (the length of the recovery window), and its worker renews it: those of a
-- dead worker expire within that time. Only those of the newest registered version of the function are used.
--
-- An assigned key is leased under a new token, made for this assignment alone: an advertisement that arrives late
-- advertises the slot again, so two runs of one slot may be in progress. The new token starts with the slot's token,
-- which contains no colon.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/start-run"

local function standing(slot, worker, version, askedAt)
  redis.call('ZADD', OFFERS, now + settling, slot)
  redis.call('HSET', OFFERED, slot, worker .. ' ' .. version .. ' ' .. askedAt)
end
local function withdraw(slot)
  redis.call('ZREM', OFFERS, slot)
  redis.call('HDEL', OFFERED, slot)
end

-- The entry of the key that was assigned to a slot, if the slot still holds it, and the time of the slot's offer.
local function givenTo(slot)
  local token, askedAt, key = string.match(redis.call('HGET', GIVEN, slot) or '', '^(%S+) (%d+) (.*)$')
  local e = key and load(key)
  if e and held(e) and e.f.token == token and e.f.claim then return e, askedAt end
  if key then redis.call('HDEL', GIVEN, slot) end
end

-- The offer that was renewed last: its worker is the most likely to be alive. Skips an offer that ends later than any
-- offer made now (the clock went back), or is of an older version of the function.
local offersLeft = maxSlotsChecked
local function freshest()
  while offersLeft > 0 do
    offersLeft = offersLeft - 1
    local slot, stands = unpack(redis.call('ZRANGE', OFFERS, -1, -1, 'WITHSCORES'))
    if not slot or tonumber(stands) <= now then return nil end
    local worker, version, askedAt = string.match(redis.call('HGET', OFFERED, slot) or '', '^(%S+) (%d+) (%d+)$')
    withdraw(slot)
    if worker and tonumber(stands) <= now + settling and tonumber(version) >= setting('newest', 0) then
      return slot, worker, version, askedAt
    end
  end
end

-- Assigns a due key to an advertised slot, if there is one, and notifies its worker at once. Returns false if it did
-- not.
local function give(e)
  if pausedKey(e) or closed(e.f.account) then return false end
  local slot, worker, version, askedAt = freshest()
  if not slot then return false end
  control.bell = setting('bell', 0) + 1
  local token = string.format('%s:%d:%d', slot, now, control.bell)
  local leased = leaseTo(e, slot, token, askedAt, version)
  redis.call('HSET', GIVEN, slot, table.concat({ token, askedAt, e.key }, ' '))
  redis.call('PUBLISH', P .. ':worker:' .. worker, table.concat(leased, '\n'))
  return true
end
