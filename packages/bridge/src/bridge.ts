import {
  type CampaignProgress,
  type FieldPath,
  type Log,
  type Milliseconds,
  type ObjectKey,
  queueDisplayName,
} from "@drover/controller";
import { valueTerms } from "./mapping/index-entries.ts";
import type { KubeClient } from "@drover/kube";
import type { RedisConnection, WorkQueue } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import {
  indexRefsOf,
  type StreamPlan,
  describeScope,
  planStreams,
  streamsOf,
} from "./streams/plan-streams.ts";
import { groupOf } from "./streams/bridge-group.ts";
import { joinGroup } from "./streams/group-membership.ts";
import { openCampaigns } from "./campaigns/campaign-store.ts";
import {
  type IndexRef,
  type ReverseIndexes,
  type IndexQuery,
  openReverseIndexes,
} from "./store/reverse-indexes.ts";
import { openFirstIncarnations } from "./queues/first-incarnations.ts";
import { openStreamStore } from "./store/stream-store.ts";
import { randomUUID } from "node:crypto";
import { openCampaignRunner } from "./campaigns/campaign-runner.ts";
import { followStream, type FollowedStream } from "./streams/follow-stream.ts";
import { keepStreams } from "./streams/keep-streams.ts";
import { openQueues } from "./queues/open-queues.ts";
import type { QueueLag } from "./queues/queue-delivery.ts";
import type { Registration } from "./registration/registration.ts";

/** One bridge of a group: follows its share of the streams that the registered controllers need. */
export interface Bridge {
  /** Replaces the registered controllers. Only streams and queues that changed are stopped or started. */
  register(registrations: readonly Registration[]): void;
  queues(): readonly WorkQueue[];
  /** @throws if no such controller is registered. */
  readonly queueOf: (controller: string) => WorkQueue;
  /**
   * The objects of a controller's kind that hold a value at a path, if the controller declared that path.
   * @throws while its queue is not open yet.
   */
  readonly findByValue: (controller: string, path: FieldPath, value: string) => Promise<readonly ObjectKey[]>;
  followed(): readonly FollowedStream[];
  /** Progress of the campaigns that run on this bridge, by controller. */
  campaigns(): ReadonlyMap<string, CampaignProgress>;
  /** Queues that are not open yet and streams that are not followed yet, as messages; for readiness. */
  problems(): readonly string[];
  /** Queues that do not accept wakes or do not answer, as messages. Other queues are not affected. */
  notes(): readonly string[];
  /** Controllers with a queue that has never answered, and the reason. No kind is followed for them. */
  readonly unresponsiveQueues: () => ReadonlyMap<string, string>;
  close(): Promise<void>;
}

export interface BridgeOptions {
  readonly client: KubeClient;
  /** The bridges' own Redis: streams, hooks, and the queues of all functions without a Redis of their own. */
  readonly redis: RedisConnection;
  /** Returns the Redis of a queue. Default: `redis`. */
  readonly redisFor?: TenantRedis["redisFor"] | undefined;
  readonly compareEvery: Milliseconds;
  /**
   * The controller that runs in the same process, if the bridge is embedded. The bridge shares its streams with those
   * in that controller's other processes.
   */
  readonly embeddedIn?: string | undefined;
  readonly log: Log;
}

/** A dead bridge is detected after this time. The leases of its streams end then, too. */
const lease: Milliseconds = 3_000;
const renewal: Milliseconds = 700;

export function openBridge(options: BridgeOptions): Bridge {
  const { client, redis, compareEvery, embeddedIn, log } = options;
  const own = { redis, gone: new AbortController().signal };
  const { redisFor = () => own } = options;
  const bridge = randomUUID().slice(0, 8);
  let registrations: readonly Registration[] | undefined;
  const group = groupOf(embeddedIn);
  const known = openFirstIncarnations(redis, group);
  const queues = openQueues({ redisFor, known, log, again: renewal, onChange: () => plan() });
  const indexes = openReverseIndexes(redis, group);
  const keeper = keepStreams({
    bridge,
    log,
    every: renewal,
    bridges: joinGroup(redis, group, bridge, lease),
    store: openStreamStore({ redis, group, holder: bridge, lease }),
    follow: (of, held) =>
      followStream({ plan: of, held, indexes, queueOf: queues.of, client, compareEvery, log }),
  });
  const campaigns = openCampaignRunner({
    queueOf: queues.of,
    followed: keeper.followed,
    every: renewal,
    log,
    store: openCampaigns(redis, group, (queue) => redisFor(queue).redis),
  });
  const plan = (): void => {
    if (registrations === undefined) return;
    keeper.want(planStreams(registrations, queues.firstIncarnations), streamsOf(registrations));
  };
  return {
    register(next) {
      registrations = next;
      queues.want(next.flatMap(queuesOf));
      campaigns.want(next);
      plan();
    },
    queues: queues.all,
    queueOf: queues.of,
    async findByValue(controller, path, value) {
      queues.of(controller);
      const follower = registrations?.find((one) => one.controller === controller);
      const refs = follower && valueIndexRefs(follower, path, queues.firstIncarnations);
      if (!refs) throw new Error(`The queue of ${controller} is not open yet.`);
      return findKeys(indexes, refs, valueTerms(value));
    },
    followed: keeper.followed,
    campaigns: campaigns.progress,
    problems: () => [...queues.problems(), ...keeper.missing()],
    notes: () => [...unresponsiveTexts(queues.unresponsive()), ...keeper.followed().flatMap(lagTexts)],
    unresponsiveQueues: queues.unresponsive,
    async close() {
      campaigns.stop();
      await keeper.stop();
      await queues.close();
    },
  };
}

async function findKeys(
  indexes: ReverseIndexes,
  refs: readonly IndexRef[],
  term: IndexQuery["sought"],
): Promise<readonly ObjectKey[]> {
  const questions = [{ sought: term }];
  const found = await Promise.all(refs.map((ref) => Array.fromAsync(indexes.find(ref, questions))));
  return found.flat().flatMap(({ keys }) => keys);
}

/** The indexes of a controller's objects by their value at a path; undefined if there are none. */
function valueIndexRefs(
  follower: Registration,
  path: FieldPath,
  firstIncarnations: ReadonlyMap<string, string>,
) {
  if (!firstIncarnations.has(follower.controller)) return undefined;
  const follow = follower.follows.find(
    ({ subscription: { map } }) => map.by === "holds" && map.path.text === path.text,
  );
  return follow && indexRefsOf(follower, follow, firstIncarnations);
}

const unresponsiveTexts = (queues: ReadonlyMap<string, string>): readonly string[] =>
  [...queues].map(([queue, why]) => `the queue of ${queueDisplayName(queue)} does not answer: ${why}`);

const lagTexts = ({ plan, lags }: FollowedStream): readonly string[] =>
  lags().map((lag) => lagText(plan, lag));

const lagText = (plan: StreamPlan, { queue, since, why }: QueueLag): string =>
  `the queue of ${queueDisplayName(queue)} has not accepted the wakes of ${describeScope(plan)} since ${new Date(since).toISOString()}: ${why}`;

const queuesOf = ({ controller, follows }: Registration): readonly string[] => [
  controller,
  ...follows.flatMap(({ queue }) => queue ?? []),
];
