import { replicaSetSchema } from "@drover/workloads";
import { describe, expect, it } from "vitest";
import { decide } from "./decide.ts";
import { boundsOf } from "./deployment.ts";
import { type Draft, draftOf } from "./draft.ts";
import { decideDraft as decidedOf, deploymentOf, setOf, sizes } from "./testing/drafts.ts";

interface Asked {
  readonly replicas: number;
  readonly maxSurge?: number | string;
  readonly maxUnavailable?: number | string;
  readonly more?: object;
}

/** Asks for `web:new`. */
const deployment = ({ replicas, maxSurge = 1, maxUnavailable = 0, more = {} }: Asked) =>
  deploymentOf({
    replicas,
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } },
    ...more,
  });

/** A set of an image, with as many replicas, of which as many are available; made for as many, with surge. */
const set = (
  image: string,
  replicas: number,
  available = replicas,
  [desired, max]: readonly [number, number] = [10, 10],
  age = 0,
) =>
  setOf(image, {
    size: replicas,
    age,
    status: { readyReplicas: available, availableReplicas: available },
    annotations: {
      "deployment.kubernetes.io/desired-replicas": String(desired),
      "deployment.kubernetes.io/max-replicas": String(max),
    },
  });

const decided = (asked: Asked, ...sets: readonly ReturnType<typeof set>[]): Draft =>
  decidedOf(deployment(asked), sets);

describe("a rolling update", () => {
  it.each([
    ["goes as far above as it may", { replicas: 10, maxSurge: 3 }, [10, 10], undefined, { old: 10, new: 3 }],
    [
      "takes old pods for new ones that are available",
      { replicas: 10, maxSurge: 3 },
      [10, 10],
      [3, 3],
      { old: 7, new: 3 },
    ],
    [
      "leaves old pods while new ones are not",
      { replicas: 10, maxSurge: 3 },
      [10, 10],
      [3, 0],
      { old: 10, new: 3 },
    ],
    [
      "gives up old pods that are of no use first",
      { replicas: 10, maxSurge: 3 },
      [10, 8],
      [3, 0],
      { old: 10, new: 3 },
    ],
    [
      "goes below as far as it may",
      { replicas: 10, maxSurge: 0, maxUnavailable: 2 },
      [10, 10],
      [0, 0],
      { old: 8, new: 0 },
    ],
    ["ends with the new ones alone", { replicas: 10, maxSurge: 3 }, [1, 1], [10, 10], { old: 0, new: 10 }],
  ] as const)("%s", (_, asked, [old, oldAvailable], fresh, expected) => {
    const sets = [
      set("web:old", old, oldAvailable),
      ...(fresh ? [set("web:new", fresh[0], fresh[1], [10, 10], 1)] : []),
    ];
    expect(sizes(decided(asked, ...sets))).toEqual({ "web:old": expected.old, "web:new": expected.new });
  });
});

it("does not count again what a set is about to lose", () => {
  // The old set was scaled from five to two, and its status does not know yet.
  const old = set("web:old", 2, 5, [5, 8]);
  const draft = decided({ replicas: 5, maxSurge: 3 }, old, set("web:new", 5, 4, [5, 8], 1));
  expect(sizes(draft)).toEqual({ "web:old": 1, "web:new": 5 });
});

describe("how far a rollout may go", () => {
  it.each([
    [
      { replicas: 10, maxSurge: "25%", maxUnavailable: "25%" },
      { maxSurge: 3, maxUnavailable: 2 },
    ],
    [
      { replicas: 1, maxSurge: "1%", maxUnavailable: "25%" },
      { maxSurge: 1, maxUnavailable: 0 },
    ],
    [
      { replicas: 2, maxSurge: "0%", maxUnavailable: "1%" },
      { maxSurge: 0, maxUnavailable: 1 },
    ],
    [
      { replicas: 2, maxSurge: 0, maxUnavailable: 5 },
      { maxSurge: 0, maxUnavailable: 2 },
    ],
    [
      { replicas: 0, maxSurge: 1, maxUnavailable: 1 },
      { maxSurge: 1, maxUnavailable: 0 },
    ],
  ])("%o", (asked, bounds) => {
    expect(boundsOf(deployment(asked))).toEqual(bounds);
  });
});

describe("scaling in the middle of a rollout", () => {
  it.each([
    ["adds pods in proportion", 15, { "web:old": 11, "web:new": 7 }],
    ["takes pods in proportion", 5, { "web:old": 5, "web:new": 3 }],
  ])("%s", (_, replicas, expected) => {
    const from = [10, 13] as const;
    const sets = [set("web:old", 8, 8, from), set("web:new", 5, 0, from, 1)];
    expect(sizes(decided({ replicas, maxSurge: 3 }, ...sets))).toEqual(expected);
  });

  it("gives all to the only set that has any", () => {
    expect(sizes(decided({ replicas: 4 }, set("web:old", 10)))).toEqual({ "web:old": 4 });
  });

  it("lets nothing of a paused Deployment roll", () => {
    expect(sizes(decided({ replicas: 10, more: { paused: true } }, set("web:old", 10)))).toEqual({
      "web:old": 10,
    });
  });
});

