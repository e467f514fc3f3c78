import { defineLuaScript } from "@drover/queue";
import { preambleLua } from "../store/stream-scripts.ts";

/**
 * The wakes that a stream owes one queue. Their mark in `S:behind` has the time (`since`), the number of keys
 * (`count`), and `all` if every key must be woken: `due` while wakes are not recorded, `begun` while they are recorded
 * again.
 */
const owedPreambleLua = `${preambleLua}
local OWED = S .. ':owed:' .. queue
mustBe('hash', OWED)
local function markOf()
  local ok, mark = pcall(cjson.decode, redis.call('HGET', BEHIND, queue) or '')
  if ok and type(mark) == 'table' and mark.since and mark.count then return mark end
end
local function save(mark)
  if mark.count > 0 or mark.all then
    redis.call('HSET', BEHIND, queue, cjson.encode(mark))
  else
    redis.call('HDEL', BEHIND, queue)
    redis.call('UNLINK', OWED)
  end
end
-- Too many wakes to record: every key must be woken.
local function overflow(mark)
  redis.call('UNLINK', OWED)
  mark.count, mark.all = 0, 'due'
end
`;

/**
 * Merges two wakes of one key: the newer version, the more urgent class and the newest known pause. `news` becomes
 * empty, because a part of it may be missing.
 */
const mergeWakesLua = `
local rank = { change = 1, listing = 2, resync = 3 }
local function isDecimal(version) return string.match(version, '^%d+$') ~= nil end
local function isOlder(version, other)
  if not isDecimal(version) or not isDecimal(other) then return false end
  if #version ~= #other then return #version < #other end
  return version < other
end
local function folded(w, before)
  local ok, was = pcall(cjson.decode, before)
  if not ok or type(was) ~= 'table' or not was.resourceVersion then return w end
  local isLate = isOlder(w.resourceVersion, was.resourceVersion)
  local kept, other = isLate and was or w, isLate and w or was
  -- Only wakes of the key's own object show whether it is paused.
  if kept.paused == nil then kept.paused = other.paused end
  kept.class = (rank[was.class] or 3) < (rank[w.class] or 3) and was.class or w.class
  if was.news or w.news then kept.news = '' end
  return kept
end
`;

/** Records wakes (a JSON list) for a queue, of at most `most` keys. Returns 0 if another bridge holds the stream. */
export const oweScript = defineLuaScript(
  "owe a queue wakes",
  ["token", "queue", "wakes", "most"],
  `${owedPreambleLua}
${mergeWakesLua}
if not isOurs(token) then return 0 end
local mark = markOf() or { since = now, count = 0 }
if mark.all ~= 'due' then
  for _, w in ipairs(cjson.decode(wakes)) do
    local before = redis.call('HGET', OWED, w.key)
    if not before then mark.count = mark.count + 1 end
    redis.call('HSET', OWED, w.key, cjson.encode(before and folded(w, before) or w))
  end
  if mark.count > tonumber(most) then overflow(mark) end
end
save(mark)
return 1
`,
);

/**
 * Removes wakes that the queue has. `told` is a JSON list of key and text in turn, as they were read; a wake that was
 * recorded since is kept. `all` is `begin` or `end`, around waking every key, or empty. Returns
 * `{ keys left, 1 if every key must be woken }`, or nothing if another bridge holds the stream.
 */
export const removeOwedScript = defineLuaScript(
  "settle what a queue is owed",
  ["token", "queue", "told", "all"],
  `${owedPreambleLua}
if not isOurs(token) then return {} end
local mark = markOf()
if not mark then return { 0, 0 } end
local list = cjson.decode(told)
for i = 1, #list, 2 do
  if redis.call('HGET', OWED, list[i]) == list[i + 1] then
    redis.call('HDEL', OWED, list[i])
    mark.count = math.max(0, mark.count - 1)
  end
end
if all == 'begin' then mark.all = 'begun' end
if all == 'end' and mark.all == 'begun' then mark.all = nil end
-- Another program deleted the hash.
if mark.count > 0 and redis.call('EXISTS', OWED) == 0 then overflow(mark) end
save(mark)
return { mark.count, mark.all and 1 or 0 }
`,
);

/** Drops the wakes owed to queues without subscriptions; a JSON list of queues. */
export const dropOwedScript = defineLuaScript(
  "drop what queues are owed",
  ["token", "queues"],
  `${preambleLua}
if not isOurs(token) then return 0 end
for _, queue in ipairs(cjson.decode(queues)) do
  redis.call('HDEL', BEHIND, queue)
  redis.call('UNLINK', S .. ':owed:' .. queue)
end
return 1
`,
);
