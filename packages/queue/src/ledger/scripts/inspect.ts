import { maxPastRuns } from "../ledger.ts";
import { defineLedgerScript } from "../ledger-script.ts";
import { maxListItems, maxMembersChecked, maxFlowsChecked } from "../../redis/lua/script-bounds.ts";

/**
 * Returns the first incarnation: the one in which this ledger began empty. It stays when a server takes over existing
 * data.
 */
export const firstIncarnationScript = defineLedgerScript({
  name: "origin",
  arguments: [],
  uses: [],
  body: `
control.origin = control.origin or control.era
return control.origin
`,
});

/** Returns the incarnation, the time, and how many ms of the recovery window are left. */
export const timeScript = defineLedgerScript({
  name: "moment",
  arguments: [],
  uses: [],
  body: `
return { control.era, now, math.max(0, setting('claimsFrom', 0) - now) }
`,
});

/**
 * Counts the keys by state. Returns `{ due, ms the oldest has waited, scheduled, running, parked, failing, 16 times the
 * mean run time in ms, paused, 1 if all are paused }`.
 *
 * Ready keys in a paused namespace are counted per flow, once the flow was found to be paused. Of the timers that are
 * over, the first 200 are checked for a pause.
 */
export const countScript = defineLedgerScript({
  name: "count",
  arguments: [],
  uses: [],
  body: `
local overdue = redis.call('ZCOUNT', WAITS, '-inf', now)
local due, paused, oldest = overdue + redis.call('ZCARD', READY) + redis.call('ZCARD', RUNG), 0, now
local function consider(set)
  local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
  if head[2] then oldest = math.min(oldest, tonumber(head[2])) end
end
local over = redis.call('ZRANGEBYSCORE', WAITS, '-inf', now, 'WITHSCORES', 'LIMIT', 0, 200)
for i = 1, #over, 2 do
  local e = { key = over[i], f = { paused = type(read(P .. ':key:' .. over[i], 'HGET', 'paused')) == 'string' or nil } }
  if pausedKey(e) then paused = paused + 1 else oldest = math.min(oldest, tonumber(over[i + 1])) end
end
consider(RUNG)
local shut = redis.call('ZRANGEBYSCORE', SHUT, '+inf', '+inf', 'LIMIT', 0, ${maxMembersChecked})
for _, queue in ipairs(shut) do paused = paused + redis.call('ZCARD', P .. ':queue:' .. queue) end
if #shut == 0 then
  consider(READY)
else
  for class in pairs(rank) do
    for _, lane in ipairs(redis.call('ZRANGE', P .. ':turns:' .. class, 0, ${maxFlowsChecked - 1})) do consider(P .. ':queue:' .. class .. ':' .. lane) end
  end
  for _, queue in ipairs(redis.call('ZRANGEBYSCORE', SHUT, '-inf', '(+inf', 'LIMIT', 0, ${maxMembersChecked})) do consider(P .. ':queue:' .. queue) end
end
local all = control.paused == '1'
if all then paused, oldest = due, now end
return {
  math.max(0, due - paused),
  now - oldest,
  redis.call('ZCARD', WAITS) - overdue,
  redis.call('ZCARD', LEASES),
  redis.call('ZCARD', PARKED),
  redis.call('ZCARD', FAILING),
  setting('pace', 0),
  paused + redis.call('ZCARD', SUSPENDED),
  all and 1 or 0,
}
`,
});

/**
 * Returns the time, and those of `keys` (a JSON list) for which no run has started since `since`. Leaves out keys that
 * are due and have a paused object: they run once it is resumed.
 */
export const notRunSinceScript = defineLedgerScript({
  name: "not-run-since",
  arguments: ["keys", "since"],
  uses: [],
  body: `
local answer = { now }
for _, key in ipairs(listed(keys, ${2 * maxListItems})) do
  local ranAt, state = unpack(read(P .. ':key:' .. key, 'HMGET', 'ranAt', 'state'))
  local at = tonumber(ranAt or nil)
  if state == 'paused' then
    -- The key runs once its object is resumed.
  elseif not at or at < tonumber(since) then answer[#answer + 1] = key end
end
return answer
`,
});

const descriptionLua = `
-- The pauses that hold a key back, widest scope first; each as { scope, since, by }.
local function pausesOf(e)
  local scopes = { 'controller', 'namespace ' .. namespaceOf(e.key), 'object ' .. e.key }
  local pauses = {}
  for i, since in ipairs(read(PAUSED, 'HMGET', unpack(scopes))) do
    local at, by = string.match(since or '', '^(%d+) ?(.*)$')
    if at then pauses[#pauses + 1] = { string.match(scopes[i], '^%a+'), tonumber(at), by } end
  end
  if e.f.paused then pauses[#pauses + 1] = { 'annotation', number(e, 'paused'), '' } end
  return pauses
end
local function describe(e, at)
  local told = { key = e.key, state = e.f.state or 'idle', at = tonumber(at or 0), fails = number(e, 'fails') }
  for _, field in ipairs({ 'class', 'reasons', 'why', 'error', 'uid', 'account', 'until', 'trace' }) do
    told[field] = e.f[field]
  end
  told.known = next(e.was) ~= nil
  told.notBefore = number(e, 'notBefore')
  told.pauses = pausesOf(e)
  told.opens = e.f.account and math.ceil(limitOpens('account ' .. e.f.account)) or 0
  return told
end
`;

/**
 * Returns up to `limit` keys of a state's set, or of the failing keys, after the last key of the page before: `after`
 * is its score and name, or empty. If that key has left its place, the page begins with the keys of the same score. The
 * answer starts with `after` of the next page, or ''; each key follows as JSON.
 */
export const listScript = defineLedgerScript({
  name: "list",
  arguments: ["state", "limit", "after"],
  uses: [descriptionLua],
  body: `
limit = math.min(tonumber(limit), ${maxListItems})
local set = state == 'failing' and FAILING or setOf[state]
local from = 0
local at, last = string.match(after, '^(%S+) (.*)$')
if at then
  local rank = redis.call('ZRANK', set, last)
  local stays = rank and redis.call('ZSCORE', set, last) == at
  from = stays and rank + 1 or redis.call('ZCOUNT', set, '-inf', '(' .. at)
end
local found = limit < 1 and {} or redis.call('ZRANGE', set, from, from + limit - 1, 'WITHSCORES')
local answer = { #found == 2 * limit and #found > 0 and found[#found] .. ' ' .. found[#found - 1] or '' }
for i = 1, #found, 2 do
  local e = load(found[i])
  local since = state ~= 'failing' and found[i + 1] or setOf[e.f.state] and redis.call('ZSCORE', setOf[e.f.state], e.key)
  answer[#answer + 1] = cjson.encode(describe(e, since))
end
return answer
`,
});

/**
 * Returns one key and its last runs as JSON texts. The key comes first, with its state and the pauses that hold it
 * back.
 */
export const inspectScript = defineLedgerScript({
  name: "inspect",
  arguments: ["key"],
  uses: [descriptionLua],
  body: `
local e = load(key)
local at = setOf[e.f.state] and redis.call('ZSCORE', setOf[e.f.state], key)
local answer = read(P .. ':history:' .. key, 'LRANGE', 0, ${maxPastRuns - 1})
table.insert(answer, 1, cjson.encode(describe(e, at)))
return answer
`,
});
