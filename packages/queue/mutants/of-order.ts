import { mutants } from "./mutant.ts";

/** Mutants of the order of keys, and of the upkeep of the ledger: dispatcher, leases, servers, repair. */
export const mutantsOfOrder = mutants(
  "ledger",
  `
ledger/rules/dispatch-ready.lua

job-6: jobs without end
- math.max(atLeast or 0, idle)
+ 256

job-6: jobs for slots that are busy
- math.max(1, setting('slots', 1)) - redis.call('ZCARD', LEASES)
+ math.max(1, setting('slots', 1))

job-6: no job while all slots seem busy
- math.max(atLeast or 0, idle)
+ idle

job-6: keys with a job are not counted
- - redis.call('ZCARD', DISPATCHED)

job-8: a key that was chained gets one job after the other
- if not e.f.job then -- else
+ if true then -- else

order-1: a key that is woken alone goes before keys whose turn it is
- if redis.call('EXISTS', flows .. 'change', flows .. 'listing', flows .. 'resync', THROTTLED) > 0 then return false end

order-5: a key that is woken alone does not count for the rate
- not mayDispatch() or control.limited == '1' then
+ not mayDispatch() then

job-6: a key that is woken alone is assigned although all slots are busy
- return roomFor() > 0 and assign(e)
+ return assign(e)

order-1: a key that is woken alone goes before a key whose timer has ended
- 'LIMIT', 0, 1) > 0 then return false end
+ 'LIMIT', 0, 1) > 1 then return false end

order-5: a controller's rate is not kept
- while room > 0 and limitOpens('controller') <= now do
+ while room > 0 do

operator-1: a paused controller rings
- return recovered() and control.paused ~= '1' end
+ return recovered() end

server-2: a new server rings at once
- return recovered() and control.paused ~= '1' end
+ return control.paused ~= '1' end

dispatch-1: timers never fire
- becomeReady(e, since)
-       save(e)
+ save(e)

job-1: a job's number comes again
- control.dispatches = setting('dispatches', 0) + 1
+ control.dispatches = 1

ledger/rules/order.lua

order-1: resyncs first
- local usualOrder = { 'change', 'listing', 'resync' }
+ local usualOrder = { 'resync', 'listing', 'change' }

order-3: a namespace keeps its turn
- redis.call('ZADD', flows, turn(), flow)
-       return
+ return

order-3: a new flow goes first
- e.f.queue) then
-     redis.call('ZADD', P .. ':flows:' .. class, 'NX', turn(), flow)
+ e.f.queue) then
+     redis.call('ZADD', P .. ':flows:' .. class, 'NX', 0, flow)

order-4: resyncs starve
- classOrder[setting('dispatches', 0) % 8] or usualOrder
+ usualOrder

order-5: an account's rate is not kept
- if account then spend('account ' .. account) end

order-5: no burst
- - (tonumber(burst) - 1) * tonumber(every)

operator-1: a paused object is rung
-   if pausedObject(e) then return enter(e, 'paused', since) end

operator-1: a paused namespace is rung
- if pausedBy('namespace ' .. namespace) then return '+inf' end

ledger/scripts/dispatch-again.lua

job-8: a job that was lost serves for ever
-   clear(e, 'job')
-   becomeReady(e, since)
+   becomeReady(e, since)

dispatch-4: a job that was used meanwhile is added again
- if since and (e.f.job or '0') == jobNumber then
+ if true then since = since or now

dispatch-4: a newer job is added again for an older one
- if since and (e.f.job or '0') == jobNumber then
+ if since then

ledger/scripts/dispatch.lua

dispatch-2: ended leases are left alone
- if recovered() then
-   for
+ if false then
+   for

dispatch-5: a lease reaches an hour into the future
- clampLeases()
- if recovered()
+ if recovered()

ledger/scripts/unclaimed-jobs.lua

dispatch-3: lost jobs are not looked for
- add('-inf', now - minAge)

dispatch-5: a job added in the future is never lost
- add(now + 1, '+inf') -- the clock went back

ledger/scripts/renew.lua

claim-6: a renewal changes nothing
- e.f['until'] = now + lease
-     if
+ if

claim-6: anybody renews
- local ours = e.f.token == mine.token and
+ local ours =

claim-6: an ended lease is renewed
- and number(e, 'until') > now

server-3: runs cannot announce themselves
- local announces = not recovered() and e.f.announced ~= control.incarnation
+ local announces = false

server-3: the last to announce wins
- local announces = not recovered() and e.f.announced ~= control.incarnation
+ local announces = not recovered()

server-3: runs announce themselves too late
- local announces = not recovered() and
+ local announces =

server-3: a run that has settled announces itself
-  and e.f.settled ~= mine.token

object-9: a listing before a run announced itself shows what it has written
- 'claim', 'observedIn')
+ 'claim')

ledger/scripts/register-worker.lua

job-6: workers that are gone keep their slots
- if not upTo or tonumber(upTo) <= now then
+ if not upTo then

order-7: a rate stays that no worker registers
- redis.call('HDEL', LIMITS, known[i])
+ redis.call('HLEN', LIMITS)

order-7: a clock that went back closes a limit
- now + limit.burst * limit.every)
+ math.huge)

ledger/rules/adoption.lua

server-4: dispatched keys are not dispatched again
- becomeReady(e, now)
-     save(e)
+ enter(e, 'dispatched', now)
+     save(e)

server-2: no recovery window
- control.claimsFrom = now + recoveryWindow
+ control.claimsFrom = now

server-1: the mark is not renewed
- control.server = server

ledger/rules/preamble.lua

dispatch-5: a clock that goes back settles for long
- and math.min(setting('claimsFrom', 0), now + recoveryWindow) or 0
+ and setting('claimsFrom', 0) or 0

server-8: a strange key stops its neighbours
-   quarantine(name)
-   return (command
+   error(reply)
+   return (command

ledger/rules/entry.lua

server-3: a gone key that an unknown run brings back is forgotten
- if e.was.settled and not e.was.wakes and e.f.state then
+ if false then

server-4: old leases reach far
-     redis.call('HSET', P .. ':key:' .. key, 'until', now + lease)

ledger/scripts/repair-sets.lua

server-8: a counter that is none stops every job
-     quarantineUnless(counter, 'none')

server-8: garbage in BullMQ's place stops everything
-   quarantineUnless(P .. ':jobs:' .. name, wanted)

server-8: a member without an entry is counted for ever
-     if read(P .. ':key:' .. key, 'HGET', 'state') ~= state then checkEntry(key) end

server-8: only the first members of a set are checked
-   local first = math.floor(now / 1000) % pages * 100
+   local first = 0

server-8: a paused member without an entry is left alone
- for state, set in pairs({ ready = READY, parked = PARKED, paused = PAUSED }) do
+ for state, set in pairs({ ready = READY, parked = PARKED }) do

ledger/rules/check-entry.lua

server-8: a key that lost its place is left alone
-   becomeReady(e, now)

server-8: a flow that lost its turn is left alone
- return redis.call('ZSCORE', P .. ':flows:' .. class, flow) or redis.call('ZSCORE', THROTTLED, e.f.queue)
+ return true
`,
);