describe("revisions", () => {
  const revision = "deployment.kubernetes.io/revision";
  const noted = (one: ReturnType<typeof set>, at: string) => ({
    ...one,
    metadata: { ...one.metadata, annotations: { [revision]: at } },
  });

  it("go up by one with every new set, and the Deployment has the current one", () => {
    const draft = decided({ replicas: 1 }, noted(set("web:old", 1), "4"));
    expect(draft.sets.map(({ annotations }) => annotations[revision])).toEqual(["4", "5"]);
    expect(draft.annotations[revision]).toBe("5");
  });

  it.each([
    ["3546343826724305832", "3546343826724305833"],
    ["9007199254740993", "9007199254740994"],
    ["+0004", "5"],
    // kube-controller-manager takes these for no numbers, and counts from the others.
    ["9223372036854775808", "1"],
    ["0x10", "1"],
    ["1e3", "1"],
    [`1${"0".repeat(100_000)}`, "1"],
  ])("are integers of 64 bits: after %.30s comes %s", (before, after) => {
    const draft = decided({ replicas: 1 }, noted(set("web:old", 1), before));
    expect(draft.sets.map(({ annotations }) => annotations[revision])).toEqual([before, after]);
    expect(draft.annotations[revision]).toBe(after);
  });

  it("order the sets that are deleted, beyond the precision of a double", () => {
    const sets = [
      noted(set("web:a", 0), "9007199254740993"),
      noted(set("web:b", 0, 0, [10, 10], 1), "9007199254740992"),
      set("web:new", 1, 1, [1, 2], 2),
    ];
    const draft = decided({ replicas: 1, more: { revisionHistoryLimit: 1 } }, ...sets);
    expect(draft.sets.map(({ isToBeDeleted }) => isToBeDeleted)).toEqual([false, true, false]);
  });

  it("are remembered by a set that is rolled back to", () => {
    const draft = decided(
      { replicas: 1 },
      noted(set("web:new", 0, 0, [1, 2]), "1"),
      noted(set("web:old", 0, 0, [1, 2], 1), "2"),
    );
    expect(draft.sets.map(({ annotations }) => annotations)).toMatchObject([
      { [revision]: "3", "deployment.kubernetes.io/revision-history": "1" },
      { [revision]: "2" },
    ]);
  });
});

describe("a recreation", () => {
  const recreated = { replicas: 3, more: { strategy: { type: "Recreate" } } };
  const unseen = (one: ReturnType<typeof set>) => ({ ...one, metadata: { ...one.metadata, generation: 2 } });

  it("makes the new set when the old one's controller has seen that it is to have no pods", () => {
    const old = set("web:old", 0);
    expect(sizes(decided(recreated, old))).toEqual({ "web:old": 0, "web:new": 3 });
    expect(sizes(decided(recreated, unseen(old)))).toEqual({ "web:old": 0 });
  });
});

describe("going back", () => {
  const asking = (sets: readonly ReturnType<typeof set>[], more = {}): Draft => {
    const asked = deployment({ replicas: 3, more });
    const annotations = { "deprecated.deployment.rollback.to": "1" };
    const now = new Date("2026-01-02T00:00:00Z");
    const draft = draftOf({ ...asked, metadata: { ...asked.metadata, annotations } }, sets, now);
    decide(draft, false);
    return draft;
  };
  const reasons = ({ announcements }: Draft): readonly string[] => announcements.map(({ reason }) => reason);

  it("begins when the template is a revision itself", () => {
    const first = asking([]);
    expect(sizes(first)).toEqual({ "web:new": 3 });
    expect(reasons(first)).toEqual(["ScalingReplicaSet"]);
    expect(first.annotations["deprecated.deployment.rollback.to"]).toBe("1");
    const made = replicaSetSchema.parse({
      ...first.sets[0]?.set,
      metadata: { ...first.sets[0]?.set.metadata, annotations: first.sets[0]?.annotations },
    });
    expect(reasons(asking([made]))).toEqual(["DeploymentRollbackTemplateUnchanged"]);
  });

  it("makes no set beside old ones that are to end first", () => {
    const draft = asking([set("web:old", 3)], { strategy: { type: "Recreate" } });
    expect(sizes(draft)).toEqual({ "web:old": 3 });
    expect(reasons(draft)).toEqual(["DeploymentRollbackRevisionNotFound"]);
  });
});
