import { defineScript } from "../script.ts";
import { backoff, keyStates, ring as ringing } from "./key-states.ts";

/** Take back expired leases, then ring for what is due. Answers `{ ms until the next key is due or -1, bells... }`. */
export const ring = defineScript({
  name: "ring",
  arguments: ["now", "bellLimit", "first", "most", "jitter"],
  uses: [keyStates, backoff, ringing],
  body: `
for _, key in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, 100)) do expire(key) end
local answer = ring()
local next = redis.call('ZRANGE', DUE, 0, 0, 'WITHSCORES')
table.insert(answer, 1, next[2] and math.max(0, math.ceil(tonumber(next[2]) - now)) or -1)
return answer
`,
});

/** Keys whose bell was rung longer than `patience` ago. Answers bells, as `ring` does. */
export const unanswered = defineScript({
  name: "unanswered",
  arguments: ["now", "patience"],
  uses: [keyStates],
  body: `
local answer = {}
for _, key in ipairs(redis.call('ZRANGEBYSCORE', RUNG, '-inf', now - patience, 'LIMIT', 0, 1000)) do
  table.insert(answer, key)
  table.insert(answer, get(key, 'bell') or '0')
  table.insert(answer, get(key, 'class') or 'change')
end
return answer
`,
});

/** Make a key due again whose bell is lost; nothing when that bell has been answered meanwhile. */
export const ringAgain = defineScript({
  name: "ring again",
  arguments: ["now", "key", "bell"],
  uses: [keyStates],
  body: `
if redis.call('ZSCORE', RUNG, key) and get(key, 'bell') == bell then becomeDue(key, now) end
return 1
`,
});

/** How many keys are in which state. Answers `{ due, ms the oldest has waited, scheduled, running, parked }`. */
export const count = defineScript({
  name: "count",
  arguments: ["now"],
  uses: [keyStates],
  body: `
local due = redis.call('ZCOUNT', DUE, '-inf', now)
local rung = redis.call('ZCARD', RUNG)
local oldest = now
for _, set in ipairs({ DUE, RUNG }) do
  local head = redis.call('ZRANGE', set, 0, 0, 'WITHSCORES')
  if head[2] then oldest = math.min(oldest, tonumber(head[2])) end
end
return { due + rung, now - oldest, redis.call('ZCARD', DUE) - due, redis.call('ZCARD', LEASES), redis.call('ZCARD', PARKED) }
`,
});
