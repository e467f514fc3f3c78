import { type GoneContext, type ObjectName, splitObjectKey } from "@drover/controller";
import { builtin, controllerOf, type FindOptions, type KubeObject } from "@drover/kube";
import { trackingFinalizer } from "../job.ts";
import { removeFinalizers } from "./tracking-finalizer.ts";

/** The API server sets it on the pods of Jobs whose selector it has made. */
const nameLabel = "batch.kubernetes.io/job-name";

type Requests = Pick<GoneContext, "client" | "signal">;

/** Removes the finalizer from the pods of a Job that is gone: nothing counts them any more. */
export async function freePodsOfGone(context: GoneContext): Promise<void> {
  const owner = splitObjectKey(context.key);
  const labelled = await labelledPods(context, owner);
  // Pods of a Job with `manualSelector` may lack the label.
  const pods = labelled.length > 0 ? labelled : await findPods(context, owner);
  await free(context, pods, owner);
}

/**
 * Removes the finalizer from pods labelled with a Job's name that no run will count: those of an earlier Job of this name,
 * or, without `except`, all of them.
 */
export async function freePodsNamedAfter(
  requests: Requests,
  owner: ObjectName,
  { except }: { readonly except: string | undefined },
): Promise<void> {
  await free(requests, await labelledPods(requests, owner, { mappedToKey: true }), owner, except);
}

const labelledPods = (requests: Requests, owner: ObjectName, options: FindOptions = {}) =>
  findPods(requests, owner, { ...options, selector: { matchLabels: { [nameLabel]: owner.name } } });

const findPods = ({ client, signal }: Requests, { namespace }: ObjectName, options: FindOptions = {}) =>
  client.find(builtin.pod, { ...options, namespace, signal, metadataOnly: true });

/** @param except the uid of the Job whose pods keep it. */
async function free(
  requests: Requests,
  pods: readonly KubeObject[],
  { name }: ObjectName,
  except?: string,
): Promise<void> {
  const held = pods.filter(({ metadata }) => {
    if (metadata.finalizers?.includes(trackingFinalizer) !== true) return false;
    const controller = controllerOf(metadata);
    if (controller === undefined) return true;
    const isJob = controller.kind === "Job" && controller.apiVersion === "batch/v1";
    return isJob && controller.name === name && controller.uid !== except;
  });
  const { firstFailure } = await removeFinalizers(requests, held);
  if (firstFailure !== undefined) throw firstFailure.reason;
}
