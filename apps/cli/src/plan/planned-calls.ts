import { openCalledFunction } from "@drover/calls";
import { objectKey, ReconcileFunction } from "@drover/controller";
import { isApiError, type KubeClient, refOf } from "@drover/kube";
import { calledIn, callSecrets, localCalls, parsedUrl, webhookFunction } from "../called/called-function.ts";
import type { PlanOptions } from "./plan-object.ts";

export interface PlannedCallsOptions {
  /** Where the function runs. */
  readonly url: string;
  /** The folder with its ReconcileFunction. */
  readonly folder: string;
  /** The file with the secret that it shares with the gateway. */
  readonly secretFile: string | undefined;
  readonly client: KubeClient;
  /** The namespace of a ReconcileFunction that names none. */
  readonly namespace: string;
}

/** A function that is called over HTTP, for plans: it is called where it runs now, and not where it is deployed. */
export type PlannedCalls = NonNullable<PlanOptions["called"]>;

/** @throws CommandError if there is no such function, or it cannot be called. */
export async function plannedCalls({
  url: text,
  folder,
  secretFile,
  client,
  namespace,
}: PlannedCallsOptions): Promise<PlannedCalls> {
  const url = parsedUrl(text);
  const { manifest } = calledIn(folder);
  const name = { name: manifest.metadata.name, namespace: manifest.metadata.namespace ?? namespace };
  const uid = (await deployedUid(client, name)) ?? "planned";
  const fn = webhookFunction(manifest, { ...name, uid });
  const calls = localCalls({ fn, url, secrets: callSecrets(fn, secretFile), source: "/drover/plan" });
  return (onChildren) => openCalledFunction({ ...calls, ...(onChildren && { onChildren }) });
}

/** The uid by which a deployed function knows its calls. */
async function deployedUid(
  client: KubeClient,
  name: { readonly name: string; readonly namespace: string },
): Promise<string | undefined> {
  const found = await client.get(refOf(ReconcileFunction), objectKey(name)).catch((error: unknown) => {
    if (isApiError(error, "NotServed", "Forbidden")) return undefined;
    throw error;
  });
  return found?.metadata.uid;
}
