import { type Mutant, script } from "./mutant.ts";

const ofOrder = [
  ...script("ledger/rules/dispatch-ready", [
    {
      promise: "job-6",
      wrong: "jobs without end",
      from: "math.max(atLeast or 0, idle)",
      to: "256",
    },
    {
      promise: "job-6",
      wrong: "jobs for slots that are busy",
      from: "math.max(1, setting('slots', 1)) - redis.call('ZCARD', LEASES)",
      to: "math.max(1, setting('slots', 1))",
    },
    {
      promise: "job-6",
      wrong: "no job while all slots seem busy",
      from: "math.max(atLeast or 0, idle)",
      to: "idle",
    },
    {
      promise: "job-6",
      wrong: "keys with a job are not counted",
      from: "- redis.call('ZCARD', DISPATCHED)",
      to: "",
    },
    {
      promise: "job-8",
      wrong: "a key that was chained gets one job after the other",
      from: "if not e.f.job then -- else",
      to: "if true then -- else",
    },
    {
      promise: "order-1",
      wrong: "a key that is woken alone goes before keys whose turn it is",
      from: "if redis.call('EXISTS', flows .. 'change', flows .. 'listing', flows .. 'resync', THROTTLED) > 0 then return false end",
      to: "",
    },
    {
      promise: "order-5",
      wrong: "a key that is woken alone does not count for the rate",
      from: "not mayDispatch() or control.limited == '1' then",
      to: "not mayDispatch() then",
    },
    {
      promise: "job-6",
      wrong: "a key that is woken alone is assigned although all slots are busy",
      from: "return roomFor() > 0 and assign(e)",
      to: "return assign(e)",
    },
    {
      promise: "order-1",
      wrong: "a key that is woken alone goes before a key whose timer has ended",
      from: "'LIMIT', 0, 1) > 0 then return false end",
      to: "'LIMIT', 0, 1) > 1 then return false end",
    },
    {
      promise: "order-5",
      wrong: "a controller's rate is not kept",
      from: "while room > 0 and limitOpens('controller') <= now do",
      to: "while room > 0 do",
    },
    {
      promise: "operator-1",
      wrong: "a paused controller rings",
      from: "return recovered() and control.paused ~= '1' end",
      to: "return recovered() end",
    },
    {
      promise: "server-2",
      wrong: "a new server rings at once",
      from: "return recovered() and control.paused ~= '1' end",
      to: "return control.paused ~= '1' end",
    },
    {
      promise: "dispatch-1",
      wrong: "timers never fire",
      from: "becomeReady(e, since)\n      save(e)",
      to: "save(e)",
    },
    {
      promise: "job-1",
      wrong: "a job's number comes again",
      from: "control.dispatches = setting('dispatches', 0) + 1",
      to: "control.dispatches = 1",
    },
  ]),
  ...script("ledger/rules/order", [
    {
      promise: "order-1",
      wrong: "resyncs first",
      from: "local usualOrder = { 'change', 'listing', 'resync' }",
      to: "local usualOrder = { 'resync', 'listing', 'change' }",
    },
    {
      promise: "order-3",
      wrong: "a namespace keeps its turn",
      from: "redis.call('ZADD', flows, turn(), flow)\n      return",
      to: "return",
    },
    {
      promise: "order-3",
      wrong: "a new flow goes first",
      from: "e.f.queue) then\n    redis.call('ZADD', P .. ':flows:' .. class, 'NX', turn(), flow)",
      to: "e.f.queue) then\n    redis.call('ZADD', P .. ':flows:' .. class, 'NX', 0, flow)",
    },
    {
      promise: "order-4",
      wrong: "resyncs starve",
      from: "classOrder[setting('dispatches', 0) % 8] or usualOrder",
      to: "usualOrder",
    },
    {
      promise: "order-5",
      wrong: "an account's rate is not kept",
      from: "if account then spend('account ' .. account) end",
      to: "",
    },
    { promise: "order-5", wrong: "no burst", from: "- (tonumber(burst) - 1) * tonumber(every)", to: "" },
    {
      promise: "operator-1",
      wrong: "a paused object is rung",
      from: "  if pausedObject(e) then return enter(e, 'paused', since) end\n",
      to: "",
    },
    {
      promise: "operator-1",
      wrong: "a paused namespace is rung",
      from: "if pausedBy('namespace ' .. namespace) then return '+inf' end",
      to: "",
    },
  ]),
];

