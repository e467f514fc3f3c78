import { timestamp } from "@drover/controller";
import { describe, expect, it } from "vitest";
import { requeueDelay } from "../decide.ts";
import { type Draft, draftOf } from "../draft.ts";
import { updateProgress, updatePauseCondition } from "./progress.ts";
import { deploymentOf, setOf, testTime } from "../testing/drafts.ts";

const ago = (seconds: number): string => timestamp(new Date(testTime.getTime() - seconds * 1_000));
/** Stated for another reason long before it was last looked at. */
const progressing = (reason: string, seconds: number, status = "True") => ({
  type: "Progressing",
  status,
  reason,
  message: "m",
  lastUpdateTime: ago(seconds),
  lastTransitionTime: ago(1_000),
});
const stated = ({ status }: Draft, type = "Progressing") => {
  const found = status.conditions?.find((one) => one.type === type);
  return found && [found.status, found.reason, found.lastUpdateTime];
};
const ours = { progressDeadlineSeconds: 60, replicas: 5 };
const before = { updatedReplicas: 2, replicas: 4, readyReplicas: 3, availableReplicas: 2 };

/** A draft with these counts of its sets now, and others at the last update of its progress. */
function draftWith(
  now: object,
  conditions: readonly object[],
  spec: object = {},
  counts: object = before,
): Draft {
  const status = { ...counts, conditions };
  const draft = draftOf(deploymentOf({ ...ours, ...spec }, { status }), [setOf("web:new")], testTime);
  draft.status = { ...draft.status, ...now };
  return draft;
}

describe("a rollout", () => {
  it.each([
    ["more new pods", { updatedReplicas: 3, replicas: 5 }],
    ["fewer old pods", { replicas: 3 }],
    ["more that are ready", { readyReplicas: 4 }],
    ["more that are available", { availableReplicas: 3 }],
  ])("moves with %s, and its deadline begins again", (_, now) => {
    const draft = draftWith(now, [progressing("ReplicaSetUpdated", 70)]);
    updateProgress(draft);
    expect(stated(draft)).toEqual(["True", "ReplicaSetUpdated", ago(0)]);
  });

  it.each([
    ["nothing changes", {}],
    ["there are more old pods", { replicas: 5 }],
    ["fewer are ready and available", { readyReplicas: 1, availableReplicas: 1 }],
  ])("does not move where %s", (_, now) => {
    const draft = draftWith(now, [progressing("ReplicaSetUpdated", 50)]);
    updateProgress(draft);
    expect(stated(draft)).toEqual(["True", "ReplicaSetUpdated", ago(50)]);
  });

  it.each([
    [60, "True", "ReplicaSetUpdated"],
    [61, "False", "ProgressDeadlineExceeded"],
  ])("that has not moved for %i s of 60 is %s, %s", (seconds, ...expected) => {
    const draft = draftWith({}, [progressing("ReplicaSetUpdated", seconds)]);
    updateProgress(draft);
    expect(stated(draft)?.slice(0, 2)).toEqual(expected);
  });

  it("that was complete is not stuck for what its pods do later, and the next one is judged anew", () => {
    const done = { updatedReplicas: 5, replicas: 5, readyReplicas: 5, availableReplicas: 5 };
    const complete = progressing("NewReplicaSetAvailable", 500);
    const later = draftWith({ readyReplicas: 4, availableReplicas: 4 }, [complete], {}, done);
    updateProgress(later);
    expect(stated(later)).toEqual(["True", "NewReplicaSetAvailable", ago(500)]);
    const next = draftWith(
      { updatedReplicas: 1, replicas: 6 },
      [complete],
      {},
      { ...done, updatedReplicas: 0 },
    );
    updateProgress(next);
    expect(stated(next)).toEqual(["True", "ReplicaSetUpdated", ago(0)]);
  });

  it("whose Deployment has no deadline any more has no progress condition", () => {
    for (const progressDeadlineSeconds of [undefined, 2 ** 31 - 1]) {
      const draft = draftWith({}, [progressing("ReplicaSetUpdated", 70)], { progressDeadlineSeconds });
      updateProgress(draft);
      expect([stated(draft), requeueDelay(draft)]).toEqual([undefined, undefined]);
    }
  });
});

describe("a pause", () => {
  it.each([
    ["a rollout under way is paused", true, "ReplicaSetUpdated", "DeploymentPaused", 0],
    ["it goes on", true, "DeploymentPaused", "DeploymentPaused", 50],
    ["it ends", false, "DeploymentPaused", "DeploymentResumed", 0],
    ["there is none", false, "ReplicaSetUpdated", "ReplicaSetUpdated", 50],
    ["the rollout was stuck before", true, "ProgressDeadlineExceeded", "ProgressDeadlineExceeded", 50],
  ])("counts when %s", (_, paused, reason, expected, since) => {
    const draft = draftWith({}, [progressing(reason, 50, "Unknown")], { paused });
    updatePauseCondition(draft);
    expect(stated(draft)?.slice(1)).toEqual([expected, ago(since)]);
  });

  it("of a Deployment without a deadline is not stated", () => {
    const draft = draftWith({}, [], { paused: true, progressDeadlineSeconds: undefined });
    updatePauseCondition(draft);
    expect(stated(draft)).toBeUndefined();
  });
});

it.each([
  ["a second after the deadline", "ReplicaSetUpdated", 20, {}, 41_000],
  ["in a second where the deadline is over", "ReplicaSetUpdated", 200, {}, 1_000],
  ["never while it is paused", "ReplicaSetUpdated", 20, { paused: true }, undefined],
  ["never when it is complete", "NewReplicaSetAvailable", 20, {}, undefined],
  ["never when it is known to be stuck", "ProgressDeadlineExceeded", 20, {}, undefined],
])("a Deployment to which nothing happens is looked at again %s", (_, reason, seconds, spec, expected) => {
  expect(requeueDelay(draftWith({}, [progressing(reason, seconds)], spec))).toBe(expected);
});

describe("what stands in the way of a set", () => {
  const failing = (reason: string) => ({
    conditions: [{ type: "ReplicaFailure", status: "True", reason, lastTransitionTime: ago(9) }],
  });
  const stateWith = (...sets: readonly ReturnType<typeof setOf>[]) => {
    const old = { type: "ReplicaFailure", status: "True", reason: "Old", message: "m" };
    const draft = draftOf(deploymentOf({}, { status: { conditions: [old] } }), sets, testTime);
    updateProgress(draft);
    return stated(draft, "ReplicaFailure")?.[1];
  };
  const [bad, good] = [{ status: failing("A") }, { status: failing("B"), age: 1 }];
  it("is reported in the Deployment: that of the newest set, or else of any", () => {
    expect(stateWith(setOf("web:old", bad), setOf("web:new", good))).toBe("B");
    expect(stateWith(setOf("web:old", bad), setOf("web:new", { age: 1 }))).toBe("A");
    expect(stateWith(setOf("web:old", bad))).toBe("A");
  });
  it("is not reported any more when it is over", () => {
    expect(stateWith(setOf("web:old"), setOf("web:new"))).toBeUndefined();
  });
});
