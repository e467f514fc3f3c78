import { defineLuaScript } from "@drover/queue";

/** Most reverse indexes of a stream: there is one for each subscription that looks up objects of its kind. */
const maxIndexes = 10_000;
/** Most records that one call writes or removes: a page of a list, and the buffered changes. */
const maxRecords = 10_000;
/** Most terms that one call adds to indexes or removes from them. No object that etcd stores has more. */
const maxTerms = 100_000;
/** Most bytes of an object's index entries, as JSON. */
const maxIndexEntryBytes = 4_194_304;

/**
 * Every script begins with this. `S` is the stream's prefix. If a key has a wrong type, another client has changed it:
 * the script moves it to the quarantine and deletes the position, so that the stream begins with a list and misses
 * nothing.
 */
export const preambleLua = `
local S = KEYS[1]
local STREAM, SEEN, FILED, FILES = S .. ':stream', S .. ':seen', S .. ':filed', S .. ':files'
local BEHIND = S .. ':behind'
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
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
if redis.call('SCARD', FILES) > ${maxIndexes} then refuse('so many files') end
for _, id in ipairs(redis.call('SMEMBERS', FILES)) do mustBe('zset', file(id)) end
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
local held, fields = {}, { 'token', 'until', 'writes', 'position', 'told', 'holder', 'server' }
for i, value in ipairs(redis.call('HMGET', STREAM, unpack(fields))) do held[fields[i]] = value or nil end
-- False on another server than the one on which the stream was taken: wakes from before a failover may be lost, and
-- then a later position must not be written.
local function isOurs(token) return held.token == token and held.server == server end
`;

/**
 * Takes a stream, unless another bridge's lease on it is valid; the same token again gets the same answer. Returns
 * `{ 'held', holder, ms that are left }` or `{ 'ours', writes so far, position or '', subscribers or '' }`.
 */
export const holdScript = defineLuaScript(
  "hold a stream",
  ["token", "holder", "lease"],
  `${preambleLua}
if held.token and held.token ~= token and (tonumber(held['until']) or 0) > now then
  return { 'held', held.holder or '', math.min(held['until'] - now, tonumber(lease)) }
end
local writes = tonumber(held.writes) or 0
redis.call('HSET', STREAM, 'token', token, 'holder', holder, 'until', now + lease, 'writes', writes, 'server', server)
return { 'ours', writes, held.position or '', held.told or '' }
`,
);

/**
 * Renews a lease. Returns 0 if another bridge holds the stream, or if the server has fewer than `writes` of our writes:
 * the last ones were lost.
 */
export const renewScript = defineLuaScript(
  "renew a stream's lease",
  ["token", "writes", "lease"],
  `${preambleLua}
if not isOurs(token) or tonumber(held.writes) < tonumber(writes) then return 0 end
redis.call('HSET', STREAM, 'until', now + lease)
return 1
`,
);

/** Ends a lease, so that another bridge can take the stream. */
export const releaseScript = defineLuaScript(
  "release a stream",
  ["token"],
  `${preambleLua}
if isOurs(token) then redis.call('HDEL', STREAM, 'token', 'until', 'holder') end
return 1
`,
);

/**
 * Writes to the index, with the position that belongs to it. `writes` is the number of earlier writes: a repeat gets
 * the same answer as before, and any other number is refused with 0. `put` is a JSON list of key and record in turn, or
 * empty; `forget` one of keys. An empty `position` or `told` leaves the stored one unchanged.
 */
export const writeScript = defineLuaScript(
  "write to a stream's index",
  ["token", "writes", "put", "forget", "position", "told"],
  `${preambleLua}
if not isOurs(token) then return 0 end
local done = tonumber(held.writes) or 0
if done == writes + 1 then return 1 end
if done ~= tonumber(writes) then return 0 end
local function inPieces(list, take)
  for from = 1, #list, 500 do take(unpack(list, from, math.min(from + 499, #list))) end
end
if put ~= '' then inPieces(listed(put, ${2 * maxRecords}), function(...) redis.call('HSET', SEEN, ...) end) end
if forget ~= '' then inPieces(listed(forget, ${maxRecords}), function(...) redis.call('HDEL', SEEN, ...) end) end
redis.call('HSET', STREAM, 'writes', writes + 1)
if position ~= '' then redis.call('HSET', STREAM, 'position', position) end
if told ~= '' then redis.call('HSET', STREAM, 'told', told) end
return 1
`,
);

/**
 * Replaces the index entries of objects. `filings` is a JSON list of `[key, { file: [[term, note], ...] }]`, with all
 * entries that the object has from now on. The members of an index are the term, the key and the note, with zero bytes
 * between them.
 */
export const updateIndexesScript = defineLuaScript(
  "file objects under terms",
  ["token", "filings"],
  `${preambleLua}
if not isOurs(token) then return 0 end
local terms = 0
local function each(key, files, take)
  for id, entries in pairs(files) do
    terms = terms + #entries
    if terms > ${maxTerms} then refuse('so many terms') end
    for _, entry in ipairs(entries) do take(id, entry[1] .. '\\0' .. key .. '\\0' .. entry[2]) end
  end
end
for _, filing in ipairs(listed(filings, ${maxRecords}, ${maxIndexEntryBytes})) do
  local key, files = filing[1], filing[2]
  local text = redis.call('HGET', FILED, key) or '{}'
  local ok, before = pcall(cjson.decode, #text <= ${maxIndexEntryBytes} and text or '')
  if ok then each(key, before, function(id, member) redis.call('ZREM', file(id), member) end) end
  each(key, files, function(id, member)
    redis.call('ZADD', file(id), 0, member)
    redis.call('SADD', FILES, id)
  end)
  if next(files) then redis.call('HSET', FILED, key, cjson.encode(files)) else redis.call('HDEL', FILED, key) end
end
return 1
`,
);

/** Deletes reverse indexes that no lookup needs any more; a JSON list of ids. */
export const dropIndexesScript = defineLuaScript(
  "drop a stream's files",
  ["token", "files"],
  `${preambleLua}
if not isOurs(token) then return 0 end
for _, id in ipairs(listed(files, ${maxIndexes})) do
  redis.call('UNLINK', file(id))
  redis.call('SREM', FILES, id)
end
if redis.call('SCARD', FILES) == 0 then redis.call('UNLINK', FILED) end
return 1
`,
);

/** Deletes all data of a stream without subscribers. */
export const forgetScript = defineLuaScript(
  "forget a stream",
  ["token"],
  `${preambleLua}
if isOurs(token) then
  for _, id in ipairs(redis.call('SMEMBERS', FILES)) do redis.call('UNLINK', file(id)) end
  local behind = redis.call('HGETALL', BEHIND)
  for i = 1, #behind, 2 do redis.call('UNLINK', S .. ':owed:' .. behind[i]) end
  redis.call('UNLINK', SEEN, FILED, FILES, BEHIND)
  redis.call('DEL', STREAM)
end
return 1
`,
);
