import { mostOffers } from "../script-bounds.ts";

/**
 * Free slots that workers offer, each under a token of its own, and what was given to them.
 *
 * An offer **stands** for \`settling\` ms, and for as long again whenever its worker says so: of a worker that died, none
 * stands for longer. It stands only for the newest function that is here.
 *
 * What a slot is **given** is leased under another token, of that giving alone: an offer that comes late stands anew, and
 * then two runs may be under way of one slot. It begins with the slot's, which has no colon.
 */
export const offers = `
local function standing(slot, worker, version, askedAt)
  redis.call('ZADD', OFFERS, now + settling, slot)
  redis.call('HSET', OFFERED, slot, worker .. ' ' .. version .. ' ' .. askedAt)
end
local function withdraw(slot)
  redis.call('ZREM', OFFERS, slot)
  redis.call('HDEL', OFFERED, slot)
end

-- The entry that was given to a slot, as far as that still holds it, and when the slot was offered.
local function givenTo(slot)
  local token, askedAt, key = string.match(redis.call('HGET', GIVEN, slot) or '', '^(%S+) (%d+) (.*)$')
  local e = key and load(key)
  if e and held(e) and e.f.token == token and e.f.claim then return e, askedAt end
  if key then redis.call('HDEL', GIVEN, slot) end
end

-- The offer that was renewed last: whoever works is more likely to be alive than others.
local offersLeft = ${mostOffers}
local function freshest()
  while offersLeft > 0 do
    offersLeft = offersLeft - 1
    local slot, stands = unpack(redis.call('ZRANGE', OFFERS, -1, -1, 'WITHSCORES'))
    if not slot or tonumber(stands) <= now then return nil end
    local worker, version, askedAt = string.match(redis.call('HGET', OFFERED, slot) or '', '^(%S+) (%d+) (%d+)$')
    withdraw(slot)
    -- The clock may have gone back, and the function be an older one by now.
    if worker and tonumber(stands) <= now + settling and tonumber(version) >= setting('newest', 0) then
      return slot, worker, version, askedAt
    end
  end
end

-- Gives a key whose turn it is to who offers a slot, if anybody does, and tells them at once.
local function give(e)
  if pausedKey(e) or closed(e.f.account) then return false end
  local slot, worker, version, askedAt = freshest()
  if not slot then return false end
  control.bell = setting('bell', 0) + 1
  local token = string.format('%s:%d:%d', slot, now, control.bell)
  local claim, copy, lists = take(e, token, version)
  redis.call('HSET', GIVEN, slot, table.concat({ token, askedAt, e.key }, ' '))
  local told = table.concat({ slot, token, askedAt, e.key, claim, copy, lists }, '\\n')
  redis.call('PUBLISH', P .. ':worker:' .. worker, told)
  return true
end
`;
