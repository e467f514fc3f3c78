-- Removes a member that is not an object key from every set: no worker could run it. Returns 1.
--- @include "ledger/rules/entry"

leaveAll(member)
redis.call('SET', P .. ':quarantine:member:' .. member, 'not the key of an object')
return 1
