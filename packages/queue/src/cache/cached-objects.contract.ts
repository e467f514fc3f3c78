import { objectKey } from "@drover/controller";
import { beforeEach, describe, expect, it } from "vitest";
import { maxCachedObjectBytes, maxListingAge } from "./cache-bounds.ts";
import type { Claim, QueueTime, ObservedVersion, RunOutcome, Wake } from "../work-queue/work-queue.ts";
import {
  done,
  failed,
  key,
  keysIn,
  lease,
  outcomesLeavingNothing,
  type LedgerUnderTest,
  recoveryWindow,
} from "../ledger/contract/ledger-under-test.ts";

/**
 * When a run gets a cached object with its claim. The key was woken once, and its run reported that it saw version 100.
 */
export function cachedObjectsContract(t: LedgerUnderTest): void {
  const [kind, uid] = ["buckets", "u1"];
  const observedAt = (version: number, fields: Partial<ObservedVersion> = {}): ObservedVersion => ({
    kind,
    uid,
    resourceVersion: String(version),
    ...fields,
  });
  const outcomeAt = (version: number, outcome: RunOutcome = done): RunOutcome => ({
    ...outcome,
    observed: observedAt(version),
  });
  const leaves = (
    version: number,
    outcome: RunOutcome = done,
    fields: Partial<ObservedVersion> = {},
  ): RunOutcome => ({
    ...outcome,
    observed: observedAt(version, { cachedObject: `left at ${version}`, ...fields }),
  });
  const wakeWithObject = (version: number, fields: Partial<Wake> = {}) =>
    t.wake(key, { uid, resourceVersion: String(version), cachedObject: `copy of ${version}`, ...fields });
  let runs = 0;
  const begin = (): Promise<Claim> => t.begin(key, `run ${++runs}`);
  const end = (outcome: RunOutcome) => t.ledger.settle(key, `run ${runs}`, outcome);
  const claimedObject = async (): Promise<string | undefined> => (await begin()).cachedObject;

  /** A key that no run has had. */
  const fresh = objectKey({ namespace: "a", name: "fresh" });
  const time = async (ago = 0): Promise<QueueTime> => {
    const { incarnation, at } = await t.ledger.time();
    return { incarnation, at: at - ago };
  };

  beforeEach(async () => {
    await wakeWithObject(100);
    await begin();
    await end(outcomeAt(100));
  });

  describe("a cached object", () => {
    it("goes to the run that answers its wake, once: who has lost the answer reads live", async () => {
      await wakeWithObject(101);
      const { cachedObject, ...claim } = await begin();
      expect(cachedObject).toBe("copy of 101");
      expect(claim).toMatchObject({ versions: { buckets: "101" } });
      expect(await t.claim(key, `run ${runs}`)).toEqual(claim);
      await end(outcomeAt(101, { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await claimedObject()).toBeUndefined();
    });
    it("goes to the run that the key is chained to, once", async () => {
      const [other] = keysIn("a", 1);
      if (other === undefined) throw new Error("no key");
      await t.registerWorker({ slots: 1 });
      await t.wakeAndClaim(other, "t");
      await wakeWithObject(101);
      const settle = () => t.ledger.settle(other, "t", done, undefined, { token: "next", version: 0 });
      expect(await settle()).toMatchObject({ chained: { key, claim: { cachedObject: "copy of 101" } } });
      const again = await settle();
      expect(again).toMatchObject({ chained: { key } });
      expect(again).not.toHaveProperty("chained.claim.cachedObject");
      await t.ledger.settle(key, "next", outcomeAt(101));
      await t.wake(key, { kind: "pods" });
      expect(await claimedObject()).toBeUndefined();
    });
    it("that comes during a run is for the next one", async () => {
      await wakeWithObject(101);
      expect(await claimedObject()).toBe("copy of 101");
      await wakeWithObject(102);
      await end(outcomeAt(101));
      expect(await claimedObject()).toBe("copy of 102");
    });
    it("is still the newest when others are heard of", async () => {
      await wakeWithObject(101);
      await t.wake(key, { kind: "pods", resourceVersion: "7000" });
      expect(await claimedObject()).toBe("copy of 101");
    });
  });

  describe("a cached object that is left", () => {
    it("goes to the next run, whatever wakes it, and to no other", async () => {
      await wakeWithObject(101);
      await begin();
      await end(leaves(101, { kind: "wait", after: 10 }));
      t.clock += 10;
      expect(await claimedObject()).toBe("left at 101");
      expect((await t.claim(key, `run ${runs}`)).cachedObject).toBeUndefined();
      await end(leaves(105));
      await t.wake(key, { kind: "pods" });
      expect(await claimedObject()).toBe("left at 105");
      await end(outcomeAt(105));
      await t.wake(key, { kind: "pods" });
      expect(await claimedObject()).toBeUndefined();
    });
    it("gives way to what is heard", async () => {
      await wakeWithObject(101);
      await begin();
      await end(leaves(101));
      await wakeWithObject(102);
      expect(await claimedObject()).toBe("copy of 102");
      await end(leaves(102));
      await t.wake(key, { uid, resourceVersion: "103" });
      expect(await claimedObject()).toBeUndefined();
      await wakeWithObject(104);
      await end(leaves(103));
      expect(await claimedObject()).toBe("copy of 104");
      await t.wake(key, { uid, resourceVersion: "105" });
      await end(leaves(104));
      expect(await claimedObject()).toBeUndefined();
    });
    it.each<[string, RunOutcome]>([
      ...outcomesLeavingNothing.map(
        ([how, outcome]) => [`that ${how}`, leaves(101, outcome)] as [string, RunOutcome],
      ),
      ["that saw another object", leaves(101, done, { uid: "u2" })],
      ["of a kind whose versions are no numbers", leaves(101, done, { resourceVersion: "zebra" })],
    ])("is none of a run %s", async (_, outcome) => {
      await wakeWithObject(101);
      await begin();
      await end(outcome);
      t.clock += 1; // the account is no longer throttled
      await t.wake(key, { kind: "pods", resourceVersion: "1", paused: false });
      expect(await claimedObject()).toBeUndefined();
    });
    it("is not for who forced the key, nor for another server", async () => {
      await wakeWithObject(101);
      await begin();
      await end(leaves(101));
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await claimedObject()).toBeUndefined();
      await end(leaves(101));
      t.server = "another";
      await t.wake(key, { kind: "pods" });
      t.clock += recoveryWindow;
      expect(await claimedObject()).toBeUndefined();
    });
    it("does not outlast what a run tells that the server did not know of", async () => {
      await wakeWithObject(101);
      await begin();
      await end(leaves(101));
      t.server = "another";
      await t.ledger.renew([{ key, token: "elsewhere" }]);
      await t.ledger.settle(key, "elsewhere", outcomeAt(101));
      t.clock += recoveryWindow;
      expect(await claimedObject()).toBeUndefined();
    });
  });

  describe("no cached object is given", () => {
    it("that is older than what was heard", async () => {
      await wakeWithObject(101);
      await t.wake(key, { uid, resourceVersion: "102" });
      expect(await claimedObject()).toBeUndefined();
      await end(outcomeAt(102));
      await wakeWithObject(101);
      expect(await claimedObject()).toBeUndefined();
    });
    it("of what was told of without one since: it may be gone", async () => {
      await wakeWithObject(101);
      await t.wake(key, { uid, resourceVersion: "101", reason: "Deleted" });
      expect(await claimedObject()).toBeUndefined();
      await end(leaves(101));
      await t.wake(key, { uid, resourceVersion: "100", reason: "Deleted" });
      expect(await claimedObject()).toBeUndefined();
    });
    it("of what was told of by an older version since: etcd may have been restored", async () => {
      await wakeWithObject(101);
      await wakeWithObject(99);
      expect(await claimedObject()).toBeUndefined();
      await end(leaves(101));
      await wakeWithObject(99);
      expect(await claimedObject()).toBeUndefined();
    });
    it("that is older than what a run has seen, also where it comes later", async () => {
      await wakeWithObject(101);
      await begin();
      await wakeWithObject(102);
      await end(outcomeAt(103));
      const claim = await begin();
      expect(claim.cachedObject).toBeUndefined();
      expect(claim.versions).toEqual({ buckets: "103" });
      await end(outcomeAt(103));
      await wakeWithObject(102);
      expect(await claimedObject()).toBeUndefined();
      await end(outcomeAt(103));
      await wakeWithObject(104);
      expect(await claimedObject()).toBe("copy of 104");
    });
    it("after a run that does not know what it has written", async () => {
      await wakeWithObject(101);
      await begin();
      await end(done);
      await wakeWithObject(102);
      expect(await claimedObject()).toBeUndefined();
      await end(outcomeAt(102));
      await wakeWithObject(103);
      expect(await claimedObject()).toBe("copy of 103");
    });
    it("after a run that ended without an outcome", async () => {
      await wakeWithObject(101);
      await begin();
      await wakeWithObject(102);
      t.clock += lease;
      expect(await claimedObject()).toBeUndefined();
    });
    it.each([
      ["before", [outcomeAt(101), failed]],
      ["after", [failed, outcomeAt(101)]],
    ])(
      "after two runs of one key ended on a new server, if one reports no version %s the other",
      async (_, [first = done, second = done]) => {
        await wakeWithObject(101);
        await begin();
        t.server = "another";
        await t.ledger.settle(key, "of lost data", first);
        await t.ledger.settle(key, `run ${runs}`, second);
        await wakeWithObject(102);
        t.clock += recoveryWindow;
        expect(await claimedObject()).toBeUndefined();
      },
    );
    it("of another object than the one that the run has seen", async () => {
      await wakeWithObject(101, { uid: "u2" });
      expect(await claimedObject()).toBe("copy of 101");
      await end(outcomeAt(100));
      await wakeWithObject(102, { uid: "u2" });
      expect(await claimedObject()).toBeUndefined();
    });
    it("of an object that came before the one that is there", async () => {
      await wakeWithObject(101);
      await t.wake(key, { uid: "u2", resourceVersion: "102" });
      await wakeWithObject(102);
      expect(await claimedObject()).toBeUndefined();
    });
    it("of a kind whose versions are no numbers", async () => {
      await wakeWithObject(101, { resourceVersion: "zebra" });
      expect(await claimedObject()).toBeUndefined();
    });
    it("on another server, or with other data, before a run there has reported what it observed", async () => {
      const restore = await t.backup();
      await wakeWithObject(101);
      t.server = "another";
      await t.dispatched();
      t.clock += recoveryWindow;
      expect(await claimedObject()).toBeUndefined();
      await end(outcomeAt(101));
      await wakeWithObject(102);
      await restore();
      t.server = "third";
      await wakeWithObject(103);
      t.clock += recoveryWindow;
      expect(await claimedObject()).toBeUndefined();
    });
    it("to who forced the key", async () => {
      await wakeWithObject(101);
      await t.wake(key, { kind: "force", resourceVersion: "0" }, true);
      expect(await claimedObject()).toBeUndefined();
    });
  });

  describe("before a run has reported what it observed, a cached object is given", () => {
    const listed = (newestAfter?: QueueTime) =>
      t.wake(fresh, {
        uid,
        resourceVersion: "100",
        cachedObject: "as listed",
        ...(newestAfter && { newestAfter }),
      });
    const givenFirst = async (): Promise<string | undefined> => {
      await t.dispatched();
      return (await t.claim(fresh, `run ${++runs}`)).cachedObject;
    };
    const endOfFirst = (outcome: RunOutcome) => t.ledger.settle(fresh, `run ${runs}`, outcome);

    it("of a listing that was asked for in these data, once", async () => {
      await listed(await time());
      expect(await givenFirst()).toBe("as listed");
      await endOfFirst(done);
      await listed(await time());
      expect(await givenFirst()).toBeUndefined();
    });
    it("of what changes after it was listed", async () => {
      await listed(await time());
      await t.wake(fresh, { uid, resourceVersion: "101", cachedObject: "changed" });
      expect(await givenFirst()).toBe("changed");
    });
    it("and none of what no listing shows", async () => {
      await listed();
      expect(await givenFirst()).toBeUndefined();
    });
    it("and none of a listing that was asked for before these data", async () => {
      const before = await time();
      t.server = "another";
      await listed(before);
      t.clock += recoveryWindow;
      expect(await givenFirst()).toBeUndefined();
    });
    it("and none of one that was asked for before a key may have been forgotten", async () => {
      await listed(await time(maxListingAge));
      expect(await givenFirst()).toBeUndefined();
      await endOfFirst({ kind: "gone" });
      await listed(await time());
      expect(await givenFirst()).toBeUndefined();
    });
    it("but not while a run lasts, nor after one that ended without an outcome", async () => {
      await listed();
      await givenFirst();
      await listed(await time());
      t.clock += lease;
      await listed(await time());
      expect(await givenFirst()).toBeUndefined();
    });
    it("but not after a run that was under way when the server took over", async () => {
      t.server = "another";
      await t.ledger.renew([{ key: fresh, token: "elsewhere" }]);
      t.clock += recoveryWindow;
      const since = await time();
      t.clock += lease;
      await t.dispatched();
      await listed(since);
      expect(await givenFirst()).toBeUndefined();
    });
    it.each([
      ["ended", () => t.ledger.settle(fresh, "elsewhere", failed)],
      ["announced itself, and never ended,", () => t.ledger.renew([{ key: fresh, token: "elsewhere" }])],
    ])("but not after a run of an earlier server that %s after the listing", async (_, act) => {
      t.server = "another";
      await listed(await time());
      await act();
      t.clock += recoveryWindow + lease;
      await t.dispatched();
      await listed();
      expect(await givenFirst()).toBeUndefined();
    });
    it("of a listing on a server that took over, as soon as its recovery window is over", async () => {
      await listed(await time());
      t.server = "another";
      expect(await t.ledger.time()).toMatchObject({ at: t.clock, recoveryLeft: recoveryWindow });
      t.clock += recoveryWindow;
      expect(await t.ledger.time()).toMatchObject({ at: t.clock, recoveryLeft: 0 });
      await listed(await time());
      expect(await givenFirst()).toBe("as listed");
    });
  });

  describe("the first run of an object", () => {
    const created = (newestAfter?: QueueTime, fields: Partial<Wake> = {}) =>
      t.wake(fresh, {
        uid,
        resourceVersion: "100",
        cachedObject: "as created",
        created: true,
        ...(newestAfter && { newestAfter }),
        ...fields,
      });
    const isFirst = async (): Promise<boolean> => {
      await t.dispatched();
      return (await t.claim(fresh, `run ${++runs}`)).isFirst ?? false;
    };
    const change = (fields: Partial<Wake> = {}) =>
      t.wake(fresh, { uid, resourceVersion: "101", cachedObject: "changed", ...fields });

    it("is known if it was created after a moment in these data, whatever wakes its key since, once", async () => {
      await created(await time());
      await change({ newestAfter: await time() });
      await t.wake(fresh, { kind: "pods", resourceVersion: "7" });
      expect(await isFirst()).toBe(true);
      expect(await t.claim(fresh, `run ${runs}`)).toMatchObject({ isFirst: true }); // asked again
      await t.ledger.settle(fresh, `run ${runs}`, outcomeAt(101));
      await created(await time());
      expect(await isFirst()).toBe(false);
    });
    it.each<readonly [string, () => Promise<unknown>]>([
      ["if its age is unknown", () => created()],
      ["if the moment is too long ago", async () => created(await time(maxListingAge))],
      ["if it was not created at that version", async () => change({ newestAfter: await time() })],
      [
        "if only another object of its name was created",
        async () => {
          await created(await time(), { uid: "old" });
          await created(undefined, { resourceVersion: "101" });
          await change({ resourceVersion: "102", newestAfter: await time() });
        },
      ],
      [
        "if an earlier object of its name was created",
        async () => {
          await change({ newestAfter: await time() });
          await created(await time(), { uid: "old", resourceVersion: "99" });
        },
      ],
      [
        "if the name is an older object's again",
        async () => {
          await created(await time());
          await change({ uid: "restored", resourceVersion: "99", newestAfter: await time() });
        },
      ],
      [
        "if a user has forced the key",
        async () => {
          await created(await time());
          await t.wake(fresh, { kind: "force", resourceVersion: "0" }, true);
        },
      ],
      [
        "of another server's data",
        async () => {
          await created(await time());
          t.server = "another";
          await time();
          t.clock += recoveryWindow;
        },
      ],
      [
        "of another server's data, which may lack a run, also if its object is listed there",
        async () => {
          await created(await time());
          t.server = "another";
          await time();
          t.clock += recoveryWindow;
          await change({ newestAfter: await time() });
        },
      ],
      [
        "after a run that ended without an outcome",
        async () => {
          await created(await time());
          await isFirst();
          t.clock += lease;
          await change({ newestAfter: await time() });
        },
      ],
      [
        "after a run of an earlier server that announced itself",
        async () => {
          t.server = "another";
          await created(await time());
          await t.ledger.renew([{ key: fresh, token: "elsewhere" }]);
          t.clock += recoveryWindow + lease;
        },
      ],
    ])("is not known %s", async (_, act) => {
      await act();
      expect(await isFirst()).toBe(false);
    });
  });

  describe("no object is cached", () => {
    /** The key waits, and a wake has already run it early in its backoff window. */
    const wait = async (): Promise<void> => {
      await wakeWithObject(101);
      await begin();
      await wakeWithObject(102);
      await end(outcomeAt(101, failed));
      await begin();
      await wakeWithObject(103);
      await end(outcomeAt(102, failed));
    };
    it("while the key waits", async () => {
      await wait();
      t.clock += 10_000;
      expect(await claimedObject()).toBeUndefined();
    });
    it("that comes while the key waits", async () => {
      await wait();
      await wakeWithObject(104);
      t.clock += 10_000;
      expect(await claimedObject()).toBeUndefined();
    });
    it("while more keys are ready than are worth it", { timeout: 60_000 }, async () => {
      await t.registerWorker({ slots: 0 });
      const copy = "c".repeat(65_536);
      const most = maxCachedObjectBytes / copy.length;
      await t.wake(key, { uid, resourceVersion: "101", cachedObject: copy });
      const wakes = keysIn("full", most + 1).map((of): Wake => ({
        key: of,
        kind,
        resourceVersion: "1",
        reason: "Added",
        class: "listing",
      }));
      for (let i = 0; i < wakes.length; i += 1_000) await t.ledger.wake(wakes.slice(i, i + 1_000));
      await t.wake(key, { uid, resourceVersion: "102", cachedObject: copy });
      await t.registerWorker({ slots: 2 * most });
      await t.dispatched();
      const claim = await t.claim(key, "t");
      expect(claim.cachedObject).toBeUndefined();
      expect(claim.versions).toEqual({ buckets: "102" });
      await t.ledger.settle(key, "t", outcomeAt(102));
      await wakeWithObject(103); // its object is small
      await t.dispatched();
      expect(await t.claim(key, "u")).toMatchObject({ cachedObject: "copy of 103" });
    });
  });
}
