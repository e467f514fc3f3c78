import { lua } from "@drover/queue";
import { scene } from "./scripts.ts";

/**
 * What a stream owes one queue: the mark in \`S:behind\` says since when, how many keys, and whether the keys are not
 * recorded (\`all\`: \`due\`), or recorded again while every key is woken (\`begun\`).
 */
const debts = `${scene}
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
-- What is owed is not recorded any more: every key must be woken.
local function overflow(mark)
  redis.call('UNLINK', OWED)
  mark.count, mark.all = 0, 'due'
end
`;

/** How two wakes of one key become one: the newer version, the more urgent class, the newest that is known
 * of a pause, and no news, which it may lack a part of. */
const folding = `
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
  -- Only wakes of the key's own object know whether it is paused.
  if kept.paused == nil then kept.paused = other.paused end
  kept.class = (rank[was.class] or 3) < (rank[w.class] or 3) and was.class or w.class
  if was.news or w.news then kept.news = '' end
  return kept
end
`;

/** Record wakes, a JSON list, that a queue is owed; not more than \`most\` keys. 0 when the stream is another bridge's. */
export const owe = lua(
  "owe a queue wakes",
  ["token", "queue", "wakes", "most"],
  `${debts}
${folding}
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
 * End debts: \`told\` is a JSON list of key and text in turn, as they were read; what was recorded since stays. \`all\` is
 * \`begin\` or \`end\`, around waking every key, or empty. Answers \`{ keys left, 1 when every key must be woken }\`, or
 * nothing when the stream is another bridge's.
 */
export const settleOwed = lua(
  "settle what a queue is owed",
  ["token", "queue", "told", "all"],
  `${debts}
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

/** Drop what is owed to queues that no subscriber has any more; a JSON list. */
export const dropOwed = lua(
  "drop what queues are owed",
  ["token", "queues"],
  `${scene}
if not isOurs(token) then return 0 end
for _, queue in ipairs(cjson.decode(queues)) do
  redis.call('HDEL', BEHIND, queue)
  redis.call('UNLINK', S .. ':owed:' .. queue)
end
return 1
`,
);
