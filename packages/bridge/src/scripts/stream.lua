-- Every script of a stream begins with this. `S` is the stream's prefix. If a key has a wrong type, another client
-- has changed it: the script moves it to the quarantine and deletes the position, so that the stream begins with a
-- list and misses nothing.
--- @include "scripts/time"

local S = KEYS[1]
local STREAM, SEEN, FILED, FILES = S .. ':stream', S .. ':seen', S .. ':filed', S .. ':files'
local BEHIND = S .. ':behind'
local function mustBe(kind, key)
  local is = redis.call('TYPE', key).ok
  if is == kind or is == 'none' then return end
  redis.call('RENAME', key, S .. ':quarantine')
  redis.call('DEL', STREAM)
  if key ~= STREAM then redis.call('DEL', SEEN) end
end
mustBe('hash', STREAM)
mustBe('hash', SEEN)
mustBe('hash', FILED)
mustBe('set', FILES)
mustBe('hash', BEHIND)
local function file(id) return S .. ':file:' .. id end
if redis.call('SCARD', FILES) > maxIndexes then refuse('so many files') end
for _, id in ipairs(redis.call('SMEMBERS', FILES)) do
  mustBe('zset', file(id))
end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
local held, fields = {}, { 'token', 'until', 'writes', 'position', 'told', 'holder', 'server' }
for i, value in ipairs(redis.call('HMGET', STREAM, unpack(fields))) do
  held[fields[i]] = value or nil
end
-- False on another server than the one on which the stream was taken: wakes from before a failover may be lost, and
-- then a later position must not be written.
local function isOurs(token) return held.token == token and held.server == server end
