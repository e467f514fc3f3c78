import type { ObjectKey } from "@drover/controller";
import type { KeyReport, WorkQueue } from "@drover/queue";
import { filterKeys } from "./filter-keys.ts";

/** The result of a retry. */
export interface RetryResult {
  readonly keys: number;
  /** The number of these keys that are paused, and run only once they are resumed. */
  readonly paused: number;
}

/**
 * Makes all parked keys of a queue due, and those that wait after a failure. They run as workers become free, after
 * changes.
 * @param namespace only keys of this namespace.
 */
export async function retryAll(queue: WorkQueue, namespace: string | undefined): Promise<RetryResult> {
  let [keys, paused] = [0, 0];
  const retry = async (reports: readonly KeyReport[]): Promise<void> => {
    await queue.force(
      reports.map(({ key }) => key),
      "listing",
    );
    keys += reports.length;
    paused += reports.filter(({ pauses }) => pauses.length > 0).length;
  };
  for await (const page of filterKeys(queue, { state: "parked", namespace })) await retry(page.keys);
  // Keys that were parked are failing as well, and already due by now.
  for await (const page of filterKeys(queue, { state: "failing", namespace })) {
    const waiting = page.keys.filter(({ state }) => state === "waits");
    if (waiting.length > 0) await retry(waiting);
  }
  return { keys, paused };
}

/** Makes one key due now, whatever it waits for. Returns its state before. */
export async function retryKey(queue: WorkQueue, key: ObjectKey): Promise<KeyReport> {
  const { key: report } = await queue.inspect(key);
  await queue.force([key]);
  return report;
}
