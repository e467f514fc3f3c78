import { objectKey } from "@drover/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { copiesKept, listingBelieved } from "../ledger.ts";
import type { Claim, QueueMoment, Sight, Verdict, Wake } from "../work-queue.ts";
import {
  done,
  failed,
  key,
  keysIn,
  lease,
  leavingNothing,
  type LedgerUnderTest,
  settling,
} from "./ledger-under-test.ts";

/**
 * When a run gets a cached object with its claim. The key was woken once, and its run reported that it saw version 100.
 */
export function copiesContract(t: LedgerUnderTest): void {
  const [kind, uid] = ["buckets", "u1"];
  const sight = (version: number, fields: Partial<Sight> = {}): Sight => ({
    kind,
    uid,
    resourceVersion: String(version),
    ...fields,
  });
  const saw = (version: number, verdict: Verdict = done): Verdict => ({ ...verdict, saw: sight(version) });
  const leaves = (version: number, verdict: Verdict = done, fields: Partial<Sight> = {}): Verdict => ({
    ...verdict,
    saw: sight(version, { copy: `left at ${version}`, ...fields }),
  });
  const brought = (version: number, fields: Partial<Wake> = {}) =>
    t.wake(key, { uid, resourceVersion: String(version), copy: `copy of ${version}`, ...fields });
  let runs = 0;
  const begin = async (): Promise<Claim> => {
    await t.rung();
    return t.claim(key, `run ${++runs}`);
  };
  const end = (verdict: Verdict) => t.ledger.settle(key, `run ${runs}`, verdict);
  const given = async (): Promise<string | undefined> => (await begin()).copy;

  beforeEach(async () => {
    await brought(100);
    await begin();
    await end(saw(100));
  });

  describe("a copy", () => {
    it("goes to the run that answers its wake, once: who has lost the answer reads live", async () => {
      await brought(101);
      const { copy, ...claim } = await begin();
      expect(copy).toBe("copy of 101");
      expect(claim).toMatchObject({ versions: { buckets: "101" } });
      expect(await t.claim(key, `run ${runs}`)).toEqual(claim);
      await end(saw(101, { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await given()).toBeUndefined();
    });
    it("goes to who is handed the key, once", async () => {
      const [other] = keysIn("a", 1);
      if (other === undefined) throw new Error("no key");
      await t.enlist({ slots: 1 });
      await t.wake(other);
      await t.claim(other, "t");
      await brought(101);
      const settle = () => t.ledger.settle(other, "t", done, undefined, { token: "next", version: 0 });
      expect(await settle()).toMatchObject({ handed: { key, claim: { copy: "copy of 101" } } });
      const again = await settle();
      expect(again).toMatchObject({ handed: { key } });
      expect(again).not.toHaveProperty("handed.claim.copy");
      await t.ledger.settle(key, "next", saw(101));
      await t.wake(key, { kind: "pods" });
      expect(await given()).toBeUndefined();
    });
    it("that comes during a run is for the next one", async () => {
      await brought(101);
      expect(await given()).toBe("copy of 101");
      await brought(102);
      await end(saw(101));
      expect(await given()).toBe("copy of 102");
    });
    it("is still the newest when others are heard of", async () => {
      await brought(101);
      await t.wake(key, { kind: "pods", resourceVersion: "7000" });
      expect(await given()).toBe("copy of 101");
    });
  });

  describe("a copy that is left", () => {
    it("goes to the next run, whatever wakes it, and to no other", async () => {
      await brought(101);
      await begin();
      await end(leaves(101, { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await given()).toBe("left at 101");
      expect((await t.claim(key, `run ${runs}`)).copy).toBeUndefined();
      await end(leaves(105));
      await t.wake(key, { kind: "pods" });
      expect(await given()).toBe("left at 105");
      await end(saw(105));
      await t.wake(key, { kind: "pods" });
      expect(await given()).toBeUndefined();
    });
    it("gives way to what is heard", async () => {
      await brought(101);
      await begin();
      await end(leaves(101));
      await brought(102);
      expect(await given()).toBe("copy of 102");
      await end(leaves(102));
      await t.wake(key, { uid, resourceVersion: "103" });
      expect(await given()).toBeUndefined();
      await brought(104);
      await end(leaves(103));
      expect(await given()).toBe("copy of 104");
      await t.wake(key, { uid, resourceVersion: "105" });
      await end(leaves(104));
      expect(await given()).toBeUndefined();
    });
    it.each<[string, Verdict]>([
      ...leavingNothing.map(([how, verdict]) => [`that ${how}`, leaves(101, verdict)] as [string, Verdict]),
      ["that saw another object", leaves(101, done, { uid: "u2" })],
      ["of a kind whose versions are no numbers", leaves(101, done, { resourceVersion: "zebra" })],
    ])("is none of a run %s", async (_, verdict) => {
      await brought(101);
      await begin();
      await end(verdict);
      t.clock += 1; // the account is no longer throttled
      await t.wake(key, { kind: "pods", resourceVersion: "1", paused: false });
      expect(await given()).toBeUndefined();
    });
    it("is not for who forced the key, nor for another server", async () => {
      await brought(101);
      await begin();
      await end(leaves(101));
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await given()).toBeUndefined();
      await end(leaves(101));
      t.server = "another";
      await t.wake(key, { kind: "pods" });
      t.clock += settling;
      expect(await given()).toBeUndefined();
    });
    it("does not outlast what a run tells that the server did not know of", async () => {
      await brought(101);
      await begin();
      await end(leaves(101));
      t.server = "another";
      await t.ledger.renew([{ key, token: "elsewhere" }]);
      await t.ledger.settle(key, "elsewhere", saw(101));
      t.clock += settling;
      expect(await given()).toBeUndefined();
    });
  });

  describe("no copy is given", () => {
    it("that is older than what was heard", async () => {
      await brought(101);
      await t.wake(key, { uid, resourceVersion: "102" });
      expect(await given()).toBeUndefined();
      await end(saw(102));
      await brought(101);
      expect(await given()).toBeUndefined();
    });
    it("of what was told of without one since: it may be gone", async () => {
      await brought(101);
      await t.wake(key, { uid, resourceVersion: "101", reason: "Deleted" });
      expect(await given()).toBeUndefined();
      await end(leaves(101));
      await t.wake(key, { uid, resourceVersion: "100", reason: "Deleted" });
      expect(await given()).toBeUndefined();
    });
    it("of what was told of by an older version since: etcd may have been restored", async () => {
      await brought(101);
      await brought(99);
      expect(await given()).toBeUndefined();
      await end(leaves(101));
      await brought(99);
      expect(await given()).toBeUndefined();
    });
    it("that is older than what a run has seen, also where it comes later", async () => {
      await brought(101);
      await begin();
      await brought(102);
      await end(saw(103));
      const claim = await begin();
      expect(claim.copy).toBeUndefined();
      expect(claim.versions).toEqual({ buckets: "103" });
      await end(saw(103));
      await brought(102);
      expect(await given()).toBeUndefined();
      await end(saw(103));
      await brought(104);
      expect(await given()).toBe("copy of 104");
    });
    it("after a run that does not know what it has written", async () => {
      await brought(101);
      await begin();
      await end(done);
      await brought(102);
      expect(await given()).toBeUndefined();
      await end(saw(102));
      await brought(103);
      expect(await given()).toBe("copy of 103");
    });
    it("after a run that ended without a verdict", async () => {
      await brought(101);
      await begin();
      await brought(102);
      t.clock += lease;
      expect(await given()).toBeUndefined();
    });
    it("of another object than the one that the run has seen", async () => {
      await brought(101, { uid: "u2" });
      expect(await given()).toBe("copy of 101");
      await end(saw(100));
      await brought(102, { uid: "u2" });
      expect(await given()).toBeUndefined();
    });
    it("of an object that came before the one that is there", async () => {
      await brought(101);
      await t.wake(key, { uid: "u2", resourceVersion: "102" });
      await brought(102);
      expect(await given()).toBeUndefined();
    });
    it("of a kind whose versions are no numbers", async () => {
      await brought(101, { resourceVersion: "zebra" });
      expect(await given()).toBeUndefined();
    });
    it("on another server, or with other data, before a run there has told what it saw", async () => {
      const restore = await t.backup();
      await brought(101);
      t.server = "another";
      await t.rung();
      t.clock += settling;
      expect(await given()).toBeUndefined();
      await end(saw(101));
      await brought(102);
      await restore();
      t.server = "a third";
      await brought(103);
      t.clock += settling;
      expect(await given()).toBeUndefined();
    });
    it("to who forced the key", async () => {
      await brought(101);
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await given()).toBeUndefined();
    });
  });

  describe("before a run has told what it saw, a copy is given", () => {
    const fresh = objectKey({ namespace: "a", name: "fresh" });
    const moment = async (ago = 0): Promise<QueueMoment> => {
      const { era, at } = await t.ledger.moment();
      return { era, at: at - ago };
    };
    const listed = (newestAfter?: QueueMoment) =>
      t.wake(fresh, { uid, resourceVersion: "100", copy: "as listed", ...(newestAfter && { newestAfter }) });
    const givenFirst = async (): Promise<string | undefined> => {
      await t.rung();
      return (await t.claim(fresh, `run ${++runs}`)).copy;
    };
    const endOfFirst = (verdict: Verdict) => t.ledger.settle(fresh, `run ${runs}`, verdict);

    it("of a listing that was asked for in these data, once", async () => {
      await listed(await moment());
      expect(await givenFirst()).toBe("as listed");
      await endOfFirst(done);
      await listed(await moment());
      expect(await givenFirst()).toBeUndefined();
    });
    it("of what changes after it was listed", async () => {
      await listed(await moment());
      await t.wake(fresh, { uid, resourceVersion: "101", copy: "changed" });
      expect(await givenFirst()).toBe("changed");
    });
    it("and none of what no listing shows", async () => {
      await listed();
      expect(await givenFirst()).toBeUndefined();
    });
    it("and none of a listing that was asked for before these data", async () => {
      const before = await moment();
      t.server = "another";
      await listed(before);
      t.clock += settling;
      expect(await givenFirst()).toBeUndefined();
    });
    it("and none of one that was asked for before a key may have been forgotten", async () => {
      await listed(await moment(listingBelieved));
      expect(await givenFirst()).toBeUndefined();
      await endOfFirst({ kind: "gone" });
      await listed(await moment());
      expect(await givenFirst()).toBeUndefined();
    });
    it("but not while a run lasts, nor after one that ended without a verdict", async () => {
      await listed();
      await givenFirst();
      await listed(await moment());
      t.clock += lease;
      await listed(await moment());
      expect(await givenFirst()).toBeUndefined();
    });
    it("but not after a run that was under way when the server took over", async () => {
      t.server = "another";
      await t.ledger.renew([{ key: fresh, token: "elsewhere" }]);
      t.clock += settling;
      const since = await moment();
      t.clock += lease;
      await t.rung();
      await listed(since);
      expect(await givenFirst()).toBeUndefined();
    });
    it("of a listing on a server that took over, as soon as it has settled", async () => {
      await listed(await moment());
      t.server = "another";
      expect(await t.ledger.moment()).toMatchObject({ at: t.clock, settlesIn: settling });
      t.clock += settling;
      expect(await t.ledger.moment()).toMatchObject({ at: t.clock, settlesIn: 0 });
      await listed(await moment());
      expect(await givenFirst()).toBe("as listed");
    });
  });

  describe("no copy is kept", () => {
    /** The key waits, and a wake has already run it early in its backoff window. */
    const wait = async (): Promise<void> => {
      await brought(101);
      await begin();
      await brought(102);
      await end(saw(101, failed));
      await begin();
      await brought(103);
      await end(saw(102, failed));
    };
    it("while the key waits", async () => {
      await wait();
      t.clock += 10_000;
      expect(await given()).toBeUndefined();
    });
    it("that comes while the key waits", async () => {
      await wait();
      await brought(104);
      t.clock += 10_000;
      expect(await given()).toBeUndefined();
    });
    it("while more keys are ready than are worth it", { timeout: 60_000 }, async () => {
      await t.enlist({ slots: 0 });
      const copy = "c".repeat(65_536);
      const most = copiesKept / copy.length;
      await t.wake(key, { uid, resourceVersion: "101", copy });
      const wakes = keysIn("full", most + 1).map((of): Wake => ({
        key: of,
        kind,
        resourceVersion: "1",
        reason: "Added",
        class: "listing",
      }));
      for (let i = 0; i < wakes.length; i += 1_000) await t.ledger.wake(wakes.slice(i, i + 1_000));
      await t.wake(key, { uid, resourceVersion: "102", copy });
      await t.enlist({ slots: 2 * most });
      await t.rung();
      const claim = await t.claim(key, "t");
      expect(claim.copy).toBeUndefined();
      expect(claim.versions).toEqual({ buckets: "102" });
      await t.ledger.settle(key, "t", saw(102));
      await brought(103); // its object is small
      await t.rung();
      expect(await t.claim(key, "u")).toMatchObject({ copy: "copy of 103" });
    });
  });
}
