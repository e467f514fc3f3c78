-- Idle slots that workers advertise, each under a token of its own, and the keys that are assigned to them.
--
-- An advertisement lasts for the length of the recovery window, and its worker renews it: those of a
-- dead worker expire within that time. Only those of the newest registered version of the function are used.
--
-- An assigned key is leased under a new token, made for this assignment alone: an advertisement that arrives late
-- advertises the slot again, so two runs of one slot may be in progress. The new token starts with the slot's token,
-- which contains no colon. It has the server's id, as one that took over may have lost the count and another clock.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"
--- @include "ledger/rules/start-run"

local function advertise(slot, worker, version, askedAt)
  redis.call('ZADD', ADVERTISED, now + recoveryWindow, slot)
  redis.call('HSET', ADVERTISEMENTS, slot, worker .. ' ' .. version .. ' ' .. askedAt)
end
local function retract(slot)
  redis.call('ZREM', ADVERTISED, slot)
  redis.call('HDEL', ADVERTISEMENTS, slot)
end

-- The entry of the key that was assigned to a slot, if the slot still holds it, and when the slot was advertised.
local function assignedTo(slot)
  local token, askedAt, key = string.match(redis.call('HGET', ASSIGNED, slot) or '', '^(%S+) (%d+) (.*)$')
  local e = key and load(key)
  if e and held(e) and e.f.token == token and e.f.claim then return e, askedAt end
  if key then redis.call('HDEL', ASSIGNED, slot) end
end

-- The slot that was advertised last: its worker is the most likely to be alive. Skips an advertisement that ends later
-- than any made now (the clock went back), or is of an older version of the function.
local slotsLeft = maxSlotsChecked
local function freshestSlot()
  while slotsLeft > 0 do
    slotsLeft = slotsLeft - 1
    local slot, expiresAt = unpack(redis.call('ZRANGE', ADVERTISED, -1, -1, 'WITHSCORES'))
    if not slot or tonumber(expiresAt) <= now then return nil end
    local worker, version, askedAt = string.match(redis.call('HGET', ADVERTISEMENTS, slot) or '', '^(%S+) (%d+) (%d+)$')
    retract(slot)
    if worker and tonumber(expiresAt) <= now + recoveryWindow and tonumber(version) >= setting('newest', 0) then
      return slot, worker, version, askedAt
    end
  end
end

-- Assigns a due key to an advertised slot, if there is one, and notifies its worker at once. Returns false if it did
-- not.
local function assign(e)
  if pausedKey(e) or closed(e.f.account) then return false end
  local slot, worker, version, askedAt = freshestSlot()
  if not slot then return false end
  control.dispatches = setting('dispatches', 0) + 1
  local token = string.format('%s:%s:%d:%d', slot, server, now, control.dispatches)
  local leased = leaseTo(e, slot, token, askedAt, version)
  redis.call('HSET', ASSIGNED, slot, table.concat({ token, askedAt, e.key }, ' '))
  redis.call('PUBLISH', P .. ':worker:' .. worker, table.concat(leased, '\n'))
  return true
end
