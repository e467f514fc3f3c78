import { openCalledFunction, type WebhookFunction } from "@drover/calls";
import { type Controller, objectKey, ReconcileFunction } from "@drover/controller";
import { isApiError, type KubeClient, refOf } from "@drover/kube";
import {
  calledIn,
  callSecrets,
  type LocalCalls,
  localCalls,
  parsedUrl,
  webhookFunction,
} from "../called/called-function.ts";
import type { FunctionManifest } from "../deploy/read-manifests.ts";
import { openPulledFunction } from "./open-pulled-function.ts";
import type { PlanOptions } from "./plan-object.ts";

/** Where the ReconcileFunction of a planned function is. */
export interface PlannedFunctionOptions {
  /** The folder with its manifest. */
  readonly folder: string;
  readonly client: KubeClient;
  /** The namespace of a ReconcileFunction that names none. */
  readonly namespace: string;
}

export interface PlannedCallsOptions extends PlannedFunctionOptions {
  /** Where the function runs. */
  readonly url: string;
  /** The file with the secret that it shares with the gateway. */
  readonly secretFile: string | undefined;
}

/** A function that is called over HTTP, for plans: it is called where it runs now, and not where it is deployed. */
export interface PlannedCalls {
  /** Its settings: it has no actions. */
  readonly settings: Controller;
  readonly open: NonNullable<PlanOptions["called"]>;
}

/** @throws CommandError if there is no such function, or it cannot be called. */
export async function plannedCalls({
  url,
  secretFile,
  ...options
}: PlannedCallsOptions): Promise<PlannedCalls> {
  const { fn } = await plannedFunction(calledIn(options.folder).manifest, options);
  return callsOf({ fn, url: parsedUrl(url), secrets: callSecrets(fn, secretFile) });
}

export function callsOf(options: Omit<LocalCalls, "source">): PlannedCalls {
  const calls = localCalls({ ...options, source: "/drover/plan" });
  const { settings } = openCalledFunction(calls);
  return {
    settings,
    open: (object, onChildren) =>
      options.fn.pulls
        ? openPulledFunction({ ...calls, onChildren }, { object, timeout: settings.timeout })
        : Promise.resolve(openCalledFunction({ ...calls, onChildren })),
  };
}

/** A function that is called over HTTP, as the manifest in a folder declares it. */
export interface PlannedFunction {
  readonly fn: WebhookFunction;
  readonly spec: FunctionManifest["spec"];
  /** Its uid is that of the deployed function, by which that knows its calls. */
  readonly identity: { readonly namespace: string; readonly name: string; readonly uid: string };
}

/** @throws CommandError if it cannot be called. */
export async function plannedFunction(
  manifest: FunctionManifest,
  { client, namespace }: Pick<PlannedFunctionOptions, "client" | "namespace">,
): Promise<PlannedFunction> {
  const name = { name: manifest.metadata.name, namespace: manifest.metadata.namespace ?? namespace };
  const identity = { ...name, uid: (await deployedUid(client, name)) ?? "planned" };
  return { fn: webhookFunction(manifest, identity), spec: manifest.spec, identity };
}

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
