import { mutants, type Mutant } from "./mutant.ts";

export const mutantsOfAdvertisedSlots: readonly Mutant[] = [
  ...mutants(
    "ledger",
    `
ledger/rules/advertised-slots.lua

slot-1: nothing is assigned
-   if not slot then return false end
+   if true then return false end

slot-1: an assigned key does not count as a job
-   control.dispatches = setting('dispatches', 0) + 1

slot-2: a slot is given key after key
- '^(%S+) (%d+) (%d+)$')
-     retract(slot)
+ '^(%S+) (%d+) (%d+)$')

slot-3: an advertisement never expires
- if not slot or tonumber(expiresAt) <= now then
+ if not slot then

slot-3: an advertisement by a clock that has gone back is used
- tonumber(expiresAt) <= now + recoveryWindow and
+ true and

slot-3: an advertisement of a function that has become an older one is used
- and tonumber(version) >= setting('newest', 0) then
+ then

slot-4: assigned keys are not stored
-   redis.call('HSET', ASSIGNED, slot, table.concat({ token, askedAt, e.key }, ' '))

slot-4: a repeated call gets a key that another run has now
- if e and held(e) and e.f.token == token and e.f.claim then
+ if e then

slot-5: the time of the first advertisement is returned
- redis.call('HSET', ADVERTISEMENTS, slot,
+ redis.call('HSETNX', ADVERTISEMENTS, slot,

slot-8: whatever a slot is given is leased under the slot's token
- string.format('%s:%s:%d:%d', slot, server, now, control.dispatches)
+ slot

slot-8: two keys that a slot is given in one ms have one token
- '%s:%s:%d:%d', slot, server, now, control.dispatches
+ '%s:%s:%d', slot, server, now

slot-8: an assignment on a server that took over repeats a token that its predecessor has used
- '%s:%s:%d:%d', slot, server, now, control.dispatches
+ '%s:%d:%d', slot, now, control.dispatches

ledger/scripts/claim.lua

slot-2: a claim leaves the advertisement of its token
- retract(token)

slot-2: a slot that was assigned a key claims another
- if assignedTo(token) then
+ if false then

ledger/scripts/settle.lua

slot-3: a slot that a key was chained to is advertised
- worker ~= '' and not chained[1] then
+ worker ~= '' then

ledger/rules/adoption.lua

slot-3: advertisements stay on another server
- redis.call('DEL', ADVERTISED, ADVERTISEMENTS, ASSIGNED)

ledger/scripts/advertise.lua

slot-4: a slot that was assigned a key is advertised again
-   elseif advertises == '1' then
+   end
+   if advertises == '1' then

slot-9: an idle slot waits beside a job that no worker takes
- local dispatched = advertises == '1' and recovered() and overdueKey()
+ local dispatched = false
`,
  ),
  ...mutants(
    "processes",
    `
worker/slots.ts

slot-6: a key that arrives at a busy slot is run
- if (!isFree || this.#closed)
+ if (this.#closed)

slot-6: a key that arrives at a busy slot is not given back
- void this.#parts.giveBack(leased);

slot-7: a job takes a slot that is not there
- this.#used < this.#parts.concurrency ?
+ this.#used < Infinity ?

slot-7: more slots are advertised than there are
- Math.min(concurrency - this.#used, maxAdvertisedSlots - this.#advertised.size)
+ Math.min(concurrency, maxAdvertisedSlots - this.#advertised.size)

worker/worker.ts

job-5: a failed run that no job had asked for shows nowhere
- await jobQueue.addFailed(error)
+ await Promise.resolve()
`,
  ),
];
