import type { ReconcileResult } from "@drover/controller";
import { builtin, refOf } from "@drover/kube";
import {
  nextAvailable,
  type Owner,
  type Pod,
  replaceStatus,
  requeueIn,
  type WorkloadRunContext,
} from "@drover/workloads";
import { z } from "zod";
import { DaemonSet, daemonSetSchema } from "./daemon-set.ts";
import { type DaemonSetRunContext, publish } from "./daemon-set-run.ts";
import { daemonSetStatus } from "./daemon-set-status.ts";
import { type Node, nodeSchema } from "./nodes/node.ts";
import { placementOn } from "./nodes/placement.ts";
import { type AppliedChanges, applyChanges } from "./pods/apply-changes.ts";
import { byNode, findPods } from "./pods/find-pods.ts";
import { planPods } from "./pods/plan-pods.ts";
import { findRevisions, type Revisions } from "./revision/find-revisions.ts";
import { trimHistory } from "./revision/trim-history.ts";
import { type Rollout, rollingUpdate } from "./rollout/rolling-update.ts";

/** The part of the object that must be as it was read. */
const templateSchema = z.looseObject({ spec: z.looseObject({ template: z.looseObject({}) }) });

/**
 * One run: creates and deletes pods until each node that should run one has one, then replaces old pods as far as the
 * strategy allows, and writes the status.
 */
export async function reconcileDaemonSet(
  runContext: WorkloadRunContext<typeof DaemonSet>,
): Promise<ReconcileResult<typeof DaemonSet>> {
  const { context } = runContext;
  const daemonSet = daemonSetSchema.parse(context.object);
  const { template } = templateSchema.parse(context.object).spec;
  const { metadata, spec } = daemonSet;
  const owner: Owner = { ref: refOf(DaemonSet), metadata, selector: spec.selector };
  const daemonSetContext: DaemonSetRunContext = { ...runContext, daemonSet, template, owner };
  if (Object.keys(spec.selector).length === 0) {
    const note = "This daemon set is selecting all pods. A non-empty selector is required.";
    publish(daemonSetContext, "SelectingAll", note, "Warning");
    return {};
  }
  const nodes = await findNodes(daemonSetContext);
  const revisions = await findRevisions(daemonSetContext, await findPods(daemonSetContext, nodes));
  return reconcilePods(daemonSetContext, nodes, revisions);
}

async function findNodes({ client, context }: DaemonSetRunContext): Promise<readonly Node[]> {
  const found = await client.find(builtin.node, { signal: context.signal });
  return found.map((node) => nodeSchema.parse(node));
}

/** A failure is thrown once the status is written. */
async function reconcilePods(
  runContext: DaemonSetRunContext,
  nodes: readonly Node[],
  revisions: Revisions,
): Promise<ReconcileResult<typeof DaemonSet>> {
  const { daemonSet } = runContext;
  const placements = new Map(
    nodes.map((node) => [node.metadata.name, placementOn(node, daemonSet.spec.template)]),
  );
  const now = runContext.now().getTime();
  const rollout = { daemonSet, hash: revisions.hash, pods: byNode(revisions.pods), placements, now };
  const plan = planPods(runContext, rollout);
  const { created, firstFailure } = await changePods(runContext, rollout, plan);
  if (firstFailure === undefined) await trimHistory(runContext, revisions);
  const pods = withCreated(revisions.pods, created);
  const status = daemonSetStatus({ ...rollout, pods: byNode(pods) });
  const { client, context } = runContext;
  const requests = { client, signal: context.signal };
  const isNew = (await replaceStatus(requests, refOf(DaemonSet), daemonSet, status)) !== undefined;
  if (firstFailure !== undefined) {
    // The new status may be of a change that has made room: a quota counts a little later than pods go.
    if (isNew) return { requeueAfter: "50ms" };
    throw firstFailure.reason;
  }
  // Also pods that the status does not count: with a surge a node has two.
  const ripe = nextAvailable(pods, daemonSet.spec.minReadySeconds, now);
  const waits = [...plan.waits, ripe].filter((wait) => wait !== undefined);
  if (waits.length === 0) return {};
  return isNew ? requeueIn(Math.min(...waits), 1) : requeueIn(Math.min(...waits));
}

/** Replaces old pods only if there is nothing else to do: what is allowed depends on the pods of all nodes. */
async function changePods(
  runContext: DaemonSetRunContext,
  rollout: Rollout,
  plan: ReturnType<typeof planPods>,
): Promise<AppliedChanges> {
  const isPlaced = plan.create.length + plan.delete.length === 0;
  const isRolling = rollout.daemonSet.spec.updateStrategy.type === "RollingUpdate";
  if (!isPlaced) return applyChanges(runContext, plan, rollout);
  return isRolling ? applyChanges(runContext, rollingUpdate(rollout), rollout) : { created: [] };
}

/** An earlier run may have created some of these pods. */
function withCreated(pods: readonly Pod[], created: readonly Pod[]): readonly Pod[] {
  const known = new Set(pods.map(({ metadata }) => metadata.uid));
  return [...pods, ...created.filter(({ metadata }) => !known.has(metadata.uid))];
}
