import { objectKey } from "@drover/controller";
import { builtin, type KubeClient } from "@drover/kube";
import { randomBytes } from "node:crypto";
import type { FunctionContext } from "./function-objects.ts";
import { type Home, ownedBy } from "./home.ts";
import { podOf, type TemplateOf } from "./pod-template.ts";
import type { FunctionPod, PodChanges } from "./roll-out.ts";

/** The parameters for changing the Pods of a function. */
export interface PodKeeper {
  readonly client: KubeClient;
  readonly context: Pick<FunctionContext, "signal" | "log">;
  readonly home: Home;
}

/** Creates Pods of a revision, and deletes others. Deleted Pods have their grace period to end their runs. */
export async function changePods(
  keeper: PodKeeper,
  { create, remove }: PodChanges,
  { template, revision }: { readonly template: TemplateOf; readonly revision: number },
): Promise<void> {
  const { client, context, home } = keeper;
  const { signal, log } = context;
  const owner = ownedBy(home);
  const pod = podOf(template, revision);
  const made = Array.from({ length: create }, () => {
    const name = `${home.name}-r${revision}-${randomBytes(4).toString("hex")}`;
    const metadata = {
      ...owner,
      name,
      annotations: pod.annotations,
      labels: { ...owner.labels, ...pod.labels },
    };
    return client.create(builtin.pod, { metadata, spec: pod.spec }, { signal });
  });
  await Promise.all([...made, dropPods(keeper, remove)]);
  if (create + remove.length > 0) {
    log.info({ function: home.name, revision, made: create, removed: remove.length }, "Changed Pods");
  }
}

/** Deletes Pods, except those that are being deleted already. */
export async function dropPods(
  { client, context: { signal }, home }: PodKeeper,
  pods: readonly FunctionPod[],
): Promise<void> {
  const staying = pods.filter(({ deleting }) => !deleting);
  await Promise.all(
    staying.map(({ name, uid }) =>
      client.delete(builtin.pod, objectKey({ namespace: home.namespace, name }), { uid, signal }),
    ),
  );
}
