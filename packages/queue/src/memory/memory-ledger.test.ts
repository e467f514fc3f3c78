import { describe, expect, it } from "vitest";
import {
  done,
  key,
  lease,
  recoveryWindow,
  outcomesExceptGone,
} from "../ledger/contract/ledger-under-test.ts";
import { ledgerContract } from "../ledger/contract/ledger.contract.ts";
import { openMemoryLedger } from "./memory-ledger.ts";
import type { LedgerData } from "./rules/ledger-data.ts";
import type { RunOutcome, Wake } from "../work-queue/work-queue.ts";

ledgerContract((options) => {
  const ledger = openMemoryLedger(options);
  const restore = async (data?: LedgerData): Promise<void> => {
    ledger.restore(data);
    await Promise.resolve();
  };
  return {
    ledger,
    backup() {
      const data = ledger.backup();
      return Promise.resolve(() => restore(data));
    },
    loseAll: () => restore(),
  };
});

const heard: Wake = { key, kind: "buckets", resourceVersion: "1", reason: "Added", class: "change" };

describe("forgetting", () => {
  const past = { trigger: [], duration: 1, verdict: "gone" } as const;
  const goneAt = async (age: { ms: number }, outcome: RunOutcome = { kind: "gone" }, during?: Wake) => {
    let now = 1_000_000;
    const ledger = openMemoryLedger({ lease, recoveryWindow, now: () => now, expiryNow: () => age.ms });
    await ledger.wake([heard]);
    now += recoveryWindow;
    await ledger.dispatch();
    await ledger.claim(key, "t");
    if (during) await ledger.wake([during]);
    await ledger.settle(key, "t", outcome, past);
    return ledger;
  };
  it("keeps the answer and the history of what is gone for a minute", async () => {
    const age = { ms: 5_000 };
    const ledger = await goneAt(age);
    age.ms += 59_999;
    expect(await ledger.inspect(key)).toMatchObject({ key: { state: "idle" }, runs: [past] });
    expect(await ledger.settle(key, "t", done)).toMatchObject({ kind: "settled" });
    age.ms += 1;
    expect(await ledger.inspect(key)).toMatchObject({ key: { state: "unknown" }, runs: [] });
    expect(await ledger.settle(key, "t", done)).toEqual({ kind: "stale" });
    expect(ledger.backup().entries.size).toBe(0);
  });
  it("keeps a cached object and lists that a run leaves for ten seconds, or as long as it says", async () => {
    for (const [ms, keepFor, cachedObject, cachedLists] of [
      [9_999, undefined, "{}", { stored: "[]", deltas: ["n"] }],
      [10_000, undefined, undefined, undefined],
      [10_000, 20_000, "{}", { stored: "[]", deltas: ["n"] }],
      [20_000, 20_000, undefined, undefined],
    ] as const) {
      const age = { ms: 5_000 };
      let now = 1_000_000;
      const ledger = openMemoryLedger({ lease, recoveryWindow, now: () => now, expiryNow: () => age.ms });
      await ledger.wake([{ ...heard, uid: "u1" }]);
      now += recoveryWindow;
      await ledger.dispatch();
      await ledger.claim(key, "t");
      const observed = {
        kind: "buckets",
        uid: "u1",
        resourceVersion: "1",
        cachedObject: "{}",
        cachedLists: "[]",
        seen: ["s"],
        ...(keepFor !== undefined && { keepFor }),
      };
      await ledger.settle(key, "t", { kind: "done", observed });
      age.ms += ms;
      await ledger.wake([{ ...heard, kind: "pods", delta: "seen" }]);
      expect((await ledger.inspect(key)).key).toMatchObject({
        state: cachedLists === undefined ? "dispatched" : "idle",
      });
      await ledger.wake([{ ...heard, kind: "pods", delta: "n" }]);
      expect(ledger.backup().entries.get(key)).toMatchObject({ hasLeftLists: cachedLists !== undefined });
      expect(await ledger.claim(key, "t2")).toMatchObject({
        claimed: { claim: { cachedObject, cachedLists } },
      });
    }
  });
  it.each([
    ...outcomesExceptGone,
    ["found it gone, and was woken meanwhile", { kind: "gone" } as const, heard] as const,
  ])("keeps a key whose run %s", async (_, outcome, during?: Wake) => {
    const age = { ms: 0 };
    const ledger = await goneAt(age, outcome, during);
    const before = await ledger.inspect(key);
    age.ms += 3_600_000;
    expect(await ledger.inspect(key)).toEqual(before);
    expect(before).toMatchObject({ runs: [past] });
    expect(before.key.state).not.toBe("unknown");
    if (during) expect(before.key).toMatchObject({ state: "dispatched", reasons: [during.reason] });
  });
  it("does not forget what was heard of again", async () => {
    const age = { ms: 0 };
    const ledger = await goneAt(age);
    await ledger.wake([heard]);
    age.ms += 60_000;
    expect(await ledger.inspect(key)).toMatchObject({ key: { state: "dispatched" }, runs: [past] });
  });
});

it("a backup is of that moment, and may be restored more than once", async () => {
  const ledger = openMemoryLedger({ lease, recoveryWindow });
  await ledger.wake([heard]);
  const backup = ledger.backup();
  for (let times = 0; times < 2; times++) {
    await ledger.wake([{ ...heard, reason: "Modified" }]);
    ledger.restore(backup);
    expect((await ledger.inspect(key)).key.reasons).toEqual(["Added"]);
  }
});
