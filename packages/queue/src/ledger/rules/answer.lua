-- The end of every script of the ledger. If the server or its data are new, the ledger is first adopted. Returns
-- `{ incarnation, answer }`; a new incarnation means that data may be lost. A ledger that a newer Drover wrote is
-- refused with the error `SCHEMA <number>`.

if (tonumber(control.schema) or SCHEMA) > SCHEMA then return redis.error_reply('SCHEMA ' .. control.schema) end
if control.server ~= server or not control.incarnation then adopt() end
local answer = run()
saveControl()
return { control.incarnation, answer }
