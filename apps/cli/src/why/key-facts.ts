import type { ObjectKey } from "@drover/controller";
import { isApiError, type KubeClient, type KubeObject, refOf } from "@drover/kube";
import { allPauses, type ObjectPause } from "./all-pauses.ts";
import type { KeyReport, PastRun, QueueStats } from "@drover/queue";
import { type ObjectQuery, findObject, type ReadableFunction, withQueue } from "../find-object.ts";
import type { CommandServers } from "../command-servers.ts";

/** Everything that the queue and the API server contain about one object. */
export interface KeyFacts {
  readonly kind: string;
  readonly key: ObjectKey;
  readonly fn: ReadableFunction;
  /** Undefined if it does not exist. */
  readonly object: KubeObject | undefined;
  /** Redis' clock, ms. */
  readonly now: number;
  /** The queue's report, with the pause that the object's annotation asks for. */
  readonly report: Omit<KeyReport, "pauses"> & { readonly pauses: readonly ObjectPause[] };
  /** Newest first. */
  readonly runs: readonly PastRun[];
  readonly stats: QueueStats;
}

/** @throws CommandError if no function matches, or several do; or if the queue is not in this Redis. */
export async function keyFacts(servers: CommandServers, query: ObjectQuery): Promise<KeyFacts> {
  const { fn, key } = await findObject(servers, query);
  const kind = fn.spec.for;
  return withQueue(servers.redis, fn, async (queue) => {
    const [object, { now }, { key: report, runs }, stats] = await Promise.all([
      readObject(servers.client, kind, key),
      queue.notRunSince([], 0),
      queue.inspect(key),
      queue.stats(replyTimeout),
    ]);
    const pauses = allPauses(report.pauses, object, kind, now);
    return { kind: kind.kind, key, fn, object, now, report: { ...report, pauses }, runs, stats };
  });
}

const replyTimeout = 5_000;

/** Reads an object; undefined if it does not exist. */
export async function readObject(
  client: KubeClient,
  kind: Parameters<typeof refOf>[0],
  key: ObjectKey,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(refOf(kind), key);
  } catch (error) {
    if (isApiError(error, "NotServed")) return undefined;
    throw error;
  }
}
