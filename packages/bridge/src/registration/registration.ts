import {
  type Campaign,
  type FunctionIdentity,
  type ObjectKey,
  type QueueName,
  queueOf,
  type ReconcileFunctionSpec,
} from "@drover/controller";
import type { KubeObject } from "@drover/kube";
import { type Follower, followsOf } from "../mapping/follows-of.ts";
import { type Hook, hooksOf } from "../hooks/hook.ts";

/** A controller, the kinds that the bridge follows for it, and its hooks and campaigns. */
export interface Registration extends Follower {
  readonly controller: QueueName;
  readonly campaign?: Campaign | undefined;
  /** A campaign over the objects that failed or are parked. */
  readonly retries?: Campaign | undefined;
  readonly hooks: readonly Hook[];
}

/** A ReconcileFunction of the cluster: its registration, or the problem that prevents it. */
export interface RegisteredFunction {
  readonly key: ObjectKey;
  readonly object: KubeObject;
  readonly registration?: Registration;
  readonly problem?: string;
}

/**
 * @param identity of the ReconcileFunction. A registration from a file has only a name.
 * @throws InvalidRegistrationError naming the field.
 */
export function registrationOf(identity: FunctionIdentity, spec: ReconcileFunctionSpec): Registration {
  const queue = queueOf(identity);
  const hooks = hooksOf(spec, identity);
  const held = hooks.flatMap(({ heldBy }) => (heldBy === undefined ? [] : [heldBy]));
  return {
    controller: queue,
    ...(spec.campaign && { campaign: spec.campaign }),
    follows: followsOf({ name: identity.name, queue }, spec, held),
    hooks,
  };
}
