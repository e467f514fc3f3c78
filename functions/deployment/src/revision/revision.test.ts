import { timestamp } from "@drover/controller";
import { expect, it } from "vitest";
import { draftOf } from "../draft.ts";
import { syncRevision } from "./revision.ts";
import { decideDraft, deploymentOf, madeFor, setOf, testTime } from "../testing/drafts.ts";

const revision = "deployment.kubernetes.io/revision";
const history = "deployment.kubernetes.io/revision-history";
const desired = "deployment.kubernetes.io/desired-replicas";
const at = (count: number) => ({ ...madeFor(1, 2), [revision]: String(count) });

it("annotations of the Deployment are its newest set's, changed ones too; those of each alone stay apart", () => {
  const annotations = {
    [revision]: "1",
    [desired]: "77",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
    "example.com/team": "b",
    "deprecated.deployment.rollback.to": "none",
  };
  const given = { ...at(1), "example.com/team": "a", "example.com/set": "s" };
  const { sets } = decideDraft(deploymentOf({}, { annotations }), [setOf("web:new", { annotations: given })]);
  expect(sets[0]?.annotations).toEqual({ ...given, "example.com/team": "b" });
});

it("the newest set keeps its revision from run to run, and the Deployment has it, too", () => {
  const sets = [
    setOf("web:old", { size: 0, annotations: at(1) }),
    setOf("web:new", { annotations: at(2), age: 1 }),
  ];
  for (const stated of ["1", "2"]) {
    const draft = decideDraft(deploymentOf({}, { annotations: { [revision]: stated } }), sets);
    expect(draft.sets.map(({ annotations }) => annotations)).toMatchObject([at(1), at(2)]);
    expect(draft.annotations).toEqual({ [revision]: "2" });
  }
});

it.each([
  ["4", "5"],
  ["3546343826724305832", "3546343826724305833"],
  ["9007199254740993", "9007199254740994"],
  ["+0004", "5"],
  // kube-controller-manager takes these for no numbers, and counts from the others.
  ["9223372036854775808", "1"],
  ["0x10", "1"],
  ["1e3", "1"],
  [`1${"0".repeat(100_000)}`, "1"],
])(
  "a new set and the Deployment have the next revision, in 64 bits: after %.30s comes %s",
  (before, after) => {
    const draft = decideDraft(deploymentOf({}), [setOf("web:old", { annotations: { [revision]: before } })]);
    expect(draft.sets.map(({ annotations }) => annotations[revision])).toEqual([before, after]);
    expect(draft.annotations[revision]).toBe(after);
  },
);

it("revisions order the sets that are deleted, beyond the precision of a double", () => {
  const sets = ["9007199254740993", "9007199254740992"].map((count, age) =>
    setOf(`web:${count}`, { size: 0, age, annotations: { [revision]: count } }),
  );
  const draft = decideDraft(deploymentOf({ revisionHistoryLimit: 1 }), [
    ...sets,
    setOf("web:new", { age: 2 }),
  ]);
  expect(draft.sets.map(({ isToBeDeleted }) => isToBeDeleted)).toEqual([false, true, false]);
});

it("a set remembers all revisions that it was, the latest ones where they are too many", () => {
  const remembered = (was?: string): string | undefined => {
    const annotations = { ...at(3), ...(was !== undefined && { [history]: was }) };
    const back = setOf("web:new", { annotations });
    const later = setOf("web:old", { size: 0, annotations: at(4), age: 1 });
    return decideDraft(deploymentOf({}), [back, later]).sets[0]?.annotations[history];
  };
  expect(remembered()).toBe("3");
  expect(remembered("1")).toBe("1,3");
  const long = Array.from({ length: 500 }, (_, i) => 1_000 + i).join(",");
  const kept = remembered(long)?.split(",") ?? [];
  expect(kept.join(",").length).toBeLessThanOrEqual(2_000);
  expect(kept.slice(-2)).toEqual(["1499", "3"]);
  expect(kept).toHaveLength(400);
});

it.each([
  ["made since the progress was last updated", {}, 0, "NewReplicaSetCreated"],
  ["made in the second of that update", {}, 60, "NewReplicaSetCreated"],
  ["made before that", {}, 61, "NewReplicaSetAvailable"],
  ["that was rolled back to", { [history]: "1" }, 0, "NewReplicaSetAvailable"],
])("a set of a run that died before its status write is found: one %s", (_, more, updatedAt, expected) => {
  const lastUpdateTime = timestamp(new Date(Date.UTC(2026, 0, 1, 0, 0, updatedAt)));
  const complete = { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable", lastUpdateTime };
  const deployment = deploymentOf(
    { progressDeadlineSeconds: 600 },
    { annotations: { [revision]: "1" }, status: { conditions: [complete] } },
  );
  const fresh = setOf("web:new", { annotations: { ...at(2), ...more }, age: 1 });
  const draft = draftOf(deployment, [setOf("web:old", { annotations: at(1) }), fresh], testTime);
  syncRevision(draft);
  expect(draft.status.conditions?.find(({ type }) => type === "Progressing")?.reason).toBe(expected);
});

it("a set without a revision gets one, and one that is no number is left as it is", () => {
  const revisionOf = (annotations: object) =>
    decideDraft(deploymentOf({}), [setOf("web:new", { annotations })]).sets[0]?.annotations[revision];
  expect(revisionOf({})).toBe("1");
  expect(revisionOf({ [revision]: "mine" })).toBe("mine");
});

it("a set that is found without a progress condition begins a rollout", () => {
  const draft = decideDraft(deploymentOf({ progressDeadlineSeconds: 600, replicas: 2 }), [
    setOf("web:new", {
      size: 2,
      annotations: { ...at(1), [desired]: "2" },
      status: { replicas: 0, readyReplicas: 0, availableReplicas: 0 },
    }),
  ]);
  const { reason, lastUpdateTime } =
    draft.status.conditions?.find(({ type }) => type === "Progressing") ?? {};
  expect([reason, lastUpdateTime]).toEqual(["FoundNewReplicaSet", timestamp(testTime)]);
});
