import { defineScript } from "../script.ts";
import { keyStates, ring } from "./key-states.ts";

/**
 * Record that keys were heard of, and ring for those that may run.
 *
 * `wakes` is a JSON list of `Wake`s. A wake makes an idle or parked key due, pierces a wait, and pierces a backoff
 * window once; later ones wait for its end. A leased key is not rung: settle sees that more was heard. A resync pierces
 * nothing and wakes only idle keys.
 */
export const wake = defineScript({
  name: "wake",
  arguments: ["now", "bellLimit", "wakes"],
  uses: [keyStates, ring],
  body: `
local rank = { change = 0, listing = 1, resync = 2 }
-- Decimal versions compare by length, then as text; others (aggregated APIs) only say that they differ.
local function newer(a, b)
  if not b then return true end
  if not (string.match(a, '^%d+$') and string.match(b, '^%d+$')) then return a ~= b end
  if #a ~= #b then return #a > #b end
  return a > b
end

local function remember(w)
  local field = 'version:' .. w.kind
  if newer(w.resourceVersion, get(w.key, field)) then
    set(w.key, field, w.resourceVersion)
    if w.uid and get(w.key, 'uid') ~= w.uid then
      unset(w.key, 'fails', 'conflicts', 'notBefore', 'pierced')
      set(w.key, 'uid', w.uid)
    end
  end
  local class = get(w.key, 'class')
  if not class or rank[w.class] < rank[class] then set(w.key, 'class', w.class) end
  local reasons = cjson.decode(get(w.key, 'reasons') or '[]')
  local known = false
  for _, r in ipairs(reasons) do known = known or r == w.reason end
  if not known and #reasons < 8 then
    table.insert(reasons, w.reason)
    set(w.key, 'reasons', cjson.encode(reasons))
  end
  redis.call('HINCRBY', entry(w.key), 'wakes', 1)
  redis.call('PERSIST', entry(w.key))
end

for _, w in ipairs(cjson.decode(wakes)) do
  local busy = redis.call('ZSCORE', LEASES, w.key) or redis.call('ZSCORE', RUNG, w.key)
  if w.class == 'resync' then
    local waits = busy or redis.call('ZSCORE', DUE, w.key) or redis.call('ZSCORE', PARKED, w.key)
    if not waits then
      remember(w)
      becomeDue(w.key, now)
    end
  else
    remember(w)
    if not busy then
      local notBefore = number(w.key, 'notBefore')
      if notBefore <= now then
        becomeDue(w.key, now)
      elseif number(w.key, 'pierced') == 0 then
        set(w.key, 'pierced', 1)
        becomeDue(w.key, now)
      elseif not redis.call('ZSCORE', DUE, w.key) then
        becomeDue(w.key, notBefore)
      end
    end
  end
end
return ring()
`,
});
