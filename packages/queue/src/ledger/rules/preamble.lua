-- The Lua that every script starts with: the names of the Redis keys, the time, and whether this is still the server
-- on which the ledger was written.
--
-- `now` and `server` are empty unless a test sets them; then the script asks the server. The server is identified by
-- its replication id: Redis and Valkey make a new one whenever a process starts as a primary and whenever a replica
-- is promoted (`changeReplicationId`, `shiftReplicationId` in replication.c). So it changes with the run id, and
-- also where the run id does not: when a primary was demoted and promoted again.

local P = KEYS[1]
local CONTROL, PAUSES, LIMITS, WORKERS = P .. ':control', P .. ':pauses', P .. ':limits', P .. ':workers'
local WAITS, READY, DISPATCHED, LEASES, PARKED =
  P .. ':waits', P .. ':ready', P .. ':dispatched', P .. ':leases', P .. ':parked'
local THROTTLED, FAILING, PAUSED = P .. ':throttled', P .. ':failing', P .. ':paused'
local ADVERTISED, ADVERTISEMENTS, ASSIGNED = P .. ':advertised', P .. ':advertisements', P .. ':assigned'
local SCHEMA = 1

if now == '' then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
else
  now = tonumber(now)
end
lease, recoveryWindow = tonumber(lease), tonumber(recoveryWindow)
if server == '' then server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') end

-- Another client changed a key that has the wrong type: it is moved away, and the script goes on without it.
local function quarantine(name) redis.call('RENAME', name, P .. ':quarantine:' .. string.sub(name, #P + 2)) end
local function read(name, command, ...)
  local reply = redis.pcall(command, name, ...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(reply.err, 'WRONGTYPE') then error(reply) end
  quarantine(name)
  return (command == 'HLEN' or command == 'SCARD') and 0 or {}
end

-- State of the controller that does not belong to one key: read once and written once.
local control, controlWas
do
  -- Sets all fields in the constructor: the table is not rehashed as it grows.
  local function whole(f)
    return {
      schema = f[1] or nil,
      server = f[2] or nil,
      incarnation = f[3] or nil,
      firstIncarnation = f[4] or nil,
      claimsFrom = f[5] or nil,
      paused = f[6] or nil,
      pauses = f[7] or nil,
      slots = f[8] or nil,
      newest = f[9] or nil,
      limited = f[10] or nil,
      first = f[11] or nil,
      longest = f[12] or nil,
      attempts = f[13] or nil,
      dispatches = f[14] or nil,
      turn = f[15] or nil,
      meanRunTime = f[16] or nil,
    }
  end
  local fields = read(
    CONTROL,
    'HMGET',
    'schema',
    'server',
    'incarnation',
    'firstIncarnation',
    'claimsFrom',
    'paused',
    'pauses',
    'slots',
    'newest',
    'limited',
    'first',
    'longest',
    'attempts',
    'dispatches',
    'turn',
    'meanRunTime'
  )
  control, controlWas = whole(fields), whole(fields)
end
local function setting(name, default) return tonumber(control[name]) or default end
local function saveControl()
  local changed = {}
  for field, value in pairs(control) do
    if value ~= controlWas[field] then
      changed[#changed + 1] = field
      changed[#changed + 1] = value
    end
  end
  if #changed > 0 then redis.call('HSET', CONTROL, unpack(changed)) end
end
-- The recovery window does not begin again once it is over. If the clock went back, it ends within one
-- recovery window from now.
if setting('claimsFrom', 0) ~= 0 then
  control.claimsFrom = setting('claimsFrom', 0) > now and math.min(setting('claimsFrom', 0), now + recoveryWindow) or 0
end
local function recovered() return setting('claimsFrom', 0) == 0 end
