-- Moves Redis keys away whose type another client changed: to `P:quarantine:*`.

-- The types of the Redis keys that every ledger has.
local function typesOfLedger()
  return {
    control = 'hash',
    pauses = 'hash',
    limits = 'hash',
    workers = 'hash',
    scripts = 'hash',
    waits = 'zset',
    ready = 'zset',
    dispatched = 'zset',
    leases = 'zset',
    parked = 'zset',
    throttled = 'zset',
    failing = 'zset',
    advertised = 'zset',
    advertisements = 'hash',
    assigned = 'hash',
    paused = 'zset',
  }
end
local found = {} -- names of the keys that were moved away
-- Moves a key away if it has another type than wanted; without a wanted type, never. Returns true if the key exists and
-- has the wanted type.
local function quarantineUnless(name, wanted)
  local is = redis.call('TYPE', name).ok
  if wanted and is ~= wanted and is ~= 'none' then
    quarantine(name)
    found[#found + 1] = string.sub(name, #P + 2)
  end
  return is == wanted
end
local function quarantineForeignKeys()
  for name, kind in pairs(typesOfLedger()) do
    quarantineUnless(P .. ':' .. name, kind)
  end
end
