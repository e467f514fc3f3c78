-- Returns the jobs that were added at least `minAge` ms ago and are not used yet: `{ key, job number, ... }`.
--- @include "ledger/rules/entry"

local answer = {}
local function add(from, to)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', DISPATCHED, from, to, 'LIMIT', 0, 1000)) do
    answer[#answer + 1] = key
    answer[#answer + 1] = load(key).f.job or '0'
  end
end
add('-inf', now - minAge)
add(now + 1, '+inf') -- the clock went back
return answer
