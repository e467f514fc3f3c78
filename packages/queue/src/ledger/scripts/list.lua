-- Returns up to `limit` keys of a state's set, or of the failing keys, after the last key of the page before:
-- `after` is its score and name, or empty. If that key has left its place, the page begins with the keys of the same
-- score. The answer starts with `after` of the next page, or ''; each key follows as JSON.
--- @include "ledger/rules/description"
--- @include "ledger/rules/entry"

limit = math.min(tonumber(limit), maxListItems)
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
  local since = state ~= 'failing' and found[i + 1]
    or setOf[e.f.state] and redis.call('ZSCORE', setOf[e.f.state], e.key)
  answer[#answer + 1] = cjson.encode(describe(e, since))
end
return answer
