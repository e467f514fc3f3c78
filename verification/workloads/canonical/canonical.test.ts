import { expect, it } from "vitest";
import type { JsonObject } from "../../../packages/sandbox/src/json.ts";
import type { Action } from "../sequences/actions.ts";
import { allowedDifferences } from "../deployments/allowed-differences.ts";
import { canonicalState } from "../deployments/state.ts";
import { newNaming } from "./canonical.ts";
import { compareTraces } from "./compare.ts";
import { uidOf } from "../sequences/kinds.ts";
import type { Kind } from "../sequences/kinds.ts";
import type { Seen, World } from "../observe.ts";
import type { Moment, Trace } from "../sequences/trace.ts";

const begun = Date.parse("2026-01-01T00:00:10Z");
const during = "2026-01-01T00:00:11Z";

interface Names {
  readonly namespace: string;
  readonly hash: string;
  readonly pods: readonly string[];
  /** The first part of all uids. */
  readonly uid: string;
}
const one: Names = { namespace: "run-1", hash: "5d4f8c7b9", pods: ["bcdfg", "xxzzw"], uid: "11111111" };
const other: Names = { namespace: "run-2", hash: "67bb5d9f5c", pods: ["wwwww", "kkkkk"], uid: "22222222" };

const uid = (names: Names, n: number): string => `${names.uid}-0000-0000-0000-00000000000${n}`;
const owned = (kind: string, name: string, by: string): JsonObject => ({
  ownerReferences: [{ apiVersion: "apps/v1", kind, name, uid: by, controller: true }],
});

function worldOf(
  names: Names,
  change: (kind: Kind, object: JsonObject) => JsonObject = (_, object) => object,
): World {
  const set = `web-${names.hash}`;
  const labels = { app: "web", "pod-template-hash": names.hash };
  const objects: readonly [Kind, JsonObject][] = [
    [
      "Deployment",
      { metadata: { name: "web", uid: uid(names, 1), creationTimestamp: during }, spec: { replicas: 2 } },
    ],
    [
      "ReplicaSet",
      {
        metadata: {
          name: set,
          uid: uid(names, 2),
          labels,
          generation: 1,
          ...owned("Deployment", "web", uid(names, 1)),
        },
        spec: { template: { metadata: { labels } } },
        status: { observedGeneration: 1 },
      },
    ],
    ...names.pods.map((suffix, i): [Kind, JsonObject] => [
      "Pod",
      {
        metadata: {
          name: `${set}-${suffix}`,
          uid: uid(names, 3 + i),
          ...owned("ReplicaSet", set, uid(names, 2)),
        },
        spec: { nodeName: "fake-0" },
        status: { phase: "Running", podIP: `10.244.0.${i}` },
      },
    ]),
    ...names.pods.map((suffix, i): [Kind, JsonObject] => [
      "Event",
      {
        metadata: { name: `e${i}`, uid: uid(names, 7 + i) },
        involvedObject: { kind: "ReplicaSet", name: set },
        type: "Normal",
        reason: "SuccessfulCreate",
        message: `Created pod: ${set}-${suffix}`,
        count: 1,
      },
    ]),
  ];
  const seen = objects.map(([kind, object]): Seen => ({ kind, type: "ADDED", object: change(kind, object) }));
  return {
    namespace: names.namespace,
    seen,
    objects: (kind) => seen.filter((each) => each.kind === kind).map(({ object }) => object),
    deletedByHand: new Set(),
    lastChange: () => 0,
    toldUpTo: () => true,
  };
}

const stateOf = (world: World): JsonObject => {
  const naming = newNaming(world.namespace);
  naming.begun.push(begun);
  return canonicalState(world, naming);
};
const action = { do: "clear" } as const;
const traceOf = (...moments: readonly Moment[]): Trace => ({ moments, isLate: false, violations: [] });
const compared = (left: World, right: World): readonly string[] =>
  compareTraces(
    traceOf({ action, state: stateOf(left) }),
    traceOf({ action, state: stateOf(right) }),
    allowedDifferences,
  ).map(({ path }) => path);

it("is the same for runs that gave other names, uids and addresses", () => {
  expect(compared(worldOf(one), worldOf(other))).toEqual([]);
  expect(JSON.stringify(stateOf(worldOf(one)))).not.toMatch(/5d4f8c7b9|bcdfg|run-1|11111111|10\.244/);
});

