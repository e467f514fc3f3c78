import type { CampaignProgress, Log, Milliseconds } from "@drover/controller";
import { nameOf } from "@drover/kube";
import type { WorkQueue } from "@drover/queue";
import type { CampaignStore } from "@drover/streams";
import type { FollowedStream } from "./follow-stream.ts";
import { pause } from "./pause.ts";
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

/** A registration's campaign, where its own kind is followed here and all of it was told; with what tells it apart. */
function campaignOf({ campaign, controller }: Registration, followed: readonly FollowedStream[]) {
  if (campaign === undefined) return undefined;
  for (const { plan, reflector } of followed) {
    const self = plan.listeners.find(
      (listener) => listener.controller === controller && listener.subscription.map.by === "self",
    );
    if (self === undefined || !reflector.status().synced) continue;
    const { stream, ref } = plan;
    const id = { controller, name: campaign.name };
    const of = { stream, subscription: self.subscription.id };
    return [[JSON.stringify([id, of, campaign]), { id, campaign, of, kind: nameOf(ref) }]] as const;
  }
  return undefined;
}

async function keepRunning(
  { queueOf, store, log }: CampaignsOptions,
  campaign: Pick<CampaignOptions, "id" | "campaign" | "of" | "kind">,
  signal: AbortSignal,
  onProgress: (progress: CampaignProgress) => void,
): Promise<void> {
  const isOver = (): boolean => signal.aborted;
  while (!isOver()) {
    try {
      const queue = queueOf(campaign.id.controller);
      await runCampaign({ ...campaign, queue, store, log, signal, onProgress });
      return;
    } catch (error) {
      if (isOver()) return;
      log.warn({ err: error, ...campaign.id }, "A campaign broke off; going on");
      await pause(again, signal);
    }
  }
}

const again: Milliseconds = 1_000;
