import type { CampaignProgress, Log, Milliseconds } from "@drover/controller";
import { nameOf } from "@drover/kube";
import type { WorkQueue } from "@drover/queue";
import { isOver, pause } from "@drover/runtime";
import { type CampaignStore, streamsOf } from "@drover/streams";
import type { FollowedStream } from "./follow-stream.ts";
import type { Registration } from "./registration.ts";
import { type CampaignOptions, runCampaign } from "./run-campaign.ts";

/** The campaigns of the controllers whose own kind this bridge follows. */
export interface Campaigns {
  readonly want: (registrations: readonly Registration[]) => void;
  /** How far they have come, by controller. */
  readonly progress: () => ReadonlyMap<string, CampaignProgress>;
  stop(): void;
}

export interface CampaignsOptions {
  readonly followed: () => readonly FollowedStream[];
  readonly queueOf: (controller: string) => WorkQueue;
  readonly store: CampaignStore;
  readonly log: Log;
  /** How often it is looked which campaigns there should be. */
  readonly every: Milliseconds;
}

/**
 * Campaigns run where their kind is followed, and go with it: one that is taken up elsewhere goes on from what the
 * ledger says.
 */
export function openCampaignRunner(options: CampaignsOptions): Campaigns {
  const running = new Map<string, Running>();
  const progress = new Map<string, CampaignProgress>();
  let registrations: readonly Registration[] = [];

  const look = (): void => {
    const wanted = new Map(registrations.flatMap((one) => campaignOf(one, options.followed()) ?? []));
    for (const [id, { controller, leave }] of running) {
      if (wanted.has(id)) continue;
      leave.abort();
      running.delete(id);
      // It is another bridge's to tell from now on.
      progress.delete(controller);
    }
    for (const [id, campaign] of wanted) {
      if (running.has(id)) continue;
      const { controller } = campaign.id;
      const leave = new AbortController();
      running.set(id, { controller, leave });
      void keepRunning(options, campaign, leave.signal, (told) => {
        if (!leave.signal.aborted) progress.set(controller, told);
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

interface Running {
  readonly controller: string;
  readonly leave: AbortController;
}

/** A registration's campaign, where all streams of its own kind are followed here and were listed whole; with what tells it apart. */
function campaignOf({ campaign, ...follower }: Registration, followed: readonly FollowedStream[]) {
  if (campaign === undefined) return undefined;
  const { controller } = follower;
  const self = follower.follows.filter(({ subscription: { map } }) => map.by === "self");
  const [first, ...more] = [...streamsOf([{ ...follower, follows: self }])];
  if (first === undefined) return undefined;
  const synced = followed.filter(({ reflector }) => reflector.status().synced);
  const of = [first, ...more].flatMap((stream) => {
    const plan = synced.find((one) => one.plan.stream === stream)?.plan;
    const listener = plan?.listeners.find(
      (one) => one.controller === controller && one.subscription.map.by === "self",
    );
    return listener === undefined ? [] : [{ stream, subscription: listener.subscription.id }];
  });
  const ref = self[0]?.ref;
  if (of.length <= more.length || ref === undefined) return undefined;
  const id = { controller, name: campaign.name };
  return [[JSON.stringify([id, of, campaign]), { id, campaign, of, kind: nameOf(ref) }]] as const;
}

async function keepRunning(
  { queueOf, store, log }: CampaignsOptions,
  campaign: Pick<CampaignOptions, "id" | "campaign" | "of" | "kind">,
  signal: AbortSignal,
  onProgress: (progress: CampaignProgress) => void,
): Promise<void> {
  while (!isOver(signal)) {
    try {
      const queue = queueOf(campaign.id.controller);
      await runCampaign({ ...campaign, queue, store, log, signal, onProgress });
      return;
    } catch (error) {
      if (isOver(signal)) return;
      log.warn({ err: error, ...campaign.id }, "A campaign broke off; going on");
      await pause(again, signal);
    }
  }
}

const again: Milliseconds = 1_000;
