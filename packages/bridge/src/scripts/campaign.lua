-- The record of the last campaign of a controller: of all objects, or of those that failed.

local campaign = KEYS[1] .. (of == 'failed' and ':retries' or ':campaign')
local was = redis.call('TYPE', campaign).ok == 'string' and redis.call('GET', campaign)
local ok, last = pcall(decoded, was or '')
