import { type Mutant, script } from "./mutant.ts";

const ofSettle = script("ledger/scripts/settle", [
  {
    promise: "chain-1",
    wrong: "nothing is chained",
    from: "next ~= '' and chainNext",
    to: "false and chainNext",
  },
  {
    promise: "chain-1",
    wrong: "the settled key's own entry is not the one that is chained",
    from: "chainNext(e, next, askedAt, version)",
    to: "chainNext({ key = key, f = {}, was = {} }, next, askedAt, version)",
  },
  {
    promise: "chain-4",
    wrong: "a lost answer loses the chained key",
    from: "e.f.chained = chained[4]\n",
    to: "",
  },
  {
    promise: "chain-4",
    wrong: "a repeated call gets a key that another worker runs",
    from: "other and held(other) and other.f.token == next and other.f.claim",
    to: "other and held(other) and other.f.claim",
  },
  {
    promise: "chain-4",
    wrong: "a repeated call gets a key whose run has ended",
    from: "other and held(other) and",
    to: "other and",
  },
  {
    promise: "settle-1",
    wrong: "any token settles",
    from: "local unknown = e.f.token ~= token",
    to: "local unknown = false",
  },
  {
    promise: "settle-2",
    wrong: "a repeat is stale",
    from: "if unknown and e.f.settled == token then return { 'settled', dueIn(e), chainedBefore(e) } end",
    to: "",
  },
  {
    promise: "settle-3",
    wrong: "a wake during the run is forgotten",
    from: "or number(e, 'wakes') > number(e, 'answers')",
    to: "",
  },
  {
    promise: "settle-4",
    wrong: "a wake during a failing run does not pierce",
    from: "elseif wasWoken and number(e, 'wokenEarly') == 0 then",
    to: "elseif false then",
  },
  {
    promise: "settle-5",
    wrong: "a run that pierced is pierced again",
    from: "elseif wasWoken and number(e, 'wokenEarly') == 0 then",
    to: "elseif wasWoken then",
  },
  {
    promise: "settle-7",
    wrong: "success does not reset failures",
    from: "clear(e, 'fails', 'conflicts', 'notBefore', 'wokenEarly', 'error', 'replaced')",
    to: "clear(e, 'error', 'replaced')",
  },
  {
    promise: "settle-9",
    wrong: "terminal retries",
    from: "enter(e, 'parked', now)\nelseif after",
    to: "waitUntil(e, now + 1000, 'x')\nelseif after",
  },
  {
    promise: "settle-9",
    wrong: "terminal keeps its window",
    from: "  clear(e, 'notBefore', 'wokenEarly')\n  enter(e, 'parked', now)\nelseif",
    to: "  enter(e, 'parked', now)\nelseif",
  },
  {
    promise: "settle-11",
    wrong: "a conflict is a failure",
    from: "if e.f.conflicts > 8 then",
    to: "if true then",
  },
  {
    promise: "settle-11",
    wrong: "conflicts go on for ever",
    from: "if e.f.conflicts > 8 then",
    to: "if false then",
  },
  {
    promise: "settle-12",
    wrong: "an interrupted run is forgotten",
    from: "verdict == 'interrupted' or",
    to: "",
  },
  {
    promise: "settle-13",
    wrong: "a gone key stays",
    from: "  redis.call('PEXPIRE', P .. ':key:' .. key, forget)\n",
    to: "",
  },
  {
    promise: "settle-13",
    wrong: "its history stays",
    from: "  redis.call('PEXPIRE', history, forget)\n",
    to: "",
  },
  {
    promise: "settle-15",
    wrong: "a key is never parked for failing",
    from: "number(e, 'fails') >= attempts and not wasWoken",
    to: "false",
  },
  {
    promise: "settle-15",
    wrong: "a wake during a failing run is forgotten",
    from: "number(e, 'fails') >= attempts and not wasWoken",
    to: "number(e, 'fails') >= attempts",
  },
  { promise: "order-6", wrong: "an account is not closed", from: "control.limited = '1'\nend", to: "end" },
  {
    promise: "order-6",
    wrong: "the shorter of two waits wins",
    from: "math.max(now + after, tonumber(redis.call('HGET', LIMITS, closed) or 0) or 0)",
    to: "now + after",
  },
  { promise: "operator-4", wrong: "history grows", from: "  read(history, 'LTRIM', 0, kept - 2)\n", to: "" },
  {
    promise: "server-3",
    wrong: "an unknown run's outcome is refused",
    from: "if unknown and (recovered() or e.f.announced == control.incarnation) then",
    to: "if unknown then",
  },
  {
    promise: "server-3",
    wrong: "a wake that may have come is not examined",
    from: "local wasWoken = unknown or not e.f.answers or",
    to: "local wasWoken = e.f.answers and",
  },
]);

const ofBackoff = script("ledger/rules/backoff", [
  { promise: "claim-5", wrong: "a run that died counts nothing", from: "    e.f.fails = 1\n", to: "" },
  {
    promise: "claim-5",
    wrong: "an object that kills every worker loops",
    from: "waitUntil(e, number(e, 'notBefore'), 'lease ended')",
    to: "waitUntil(e, now, 'lease ended')",
  },
  {
    promise: "settle-6",
    wrong: "failures grow within a window",
    from: "if number(e, 'notBefore') > now then return end",
    to: "",
  },
  { promise: "settle-8", wrong: "windows do not grow", from: "2 ^ math.min(fails - 1, 40)", to: "1" },
  {
    promise: "settle-8",
    wrong: "windows have no cap",
    from: "math.min(setting('longest', 300000), setting('first', 500)",
    to: "math.max(0, setting('first', 500)",
  },
  { promise: "settle-8", wrong: "no jitter", from: "(0.5 + tonumber(jitter) / 2)", to: "1" },
]);

/** Of the scripts that end a run: settle, and how failures are tried again. */
export const mutantsOfSettling: readonly Mutant[] = [...ofSettle, ...ofBackoff];