const ofTheRest = [
  ...script("ledger/scripts/dispatch-again", [
    {
      promise: "job-8",
      wrong: "a job that was lost serves for ever",
      from: "  clear(e, 'job')\n  becomeReady(e, since)",
      to: "  becomeReady(e, since)",
    },
    {
      promise: "dispatch-4",
      wrong: "a job that was used meanwhile is added again",
      from: "if since and (e.f.job or '0') == jobNumber then",
      to: "if true then since = since or now",
    },
    {
      promise: "dispatch-4",
      wrong: "a newer job is added again for an older one",
      from: "if since and (e.f.job or '0') == jobNumber then",
      to: "if since then",
    },
  ]),
  ...script("ledger/scripts/dispatch", [
    {
      promise: "dispatch-2",
      wrong: "ended leases are left alone",
      from: "if recovered() then\n  for",
      to: "if false then\n  for",
    },
    {
      promise: "dispatch-5",
      wrong: "a lease reaches an hour into the future",
      from: "clampLeases()\nif recovered()",
      to: "if recovered()",
    },
  ]),
  ...script("ledger/scripts/unclaimed-jobs", [
    {
      promise: "dispatch-3",
      wrong: "lost jobs are not looked for",
      from: "add('-inf', now - minAge)",
      to: "",
    },
    {
      promise: "dispatch-5",
      wrong: "a job added in the future is never lost",
      from: "add(now + 1, '+inf') -- the clock went back",
      to: "",
    },
  ]),
  ...script("ledger/scripts/renew", [
    {
      promise: "claim-6",
      wrong: "a renewal changes nothing",
      from: "e.f['until'] = now + lease\n    if",
      to: "if",
    },
    {
      promise: "claim-6",
      wrong: "anybody renews",
      from: "local ours = e.f.token == mine.token and",
      to: "local ours =",
    },
    { promise: "claim-6", wrong: "an ended lease is renewed", from: "and number(e, 'until') > now", to: "" },
    {
      promise: "server-3",
      wrong: "runs cannot announce themselves",
      from: "local announces = not recovered() and e.f.announced ~= control.incarnation",
      to: "local announces = false",
    },
    {
      promise: "server-3",
      wrong: "the last to announce wins",
      from: "local announces = not recovered() and e.f.announced ~= control.incarnation",
      to: "local announces = not recovered()",
    },
    {
      promise: "server-3",
      wrong: "runs announce themselves too late",
      from: "local announces = not recovered() and",
      to: "local announces =",
    },
    {
      promise: "server-3",
      wrong: "a run that has settled announces itself",
      from: " and e.f.settled ~= mine.token",
      to: "",
    },
    {
      promise: "object-5",
      wrong: "the version that another run read counts for a run that announced itself",
      from: "'claim', 'observedIn')",
      to: "'claim')",
    },
  ]),
  ...script("ledger/scripts/register-worker", [
    {
      promise: "job-6",
      wrong: "workers that are gone keep their slots",
      from: "if not upTo or tonumber(upTo) <= now then",
      to: "if not upTo then",
    },
    {
      promise: "order-7",
      wrong: "a rate stays that no worker registers",
      from: "redis.call('HDEL', LIMITS, known[i])",
      to: "redis.call('HLEN', LIMITS)",
    },
    {
      promise: "order-7",
      wrong: "a clock that went back closes a limit",
      from: "now + limit.burst * limit.every)",
      to: "math.huge)",
    },
  ]),
  ...script("ledger/rules/adoption", [
    {
      promise: "server-4",
      wrong: "dispatched keys are not dispatched again",
      from: "becomeReady(e, now)\n    save(e)",
      to: "enter(e, 'dispatched', now)\n    save(e)",
    },
    {
      promise: "server-2",
      wrong: "no recovery window",
      from: "control.claimsFrom = now + recoveryWindow\n",
      to: "control.claimsFrom = now\n",
    },
    { promise: "server-1", wrong: "the mark is not renewed", from: "control.server = server\n", to: "" },
  ]),
  ...script("ledger/rules/preamble", [
    {
      promise: "dispatch-5",
      wrong: "a clock that goes back settles for long",
      from: "and math.min(setting('claimsFrom', 0), now + recoveryWindow) or 0",
      to: "and setting('claimsFrom', 0) or 0",
    },
    {
      promise: "server-8",
      wrong: "a strange key stops its neighbours",
      from: "  quarantine(name)\n  return (command",
      to: "  error(reply)\n  return (command",
    },
  ]),
  ...script("ledger/rules/entry", [
    {
      promise: "server-3",
      wrong: "a gone key that an unknown run brings back is forgotten",
      from: "if e.was.settled and not e.was.wakes and e.f.state then",
      to: "if false then",
    },
    {
      promise: "server-4",
      wrong: "old leases reach far",
      from: "    redis.call('HSET', P .. ':key:' .. key, 'until', now + lease)\n",
      to: "",
    },
  ]),
  ...script("ledger/scripts/repair-sets", [
    {
      promise: "server-8",
      wrong: "a counter that is none stops every job",
      from: "\n    quarantineUnless(counter, 'none')",
      to: "",
    },
    {
      promise: "server-8",
      wrong: "garbage in BullMQ's place stops everything",
      from: "  quarantineUnless(P .. ':jobs:' .. name, wanted)\n",
      to: "",
    },
  ]),
  ...script("ledger/scripts/repair", [
    {
      promise: "server-8",
      wrong: "a key that lost its place is left alone",
      from: "  becomeReady(e, now)\n",
      to: "",
    },
    {
      promise: "server-8",
      wrong: "a flow that lost its turn is left alone",
      from: "return redis.call('ZSCORE', P .. ':flows:' .. class, flow) or redis.call('ZSCORE', THROTTLED, e.f.queue)",
      to: "return true",
    },
  ]),
];

/** Of whose turn it is, and of what keeps the ledger going: dispatcher, leases, pauses, servers. */
export const mutantsOfOrder: readonly Mutant[] = [...ofOrder, ...ofTheRest];
