-- Adopts a new server, or one with other data: no key is claimed for `settling` ms, in which runs in progress
-- announce themselves again. Jobs may have been lost, so keys that were dispatched are dispatched again.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

-- The types of the Redis keys that every ledger has.
local function typesOfLedger()
  return {
    control = 'hash',
    paused = 'hash',
    limits = 'hash',
    workers = 'hash',
    waits = 'zset',
    ready = 'zset',
    rung = 'zset',
    leases = 'zset',
    parked = 'zset',
    shut = 'zset',
    failing = 'zset',
    offers = 'zset',
    offered = 'hash',
    given = 'hash',
    suspended = 'zset',
  }
end
local found = {} -- names of the keys that were moved away
-- Moves a key away if it has another type than wanted; without a wanted type, never. Returns true if the key exists and
-- has the wanted type.
local function putAsideUnless(name, wanted)
  local is = redis.call('TYPE', name).ok
  if wanted and is ~= wanted and is ~= 'none' then
    quarantine(name)
    found[#found + 1] = string.sub(name, #P + 2)
  end
  return is == wanted
end
local function putAsideStrangers()
  for name, kind in pairs(typesOfLedger()) do
    putAsideUnless(P .. ':' .. name, kind)
  end
end
local function adopt()
  putAsideStrangers()
  local t = redis.call('TIME')
  control.schema = SCHEMA
  control.server = server
  control.era = server .. '-' .. t[1] .. '.' .. t[2]
  control.origin = control.origin or control.era
  control.claimsFrom = now + settling
  -- Jobs beyond this limit count as lost, and are added again soon.
  local rung = redis.call('ZRANGE', RUNG, 0, maxMembersChecked - 1)
  if #rung > 0 then redis.call('ZREM', RUNG, unpack(rung)) end
  redis.call('DEL', OFFERS, OFFERED, GIVEN)
  for _, key in ipairs(rung) do
    local e = load(key)
    if not held(e) then
      clear(e, 'bell')
      becomeReady(e, now)
      save(e)
    end
  end
end
