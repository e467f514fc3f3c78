import { isAborted, sleepUnlessAborted } from "@drover/timers";
import type { CampaignProgress, Log, Milliseconds, ObjectKey } from "@drover/controller";
import { resourceNameOf } from "@drover/kube";
import { listedPages, type WorkQueue } from "@drover/queue";
import type { CampaignId, CampaignObjects, CampaignStore } from "./campaign-store.ts";
import { streamsOf } from "../streams/plan-streams.ts";
import type { FollowedStream } from "../streams/follow-stream.ts";
import type { Registration } from "../registration/registration.ts";
import { type CampaignOptions, runCampaign } from "./run-campaign.ts";

/** Campaigns of controllers, each run by the bridge that follows the controller's own kind. */
export interface CampaignRunner {
  readonly want: (registrations: readonly Registration[]) => void;
  /** Progress of the campaigns over all objects, by controller. */
  readonly progress: () => ReadonlyMap<string, CampaignProgress>;
  stop(): void;
}

export interface CampaignRunnerOptions {
  readonly followed: () => readonly FollowedStream[];
  readonly queueOf: (controller: string) => WorkQueue;
  readonly store: CampaignStore;
  readonly log: Log;
  /** How often the running campaigns are compared with the wanted ones. */
  readonly every: Milliseconds;
}

/**
 * A campaign runs on the bridge that follows its kind, and moves with the kind. The next bridge continues from the
 * ledger's record of runs.
 */
export function openCampaignRunner(options: CampaignRunnerOptions): CampaignRunner {
  const running = new Map<string, RunningCampaign>();
  const progress = new Map<string, CampaignProgress>();
  let registrations: readonly Registration[] = [];

  const look = (): void => {
    const wanted = new Map(registrations.flatMap((one) => campaignsOf(one, options.followed())));
    for (const [id, { campaign, leave }] of running) {
      if (wanted.has(id)) continue;
      leave.abort();
      running.delete(id);
      // From now on, another bridge reports its progress.
      if (campaign.of === "all") progress.delete(campaign.controller);
    }
    for (const [id, campaign] of wanted) {
      if (running.has(id)) continue;
      const { controller, of } = campaign.id;
      const leave = new AbortController();
      running.set(id, { campaign: campaign.id, leave });
      void keepRunning(options, campaign, leave.signal, (made) => {
        if (of === "all" && !leave.signal.aborted) progress.set(controller, made);
      });
    }
  };
  const looking = setInterval(look, options.every);
  return {
    want: (next) => (registrations = next),
    progress: () => progress,
    stop() {
      clearInterval(looking);
      for (const { leave } of running.values()) leave.abort();
    },
  };
}

interface RunningCampaign {
  readonly campaign: CampaignId;
  readonly leave: AbortController;
}

/** A campaign, and where the objects of its controller are indexed. */
interface WantedCampaign extends Pick<CampaignOptions, "id" | "campaign" | "kind"> {
  readonly objects: readonly CampaignObjects[];
}

/**
 * A registration's campaigns by an id. Empty unless this bridge follows and has listed all streams of the controller's
 * own kind.
 */
function campaignsOf(
  { campaign, retries, ...follower }: Registration,
  followed: readonly FollowedStream[],
): readonly (readonly [string, WantedCampaign])[] {
  if (campaign === undefined && retries === undefined) return [];
  const { controller } = follower;
  const self = follower.follows.filter(({ subscription: { map } }) => map.by === "self");
  const [first, ...more] = [...streamsOf([{ ...follower, follows: self }])];
  if (first === undefined) return [];
  const synced = followed.filter(({ reflector }) => reflector.status().synced);
  const objects = [first, ...more].flatMap((stream) => {
    const plan = synced.find((one) => one.plan.stream === stream)?.plan;
    const subscriber = plan?.subscribers.find(
      (one) => one.controller === controller && one.subscription.map.by === "self",
    );
    return subscriber === undefined ? [] : [{ stream, subscription: subscriber.subscription.id }];
  });
  const ref = self[0]?.ref;
  if (objects.length <= more.length || ref === undefined) return [];
  const wanted = [
    { of: "all", campaign },
    { of: "failed", campaign: retries },
  ] as const;
  return wanted.flatMap(({ of, campaign: one }) => {
    if (one === undefined) return [];
    const id = { controller, of, name: one.name };
    return [
      [
        JSON.stringify([id, objects, one]),
        { id, campaign: one, objects, kind: resourceNameOf(ref) },
      ] as const,
    ];
  });
}

/** The keys that failed or are parked, each once, in pages. */
async function* failedKeys(
  queue: Pick<WorkQueue, "list">,
): AsyncGenerator<readonly ObjectKey[], void, undefined> {
  for (const list of ["parked", "failing"] as const) {
    for await (const page of listedPages(queue, list)) {
      // Keys that were parked after repeated failures are on both lists.
      const found = page.filter(({ state }) => list === "parked" || state !== "parked");
      yield found.map(({ key }) => key);
    }
  }
}

async function keepRunning(
  { queueOf, store, log }: CampaignRunnerOptions,
  { objects, ...campaign }: WantedCampaign,
  signal: AbortSignal,
  onProgress: (progress: CampaignProgress) => void,
): Promise<void> {
  while (!isAborted(signal)) {
    try {
      const queue = queueOf(campaign.id.controller);
      const keys = () => (campaign.id.of === "all" ? store.objects(objects) : failedKeys(queue));
      await runCampaign({ ...campaign, keys, queue, store, log, signal, onProgress });
      return;
    } catch (error) {
      if (isAborted(signal)) return;
      log.warn({ err: error, ...campaign.id }, "A campaign failed; it continues in a second");
      await sleepUnlessAborted(retryDelay, signal);
    }
  }
}

const retryDelay: Milliseconds = 1_000;
