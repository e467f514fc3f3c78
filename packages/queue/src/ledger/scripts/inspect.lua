-- Returns one key and its last runs as JSON texts. The key comes first, with its state and the pauses that hold it
-- back.
--- @include "ledger/rules/description"
--- @include "ledger/rules/entry"

local e = load(key)
local at = setOf[e.f.state] and redis.call('ZSCORE', setOf[e.f.state], key)
local answer = read(P .. ':history:' .. key, 'LRANGE', 0, maxPastRuns - 1)
table.insert(answer, 1, cjson.encode(describe(e, at)))
return answer
