import fc from "fast-check";
import { expect, it } from "vitest";
import { draftOf } from "../draft.ts";
import { trimHistory } from "./history.ts";
import { deploymentOf, setOf as setLike, testTime } from "../testing/drafts.ts";

interface Old {
  readonly revision: bigint;
  readonly running: number;
  readonly wanted: number;
  readonly generation: number;
  readonly observedGeneration: number;
  readonly isDeleting: boolean;
}
/** Sets that are left of earlier rollouts: most of them empty, a revision as short or long as int64 allows. */
const old: fc.Arbitrary<Old> = fc.record({
  revision: fc.oneof(fc.bigInt(0n, 20n), fc.bigInt(0n, 2n ** 63n - 1n)),
  running: fc.constantFrom(0, 0, 0, 0, 1),
  wanted: fc.constantFrom(0, 0, 0, 0, 1),
  generation: fc.integer({ min: 8, max: 11 }),
  observedGeneration: fc.constantFrom(11, 11, 10, 9),
  isDeleting: fc.constantFrom(false, false, false, true),
});

const setOf = (image: string, one: Old, age = 0) =>
  setLike(image, {
    size: one.wanted,
    status: { replicas: one.running, observedGeneration: one.observedGeneration },
    annotations: { "deployment.kubernetes.io/revision": String(one.revision) },
    generation: one.generation,
    isDeleting: one.isDeleting,
    age,
  });

/** kube-controller-manager's cleanupDeployment. Of one revision the older set goes first. */
function cleanedUp(olds: readonly Old[], limit: number | undefined): readonly number[] {
  if (limit === undefined) return [];
  const alive = [...olds.entries()].filter(([, { isDeleting }]) => !isDeleting);
  const byRevision = alive.sort(([, a], [, b]) =>
    a.revision < b.revision ? -1 : a.revision > b.revision ? 1 : 0,
  );
  return byRevision
    .slice(0, Math.max(0, alive.length - limit))
    .filter(([, one]) => one.running === 0 && one.wanted === 0 && one.generation <= one.observedGeneration)
    .map(([i]) => i);
}

it("keeps the newest old sets up to revisionHistoryLimit, those with pods, and the set in use", () => {
  const olds = fc.array(old, { maxLength: 14 });
  const limits = fc.option(fc.nat(8), { nil: undefined, freq: 8 });
  fc.assert(
    fc.property(olds, limits, old, (all, limit, current) => {
      const deployment = deploymentOf(limit === undefined ? {} : { revisionHistoryLimit: limit });
      const sets = all.map((one, i) => setOf(`web:${i}`, one, i));
      const inUse = setOf("web:new", { ...current, running: 0, wanted: 0, isDeleting: false });
      const draft = draftOf(deployment, [...sets, inUse], testTime);
      trimHistory(draft);
      const gone = draft.sets
        .filter(({ isToBeDeleted }) => isToBeDeleted)
        .map(({ set }) => set.metadata.name);
      expect(gone.sort()).toEqual(
        cleanedUp(all, limit)
          .map((i) => `web:${i}`)
          .sort(),
      );
    }),
    { numRuns: 500 },
  );
});

it("keeps a set that is scaled to zero in the same run: its controller may be making a pod", () => {
  const sets = [setLike("web:a", { size: 1, status: { replicas: 0 } }), setLike("web:b", { size: 0 })];
  const draft = draftOf(deploymentOf({ revisionHistoryLimit: 0 }), sets, testTime);
  for (const one of draft.sets) one.replicas = 0;
  trimHistory(draft);
  expect(draft.sets.filter(({ isToBeDeleted }) => isToBeDeleted).map(({ set }) => set.metadata.name)).toEqual(
    ["web:b"],
  );
});
