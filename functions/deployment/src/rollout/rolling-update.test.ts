import { expect, it } from "vitest";
import { boundsOf } from "../deployment.ts";
import { decideDraft, deploymentOf, setOf, sizes } from "../testing/drafts.ts";

const rolling = (replicas: number, maxSurge: number | string, maxUnavailable: number | string = 0) =>
  deploymentOf({ replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable } } });
type Pods = readonly [size: number, available: number];
const of = (image: string, [size, available]: Pods, age = 0) =>
  setOf(image, { size, age, status: { readyReplicas: available, availableReplicas: available } });

it.each<[string, readonly number[], Pods | undefined, ...Pods[]]>([
  ["a set is made, as far above as it may go", [10, 3], undefined, [10, 10]],
  ["old pods go for new ones that are available", [7, 3], [3, 3], [10, 10]],
  ["old pods are left while new ones are not available", [10, 3], [3, 0], [10, 10]],
  ["new pods that are not available keep even pods of no use", [10, 3], [3, 0], [10, 8]],
  ["the new ones are left alone at the end", [0, 10], [10, 10], [1, 1]],
  ["of two old sets pods of no use go first, though others may not", [2, 5, 3], [3, 3], [5, 0], [5, 5]],
  ["as many go as may, of all sets together, the oldest first", [2, 5, 3], [3, 3], [5, 0], [5, 0]],
  ["one set has fewer than may go: the next gives the rest", [0, 7, 3], [3, 3], [2, 0], [8, 2]],
  ["those that go do not count as available any more", [2, 5, 3], [3, 3], [5, 3], [5, 5]],
  ["nothing goes while too many new ones are not available", [5, 5, 3], [3, 0], [5, 5], [5, 5]],
  ["a new set that has more than is asked for gets as many as are", [10], [14, 14]],
])("in a rollout of ten with three above %s", (_, expected, fresh, ...olds) => {
  const sets = olds.map((pods, i) => of(`web:${"ab".charAt(i)}`, pods, i));
  if (fresh) sets.push(of("web:new", fresh, 2));
  const sized = sizes(decideDraft(rolling(10, 3), sets));
  expect(Object.values(sized)).toEqual(expected);
  expect(Object.keys(sized).at(-1)).toBe("web:new");
});

it("a rollout without surge goes below as far as it may", () => {
  const sets = [of("web:old", [10, 10]), of("web:new", [0, 0], 1)];
  expect(sizes(decideDraft(rolling(10, 0, 2), sets))).toEqual({ "web:old": 8, "web:new": 0 });
});

it("a rollout does not count again what a set is about to lose", () => {
  // The old set was scaled from five to two, and its status does not know yet.
  const sets = [of("web:old", [2, 5]), of("web:new", [5, 4], 1)];
  expect(sizes(decideDraft(rolling(5, 3), sets))).toEqual({ "web:old": 1, "web:new": 5 });
});

it.each([
  [10, "25%", "25%", 3, 2],
  [1, "1%", "25%", 1, 0],
  [2, "0%", "1%", 0, 1],
  [2, 0, 5, 0, 2],
  [0, 1, 1, 1, 0],
])(
  "a rollout of %i with maxSurge %s and maxUnavailable %s goes %i above and %i below",
  (replicas, surge, unavailable, maxSurge, maxUnavailable) => {
    expect(boundsOf(rolling(replicas, surge, unavailable))).toEqual({ maxSurge, maxUnavailable });
  },
);

it("old sets are kept until the rollout is complete, though nothing more is to be moved", () => {
  const { spec, ...deployment } = rolling(10, 3);
  const goneWith = (available: number) =>
    decideDraft({ ...deployment, spec: { ...spec, revisionHistoryLimit: 0 } }, [
      of("web:old", [0, 0]),
      of("web:new", [10, available], 1),
    ]).sets.map(({ isToBeDeleted }) => isToBeDeleted);
  expect(goneWith(9)).toEqual([false, false]);
  expect(goneWith(10)).toEqual([true, false]);
});
