import { defineScript } from "../script.ts";
import { backoff } from "./backoff.ts";

/**
 * Take a key under a lease.
 *
 * The same token again gets the same claim: a lost reply must not lock the claimer out. A key that the ledger does not
 * know is claimable: the run reads live. A key that a newer version of the function has run is not for an older one, as
 * long as a newer one is alive. Answers `{ 'claimed', claim as JSON }` or `{ refusal }`.
 */
export const claim = defineScript({
  name: "claim",
  arguments: ["key", "token", "version", "jitter"],
  uses: [backoff],
  body: `
local e = load(key)
local known = (e.f.wakes or e.f.settled) ~= nil
local function refuse(why)
  save(e)
  return { why }
end

if number(e, 'until') > now + lease then clampLeases(); e.f['until'] = now + lease end
if held(e) then
  if e.f.token == token and e.f.claim then return { 'claimed', e.f.claim } end
  return { 'leased' }
end
if not settled() then return refuse('settling') end
if e.f.token then expire(e) end
local at = e.f.state == 'waits' and redis.call('ZSCORE', WAITS, key)
if at and tonumber(at) > now then return refuse('waiting') end
if e.f.state == 'parked' then return refuse('parked') end
if e.f.state == 'ready' then return refuse('not its turn') end
if not e.f.state and known then return refuse('nothing due') end
if pausedKey(key) then
  becomeReady(e, now)
  return refuse('paused')
end
if closed(e.f.account) then
  becomeReady(e, now)
  return refuse('throttled')
end
if number(e, 'ranBy') > tonumber(version) and setting('newest', 0) >= number(e, 'ranBy') then
  waitUntil(e, now + 100, 'newer function')
  return refuse('outdated')
end

local versions = {}
for field, value in pairs(e.f) do
  local kind = string.match(field, '^version:(.*)$')
  if kind then versions[kind] = value end
end
e.f.claim = cjson.encode({
  fails = number(e, 'fails'),
  reasons = e.f.reasons or '[]',
  class = e.f.class or 'change',
  uid = e.f.uid,
  replaced = e.f.replaced,
  trace = e.f.trace,
  versions = versions,
})
enter(e, 'leased', now + lease)
e.f.token, e.f['until'] = token, now + lease
e.f.wakes = number(e, 'wakes')
e.f.answers, e.f.ran, e.f.runUid = e.f.wakes, e.f.class or 'change', e.f.uid
if tonumber(version) > 0 then e.f.ranBy = version end
clear(e, 'reasons', 'class', 'trace', 'why', 'forced')
save(e)
redis.call('PERSIST', P .. ':key:' .. key)
return { 'claimed', e.f.claim }
`,
});
