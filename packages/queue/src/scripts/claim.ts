import { defineScript } from "../script.ts";
import { backoff, keyStates } from "./key-states.ts";

/**
 * Take a key under a lease.
 *
 * The same token again gets the same claim: a lost reply must not lock the claimer out. A key that the ledger does not
 * know is claimable: the run reads live. Answers `{ 'claimed', claim as JSON }` or `{ refusal }`.
 */
export const claim = defineScript({
  name: "claim",
  arguments: ["now", "key", "token", "lease", "first", "most", "jitter"],
  uses: [keyStates, backoff],
  body: `
local deadline = number(key, 'until')
if deadline > now then
  if get(key, 'token') == token then return { 'claimed', get(key, 'claim') } end
  return { 'leased' }
end
if deadline > 0 then expire(key) end

local at = redis.call('ZSCORE', DUE, key)
if at and tonumber(at) > now then return { 'waiting' } end
if not at and not redis.call('ZSCORE', RUNG, key) and get(key, 'wakes') then
  if redis.call('ZSCORE', PARKED, key) then return { 'parked' } end
  return { 'nothing due' }
end

local versions = {}
local fields = redis.call('HGETALL', entry(key))
for i = 1, #fields, 2 do
  local kind = string.match(fields[i], '^version:(.*)$')
  if kind then versions[kind] = fields[i + 1] end
end
local answer = cjson.encode({
  fails = number(key, 'fails'),
  reasons = get(key, 'reasons') or '[]',
  class = get(key, 'class') or 'change',
  uid = get(key, 'uid') or nil,
  versions = versions,
})
leave(key)
redis.call('ZADD', LEASES, now + lease, key)
set(key, 'token', token, 'until', now + lease, 'claim', answer, 'answers', number(key, 'wakes'))
unset(key, 'reasons', 'class')
redis.call('PERSIST', entry(key))
return { 'claimed', answer }
`,
});
