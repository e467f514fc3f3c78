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

-- Makes a key due at a time, for wakes that may wait for further ones.
local function becomeDue(e, at)
  if at <= now then
    becomeReady(e, now)
  else
    waitUntil(e, at, 'batch')
  end
end
