import { isDeepStrictEqual } from "node:util";
import { builtin, isApiError, isControlledBy, keyOf, type NewObject } from "@drover/kube";
import {
  ownershipAction,
  isNamespaceTerminating,
  isSameStatus,
  type ReplicaSetObject,
  replicaSetSchema,
  serverMessageOf,
} from "@drover/workloads";
import { conditionFields, setCondition } from "./status/deployment-conditions.ts";
import type { Draft, DraftSet } from "./draft.ts";
import { releaseStraySets } from "./find-sets.ts";
import type { DeploymentRunContext } from "./deployment-run-context.ts";
import { isSameTemplate } from "./template.ts";

/**
 * Writes what was decided, each object for the version that was read. The Deployment comes last, so that its status is
 * true of the sets. A write that is refused ends it: the next run decides again.
 *
 * @returns true if anything but the status was written, which wakes the Deployment again.
 */
export async function applyDraft(runContext: DeploymentRunContext, draft: Draft): Promise<boolean> {
  if (draft.template !== undefined || isWithoutRollback(draft)) {
    await writeTemplate(runContext, draft);
    return true;
  }
  const changed = draft.sets.filter((one) => !isUnchangedSet(one));
  for (const one of changed) await writeSet(runContext, draft, one);
  for (const announcement of draft.announcements) runContext.context.announce(announcement);
  await writeStatus(runContext, draft);
  return changed.length > 0;
}

const isUnchangedSet = ({
  set,
  isNew,
  isToBeDeleted,
  replicas,
  minReadySeconds,
  annotations,
}: DraftSet): boolean =>
  !isNew &&
  !isToBeDeleted &&
  set.spec.replicas === replicas &&
  set.spec.minReadySeconds === minReadySeconds &&
  isDeepStrictEqual(set.metadata.annotations ?? {}, annotations);

async function writeSet(runContext: DeploymentRunContext, draft: Draft, one: DraftSet): Promise<void> {
  const { client, context } = runContext;
  const { signal } = context;
  const { set, isNew, isToBeDeleted } = one;
  if (isNew) return createSet(runContext, draft, one);
  if (isToBeDeleted) {
    const { uid, resourceVersion } = set.metadata;
    await client.delete(builtin.replicaSet, keyOf(set), { uid, resourceVersion, signal });
    return;
  }
  await client.replace(builtin.replicaSet, draftedSet(one), { signal });
}

const draftedSet = ({ set, replicas, minReadySeconds, annotations }: DraftSet): ReplicaSetObject => ({
  ...set,
  metadata: { ...set.metadata, annotations: { ...annotations } },
  spec: { ...set.spec, replicas, minReadySeconds },
});

async function createSet(runContext: DeploymentRunContext, draft: Draft, one: DraftSet): Promise<void> {
  const { client, context } = runContext;
  const { status: _, ...wanted } = draftedSet(one);
  const { uid, resourceVersion, ...metadata } = wanted.metadata;
  try {
    await client.create(builtin.replicaSet, { ...wanted, metadata } satisfies NewObject, {
      signal: context.signal,
    });
  } catch (error) {
    if (isApiError(error, "AlreadyExists")) await resolveCollision(runContext, draft, one, error);
    else if (!isNamespaceTerminating(error)) await reportCreateFailure(runContext, draft, one, error);
    throw error;
  }
}

/**
 * Another set has the name. If it is the wanted one, created by an earlier run, the next run finds it. If it was this
 * Deployment's and has other labels by now, it is released. Otherwise two templates have the same hash, and the next
 * set is created with another one.
 */
async function resolveCollision(
  runContext: DeploymentRunContext,
  draft: Draft,
  { set }: DraftSet,
  error: unknown,
): Promise<void> {
  const { client, deployment, owner, context } = runContext;
  const found = await client.get(builtin.replicaSet, keyOf(set), { signal: context.signal });
  if (found === undefined) throw error;
  if (ownershipAction(owner, found) === "release") return releaseStraySets(runContext);
  const isWanted =
    isControlledBy(found.metadata, deployment.metadata) &&
    isSameTemplate(replicaSetSchema.parse(found).spec.template, deployment.spec.template);
  if (isWanted) return;
  const { status } = deployment;
  const collisionCount = (status.collisionCount ?? 0) + 1;
  await writeStatus(runContext, draftWithStatus(draft, { ...status, collisionCount }));
}

async function reportCreateFailure(
  runContext: DeploymentRunContext,
  draft: Draft,
  { set }: DraftSet,
  error: unknown,
): Promise<void> {
  const { deployment, context } = runContext;
  const reason = "ReplicaSetCreateError";
  const note = `Failed to create new replica set "${set.metadata.name}": ${serverMessageOf(error)}`;
  context.announce({ type: "Warning", reason, note, action: "Create" });
  if (deployment.spec.progressDeadlineSeconds === undefined) return;
  const status = draftWithStatus(draft, deployment.status);
  setCondition(status, conditionFields("Progressing", "False", reason, note));
  await writeStatus(runContext, status);
}

/** The draft without its decisions, and with this status. */
const draftWithStatus = (draft: Draft, status: Draft["status"]): Draft => ({
  ...draft,
  annotations: draft.deployment.metadata.annotations ?? {},
  status,
});

const isWithoutRollback = ({ deployment, annotations }: Draft): boolean =>
  Object.keys(deployment.metadata.annotations ?? {}).some((name) => !(name in annotations));

/**
 * Writes the Deployment with an earlier template, or as it is, and without the annotation that requested the rollback.
 */
async function writeTemplate({ client, context }: DeploymentRunContext, draft: Draft): Promise<void> {
  const { deployment, annotations, template = deployment.spec.template } = draft;
  const metadata = { ...deployment.metadata, annotations: { ...annotations } };
  // As it was read: the parsed spec has lost the number that means "none".
  const { spec } = context.object;
  const asked = { ...(typeof spec === "object" && spec), template };
  await client.replace(
    builtin.deployment,
    { ...deployment, metadata, spec: asked },
    { signal: context.signal },
  );
  for (const announcement of draft.announcements) context.announce(announcement);
}

/** Writes the status and the Deployment's revision, if they have changed. */
async function writeStatus({ client }: DeploymentRunContext, draft: Draft): Promise<void> {
  const { deployment, annotations, status } = draft;
  const before = deployment.metadata.annotations ?? {};
  if (isSameStatus(deployment.status, status) && isDeepStrictEqual(before, annotations)) return;
  const metadata = { ...deployment.metadata, annotations: { ...annotations } };
  await client.replace(builtin.deployment, { ...deployment, metadata, status }, { subresource: "status" });
}
