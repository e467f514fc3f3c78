import { objectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { randomBytes } from "node:crypto";
import type { FunctionContext } from "../objects/function-object.ts";
import { type FunctionRef, ownedMetadata } from "../function-ref.ts";
import { podManifest, type PodTemplateInput } from "./pod-template.ts";
import type { RolloutPod, PodChanges } from "./plan-pod-changes.ts";

/** The parameters for changing the Pods of a function. */
export interface ChangePodsOptions {
  readonly client: KubeClient;
  readonly context: Pick<FunctionContext, "signal" | "log">;
  readonly functionRef: FunctionRef;
}

/** Creates Pods of a revision, and deletes others. Deleted Pods have their grace period to end their runs. */
export async function changePods(
  options: ChangePodsOptions,
  { create, remove }: PodChanges,
  { template, revision }: { readonly template: PodTemplateInput; readonly revision: number },
): Promise<void> {
  const { client, context, functionRef } = options;
  const { signal, log } = context;
  const owner = ownedMetadata(functionRef);
  const pod = podManifest(template, revision);
  const made = Array.from({ length: create }, () => {
    const name = `${functionRef.name}-r${revision}-${randomBytes(4).toString("hex")}`;
    const metadata = {
      ...owner,
      name,
      annotations: pod.annotations,
      labels: { ...pod.labels, ...owner.labels },
    };
    return client.create(builtin.pod, { metadata, spec: pod.spec }, { signal });
  });
  await Promise.all([...made, dropPods(options, remove)]);
  if (create + remove.length > 0) {
    log.info({ function: functionRef.name, revision, made: create, removed: remove.length }, "Changed Pods");
  }
}

/** Deletes Pods, except those that are being deleted already. */
export async function dropPods(
  { client, context: { signal }, functionRef }: ChangePodsOptions,
  pods: readonly RolloutPod[],
): Promise<void> {
  const staying = pods.filter(({ deleting }) => !deleting);
  await Promise.all(
    staying.map(({ name, uid }) =>
      client.delete(builtin.pod, objectKey({ namespace: functionRef.namespace, name }), { uid, signal }),
    ),
  );
}
