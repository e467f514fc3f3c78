import { defineScript } from "../script.ts";
import { backoff, keyStates, ring } from "./key-states.ts";

/**
 * End a run with its verdict. Only the token that holds the key may; a repeat is answered as before, with no effect.
 *
 * `after` is empty where the verdict names no time. `forget` is how long a gone key's last answer is kept for repeats.
 * Answers `{ 'stale' }` or `{ 'settled', ms until it is due again or -1, bells... }`.
 */
export const settle = defineScript({
  name: "settle",
  arguments: ["now", "bellLimit", "key", "token", "verdict", "after", "forget", "first", "most", "jitter"],
  uses: [keyStates, backoff, ring],
  body: `
if get(key, 'token') ~= token then
  if get(key, 'settled') == token then return { 'settled', -1 } end
  return { 'stale' }
end

local heard = number(key, 'wakes') > number(key, 'answers')
unset(key, 'token', 'until', 'claim', 'answers')
set(key, 'settled', token)
leave(key)

local function afterFailure()
  if heard and number(key, 'pierced') == 0 then
    set(key, 'pierced', 1)
    becomeDue(key, now)
  else
    becomeDue(key, number(key, 'notBefore'))
  end
end

if verdict == 'done' or verdict == 'gone' then
  unset(key, 'fails', 'conflicts', 'notBefore', 'pierced')
elseif verdict ~= 'conflict' then
  unset(key, 'conflicts')
end

if verdict == 'retry' then
  fail(key, tonumber(after))
  afterFailure()
elseif verdict == 'conflict' then
  local conflicts = redis.call('HINCRBY', entry(key), 'conflicts', 1)
  if conflicts > 8 then
    unset(key, 'conflicts')
    fail(key)
    afterFailure()
  else
    becomeDue(key, now + math.floor(10 * 2 ^ conflicts * (0.5 + tonumber(jitter) / 2)))
  end
elseif heard or verdict == 'interrupted' then
  becomeDue(key, now)
elseif verdict == 'terminal' then
  unset(key, 'notBefore', 'pierced')
  park(key)
elseif after ~= '' then
  becomeDue(key, now + tonumber(after))
elseif verdict == 'gone' then
  redis.call('DEL', entry(key))
  set(key, 'settled', token)
  redis.call('PEXPIRE', entry(key), forget)
end
local at = redis.call('ZSCORE', DUE, key)
local answer = ring()
table.insert(answer, 1, 'settled')
table.insert(answer, 2, at and math.max(0, math.ceil(tonumber(at) - now)) or -1)
return answer
`,
});
