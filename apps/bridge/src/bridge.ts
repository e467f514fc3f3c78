import {
  type CampaignProgress,
  type Log,
  type Milliseconds,
  type ObjectKey,
  shownQueue,
} from "@drover/controller";
import { type FieldPath, heldTerm, type KubeClient } from "@drover/kube";
import type { RedisConnection, WorkQueue } from "@drover/queue";
import type { TenantRedis } from "@drover/runtime";
import {
  filesOf,
  fleetOf,
  joinBridges,
  openCampaigns,
  type FileRef,
  type Files,
  type Question,
  type StreamPlan,
  openFiles,
  openKnownOrigins,
  openStreamStore,
  placeWords,
  planStreams,
  streamsOf,
} from "@drover/streams";
import { randomUUID } from "node:crypto";
import { openCampaignRunner } from "./campaigns.ts";
import { followStream, type FollowedStream } from "./follow-stream.ts";
import { keepStreams } from "./keep-streams.ts";
import { openQueues } from "./open-queues.ts";
import type { QueueLag } from "./queue-delivery.ts";
import type { Registration } from "./registration.ts";

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
  readonly holders: (controller: string, path: FieldPath, value: string) => Promise<readonly ObjectKey[]>;
  followed(): readonly FollowedStream[];
  /** Progress of the campaigns that run on this bridge, by controller. */
  campaigns(): ReadonlyMap<string, CampaignProgress>;
  /** Queues that are not open yet and streams that are not followed yet, as messages; for readiness. */
  problems(): readonly string[];
  /** Queues that do not accept wakes or do not answer, as messages. Other queues are not affected. */
  notes(): readonly string[];
  /** Controllers with a queue that has never answered, and the reason. No kind is followed for them. */
  readonly silent: () => ReadonlyMap<string, string>;
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
  const fleet = fleetOf(embeddedIn);
  const known = openKnownOrigins(redis, fleet);
  const queues = openQueues({ redisFor, known, log, again: renewal, onChange: () => plan() });
  const files = openFiles(redis, fleet);
  const keeper = keepStreams({
    bridge,
    log,
    every: renewal,
    bridges: joinBridges(redis, fleet, bridge, lease),
    store: openStreamStore({ redis, fleet, holder: bridge, lease }),
    follow: (of, held) =>
      followStream({ plan: of, held, files, queueOf: queues.of, client, compareEvery, log }),
  });
  const campaigns = openCampaignRunner({
    queueOf: queues.of,
    followed: keeper.followed,
    every: renewal,
    log,
    store: openCampaigns(redis, fleet, (queue) => redisFor(queue).redis),
  });
  const plan = (): void => {
    if (registrations === undefined) return;
    keeper.want(planStreams(registrations, queues.origins), streamsOf(registrations));
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
    async holders(controller, path, value) {
      queues.of(controller);
      const follower = registrations?.find((one) => one.controller === controller);
      const filed = follower && filesAt(follower, path, queues.origins);
      if (!filed) throw new Error(`The queue of ${controller} is not open yet.`);
      return keysIn(files, filed, heldTerm(value));
    },
    followed: keeper.followed,
    campaigns: campaigns.progress,
    problems: () => [...queues.problems(), ...keeper.missing()],
    notes: () => [...[...queues.silent()].map(silenceWords), ...keeper.followed().flatMap(lagsWords)],
    silent: queues.silent,
    async close() {
      campaigns.stop();
      await keeper.stop();
      await queues.close();
    },
  };
}

async function keysIn(
  files: Files,
  filed: readonly FileRef[],
  term: Question["sought"],
): Promise<readonly ObjectKey[]> {
  const questions = [{ sought: term }];
  const found = await Promise.all(filed.map((file) => Array.fromAsync(files.find(file, questions))));
  return found.flat().flatMap(({ keys }) => keys);
}

/** The index entries of a controller's objects by their value at a path; undefined if there are none. */
function filesAt(follower: Registration, path: FieldPath, origins: ReadonlyMap<string, string>) {
  if (!origins.has(follower.controller)) return undefined;
  const filing = follower.follows.find(
    ({ subscription: { map } }) => map.by === "holds" && map.path.text === path.text,
  );
  return filing && filesOf(follower, filing, origins);
}

const silenceWords = ([queue, why]: readonly [string, string]): string =>
  `the queue of ${shownQueue(queue)} does not answer: ${why}`;

const lagsWords = ({ plan, lags }: FollowedStream): readonly string[] =>
  lags().map((lag) => lagWords(plan, lag));

const lagWords = (plan: StreamPlan, { queue, since, why }: QueueLag): string =>
  `the queue of ${shownQueue(queue)} has not accepted the wakes of ${placeWords(plan)} since ${new Date(since).toISOString()}: ${why}`;

const queuesOf = ({ controller, follows }: Registration): readonly string[] => [
  controller,
  ...follows.flatMap(({ queue }) => queue ?? []),
];
