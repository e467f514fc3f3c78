import { sleepUnlessAborted } from "@drover/timers";
import type { Campaign, CampaignProgress, Log, Milliseconds, ObjectKey } from "@drover/controller";
import type { Wake, WorkQueue } from "@drover/queue";
import type { CampaignId, CampaignStore } from "./campaign-store.ts";

export interface CampaignOptions {
  readonly id: CampaignId;
  readonly campaign: Campaign;
  /** The current keys of its objects, in pages. */
  readonly keys: () => AsyncIterable<readonly ObjectKey[]>;
  readonly kind: string;
  readonly queue: Pick<WorkQueue, "wake" | "notRunSince">;
  readonly store: Pick<CampaignStore, "begin" | "finish">;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: CampaignProgress) => void;
}

/** Pause between two counts of the keys that have not run. Twice the duration of the last count is added. */
const betweenCounts: Milliseconds = 1_000;
/** Keys that have not run by then are woken again, since their wakes may have been lost. */
const rewakeDelay: Milliseconds = 10_000;

/**
 * Wakes a controller's objects at a limited rate, until each has had a run that started after the campaign began.
 *
 * It relies on the ledger alone, which records when each key last ran. A campaign that restarts, after a crash or on
 * another bridge, skips the keys that have run and needs no other state. Its wakes are queued after changes and before
 * resyncs.
 */
export async function runCampaign(options: CampaignOptions): Promise<void> {
  const { id, campaign, queue, store, log, signal, onProgress } = options;
  const clock = async (): Promise<number> => (await queue.notRunSince([], 0)).now;
  const { startedAt, done } = await store.begin(id, await clock());
  const summary = { name: campaign.name, startedAt: dateOf(startedAt) };
  const end = ({ at, total }: NonNullable<typeof done>): void =>
    onProgress({ ...summary, state: "Done", doneAt: dateOf(at), total, left: 0 });
  if (done !== undefined) {
    end(done);
    return;
  }
  let wokeAt = -Infinity;
  while (!signal.aborted) {
    const countedFrom = performance.now();
    const { total, left } = await countRemaining(options, startedAt);
    if (left === 0) {
      const finished = { at: await clock(), total };
      await store.finish(id, finished);
      log.info({ ...id, total }, "Every object has had a run since the campaign began");
      end(finished);
      return;
    }
    const state = campaign.paused === true ? "Paused" : "Running";
    onProgress({ ...summary, state, total, left });
    const took = performance.now() - countedFrom;
    if (state === "Running" && performance.now() - wokeAt > rewakeDelay) {
      await wakeAll(options, startedAt, (woken) => {
        onProgress({ ...summary, state, total, left: Math.max(1, left - woken) });
      });
      wokeAt = performance.now();
    }
    await sleepUnlessAborted(betweenCounts + 2 * took, signal);
  }
}

interface Count {
  readonly total: number;
  readonly left: number;
}

async function countRemaining({ keys: allKeys, queue }: CampaignOptions, since: number): Promise<Count> {
  let [total, left] = [0, 0];
  for await (const keys of allKeys()) {
    total += keys.length;
    left += (await queue.notRunSince(keys, since)).keys.length;
  }
  return { total, left };
}

async function wakeAll(
  options: CampaignOptions,
  since: number,
  onWoken: (woken: number) => void,
): Promise<void> {
  const { campaign, kind, queue, signal } = options;
  const { name, perSecond = 50 } = campaign;
  const wake = (key: ObjectKey): Wake => ({
    key,
    kind,
    resourceVersion: "0",
    reason: `Campaign ${name}`,
    class: "listing",
  });
  let woken = 0;
  for await (const piece of options.keys()) {
    const { keys } = await queue.notRunSince(piece, since);
    for (let from = 0; from < keys.length; from += perSecond) {
      if (signal.aborted) return;
      const now = keys.slice(from, from + perSecond);
      await queue.wake(now.map(wake), { signal });
      woken += now.length;
      onWoken(woken);
      await sleepUnlessAborted((1_000 * now.length) / perSecond, signal);
    }
  }
}

const dateOf = (time: number): string => new Date(time).toISOString();
