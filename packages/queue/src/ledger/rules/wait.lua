-- Makes a key wait for a time, for the reason `why`; a time that has passed makes it ready.
--- @include "ledger/rules/entry"
--- @include "ledger/rules/order"

local function waitUntil(e, at, why)
  e.f.why = why
  if at <= now then
    becomeReady(e, now)
  else
    enter(e, 'waits', at)
  end
end
