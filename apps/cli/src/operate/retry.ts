import type { ObjectKey } from "@drover/controller";
import type { KeyReport, WorkQueue } from "@drover/queue";
import { wantedKeys } from "./wanted-keys.ts";

/** What was retried. */
export interface Retried {
  readonly keys: number;
  /** Of these, how many run only once they are resumed. */
  readonly paused: number;
}

/**
 * Runs all parked keys of a queue, and those that wait after a failure, as soon as there are workers, behind changes.
 * @param namespace only those of this namespace.
 */
export async function retryAll(queue: WorkQueue, namespace: string | undefined): Promise<Retried> {
  let [keys, paused] = [0, 0];
  const retry = async (reports: readonly KeyReport[]): Promise<void> => {
    await queue.force(
      reports.map(({ key }) => key),
      "listing",
    );
    keys += reports.length;
    paused += reports.filter(({ pauses }) => pauses.length > 0).length;
  };
  for await (const page of wantedKeys(queue, { state: "parked", namespace })) await retry(page.keys);
  // Those that were parked fail as well, and are due by now.
  for await (const page of wantedKeys(queue, { state: "failing", namespace })) {
    const waiting = page.keys.filter(({ state }) => state === "waits");
    if (waiting.length > 0) await retry(waiting);
  }
  return { keys, paused };
}

/** Runs one key now, whatever it waits for. Answers how it stood before. */
export async function retryKey(queue: WorkQueue, key: ObjectKey): Promise<KeyReport> {
  const { key: report } = await queue.inspect(key);
  await queue.force([key]);
  return report;
}
