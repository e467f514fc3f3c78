import type { CampaignProgress, Log, Milliseconds } from "@drover/controller";
import { nameOf } from "@drover/kube";
import type { WorkQueue } from "@drover/queue";
import type { CampaignStore, Files } from "@drover/streams";
import type { FollowedStream } from "./follow-stream.ts";
import type { Listener } from "./plan-streams.ts";
import { pause } from "./pause.ts";
import type { Registration } from "./registration.ts";
import { runCampaign } from "./run-campaign.ts";

/** The campaigns of the controllers whose own kind this bridge follows. */
export interface Campaigns {
  want(registrations: readonly Registration[]): void;
  /** How far they have come, by controller. */
  readonly progress: () => ReadonlyMap<string, CampaignProgress>;
  stop(): void;
}

export interface CampaignsOptions {
  readonly followed: () => readonly FollowedStream[];
  readonly queueOf: (controller: string) => WorkQueue;
  readonly files: Files;
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
  const running = new Map<string, AbortController>();
  const progress = new Map<string, CampaignProgress>();
  let registrations: readonly Registration[] = [];

  const start = (registration: Registration, stream: FollowedStream, self: Listener): AbortController => {
    const leave = new AbortController();
    const { signal } = leave;
    const onProgress = (told: CampaignProgress): void => {
      if (!signal.aborted) progress.set(registration.controller, told);
    };
    void keepRunning(options, { registration, stream, self, signal, onProgress });
    return leave;
  };
  const look = (): void => {
    const wanted = new Map<string, () => AbortController>();
    for (const registration of registrations) {
      const { campaign, controller, uid } = registration;
      const found = campaign && ownStream(options.followed(), controller);
      if (found === undefined) continue;
      const { stream, self } = found;
      const id = JSON.stringify([controller, uid, self.subscription.id, campaign]);
      wanted.set(id, () => start(registration, stream, self));
    }
    for (const [id, leave] of running) {
      if (wanted.has(id)) continue;
      leave.abort();
      running.delete(id);
    }
    for (const [id, begin] of wanted) if (!running.has(id)) running.set(id, begin());
  };
  const looking = setInterval(look, options.every);
  return {
    want(next) {
      registrations = next;
      const controllers = new Set(next.map(({ controller }) => controller));
      for (const controller of progress.keys()) if (!controllers.has(controller)) progress.delete(controller);
    },
    progress: () => progress,
    stop() {
      clearInterval(looking);
      for (const leave of running.values()) leave.abort();
    },
  };
}

/** The stream of a controller's own kind, once all of it was told. */
function ownStream(followed: readonly FollowedStream[], controller: string) {
  for (const stream of followed) {
    const self = stream.plan.listeners.find(
      (listener) => listener.controller === controller && listener.subscription.map.by === "self",
    );
    if (self !== undefined && stream.reflector.status().synced) return { stream, self };
  }
  return undefined;
}

interface Found {
  readonly registration: Registration;
  readonly stream: FollowedStream;
  readonly self: Listener;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CampaignProgress) => void;
}

async function keepRunning(
  { queueOf, files, store, log }: CampaignsOptions,
  { registration, stream: { plan }, self, signal, onProgress }: Found,
): Promise<void> {
  const { controller, uid, campaign } = registration;
  if (campaign === undefined) return;
  const { stream, ref } = plan;
  const id = { stream, controller, name: [uid, campaign.name].join(" ") };
  const isOver = (): boolean => signal.aborted;
  const of = { stream, file: self.subscription.id };
  while (!isOver()) {
    try {
      const queue = queueOf(controller);
      await runCampaign({
        id,
        campaign,
        of,
        kind: nameOf(ref),
        queue,
        files,
        store,
        log,
        signal,
        onProgress,
      });
      return;
    } catch (error) {
      if (isOver()) return;
      log.warn({ err: error, ...id }, "A campaign broke off; going on");
      await pause(again, signal);
    }
  }
}

const again: Milliseconds = 1_000;
