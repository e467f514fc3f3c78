import {
  type CampaignProgress,
  type Log,
  ReconcileFunction,
  type ReconcileFunctionStatus,
  timestamp,
} from "@drover/controller";
import { isApiError, type KubeClient, type KubeObject, resourceNameOf, refOf } from "@drover/kube";
import { absenceCondition, absentConditionType, type AbsentPart, conditionsOf } from "@drover/runtime";
import { isDeepStrictEqual } from "node:util";
import type { Bridge } from "../bridge.ts";
import type { FollowedStream } from "../streams/follow-stream.ts";
import type { RegisteredFunction, Registration } from "./registration.ts";

type Follows = NonNullable<ReconcileFunctionStatus["follows"]>;
type State = Follows[string];

export interface FollowStatusOptions {
  readonly client: KubeClient;
  readonly functions: readonly RegisteredFunction[];
  readonly bridge: Pick<Bridge, "followed" | "campaigns" | "unresponsiveQueues">;
  /**
   * `AbsentPart`: no deployer runs, which only bridges can report. Undefined: not known yet; the condition is left as
   * it is.
   */
  readonly deployer: AbsentPart | "runs" | undefined;
  readonly log: Log;
}

/**
 * Writes how this bridge follows the kinds, and the progress of campaigns, into the status of ReconcileFunctions, where
 * it differs. Each bridge writes only the kinds that it follows, so that bridges do not overwrite each other.
 */
export async function writeFollowStatus(options: FollowStatusOptions): Promise<void> {
  const { client, functions, bridge, deployer, log } = options;
  const followed = bridge.followed();
  for (const { key, object, problem, registration } of functions) {
    const controller = registration?.controller;
    const mine = followed.filter(({ plan }) =>
      plan.subscribers.some((subscriber) => subscriber.controller === controller),
    );
    const status = statusPatch(object, {
      problem,
      follows: registration === undefined ? {} : followStates(registration, mine, bridge),
      campaign: controller === undefined ? undefined : bridge.campaigns().get(controller),
    });
    const conditions = conditionsWithDeployer(object, deployer);
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
function conditionsWithDeployer(
  object: KubeObject,
  deployer: AbsentPart | "runs" | undefined,
): readonly object[] | undefined {
  if (deployer === undefined) return undefined;
  const type = absentConditionType("deployer");
  const standing = conditionsOf(object);
  const stated = standing.find((one) => one.type === type);
  const condition = deployer === "runs" ? undefined : absenceCondition(deployer);
  const isSame = stated?.status === condition?.status;
  if (isSame && stated?.message === condition?.message) return undefined;
  const others = standing.filter((one) => one.type !== type);
  const { generation: observedGeneration = 0 } = object.metadata;
  const lastTransitionTime = (isSame ? stated?.lastTransitionTime : undefined) ?? timestamp(new Date());
  return condition === undefined
    ? others
    : [...others, { ...condition, observedGeneration, lastTransitionTime }];
}

interface ReportedState {
  readonly problem: string | undefined;
  readonly follows: Follows;
  readonly campaign: CampaignProgress | undefined;
}

/** The parts that the object's status lacks or has differently; undefined if there are none. */
function statusPatch(object: KubeObject, { problem, follows, campaign }: ReportedState): object | undefined {
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
function followStates(
  { controller, follows }: Registration,
  mine: readonly FollowedStream[],
  bridge: Pick<Bridge, "unresponsiveQueues">,
): Follows {
  const states = mine.map(
    (stream) => [resourceNameOf(stream.plan.ref), stateOf(stream, controller)] as const,
  );
  const reasons = bridge.unresponsiveQueues();
  // Every bridge writes this, with the same text: no bridge follows a stream for such a queue.
  const unresponsive = follows.flatMap(({ ref, queue = controller }) => {
    const why = reasons.get(controller) ?? reasons.get(queue);
    return why === undefined ? [] : [[resourceNameOf(ref), unresponsiveState(why)] as const];
  });
  const sorted = [...states, ...unresponsive].sort(([, a], [, b]) => severity[a.state] - severity[b.state]);
  return Object.fromEntries(sorted);
}

const severity: Readonly<Record<State["state"], number>> = { Following: 0, Listing: 1, Degraded: 2 };

const recoveryHint = "Missed wakes are kept, and delivered once its Redis accepts them.";

const unresponsiveState = (why: string): State => ({
  state: "Degraded",
  reason: "QueueSilent",
  message: `The queue does not answer: ${why} ${recoveryHint} (tried again every few seconds)`,
});

function stateOf({ plan, reflector, lags }: FollowedStream, controller: string): State {
  const { synced, degraded } = reflector.status();
  if (degraded !== undefined) {
    const { reason, message } = degraded;
    return { state: "Degraded", reason, message: `${message} (tried again every 30 s)` };
  }
  const queues = plan.subscribers.flatMap((one) => (one.controller === controller ? [one.queue] : []));
  const lag = lags().find(({ queue }) => queues.includes(queue));
  if (lag !== undefined) {
    const since = new Date(lag.since).toISOString();
    const message = `The queue ${lag.queue} has accepted no wakes since ${since}: ${lag.why} ${recoveryHint} (tried again every 5 s)`;
    return { state: "Degraded", reason: "QueueBehind", message };
  }
  return synced
    ? { state: "Following", reason: "Watching", message: "" }
    : { state: "Listing", reason: "NotListedYet", message: "" };
}
