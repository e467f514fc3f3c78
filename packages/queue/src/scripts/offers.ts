/**
 * Free slots that workers offer, each under the token of the run that may come of it, and what was given to them.
 *
 * An offer **stands** for \`settling\` ms, and for as long again whenever its worker says so: of a worker that died, none
 * stands for longer. It stands only for the newest function that is here.
 */
export const offers = `
local function standing(token, worker, version, askedAt)
  redis.call('ZADD', OFFERS, now + settling, token)
  redis.call('HSET', OFFERED, token, worker .. ' ' .. version .. ' ' .. askedAt)
end
local function withdraw(token)
  redis.call('ZREM', OFFERS, token)
  redis.call('HDEL', OFFERED, token)
end

-- The entry that was given to a token, as far as it still holds it, and when its slot was offered.
local function givenTo(token)
  local askedAt, key = string.match(redis.call('HGET', GIVEN, token) or '', '^(%d+) (.*)$')
  local e = key and load(key)
  if e and held(e) and e.f.token == token and e.f.claim then return e, askedAt end
  if key then redis.call('HDEL', GIVEN, token) end
end

-- The offer that was renewed last: whoever works is more likely to be alive than others.
local function freshest()
  while true do
    local token, stands = unpack(redis.call('ZRANGE', OFFERS, -1, -1, 'WITHSCORES'))
    if not token or tonumber(stands) <= now then return nil end
    local worker, version, askedAt = string.match(redis.call('HGET', OFFERED, token) or '', '^(%S+) (%d+) (%d+)$')
    withdraw(token)
    -- The clock may have gone back, and the function be an older one by now.
    if worker and tonumber(stands) <= now + settling and tonumber(version) >= setting('newest', 0) then
      return token, worker, version, askedAt
    end
  end
end

-- Gives a key whose turn it is to who offers a slot, if anybody does, and tells them at once.
local function give(e)
  if pausedKey(e.key) or closed(e.f.account) then return false end
  local token, worker, version, askedAt = freshest()
  if not token then return false end
  local claim, copy, lists = take(e, token, version)
  control.bell = setting('bell', 0) + 1
  redis.call('HSET', GIVEN, token, askedAt .. ' ' .. e.key)
  local told = table.concat({ token, askedAt, e.key, claim, copy, lists }, '\\n')
  redis.call('PUBLISH', P .. ':worker:' .. worker, told)
  return true
end
`;
