import { expect, it } from "vitest";
import { decideDraft, deploymentOf, setOf, sizes } from "../testing/drafts.ts";

const rolling = { replicas: 10, strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } } };
type Pods = readonly [size: number, available: number];
const of = (image: string, [size, available]: Pods, age = 0) =>
  setOf(image, { size, age, status: { availableReplicas: available } });

it.each([
  ["pods of no use go first, though others may not", [5, 0], [5, 5], [3, 3], [2, 5, 3]],
  ["as many go as may, of all sets together, the oldest first", [5, 0], [5, 0], [3, 3], [2, 5, 3]],
  ["one set has fewer than may go: the next gives the rest", [2, 0], [8, 2], [3, 3], [0, 7, 3]],
  ["those that go do not count as available any more", [5, 3], [5, 5], [3, 3], [2, 5, 3]],
  ["nothing goes while too many new ones are not available", [5, 5], [5, 5], [3, 0], [5, 5, 3]],
] as const)("of two old sets in a rollout %s", (_, a, b, fresh, expected) => {
  const sets = [of("web:a", a), of("web:b", b, 1), of("web:new", fresh, 2)];
  expect(Object.values(sizes(decideDraft(deploymentOf(rolling), sets)))).toEqual(expected);
});

it("a new set that has more than is asked for gets as many as are", () => {
  expect(sizes(decideDraft(deploymentOf(rolling), [of("web:new", [14, 14])]))).toEqual({ "web:new": 10 });
});

it("old sets are kept until the rollout is complete, though nothing more is to be moved", () => {
  const goneWith = (available: number) =>
    decideDraft(deploymentOf({ ...rolling, revisionHistoryLimit: 0 }), [
      of("web:old", [0, 0]),
      of("web:new", [10, available], 1),
    ]).sets.map(({ isToBeDeleted }) => isToBeDeleted);
  expect(goneWith(9)).toEqual([false, false]);
  expect(goneWith(10)).toEqual([true, false]);
});
