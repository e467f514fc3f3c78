import { defineScript } from "../script.ts";
import { backoff } from "./backoff.ts";
import { offers } from "./offers.ts";
import { take } from "./take.ts";

/**
 * A worker says which of its slots are free: `tokens`, a JSON list, which stand from now on, or with `stands` 0 no more.
 * Answers what they were given that it has not heard of: `{ slot, token, askedAt, key, claim, '', '', ... }`. Of an offer whose time is over
 * nothing is kept.
 */
export const offer = defineScript({
  name: "offer",
  arguments: ["worker", "askedAt", "version", "tokens", "stands"],
  uses: [backoff, take, offers],
  body: `
local given = {}
for _, slot in ipairs(listed(tokens)) do
  local e, offeredAt = givenTo(slot)
  if e then
    for _, each in ipairs({ slot, e.f.token, offeredAt, e.key, e.f.claim, '', '' }) do given[#given + 1] = each end
  elseif stands == '1' then
    standing(slot, worker, version, askedAt)
  else
    withdraw(slot)
  end
end
-- A bell may have come to a worker whose slots are all busy by now: it is not waited for where one is free.
local rung = stands == '1' and settled() and overlooked()
if rung then
  local e = load(rung)
  if not held(e) and give(e) then save(e) end
end
for _, slot in ipairs(redis.call('ZRANGEBYSCORE', OFFERS, '-inf', now, 'LIMIT', 0, 100)) do withdraw(slot) end
return given
`,
});
