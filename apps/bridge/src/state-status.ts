import {
  type CampaignProgress,
  type Log,
  ReconcileFunction,
  type ReconcileFunctionStatus,
  timestamp,
} from "@drover/controller";
import { isApiError, type KubeClient, type KubeObject, nameOf, refOf } from "@drover/kube";
import { absentAsCondition, absentCondition, type AbsentPart, conditionsOf } from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { Bridge } from "./bridge.ts";
import type { FollowedStream } from "./follow-stream.ts";
import type { RegisteredFunction } from "./registered-functions.ts";
import type { Registration } from "./registration.ts";

type Follows = NonNullable<ReconcileFunctionStatus["follows"]>;
type State = Follows[string];

/**
 * Writes how this bridge follows the kinds, and the progress of campaigns, into the status of ReconcileFunctions, where
 * it differs. Each bridge writes only the kinds that it follows, so that bridges do not overwrite each other.
 */
export async function stateStatus(options: {
  readonly client: KubeClient;
  readonly functions: readonly RegisteredFunction[];
  readonly bridge: Pick<Bridge, "followed" | "campaigns" | "silent">;
  /**
   * `AbsentPart`: no deployer runs, which only bridges can report. Undefined: not known yet; the condition is left as
   * it is.
   */
  readonly deployer: AbsentPart | "runs" | undefined;
  readonly log: Log;
}): Promise<void> {
  const { client, functions, bridge, deployer, log } = options;
  const followed = bridge.followed();
  for (const { key, object, problem, registration } of functions) {
    const controller = registration?.controller;
    const mine = followed.filter(({ plan }) =>
      plan.listeners.some((listener) => listener.controller === controller),
    );
    const status = differing(object, {
      problem,
      follows: registration === undefined ? {} : followsOf(registration, mine, bridge),
      campaign: controller === undefined ? undefined : bridge.campaigns().get(controller),
    });
    const conditions = withDeployer(object, deployer);
    if (status === undefined && conditions === undefined) continue;
    const body = {
      // The deployer writes conditions too. The resourceVersion keeps this patch from overwriting them.
      ...(conditions && { metadata: { resourceVersion: object.metadata.resourceVersion } }),
      status: { ...status, ...(conditions && { conditions }) },
    };
    await client
      .patch(refOf(ReconcileFunction), key, { type: "merge", body }, { subresource: "status" })
      .catch((error: unknown) => {
        if (conditions !== undefined && isApiError(error, "Conflict")) return;
        log.warn(
          { err: error, function: key },
          "Could not write how a function's kinds are followed into its status",
        );
      });
  }
}

/**
 * The object's conditions, with the condition for an absent deployer added or removed; undefined if they need no
 * change.
 */
function withDeployer(
  object: KubeObject,
  deployer: AbsentPart | "runs" | undefined,
): readonly object[] | undefined {
  if (deployer === undefined) return undefined;
  const type = absentCondition("deployer");
  const standing = conditionsOf(object);
  const stated = standing.find((one) => one.type === type);
  const condition = deployer === "runs" ? undefined : absentAsCondition(deployer);
  const isSame = stated?.status === condition?.status;
  if (isSame && stated?.message === condition?.message) return undefined;
  const others = standing.filter((one) => one.type !== type);
  const { generation: observedGeneration = 0 } = object.metadata;
  const lastTransitionTime = (isSame ? stated?.lastTransitionTime : undefined) ?? timestamp(new Date());
  return condition === undefined
    ? others
    : [...others, { ...condition, observedGeneration, lastTransitionTime }];
}

interface Stated {
  readonly problem: string | undefined;
  readonly follows: Follows;
  readonly campaign: CampaignProgress | undefined;
}

/** The parts that the object's status lacks or has differently; undefined if there are none. */
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

/** By kind. If several streams follow a kind, the worst state counts. */
function followsOf(
  { controller, follows }: Registration,
  mine: readonly FollowedStream[],
  bridge: Pick<Bridge, "silent">,
): Follows {
  const states = mine.map((stream) => [nameOf(stream.plan.ref), stateOf(stream, controller)] as const);
  const silence = bridge.silent();
  // Every bridge writes this, with the same text: no bridge follows a stream for such a queue.
  const silent = follows.flatMap(({ ref, queue = controller }) => {
    const why = silence.get(controller) ?? silence.get(queue);
    return why === undefined ? [] : [[nameOf(ref), silentState(why)] as const];
  });
  const sorted = [...states, ...silent].sort(([, a], [, b]) => badness[a.state] - badness[b.state]);
  return Object.fromEntries(sorted);
}

const badness: Readonly<Record<State["state"], number>> = { Following: 0, Listing: 1, Degraded: 2 };

const heal = "Missed wakes are kept, and delivered once its Redis accepts them.";

const silentState = (why: string): State => ({
  state: "Degraded",
  reason: "QueueSilent",
  message: `The queue does not answer: ${why} ${heal} (tried again every few seconds)`,
});

function stateOf({ plan, reflector, lags }: FollowedStream, controller: string): State {
  const { synced, degraded } = reflector.status();
  if (degraded !== undefined) {
    const { reason, message } = degraded;
    return { state: "Degraded", reason, message: `${message} (tried again every 30 s)` };
  }
  const queues = plan.listeners.flatMap((one) => (one.controller === controller ? [one.queue] : []));
  const lag = lags().find(({ queue }) => queues.includes(queue));
  if (lag !== undefined) {
    const since = new Date(lag.since).toISOString();
    const message = `The queue ${lag.queue} has accepted no wakes since ${since}: ${lag.why} ${heal} (tried again every 5 s)`;
    return { state: "Degraded", reason: "QueueBehind", message };
  }
  return synced
    ? { state: "Following", reason: "Watching", message: "" }
    : { state: "Listing", reason: "NotListedYet", message: "" };
}
