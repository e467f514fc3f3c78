import { luaAssembler } from "../redis/lua/assemble-lua.ts";
import { defineLuaScript } from "../redis/lua/lua-script.ts";
import { defineLedgerScript, ledgerLua } from "./ledger-script.ts";

/** The scripts of the ledger. The files in `scripts/` describe them, their arguments and their answers. */
export const ledgerScripts = {
  wake: defineLedgerScript("wake", "wake", ["wakes"]),
  claim: defineLedgerScript("claim", "claim", ["key", "token", "askedAt", "version", "jitter"]),
  renew: defineLedgerScript("renew", "renew", ["leases"]),
  settle: defineLedgerScript("settle", "settle", [
    ...["key", "token", "verdict", "after", "account", "error", "record", "ms", "kept", "forget"],
    ...["jitter", "next", "worker", "askedAt", "version"],
    ...["observedKind", "observedUid", "observedVersion", "cachedObject", "cachedLists", "seen", "keepFor"],
  ]),
  advertise: defineLedgerScript("advertise", "advertise", [
    "worker",
    "askedAt",
    "version",
    "tokens",
    "advertises",
  ]),
  dispatch: defineLedgerScript("dispatch", "dispatch", ["jitter"]),
  unclaimedJobs: defineLedgerScript("unclaimed-jobs", "unclaimed-jobs", ["minAge"]),
  dispatchAgain: defineLedgerScript("dispatch-again", "dispatch-again", ["key", "jobNumber"]),
  registerWorker: defineLedgerScript("register-worker", "register-worker", [
    ...["worker", "slots", "version", "lasts", "first", "longest", "attempts", "limits", "scripts"],
  ]),
  pause: defineLedgerScript("pause", "pause", ["scope", "on", "by"]),
  firstIncarnation: defineLedgerScript("first-incarnation", "first-incarnation", []),
  time: defineLedgerScript("time", "time", []),
  count: defineLedgerScript("count", "count", []),
  notRunSince: defineLedgerScript("not-run-since", "not-run-since", ["keys", "since"]),
  list: defineLedgerScript("list", "list", ["state", "limit", "after"]),
  inspect: defineLedgerScript("inspect", "inspect", ["key"]),
  repairSets: defineLedgerScript("repair-sets", "repair-sets", []),
  repair: defineLedgerScript("repair", "repair", ["names"]),
  discard: defineLedgerScript("discard", "discard", ["member"]),
};

/** Stores the keys that mapping code returned, for `MappedKeys`. */
export const storeMappedKeysScript = defineLuaScript(
  "remember the keys that a key named",
  ["key", "token", "named"],
  luaAssembler(ledgerLua)("ledger/scripts/store-mapped-keys"),
);
