import { timestamp } from "@drover/controller";
import fc from "fast-check";
import { expect, it } from "vitest";
import { findCondition, updateCondition, setCondition } from "./deployment-conditions.ts";
import type { DeploymentStatus } from "../deployment.ts";
import { type Draft, draftOf } from "../draft.ts";
import { updateProgress } from "./progress.ts";
import { deploymentOf, setOf } from "../testing/drafts.ts";

const statuses = ["True", "False", "Unknown"] as const;
const message = fc.constantFrom("A", "B");
const passed = fc.integer({ min: 1, max: 100 });

/** A draft at some time, whose only set has failed for a reason, or has not. */
function draftAt(
  seconds: number,
  status: object,
  failure?: { readonly reason: string; readonly status: string },
): Draft {
  const conditions = failure && [
    {
      type: "ReplicaFailure",
      message: "m",
      lastTransitionTime: timestamp(new Date(seconds * 1_000)),
      ...failure,
    },
  ];
  const set = setOf("web:new", { status: { conditions } });
  return draftOf(deploymentOf({}, { status }), [set], new Date(seconds * 1_000));
}

it("a condition's lastTransitionTime is when its status changed last; lastUpdateTime is when it was stated", () => {
  const step = fc.record({
    status: fc.constantFrom(...statuses),
    reason: message,
    message,
    passed,
    again: fc.boolean(),
  });
  const isHeld = fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
    let [now, stored]: [number, Partial<DeploymentStatus>] = [0, {}];
    let expected: object | undefined;
    let [was, because, since] = ["", "", ""];
    for (const { passed: seconds, again, ...statedCondition } of steps) {
      now += seconds;
      const time = timestamp(new Date(now * 1_000));
      const draft = draftAt(now, stored);
      (again ? updateCondition : setCondition)(draft, { type: "Progressing", ...statedCondition });
      // SetDeploymentCondition of kube-controller-manager leaves an equal one alone.
      if (statedCondition.status !== was) since = time;
      if (again || statedCondition.status !== was || statedCondition.reason !== because)
        expected = {
          type: "Progressing",
          ...statedCondition,
          lastUpdateTime: time,
          lastTransitionTime: since,
        };
      [was, because] = [statedCondition.status, statedCondition.reason];
      expect(findCondition(draft.status, "Progressing")).toEqual(expected);
      stored = draft.status;
    }
  });
  fc.assert(isHeld, { numRuns: 200 });
});

it("a failure of a set is the Deployment's since its status changed there, though it fails for another reason now", () => {
  const step = fc.record({
    failure: fc.option(fc.record({ reason: message, status: fc.constantFrom(...statuses) }), {
      nil: undefined,
    }),
    passed,
  });
  const isHeld = fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
    let [now, stored]: [number, Partial<DeploymentStatus>] = [0, {}];
    let [was, since] = ["", ""];
    for (const { failure, passed: seconds } of steps) {
      now += seconds;
      const draft = draftAt(now, stored, failure);
      updateProgress(draft);
      if ((failure?.status ?? "") !== was) since = timestamp(new Date(now * 1_000));
      was = failure?.status ?? "";
      const stated = findCondition(draft.status, "ReplicaFailure");
      expect(stated && [stated.status, stated.reason, stated.lastTransitionTime]).toEqual(
        failure && [failure.status, failure.reason, since],
      );
      stored = draft.status;
    }
  });
  fc.assert(isHeld, { numRuns: 200 });
});
