-- The report of a key, for operators.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

-- The pauses that hold a key back, widest scope first; each as { scope, since, by }.
local function pausesOf(e)
  local scopes = { 'controller', 'namespace ' .. namespaceOf(e.key), 'object ' .. e.key }
  local pauses = {}
  for i, since in ipairs(read(PAUSES, 'HMGET', unpack(scopes))) do
    local at, by = string.match(since or '', '^(%d+) ?(.*)$')
    if at then pauses[#pauses + 1] = { string.match(scopes[i], '^%a+'), tonumber(at), by } end
  end
  if e.f.paused then pauses[#pauses + 1] = { 'annotation', number(e, 'paused'), '' } end
  return pauses
end
local function describe(e, at)
  local report = { key = e.key, state = e.f.state or 'idle', at = tonumber(at or 0), fails = number(e, 'fails') }
  for _, field in ipairs({ 'class', 'reasons', 'why', 'error', 'uid', 'account', 'until', 'trace' }) do
    report[field] = e.f[field]
  end
  report.known = next(e.was) ~= nil
  report.notBefore = number(e, 'notBefore')
  report.pauses = pausesOf(e)
  report.opens = e.f.account and math.ceil(limitOpens('account ' .. e.f.account)) or 0
  return report
end
