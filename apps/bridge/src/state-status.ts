import {
  type CampaignProgress,
  type Log,
  ReconcileFunction,
  type ReconcileFunctionStatus,
} from "@drover/controller";
import { type KubeClient, type KubeObject, nameOf, refOf } from "@drover/kube";
import { isDeepStrictEqual } from "node:util";
import type { Bridge } from "./bridge.ts";
import type { FollowedStream } from "./follow-stream.ts";
import type { RegisteredFunction } from "./registered-functions.ts";

type Follows = NonNullable<ReconcileFunctionStatus["follows"]>;
type State = Follows[string];

/**
 * Writes into the status of ReconcileFunctions how the kinds are followed that this bridge holds, and how far campaigns
 * have come, where it is not there yet. Each bridge writes of its own kinds only, so that several do not argue.
 */
export async function stateStatus(options: {
  readonly client: KubeClient;
  readonly functions: readonly RegisteredFunction[];
  readonly bridge: Pick<Bridge, "followed" | "campaigns">;
  readonly log: Log;
}): Promise<void> {
  const { client, functions, bridge, log } = options;
  const followed = bridge.followed();
  for (const { key, object, problem, registration } of functions) {
    const controller = registration?.controller;
    const mine = followed.filter(({ plan }) =>
      plan.listeners.some((listener) => listener.controller === controller),
    );
    const status = differing(object, {
      problem,
      follows: Object.fromEntries(mine.map((each) => [nameOf(each.plan.ref), stateOf(each)])),
      campaign: controller === undefined ? undefined : bridge.campaigns().get(controller),
    });
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

interface Stated {
  readonly problem: string | undefined;
  readonly follows: Follows;
  readonly campaign: CampaignProgress | undefined;
}

/** What of these is not in an object's status; undefined when all is. */
function differing(object: KubeObject, { problem, follows, campaign }: Stated): object | undefined {
  const stated = ReconcileFunction.status.safeParse(object["status"] ?? {}).data ?? {};
  const differ = (a: unknown, b: unknown): boolean => !isDeepStrictEqual(a, b);
  const news = Object.entries(follows).filter(([kind, state]) => differ(stated.follows?.[kind], state));
  const ran = campaign !== undefined && differ(stated.campaign, campaign);
  if (stated.problem === problem && news.length === 0 && !ran) return undefined;
  return {
    problem: problem ?? null,
    ...(news.length > 0 && { follows: Object.fromEntries(news) }),
    ...(ran && { campaign: { doneAt: null, ...campaign } }),
  };
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
