import { type Mutant, script } from "./mutant.ts";

const ofVersions = script("ledger/rules/versions", [
  {
    promise: "wake-2",
    wrong: "versions go down",
    from: "if not b then return true end",
    to: "if true then return true end",
  },
  {
    promise: "wake-2",
    wrong: "versions compare as text",
    from: "if #a ~= #b then return #a > #b end",
    to: "",
  },
  {
    promise: "wake-2",
    wrong: "versions that are no numbers are ordered",
    from: "then return a ~= b end",
    to: "then return a > b end",
  },
]);

const ofWake = script("ledger/scripts/wake", [
  {
    promise: "wake-1",
    wrong: "wakes are not counted",
    from: "number(e, 'wakes') + 1",
    to: "number(e, 'wakes')",
  },
  {
    promise: "wake-3",
    wrong: "the last class wins",
    from: "if more then e.f.class = w.class end",
    to: "e.f.class = w.class",
  },
  {
    promise: "wake-3",
    wrong: "a reason is stored twice",
    from: "if not known and #reasons < 8 then",
    to: "if #reasons < 8 then",
  },
  {
    promise: "wake-4",
    wrong: "a wait is not pierced",
    from: "  elseif windowIsOver then\n    return now\n",
    to: "  elseif windowIsOver and (w.force or e.f.state ~= 'waits') then\n    return now\n  elseif windowIsOver then\n",
  },
  {
    promise: "wake-4",
    wrong: "a wake that may not pierce a window waits for longer than that",
    from: "e.f.state ~= 'waits' or tonumber(redis.call('ZSCORE', WAITS, e.key) or 0) > number(e, 'notBefore')",
    to: "e.f.state ~= 'waits'",
  },
  {
    promise: "wake-5",
    wrong: "a running key is rung",
    from: "= not leased and readySince(e, w, moreUrgent)",
    to: "= readySince(e, w, moreUrgent)",
  },
  {
    promise: "wake-5",
    wrong: "a dispatched key is dispatched again",
    from: "  if e.f.state == 'dispatched' then return nil end\n",
    to: "",
  },
  {
    promise: "wake-6",
    wrong: "failures are the predecessor's",
    from: "clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error')",
    to: "",
  },
  {
    promise: "wake-6",
    wrong: "the run does not get the uid that was replaced",
    from: "e.f.replaced = e.f.replaced or e.f.uid",
    to: "",
  },
  {
    promise: "wake-6",
    wrong: "the run gets a replaced uid that no run has seen",
    from: "e.f.replaced = e.f.replaced or e.f.uid",
    to: "e.f.replaced = e.f.uid",
  },
  { promise: "settle-5", wrong: "every wake pierces a window", from: "    e.f.wokenEarly = 1\n", to: "" },
  {
    promise: "settle-6",
    wrong: "a wake forgets failures",
    from: "e.f.trace = w.trace or e.f.trace",
    to: "e.f.fails = nil",
  },
  {
    promise: "settle-10",
    wrong: "a resync pierces",
    from: "if w.class ~= 'resync' or w.force or not e.f.state then",
    to: "if true then",
  },
  {
    promise: "order-2",
    wrong: "a waiting key does not move up",
    from: "return moreUrgent and",
    to: "return false and",
  },
  {
    promise: "operator-3",
    wrong: "force waits",
    from: "number(e, 'notBefore') <= now or w.force",
    to: "number(e, 'notBefore') <= now",
  },
  {
    promise: "operator-3",
    wrong: "a running key is not forced",
    from: "if leased and w.force then e.f.forced = 1 end",
    to: "",
  },
]);

