import { type Log, ReconcileFunction, type ReconcileFunctionStatus } from "@drover/controller";
import { type KubeClient, type KubeObject, nameOf, refOf } from "@drover/kube";
import type { FollowedStream } from "./follow-stream.ts";
import type { RegisteredFunction } from "./registered-functions.ts";

type Follows = NonNullable<ReconcileFunctionStatus["follows"]>;
type State = Follows[string];

/**
 * Writes into the status of ReconcileFunctions how the kinds are followed that this bridge holds, where it is not there
 * yet. Each bridge writes its own kinds only, so that several do not argue.
 */
export async function stateStatus(options: {
  readonly client: KubeClient;
  readonly functions: readonly RegisteredFunction[];
  readonly followed: readonly FollowedStream[];
  readonly log: Log;
}): Promise<void> {
  const { client, functions, followed, log } = options;
  for (const { key, object, problem, registration } of functions) {
    const controller = registration?.controller;
    const mine = followed.filter(({ plan }) =>
      plan.listeners.some((listener) => listener.controller === controller),
    );
    const status = differing(
      object,
      problem,
      Object.fromEntries(mine.map((each) => [nameOf(each.plan.ref), stateOf(each)])),
    );
    if (status === undefined) continue;
    const patch = { type: "merge", body: { status } } as const;
    await client
      .patch(refOf(ReconcileFunction), key, patch, { subresource: "status" })
      .catch((error: unknown) => {
        log.warn(
          { err: error, function: key },
          "Could not say in its status how a function's kinds are followed",
        );
      });
  }
}

/** What of these is not in an object's status; undefined when all is. */
function differing(object: KubeObject, problem: string | undefined, follows: Follows): object | undefined {
  const stated = ReconcileFunction.status.safeParse(object["status"] ?? {}).data ?? {};
  const news = Object.entries(follows).filter(
    ([kind, state]) => JSON.stringify(stated.follows?.[kind]) !== JSON.stringify(state),
  );
  if (stated.problem === problem && news.length === 0) return undefined;
  return { problem: problem ?? null, ...(news.length > 0 && { follows: Object.fromEntries(news) }) };
}

function stateOf({ reflector }: FollowedStream): State {
  const { synced, degraded } = reflector.status();
  if (degraded !== undefined) {
    const { reason, message } = degraded;
    return { state: "Degraded", reason, message: `${message} (tried again every 30 s)` };
  }
  return synced
    ? { state: "Following", reason: "Watching", message: "" }
    : { state: "Listing", reason: "NotListedYet", message: "" };
}
