import {
  defineController,
  type Log,
  messageOf,
  type Milliseconds,
  objectKey,
  ReconcileFunction,
  reconcileFunctionOf,
} from "@drover/controller";
import { isApiError, type KubeClient, refOf } from "@drover/kube";
import { annotationsOfAuthor, currentUser } from "@drover/runtime";
import { sleepUnlessAborted } from "@drover/timers";
import { covers } from "../objects/apply-object.ts";
import { watchedKinds } from "../watched-kinds.ts";

/** The ReconcileFunction of the deployer itself, as this version needs it. */
export const deployerRegistration = () =>
  reconcileFunctionOf(defineController({ ...watchedKinds, reconcile: () => Promise.resolve(undefined) }));

const ref = refOf(ReconcileFunction);

export interface RegisterOptions {
  readonly client: KubeClient;
  readonly namespace: string;
  /** Pause before another attempt. The API server refuses the object until it has seen the admission policies' kind. */
  readonly every: Milliseconds;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Creates or updates the deployer's own ReconcileFunction. Tries until it has succeeded, or until `signal` fires. */
export async function registerDeployer(options: RegisterOptions): Promise<void> {
  const { every, log, signal } = options;
  let logged = "";
  while (!signal.aborted) {
    const problem = await tryToRegister(options).then(() => undefined, messageOf);
    if (problem === undefined) return;
    if (problem !== logged) log.info({ problem }, "The deployer's own ReconcileFunction is not there yet");
    logged = problem;
    await sleepUnlessAborted(every, signal);
  }
}

async function tryToRegister({ client, namespace, signal }: RegisterOptions): Promise<void> {
  const { metadata, spec } = deployerRegistration();
  const key = objectKey({ namespace, name: metadata.name });
  const present = await client.get(ref, key, { signal });
  if (present !== undefined && covers(present["spec"], spec)) return;
  const annotations = await annotationsOfAuthor(client, await currentUser(client));
  if (present !== undefined) {
    const { resourceVersion, uid } = present.metadata;
    const body = { metadata: { resourceVersion, uid, annotations }, spec };
    await client.patch(ref, key, { type: "merge", body }, { signal });
    return;
  }
  try {
    await client.create(ref, { metadata: { namespace, name: metadata.name, annotations }, spec }, { signal });
  } catch (error) {
    // Another deployer has.
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
}
