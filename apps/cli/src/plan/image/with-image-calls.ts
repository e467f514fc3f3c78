import { type CallResources, NoReplyError } from "@drover/calls";
import {
  type Controller,
  defaultRunSettings,
  isSecretKind,
  messageOf,
  type ObjectKey,
  oneLine,
  parseDuration,
  portOf,
  type ReconcileFunctionSpec,
  splitObjectKey,
} from "@drover/controller";
import { builtin, type KubeClient, MalformedReplyError, type PodCall } from "@drover/kube";
import { setTimeout as delay } from "node:timers/promises";
import { plannedIn } from "../../called/called-function.ts";
import { CommandError } from "../../command-error.ts";
import {
  callsOf,
  type PlannedCalls,
  plannedFunction,
  type PlannedFunctionOptions,
} from "../planned-calls.ts";
import { podState } from "./pod-state.ts";
import { pollInterval } from "../../waiting/wait-until.ts";
import { type RunningPodOptions, withPlanPod } from "./with-plan-pod.ts";

export interface ImageCallsOptions extends PlannedFunctionOptions, Pick<RunningPodOptions, "image" | "wait"> {
  /** True if the user agrees to send the image the Secrets that its ReconcileFunction declares. */
  readonly sendsSecrets: boolean;
}

interface Steps<P, T> {
  /** Called before anything is made. @param settings the function's, without its code. */
  readonly prepare: (settings: Controller) => Promise<P>;
  /** @param signal aborted when the calls cannot be made any more. */
  readonly use: (calls: PlannedCalls, prepared: P, signal: AbortSignal) => Promise<T>;
}

/**
 * Calls a function that runs with the code of an image, in a Pod that is deleted afterwards.
 *
 * @throws CommandError as `withPlanPod` does, or if the function cannot be called.
 */
export async function withImageCalls<P, T>(
  { image, wait, sendsSecrets, ...options }: ImageCallsOptions,
  { prepare, use }: Steps<P, T>,
): Promise<T> {
  const { client } = options;
  const { fn, spec, identity } = await plannedFunction(plannedIn(options.folder), options);
  if (!sendsSecrets) refuseSecrets(spec);
  const port = portOf(spec.container ?? {});
  const timeout = parseDuration(spec.timeout ?? defaultRunSettings.timeout);
  const calls = { fn, url: new URL(`http://pod:${port}/`) };
  const prepared = await prepare(callsOf({ ...calls, secrets: [] }).settings);
  return withPlanPod({ client, spec, identity, image, wait }, ({ key, secret, signal }) => {
    const post = postToPod(client, key, { port, timeout });
    return use(callsOf({ ...calls, secrets: [secret], post }), prepared, signal);
  });
}

/**
 * A deployed function gets the Secrets that its author may read, and a reviewer may read more than the author of a manifest.
 *
 * @throws CommandError if calls may have Secrets in them.
 */
function refuseSecrets({ owns = [], watches = [] }: ReconcileFunctionSpec): void {
  const related = watches.filter(({ related }) => related === true);
  if (![...owns, ...related].some(isSecretKind)) return;
  throw new CommandError(
    "The ReconcileFunction owns Secrets, or has related ones: they are read with your permissions, and sent to the image. If " +
      "you trust it, add --send-secrets.",
  );
}

const postToPod =
  (
    client: KubeClient,
    key: ObjectKey,
    { port, timeout }: Pick<PodCall, "port" | "timeout">,
  ): NonNullable<CallResources["post"]> =>
  async ({ target, headers, body, most, signal }) => {
    const call = { port, path: target.url.pathname, headers, body, limit: most, timeout, signal };
    const reply = await client.callPod(key, call).catch((error: unknown) => {
      signal.throwIfAborted();
      const isTooLarge = error instanceof MalformedReplyError;
      throw new NoReplyError(isTooLarge ? `its answer has more than ${most} bytes` : messageOf(error));
    });
    if (reply.headers["webhook-signature"] !== undefined || !ofApiServer.includes(reply.status)) return reply;
    throw new NoReplyError(await refusalOf(client, key, { port, status: reply.status }));
  };

/** The statuses of the API server's own answers, if it may not or cannot forward a call. */
const ofApiServer: readonly number[] = [403, 404, 502, 503, 504];

const mostReads = 8;

async function refusalOf(
  client: KubeClient,
  key: ObjectKey,
  { port, status }: { readonly port: number; readonly status: number },
): Promise<string> {
  // The kubelet reports the end of a process a moment later.
  for (let reads = 0; reads < mostReads; reads++) {
    const { isOver, why } = podState(await client.get(builtin.pod, key));
    if (isOver) return oneLine(`its Pod has ended: ${why}`);
    await delay(pollInterval);
  }
  const remedy =
    status === 403
      ? `You need the permission to create pods/proxy in namespace ${splitObjectKey(key).namespace}`
      : `The API server must be able to connect to the Pod ${key} at port ${port}`;
  return `HTTP ${status} came in place of its answer. ${remedy}`;
}
