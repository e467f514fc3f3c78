import { expect, it } from "vitest";
import { observePod } from "./observe-pods.ts";

const creationTimestamp = "2026-01-02T00:00:00Z";
const observed = (metadata: object, status: object | undefined) => {
  const named = { name: "gadgets-a", namespace: "a", uid: "u", resourceVersion: "1", creationTimestamp };
  return observePod({ apiVersion: "v1", kind: "Pod", metadata: { ...named, ...metadata }, status });
};
const problemOf = (container: object, more: object = {}) => {
  const status = { phase: "Pending", containerStatuses: [{ restartCount: 0, ...container }], ...more };
  return observed({}, status).problem;
};

it.each([
  [
    "that is Ready",
    {},
    { phase: "Running", conditions: [{ type: "Ready", status: "True" }] },
    { ready: true },
  ],
  ["that is not", {}, { phase: "Running", conditions: [{ type: "Ready", status: "False" }] }, {}],
  ["of which another condition holds", {}, { conditions: [{ type: "Initialized", status: "True" }] }, {}],
  ["that has succeeded", {}, { phase: "Succeeded" }, { ended: true }],
  ["that has failed", {}, { phase: "Failed" }, { ended: true }],
  ["that is to go", { deletionTimestamp: "2026-01-01T00:00:00Z" }, { phase: "Running" }, { deleting: true }],
  ["of a revision", { annotations: { "drover.dev/revision": "12" } }, {}, { revision: 12 }],
  ["without a status", {}, undefined, {}],
])("a Pod %s is seen so", (_, metadata, status, expected) => {
  expect(observed(metadata, status)).toEqual({
    name: "gadgets-a",
    uid: "u",
    createdAt: creationTimestamp,
    problem: undefined,
    revision: 0,
    ready: false,
    deleting: false,
    ended: false,
    ...expected,
  });
});

it("a Pod that starts is no trouble, until its container does not", () => {
  expect(problemOf({ state: { waiting: { reason: "ContainerCreating" } } })).toBeUndefined();
  expect(problemOf({ state: { running: {} } })).toBeUndefined();
  const backOff = { reason: "ImagePullBackOff", message: "not found" };
  expect(problemOf({ state: { waiting: backOff } })).toEqual({
    reason: "ImageNotPulled",
    message: "ImagePullBackOff: not found. Correct spec.container.image, or permit the Pods to pull it.",
  });
  const ended = { terminated: { exitCode: 3, reason: "Error" } };
  const crashed = { state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ended };
  expect(problemOf(crashed)).toEqual({
    reason: "NewPodsDoNotStart",
    message: "CrashLoopBackOff: its container ended with exit code 3",
  });
});

it("a Pod that no node can take has a problem, and a scheduled one has not", () => {
  const unscheduled = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message: "0/3 nodes",
  };
  expect(problemOf({}, { conditions: [unscheduled], containerStatuses: [] })?.message).toBe(
    "Unschedulable: 0/3 nodes",
  );
  const scheduled = { ...unscheduled, status: "True" };
  expect(problemOf({}, { conditions: [scheduled], containerStatuses: [] })).toBeUndefined();
});

it.each([
  // Kubelet tries again by itself, and reports ImagePullBackOff when that did not help.
  ["ErrImagePull", "NewPodsDoNotStart"],
  ["ImagePullBackOff", "ImageNotPulled"],
  ["ErrImageNeverPull", "ImageNotPulled"],
  ["InvalidImageName", "ImageNotPulled"],
  ["CreateContainerConfigError", "NewPodsDoNotStart"],
])("a container that waits with %s is %s", (reason, expected) => {
  expect(problemOf({ state: { waiting: { reason } } })?.reason).toBe(expected);
});
