import { type Mutant, script } from "./mutant.ts";

/** Of what people ask the queue for: pauses, lists, and what is told of a key. */
export const mutantsOfOperators: readonly Mutant[] = [
  ...script("ledger/scripts/pause", [
    {
      promise: "operator-2",
      wrong: "a resumed namespace stays shut",
      from: "redis.call('ZADD', THROTTLED, now, queue)",
      to: "",
    },
    {
      promise: "operator-2",
      wrong: "a resumed object stays out",
      from: "    becomeReady(e, resumed and now or dueSince(e))\n    save(e)\n",
      to: "",
    },
    { promise: "operator-1", wrong: "the controller is not paused", from: "  control.paused = on\n", to: "" },
    {
      promise: "operator-5",
      wrong: "the author of a pause is not stored",
      from: "'%.0f %s', now, by)",
      to: "'%.0f %s', now, '')",
    },
  ]),
  ...script("ledger/rules/description", [
    {
      promise: "operator-5",
      wrong: "only the widest pause is returned",
      from: "if at then pauses[#pauses + 1] =",
      to: "if at and #pauses == 0 then pauses[1] =",
    },
  ]),
  ...script("ledger/scripts/list", [
    {
      promise: "operator-6",
      wrong: "a page after a key that has left skips keys with the same time",
      from: "redis.call('ZCOUNT', set, '-inf', '(' .. at)",
      to: "redis.call('ZCOUNT', set, '-inf', at)",
    },
    {
      promise: "operator-6",
      wrong: "a page repeats the last key of the one before",
      from: "stays and rank + 1 or",
      to: "stays and rank or",
    },
    {
      promise: "operator-7",
      wrong: "a failing key is listed with the time when it began to fail",
      from: "local since = state ~= 'failing' and found[i + 1]",
      to: "local since = found[i + 1]",
    },
  ]),
  ...script("ledger/scripts/count", [
    {
      promise: "operator-10",
      wrong: "a paused namespace counts as due",
      from: "for _, queue in ipairs(throttled) do\n  paused = paused + redis.call('ZCARD', P .. ':queue:' .. queue)",
      to: "for _, queue in ipairs(throttled) do\n  paused = paused",
    },
    {
      promise: "operator-10",
      wrong: "keys of a paused namespace count as late",
      from: "if #throttled == 0 then\n  consider(READY)",
      to: "if true then\n  consider(READY)",
    },
    {
      promise: "operator-10",
      wrong: "a paused key counts as due between its time and the next ring",
      from: "if pausedKey(e) then",
      to: "if false then",
    },
    {
      promise: "operator-10",
      wrong: "a paused controller counts as due",
      from: "if all then\n  paused, oldest = due, now\nend",
      to: "",
    },
  ]),
  ...script("ledger/scripts/not-run-since", [
    {
      promise: "claim-8",
      wrong: "a campaign waits for paused keys",
      from: "if state ~= 'paused' and",
      to: "if true and",
    },
  ]),
  ...script("ledger/scripts/wake", [
    {
      promise: "operator-8",
      wrong: "no wake pauses",
      from: "    e.f.paused = e.f.paused or string.format('%.0f', now)\n",
      to: "",
    },
    {
      promise: "operator-8",
      wrong: "a pause of an older version is believed",
      from: "elseif w.paused and e.f['version:' .. w.kind] == w.resourceVersion then",
      to: "elseif w.paused then",
    },
    {
      promise: "operator-8",
      wrong: "no wake resumes",
      from: "  if w.paused == false then\n    clear(e, 'paused')",
      to: "  if w.paused == false then",
    },
    {
      promise: "operator-8",
      wrong: "a wake that does not say resumes",
      from: "if w.paused == false then\n",
      to: "if not w.paused then\n",
    },
    {
      promise: "operator-8",
      wrong: "a key that was rung stays rung",
      from: "(e.f.state == 'ready' or e.f.state == 'dispatched') and pausedObject(e)",
      to: "e.f.state == 'ready' and pausedObject(e)",
    },
    {
      promise: "operator-10",
      wrong: "a resumed object is late for as long as it was paused",
      from: "return not pausedObject(e) and now end",
      to: "return not pausedObject(e) and dueSince(e) end",
    },
  ]),
  ...script("ledger/scripts/settle", [
    {
      promise: "operator-9",
      wrong: "a run's word is not taken",
      from: "if not known or known == observedVersion or newer(observedVersion, known) then",
      to: "if false then",
    },
    {
      promise: "operator-9",
      wrong: "an older version is believed",
      from: "if not known or known == observedVersion or newer(observedVersion, known) then",
      to: "if true then",
    },
    {
      promise: "operator-9",
      wrong: "another object is believed",
      from: "and (not e.f.uid or e.f.uid == observedUid) then",
      to: "then",
    },
  ]),
];