const ofClaim = script("ledger/scripts/claim", [
  {
    promise: "job-8",
    wrong: "a job that came is not known to have come",
    from: "clear(e, 'job') -- whatever comes of it\n",
    to: "",
  },
  {
    promise: "claim-2",
    wrong: "the same token is refused",
    from: "if e.f.token == token and e.f.claim then return",
    to: "if false then return",
  },
  {
    promise: "claim-3",
    wrong: "a leased key is given away",
    from: "if held(e) then",
    to: "if held(e) and e.f.token == token then",
  },
  {
    promise: "claim-4",
    wrong: "an unknown key is refused",
    from: "if not e.f.state and known then",
    to: "if not e.f.state then",
  },
  {
    promise: "job-3",
    wrong: "a doubled job runs a key with nothing due",
    from: "if not e.f.state and known then return refuseSince('nothing due') end",
    to: "",
  },
  {
    promise: "job-3",
    wrong: "a late job runs a key that waits",
    from: "if at and tonumber(at) > now then return refuseSince('waiting') end",
    to: "",
  },
  {
    promise: "job-4",
    wrong: "a parked key is run by an old job",
    from: "if e.f.state == 'parked' then return refuseSince('parked') end",
    to: "",
  },
  {
    promise: "order-3",
    wrong: "an old job jumps the queue",
    from: "if e.f.state == 'ready' then return refuseSince('not its turn') end",
    to: "",
  },
  {
    promise: "server-2",
    wrong: "a new server hands out keys at once",
    from: "if not recovered() then",
    to: "if false then",
  },
  {
    promise: "dispatch-5",
    wrong: "a clock that went back prolongs a lease",
    from: "if number(e, 'until') > now + lease then\n  clampLeases()",
    to: "if false then\n  clampLeases()",
  },
]);

const ofTake = script("ledger/rules/start-run", [
  {
    promise: "claim-8",
    wrong: "when a run starts is not written",
    from: "e.f.ranAt, e.f.ranIn = now,",
    to: "e.f.ranIn =",
  },
  {
    promise: "claim-7",
    wrong: "a key goes back to an older version",
    from: "number(e, 'ranBy') > tonumber(version)",
    to: "false",
  },
  {
    promise: "claim-7",
    wrong: "a rolled back function never runs",
    from: "and setting('newest', 0) >= number(e, 'ranBy')",
    to: "",
  },
  {
    promise: "operator-1",
    wrong: "a paused key runs",
    from: "if pausedKey(e) then",
    to: "if false then",
  },
  {
    promise: "order-6",
    wrong: "a job that was out runs a closed account",
    from: "if closed(e.f.account) then",
    to: "if false then",
  },
  {
    promise: "chain-1",
    wrong: "a chained key is not leased",
    from: "  if other ~= e then save(other) end\n",
    to: "",
  },
  {
    promise: "chain-2",
    wrong: "a paused controller hands over",
    from: "or control.paused == '1' then return nil end",
    to: "then return nil end",
  },
  {
    promise: "chain-2",
    wrong: "a new server hands over at once",
    from: "if not recovered() or control.paused == '1' then return nil end",
    to: "if control.paused == '1' then return nil end",
  },
  {
    promise: "chain-2",
    wrong: "chained keys exceed the controller's rate",
    from: "  if limitOpens('controller') > now then return nil end\n",
    to: "",
  },
  {
    promise: "chain-2",
    wrong: "chained keys starve the less urgent classes",
    from: "  if key then control.dispatches = setting('dispatches', 0) + 1 end\n",
    to: "",
  },
  {
    promise: "chain-3",
    wrong: "jobs that no worker takes starve",
    from: "return dispatched and tonumber(since)",
    to: "return false and tonumber(since)",
  },
  {
    promise: "chain-3",
    wrong: "a key is chained although a worker has just got its job",
    from: "<= now - overdueJobAge",
    to: "<= now",
  },
]);

const ofInspect = script("ledger/scripts/not-run-since", [
  {
    promise: "claim-8",
    wrong: "a run that started at that time does not count",
    from: "at < tonumber(since)",
    to: "at <= tonumber(since)",
  },
  {
    promise: "claim-8",
    wrong: "a key that never ran is left out",
    from: "(not at or at <",
    to: "(at and at <",
  },
]);

/** Of the scripts that have a key run: wake, claim, take; and that say when it did. */
export const mutantsOfKeys: readonly Mutant[] = [
  ...ofVersions,
  ...ofWake,
  ...ofClaim,
  ...ofTake,
  ...ofInspect,
];
