import { ReconcileFunction } from "@drover/controller";
import type { FunctionRef } from "../function-ref.ts";
import type { DeployEnvironment } from "../pods/pod-template.ts";
import type { FunctionLoad } from "../redis/function-queues.ts";

/** A kind for which a function of a test is deployed. */
export const cup = { group: "a.b", version: "v1", kind: "Cup", plural: "cups", scope: "Namespaced" } as const;

/** The spec of a function of a test, with these fields beside its kind. */
export const cupSpec = (fields: object = {}) => ReconcileFunction.spec.parse({ for: cup, ...fields });

/** The function of a test. */
export const functionRef: FunctionRef = { namespace: "tea", name: "cups", uid: "1" };

/** The load of queues in which nothing is due, runs or is paused. */
export const idle: FunctionLoad = {
  due: 0,
  oldestDue: 0,
  running: 0,
  runTime: 0,
  paused: 0,
  allPaused: false,
  parked: 0,
  failing: 0,
};

/** The deployer's environment, with Drover in the namespace `drover` and no KEDA. */
export const environment: DeployEnvironment = {
  redisUrl: "redis://redis:6379",
  redisCa: undefined,
  bridge: { namespace: "drover", name: "bridge" },
  gateway: { namespace: "drover", name: "gateway" },
  network: { namespace: "drover", monitoring: [], egress: { pods: true, networks: [], except: [] } },
  keda: { scalingUrl: undefined },
};
