import { redisRequest } from "@drover/local-servers";
import type { Mutation } from "../schedules/schedule.ts";

const script = `
local mutations, of = cjson.decode(ARGV[1]), ARGV[2]
local keys = {}
for _, key in ipairs(redis.call('KEYS', '{drover:*')) do
  local isJobKey = string.find(key, ':jobs:', 1, true) ~= nil
  if isJobKey == (of == 'jobs') then table.insert(keys, key) end
end
table.sort(keys)

local truncate = {
  hash = function(key)
    local fields = redis.call('HKEYS', key)
    table.sort(fields)
    for i = 1, #fields, 2 do redis.call('HDEL', key, fields[i]) end
  end,
  zset = function(key) redis.call('ZPOPMIN', key, math.ceil(redis.call('ZCARD', key) / 2)) end,
  list = function(key) redis.call('LTRIM', key, math.ceil(redis.call('LLEN', key) / 2), -1) end,
  string = function(key) redis.call('SET', key, '') end,
  stream = function(key) redis.call('XTRIM', key, 'MAXLEN', 0) end,
  set = function(key) redis.call('SPOP', key) end,
}
local garbage = {
  hash = function(key)
    local fields = redis.call('HKEYS', key)
    table.sort(fields)
    for i = 1, #fields, 2 do redis.call('HSET', key, fields[i], '{garbage') end
  end,
  zset = function(key)
    for i, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
      if i % 2 == 1 then redis.call('ZADD', key, 9e15, member) end
    end
    redis.call('ZADD', key, 1, '{garbage')
  end,
  list = function(key) redis.call('LPUSH', key, '{garbage') end,
  string = function(key) redis.call('SET', key, '{garbage') end,
  stream = function(key) redis.call('XADD', key, '*', '{garbage', '') end,
  set = function(key) redis.call('SADD', key, '{garbage') end,
}

local function picked(mutation)
  if not mutation.named then return keys[math.floor(mutation.at * #keys) + 1] end
  for _, key in ipairs(keys) do
    if string.sub(key, -#mutation.named) == mutation.named then return key end
  end
  return keys[1] and string.match(keys[1], '^{[^}]*}') .. mutation.named
end

local done = {}
for _, mutation in ipairs(mutations) do
  local key = picked(mutation)
  local type = key and redis.call('TYPE', key).ok
  if type and (type ~= 'none' or mutation.how == 'wrong type') then
    if mutation.how == 'remove' then redis.call('DEL', key)
    elseif mutation.how == 'truncate' then truncate[type](key)
    elseif mutation.how == 'garbage' then garbage[type](key)
    elseif type == 'string' then redis.call('DEL', key); redis.call('RPUSH', key, '{garbage')
    else redis.call('SET', key, '{garbage') end
    table.insert(done, mutation.how .. ' ' .. type .. ' ' .. key)
  end
end
return table.concat(done, '; ')`;

/** Breaks keys of BullMQ or of the ledger; answers what was done to which. */
export async function mutateKeys(
  port: number,
  of: "jobs" | "ledger",
  picks: readonly Mutation[],
): Promise<string> {
  return (await redisRequest(port, ["EVAL", script, "0", JSON.stringify(picks), of])) ?? "";
}
