import { mutants } from "./mutant.ts";

/** Mutants of the scripts that start a run (wake, claim, start-run) and of the one that finds keys without one. */
export const mutantsOfKeys = mutants(
  "ledger",
  `
ledger/rules/versions.lua

wake-2: versions go down
- if not b then return true end
+ if true then return true end

wake-2: versions compare as text
- if #a ~= #b then return #a > #b end

wake-2: versions that are no numbers are ordered
- then return a ~= b end
+ then return a > b end

ledger/scripts/wake.lua

wake-1: wakes are not counted
- number(e, 'wakes') + 1
+ number(e, 'wakes')

wake-3: the last class wins
- if more then e.f.class = w.class end
+ e.f.class = w.class

wake-3: a reason is stored twice
- if not known and #reasons < 8 then
+ if #reasons < 8 then

wake-4: a wait is not pierced
- windowIsOver or number(e, 'wokenEarly') == 0 then
+ windowIsOver and e.f.state == 'waits' and not w.force then
+   return nil
+ elseif windowIsOver or number(e, 'wokenEarly') == 0 then

wake-8: a batched wake delays a key that is due earlier
- e.f.state ~= 'waits' or tonumber(redis.call('ZSCORE', WAITS, e.key) or 0) > at
+ true

wake-8: later batched wakes delay the first
- math.min(tonumber(e.f.wokenFor) or math.huge, now + wait(w))
+ now + wait(w)

wake-4: a wake that may not pierce a window waits for longer than that
- e.f.state ~= 'waits' or tonumber(redis.call('ZSCORE', WAITS, e.key) or 0) > number(e, 'notBefore')
+ e.f.state ~= 'waits'

wake-5: a running key is rung
- = not leased and readySince(e, w, moreUrgent)
+ = readySince(e, w, moreUrgent)

wake-5: a dispatched key is dispatched again
-   if e.f.state == 'dispatched' then return nil end

wake-6: failures are the predecessor's
- clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error')

wake-6: the run does not get the uid that was replaced
- e.f.replaced = e.f.replaced or e.f.uid

wake-6: the run gets a replaced uid that no run has seen
- e.f.replaced = e.f.replaced or e.f.uid
+ e.f.replaced = e.f.uid

settle-5: every wake pierces a window
- if not windowIsOver then e.f.wokenEarly = 1 end

settle-6: a wake forgets failures
- e.f.trace = w.trace or e.f.trace
+ e.f.fails = nil

settle-10: a resync pierces
- if w.class ~= 'resync' or w.force or not e.f.state then
+ if true then

order-2: a waiting key does not move up
- return moreUrgent and
+ return false and

operator-3: force waits
- number(e, 'notBefore') <= now or w.force
+ number(e, 'notBefore') <= now

operator-3: a running key is not forced
- if leased and w.force then e.f.forced = 1 end

ledger/scripts/claim.lua

job-8: a job that came is not known to have come
- clear(e, 'job') -- whatever comes of it

claim-2: the same token is refused
- if e.f.token == token and e.f.claim then return
+ if false then return

claim-3: a leased key is given away
- if held(e) then
+ if held(e) and e.f.token == token then

claim-4: an unknown key is refused
- if not e.f.state and known then
+ if not e.f.state then

job-3: a doubled job runs a key with nothing due
- if not e.f.state and known then return refuseSince('nothing due') end

job-3: a late job runs a key that waits
- if at and tonumber(at) > now then return refuseSince('waiting') end

job-4: a parked key is run by an old job
- if e.f.state == 'parked' then return refuseSince('parked') end

order-3: an old job jumps the queue
- if e.f.state == 'ready' then return refuseSince('not its turn') end

server-2: a new server hands out keys at once
- if not recovered() then
+ if false then

dispatch-5: a clock that went back prolongs a lease
- if number(e, 'until') > now + lease then
-   clampLeases()
+ if false then
+   clampLeases()

ledger/rules/start-run.lua

claim-8: when a run starts is not written
- e.f.ranAt, e.f.ranIn = now,
+ e.f.ranIn =

claim-7: a key goes back to an older version
- number(e, 'ranBy') > tonumber(version)
+ false

claim-7: a rolled back function never runs
- and setting('newest', 0) >= number(e, 'ranBy')

operator-1: a paused key runs
- if pausedKey(e) then
+ if false then

order-6: a job that was out runs a closed account
- if closed(e.f.account) then
+ if false then

chain-1: a chained key is not leased
-   if other ~= e then save(other) end

chain-2: a paused controller hands over
- or control.paused == '1' then return nil end
+ then return nil end

chain-2: a new server hands over at once
- if not recovered() or control.paused == '1' then return nil end
+ if control.paused == '1' then return nil end

chain-2: chained keys exceed the controller's rate
-   if limitOpens('controller') > now then return nil end

chain-2: chained keys starve the less urgent classes
-   if key then control.dispatches = setting('dispatches', 0) + 1 end

chain-3: jobs that no worker takes starve
- return dispatched and tonumber(since)
+ return false and tonumber(since)

chain-3: a key is chained although a worker has just got its job
- <= now - overdueJobAge
+ <= now

ledger/scripts/not-run-since.lua

claim-8: a run that started at that time does not count
- at < tonumber(since)
+ at <= tonumber(since)

claim-8: a key that never ran is left out
- (not at or at <
+ (at and at <
`,
);
