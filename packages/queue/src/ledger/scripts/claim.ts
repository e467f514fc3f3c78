import { defineLedgerScript } from "../ledger-script.ts";
import { backoffLua } from "./backoff.ts";
import { advertisedSlotsLua } from "./advertised-slots.ts";
import { startRunLua } from "./start-run.ts";

/**
 * Takes a key under a lease.
 *
 * A repeated token gets the same claim, without a cached object and lists: a lost reply must not lock the claimer out.
 * A key without an entry can be claimed: the run reads its object live. A key that a newer version of the function has
 * run is refused to an older one while a worker of a newer one is registered. Returns
 * `{ 'claimed', claim as JSON, cached object or '', lists or '' }` or `{ refusal }`.
 */
export const claimScript = defineLedgerScript({
  name: "claim",
  arguments: ["key", "token", "version", "jitter"],
  uses: [backoffLua, startRunLua, advertisedSlotsLua],
  body: `
if givenTo(token) then return { 'slot taken' } end
withdraw(token)
local e = load(key)
local known = (e.f.wakes or e.f.settled) ~= nil
clear(e, 'bell') -- whatever comes of it
local function refuse(why)
  save(e)
  return { why }
end

if number(e, 'until') > now + lease then clampLeases(); e.f['until'] = now + lease end
if held(e) then
  if e.f.token == token and e.f.claim then return { 'claimed', e.f.claim, '', '' } end
  return refuse('leased')
end
if not settled() then return refuse('settling') end
if e.f.token then expire(e) end
local at = e.f.state == 'waits' and redis.call('ZSCORE', WAITS, key)
if at and tonumber(at) > now then return refuse('waiting') end
if e.f.state == 'parked' then return refuse('parked') end
if e.f.state == 'paused' then return refuse('paused') end
if e.f.state == 'ready' then return refuse('not its turn') end
if not e.f.state and known then return refuse('nothing due') end
local claim, more, lists = take(e, token, version)
if not claim then return refuse(more) end
save(e)
return { 'claimed', claim, more, lists }
`,
});