it("finds the action in which a time falls", () => {
  const earlier = worldOf(other, (kind, object) =>
    kind === "Deployment"
      ? {
          ...object,
          metadata: { name: "web", uid: uidOf(object), creationTimestamp: "2026-01-01T00:00:08Z" },
        }
      : object,
  );
  expect(compared(worldOf(one), earlier)).toEqual(["deployments.web.metadata.creationTimestamp"]);
});

it("reports an owner reference to a missing object", () => {
  const wrong = worldOf(other, (kind, object) =>
    kind === "Deployment"
      ? { ...object, metadata: { name: "web", uid: uid(other, 9), creationTimestamp: during } }
      : object,
  );
  expect(compared(worldOf(one), wrong)).toEqual(["replicaSets.web-<hash 1>.metadata.ownerReferences[0].uid"]);
});

it("counts the Pods that were created and their Events", () => {
  const fewer = worldOf({ ...other, pods: ["wwwww"] });
  expect(compared(worldOf(one), fewer)).toEqual([
    "pods.web-<hash 1>[1]",
    "created.web-<hash 1>",
    "events.ReplicaSet web-<hash 1>: Normal SuccessfulCreate.Created pod: web-<hash 1>-<pod>",
  ]);
});

it("leaves out what was allowed after one action for as long as it stands, and no longer", () => {
  const takesPods = { do: "pods", of: "web", count: 1, change: "delete" } as const;
  const stated = (lastUpdateTime: string): JsonObject => ({
    deployments: { web: { status: { conditions: [{ lastUpdateTime }] } } },
  });
  const trace = (...times: readonly string[]): Trace =>
    traceOf(...times.map((at, i) => ({ action: i === 1 ? takesPods : action, state: stated(at) })));
  const [first, second, third] = ["<during action 1>", "<during action 2>", "<during action 3>"] as const;
  const steps = (left: Trace, right: Trace) =>
    compareTraces(left, right, allowedDifferences).map(({ step }) => step);
  expect(steps(trace(first, second, second), trace(first, first, first))).toEqual([]);
  expect(steps(trace(first, second, second), trace(first, first, third))).toEqual([3]);
  expect(steps(trace(second, second), trace(first, first))).toEqual([1]);
});

it("compares no further after a difference that is allowed and parts the two, but all up to it", () => {
  const spec = { paused: true, revisionHistoryLimit: 0 };
  const create = (paused: boolean): Action => ({
    do: "create",
    object: { kind: "Deployment", spec: { ...spec, paused } },
  });
  const trace = (first: Action, sets: JsonObject, events: JsonObject = {}): Trace =>
    traceOf(
      { action: first, state: { replicaSets: sets, events } },
      { action, state: { pods: Object.keys(sets).length } },
    );
  const sets = { web: { spec: { replicas: 3 } } };
  const steps = (first: Action, events?: JsonObject) =>
    compareTraces(trace(first, {}, events), trace(first, sets), allowedDifferences).map(({ step }) => step);
  expect(steps(create(true))).toEqual([]);
  expect(steps(create(true), { "Deployment web": { reported: 1 } })).toEqual([1]);
  expect(steps(create(false))).toEqual([1]);
  expect(compareTraces(trace(create(true), sets), trace(create(true), {}), allowedDifferences)).not.toEqual(
    [],
  );
});

it("compares no further where the reference has not come to rest, and the subject has", () => {
  const trace = (state: JsonObject): Trace => traceOf({ action, state });
  const onTheWay = { unsettled: "ReplicaSet web may create its pods now", pods: [1] };
  expect(compareTraces(trace(onTheWay), trace({ pods: [1, 2] }), [])).toEqual([]);
  expect(compareTraces(trace({ pods: [1, 2] }), trace(onTheWay), [])).not.toEqual([]);
});

it("compares a sequence that was too late for an action up to there", () => {
  const both = (first: JsonObject): Trace =>
    traceOf({ action, state: first }, { action, state: { pods: [1] } });
  const late = (first: JsonObject): Trace => ({ ...traceOf({ action, state: first }), isLate: true });
  expect(compareTraces(both({}), late({}), [])).toEqual([]);
  expect(compareTraces(late({}), both({}), [])).toEqual([]);
  expect(compareTraces(both({}), late({ pods: [] }), []).map(({ step }) => step)).toEqual([1]);
  expect(compareTraces(both({}), { ...late({}), isLate: false }, []).map(({ step }) => step)).not.toEqual([]);
});
