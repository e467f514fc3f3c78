import { timestamp } from "@drover/controller";
import { podSchema, replicaSetSchema } from "@drover/workloads";
import { expect, it } from "vitest";
import { replicaSetStatus } from "./replica-set-status.ts";

const now = new Date("2026-01-01T00:10:00Z");
const ago = (seconds: number): string => timestamp(new Date(now.getTime() - seconds * 1_000));
const metadata = { name: "web", namespace: "default", uid: "u", resourceVersion: "1", generation: 3 };
const template = { metadata: { labels: { app: "web", tier: "front" } }, spec: {} };
const setWith = (status: object) =>
  replicaSetSchema.parse({
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata,
    status,
    spec: { replicas: 9, minReadySeconds: 30, selector: { matchLabels: { app: "web" } }, template },
  });
const pod = (labels: object, ready?: number) =>
  podSchema.parse({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, labels },
    spec: {},
    status: {
      conditions:
        ready === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: ago(ready) }],
    },
  });

it("counts pods that are, that are ready, that have been so for long enough, and that have all labels", () => {
  const all = { app: "web", tier: "front" };
  const active = [pod({ app: "web" }), pod(all, 10), pod(all, 30), pod({ app: "web" }, 29)];
  const before = { replicas: 7, readyReplicas: 7, observedGeneration: 2, terminatingReplicas: 7 };
  expect(replicaSetStatus(setWith(before), { active, terminating: [pod(all, 99)] }, now)).toEqual({
    replicas: 4,
    fullyLabeledReplicas: 2,
    readyReplicas: 3,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 3,
    conditions: [],
  });
});

const failed = (reason: "FailedCreate" | "FailedDelete") => ({ reason, error: new Error("quota") });
const stated = (reason: string) => ({
  type: "ReplicaFailure",
  status: "True",
  reason,
  message: "quota",
  lastTransitionTime: ago(0),
});
const other = { type: "Example", status: "True" };
const older = { ...stated("FailedCreate"), lastTransitionTime: ago(100), message: "before" };
it.each([
  ["a failure is stated", [other], failed("FailedCreate"), [other, stated("FailedCreate")]],
  ["one to delete is called so", [], failed("FailedDelete"), [stated("FailedDelete")]],
  ["one that is known stays as it was stated", [older, other], failed("FailedCreate"), [older, other]],
  ["one that is over is not stated any more", [older, other], undefined, [other]],
])("%s", (_, conditions, failure, expected) => {
  const kept = { active: [], terminating: [], ...(failure && { failure }) };
  expect(replicaSetStatus(setWith({ conditions }), kept, now).conditions).toEqual(expected);
});
