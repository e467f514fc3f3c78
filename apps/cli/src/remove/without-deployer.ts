import {
  controllerOfFinalizer,
  functionSelector,
  type Milliseconds,
  objectKey,
  ReconcileFunction,
} from "@drover/controller";
import {
  builtin,
  keyOf,
  type KubeClient,
  type KubeObject,
  listAll,
  refOf,
  type ResourceRef,
} from "@drover/kube";
import { z } from "zod";
import { CommandError } from "../command-error.ts";
import type { DeployedFunction } from "../deployed-functions.ts";
import { findAbsentParts } from "../find-absent-parts.ts";
import { shortDuration } from "../short-duration.ts";
import { waitUntil } from "../waiting/wait-until.ts";
import { deleteSame, releaseObject } from "./held-objects.ts";

/** Bindings first: without them the Roles grant nothing. */
const roleKinds: readonly ResourceRef[] = [
  ...[builtin.clusterRoleBinding, builtin.roleBinding],
  ...[builtin.clusterRole, builtin.role],
];

const bindingSchema = z.looseObject({ subjects: z.array(z.looseObject({ namespace: z.string() })) });
const subjectsIn = (binding: KubeObject | undefined): readonly string[] =>
  bindingSchema.safeParse(binding).data?.subjects.map(({ namespace }) => namespace) ?? [];

/** @throws CommandError if a deployer runs, or if that is not known: then the deployer must remove the function. */
export async function refuseRunningDeployer(client: KubeClient, namespace: string): Promise<void> {
  const binding = await client.get(builtin.clusterRoleBinding, objectKey({ name: "drover-deployer" }));
  const elsewhere = subjectsIn(binding).find((one) => one !== namespace);
  if (elsewhere !== undefined)
    throw new CommandError(
      `Drover is installed in the namespace ${elsewhere}: --drover-namespace ${elsewhere}`,
    );
  const absent = await findAbsentParts(client, { namespace, parts: ["deployer"] });
  if (absent === undefined)
    throw new CommandError(
      `You may not read Leases in ${namespace}, so it is not known whether a deployer runs there.`,
    );
  if (absent.length === 0)
    throw new CommandError(
      `A deployer runs in ${namespace}: leave --without-deployer out, and it removes the function. If its Redis is gone ` +
        `for good, it cannot: kubectl scale deployment/deployer -n ${namespace} --replicas=0, then run this command again.`,
    );
}

/**
 * Does for a ReconcileFunction that is being deleted what the deployer would do in the cluster: deletes the Pods of the
 * function and waits until their runs have ended, deletes its Roles and bindings, and removes Drover's finalizers from the
 * ReconcileFunction. The garbage collector deletes the rest. May be repeated.
 */
export async function takeDown(client: KubeClient, fn: DeployedFunction, wait: Milliseconds): Promise<void> {
  const labelSelector = functionSelector(fn);
  const labelled = (ref: ResourceRef, namespace?: string): Promise<readonly KubeObject[]> =>
    listAll(client, ref, { namespace, labelSelector, metadataOnly: true });
  const deleteAll = async (ref: ResourceRef, namespace?: string): Promise<void> => {
    for (const one of await labelled(ref, namespace)) await deleteSame(client, ref, one);
  };
  await deleteAll(builtin.pod, fn.namespace);
  if (!(await waitUntil(wait, async () => (await labelled(builtin.pod, fn.namespace)).length === 0)))
    throw new CommandError(
      `Pods of ${fn.key} still run after ${shortDuration(wait)}. Run this command again when they are gone.`,
    );
  for (const ref of roleKinds) await deleteAll(ref);
  const ref = refOf(ReconcileFunction);
  for (;;) {
    const now = await client.get(ref, keyOf(fn.object));
    const own = now?.metadata.finalizers?.find((one) => controllerOfFinalizer(one) !== undefined);
    if (now?.metadata.uid !== fn.object.metadata.uid || own === undefined) return;
    await releaseObject(client, { ref, finalizer: own }, now);
  }
}
