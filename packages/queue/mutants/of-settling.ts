import { mutants } from "./mutant.ts";

/** Mutants of the scripts that end a run: settle, and the backoff after failures. */
export const mutantsOfSettling = mutants(
  "ledger",
  `
ledger/scripts/settle.lua

chain-1: nothing is chained
- next ~= '' and chainNext
+ false and chainNext

chain-1: the settled key's own entry is not the one that is chained
- chainNext(e, next, askedAt, version)
+ chainNext({ key = key, f = {}, was = {} }, next, askedAt, version)

chain-4: a lost answer loses the chained key
- e.f.chained = chained[4]

chain-4: a repeated call gets a key that another worker runs
- other and held(other) and other.f.token == next and other.f.claim
+ other and held(other) and other.f.claim

chain-4: a repeated call gets a key whose run has ended
- other and held(other) and
+ other and

settle-1: any token settles
- local unknown = e.f.token ~= token
+ local unknown = false

settle-2: a repeat is stale
- if unknown and e.f.settled == token then return { 'settled', dueIn(e), chainedBefore(e) } end

settle-3: a wake during the run is forgotten
- or (number(e, 'wakes') > number(e, 'answers') and not sawAll)

settle-4: a wake during a failing run does not pierce
- elseif wasWoken and number(e, 'wokenEarly') == 0 then
+ elseif false then

settle-5: a run that pierced is pierced again
- elseif wasWoken and number(e, 'wokenEarly') == 0 then
+ elseif wasWoken then

wake-8: a batched wake during a run does not wait
- tonumber(e.f.wokenFor) or now
+ now

settle-7: success does not reset failures
- clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error', 'replaced')
+ clear(e, 'error', 'replaced')

settle-9: terminal retries
- enter(e, 'parked', now)
- elseif after
+ waitUntil(e, now + 1000, 'x')
+ elseif after

settle-9: terminal keeps its window
-   clear(e, 'notBefore', 'wokenEarly')
-   enter(e, 'parked', now)
- elseif
+   enter(e, 'parked', now)
+ elseif

settle-11: a conflict is a failure
- if e.f.conflicts > 8 then
+ if true then

settle-11: conflicts go on for ever
- if e.f.conflicts > 8 then
+ if false then

settle-12: an interrupted run is forgotten
- verdict == 'interrupted' or

settle-13: a gone key stays
-   redis.call('PEXPIRE', P .. ':key:' .. key, forget)

settle-13: its history stays
-   redis.call('PEXPIRE', history, forget)

settle-15: a key is never parked for failing
- number(e, 'fails') >= attempts and not wasWoken
+ false

settle-15: a wake during a failing run is forgotten
- number(e, 'fails') >= attempts and not wasWoken
+ number(e, 'fails') >= attempts

order-6: an account is not closed
- control.limited = '1'
- end
+ end

order-6: the shorter of two waits wins
- math.max(now + after, tonumber(redis.call('HGET', LIMITS, closed) or 0) or 0)
+ now + after

operator-4: history grows
-   read(history, 'LTRIM', 0, kept - 2)

server-3: an unknown run's outcome is refused
- if unknown and (recovered() or e.f.announced == control.incarnation) then
+ if unknown then

server-3: a wake that may have come is not examined
- local wasWoken = unknown or not e.f.answers or
+ local wasWoken = e.f.answers and

ledger/rules/backoff.lua

claim-5: a run that died counts nothing
-     e.f.fails = 1

claim-5: an object that kills every worker loops
- waitUntil(e, number(e, 'notBefore'), 'lease ended')
+ waitUntil(e, now, 'lease ended')

settle-6: failures grow within a window
- if number(e, 'notBefore') > now then return end

settle-8: windows do not grow
- 2 ^ math.min(fails - 1, 40)
+ 1

settle-8: windows have no cap
- math.min(setting('longest', 300000), setting('first', 500)
+ math.max(0, setting('first', 500)

settle-8: no jitter
- (0.5 + tonumber(jitter) / 2)
+ 1
`,
);
