import { mutants } from "./mutant.ts";

/** Mutants of pauses, lists, counts and descriptions of keys, which operators ask the queue for. */
export const mutantsOfOperators = mutants(
  "ledger",
  `
ledger/scripts/pause.lua

operator-2: a resumed namespace stays shut
- redis.call('ZADD', THROTTLED, now, queue)

operator-2: a resumed object stays out
-     becomeReady(e, resumed and now or dueSince(e))
-     save(e)

operator-1: the controller is not paused
-   control.paused = on

operator-5: the author of a pause is not stored
- '%.0f %s', now, by)
+ '%.0f %s', now, '')

ledger/rules/description.lua

operator-5: only the widest pause is returned
- if at then pauses[#pauses + 1] =
+ if at and #pauses == 0 then pauses[1] =

ledger/scripts/list.lua

operator-6: a page after a key that has left skips keys with the same time
- redis.call('ZCOUNT', set, '-inf', '(' .. at)
+ redis.call('ZCOUNT', set, '-inf', at)

operator-6: a page repeats the last key of the one before
- stays and rank + 1 or
+ stays and rank or

operator-7: a failing key is listed with the time when it began to fail
- local since = state ~= 'failing' and found[i + 1]
+ local since = found[i + 1]

ledger/scripts/count.lua

operator-10: a paused namespace counts as due
- for _, queue in ipairs(throttled) do
-   paused = paused + redis.call('ZCARD', P .. ':queue:' .. queue)
+ for _, queue in ipairs(throttled) do
+   paused = paused

operator-10: keys of a paused namespace count as late
- if #throttled == 0 then
-   consider(READY)
+ if true then
+   consider(READY)

operator-10: a paused key counts as due between its time and the next ring
- if pausedKey(e) then
+ if false then

operator-10: a paused controller counts as due
- if all then
-   paused, oldest = due, now
- end

ledger/scripts/not-run-since.lua

claim-8: a campaign waits for paused keys
- if state ~= 'paused' and
+ if true and

ledger/scripts/wake.lua

operator-8: no wake pauses
-     e.f.paused = e.f.paused or string.format('%.0f', now)

operator-8: a pause of an older version is believed
- elseif w.paused and e.f['version:' .. w.kind] == w.resourceVersion then
+ elseif w.paused then

operator-8: no wake resumes
-   if w.paused == false then
-     clear(e, 'paused')
+   if w.paused == false then

operator-8: a wake that does not say resumes
- if w.paused == false then
+ if not w.paused then

operator-8: a key that was rung stays rung
- (e.f.state == 'ready' or e.f.state == 'dispatched') and pausedObject(e)
+ e.f.state == 'ready' and pausedObject(e)

operator-10: a resumed object is late for as long as it was paused
- return not pausedObject(e) and now end
+ return not pausedObject(e) and dueSince(e) end

ledger/scripts/settle.lua

operator-9: a run's word is not taken
- if not known or known == observedVersion or newer(observedVersion, known) then
+ if false then

operator-9: an older version is believed
- if not known or known == observedVersion or newer(observedVersion, known) then
+ if true then

operator-9: another object is believed
- and (not e.f.uid or e.f.uid == observedUid) then
+ then
`,
);
