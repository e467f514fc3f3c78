-- Checks some of the ledger's own keys, as a scan found them (`names`, a JSON list of Redis keys), and repairs what
-- another client changed. Returns what was wrong.
--- @include "ledger/rules/quarantine"
--- @include "ledger/rules/check-entry"

local typeOf = typesOfLedger()
typeOf.key, typeOf.history, typeOf.flows, typeOf.queue = 'hash', 'list', 'zset', 'zset'
typeOf.object, typeOf.lists, typeOf.deltas = 'string', 'string', 'set'
local function typeOfJobKey(name)
  if string.match(name, '^%x+%-%d+$') then return 'hash' end
  if string.match(name, '^%x+%-%d+:lock$') or string.match(name, '^de:') then return 'string' end
end

local keys = {}
for _, name in ipairs(listed(names, maxKeysPerRepair)) do
  local kind, subject = string.match(string.sub(name, #P + 2), '^(%a+):?(.*)$')
  local isRight = quarantineUnless(name, kind == 'jobs' and typeOfJobKey(subject) or typeOf[kind])
  if kind == 'key' and isRight then keys[#keys + 1] = subject end
end
for _, key in ipairs(keys) do
  checkEntry(key)
end
return found
