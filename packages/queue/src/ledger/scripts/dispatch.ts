import { defineLedgerScript } from "../ledger-script.ts";
import { backoffLua } from "./backoff.ts";
import { advertisedSlotsLua } from "./advertised-slots.ts";
import { dispatchLua } from "./order.ts";
import { startRunLua } from "./start-run.ts";

/**
 * Takes back leases that have ended, then dispatches the next keys. Returns
 * `{ ms until a key may be due or -1, jobs... }`.
 */
export const dispatchScript = defineLedgerScript({
  name: "ring",
  arguments: ["jitter"],
  uses: [backoffLua, startRunLua, advertisedSlotsLua, dispatchLua],
  body: `
clampLeases()
if settled() then
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', LEASES, key)
    local e = load(key)
    if not held(e) then
      clear(e, 'state')
      expire(e)
      save(e)
    end
  end
end
-- The registered slots may be wrong, as those of dead workers are for about a lease: so one job may always be out.
local answer = ring(1)
local next
local function consider(at) if at and at > 0 and at < (next or math.huge) then next = at end end
consider(tonumber(redis.call('ZRANGE', WAITS, 0, 0, 'WITHSCORES')[2]))
consider(tonumber(redis.call('ZRANGE', SHUT, 0, 0, 'WITHSCORES')[2]))
if not settled() then consider(setting('claimsFrom', 0)) end
if limitOpens('controller') > now and redis.call('ZCARD', READY) > 0 then consider(limitOpens('controller')) end
if turnsLeft == 0 then next = now end -- more may be due
table.insert(answer, 1, next and next < math.huge and math.max(0, math.ceil(next - now)) or -1)
return answer
`,
});

/** Returns the jobs that were added at least `patience` ms ago and are not used yet: `{ key, job number, ... }`. */
export const unclaimedJobsScript = defineLedgerScript({
  name: "unanswered",
  arguments: ["patience"],
  uses: [],
  body: `
local answer = {}
local function add(from, to)
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', RUNG, from, to, 'LIMIT', 0, 1000)) do
    answer[#answer + 1] = key
    answer[#answer + 1] = load(key).f.bell or '0'
  end
end
add('-inf', now - patience)
add(now + 1, '+inf') -- the clock went back
return answer
`,
});

/** Makes the key of a lost job ready again. Does nothing if the job was used meanwhile. */
export const dispatchAgainScript = defineLedgerScript({
  name: "ring again",
  arguments: ["key", "bell"],
  uses: [],
  body: `
local since = redis.call('ZSCORE', RUNG, key)
local e = load(key)
if since and (e.f.bell or '0') == bell then
  redis.call('ZREM', RUNG, key)
  clear(e, 'bell')
  becomeReady(e, since)
  save(e)
end
return 1
`,
});
