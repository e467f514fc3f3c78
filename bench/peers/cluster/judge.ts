import { z } from "zod";
import type { Api } from "../../bridge/cluster/api.ts";
import { followWatch, type WatchEvent } from "../../bridge/cluster/follow-watch.ts";
import { now } from "../../../verification/harness/clock.ts";
import type { Key } from "../../bridge/cluster/numbered-kind.ts";
import { gauges } from "./gauges.ts";

const gauge = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), generation: z.number() }),
  spec: z.object({ turn: z.number() }),
  status: z.object({ observedGeneration: z.number().default(0) }).prefault({}),
});

/** The events of the bench's own watch, the same for every peer. */
export interface Judge {
  /**
   * When the status of each of these was first seen to be of this turn, or of a later one: ms of the monotonic clock.
   * Rejects after `patience`, saying how many are missing.
   */
  seen(turns: ReadonlyMap<Key, number>, patience: number): Promise<ReadonlyMap<Key, number>>;
  /** Resolves when no Gauge is left. */
  none(): Promise<void>;
  stop(): void;
}

interface Sighting {
  readonly turn: number;
  readonly at: number;
}

export function openJudge(api: Api): Judge {
  /** Of every Gauge that there is: each turn that its status was seen to be of. */
  const sightings = new Map<Key, Sighting[]>();
  const waiting = new Set<() => void>();
  const take = ({ type, object }: WatchEvent): void => {
    const { metadata, spec, status } = gauge.parse(object);
    const key = `${metadata.namespace}/${metadata.name}`;
    const seen = sightings.get(key) ?? [];
    if (type === "DELETED") sightings.delete(key);
    else sightings.set(key, seen);
    const isSettled = status.observedGeneration >= metadata.generation;
    if (isSettled && (seen.at(-1)?.turn ?? -1) < spec.turn) seen.push({ turn: spec.turn, at: now() });
    for (const look of waiting) look();
  };
  const stopped = new AbortController();
  const following = followWatch(api, gauges.collection, take, stopped.signal);
  // Resolves the waiting promises.
  following.catch(() => undefined);
  const until = (isSo: () => boolean, patience: number, missing: () => string): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => reject(new Error(missing())), patience);
    const look = (): void => {
      if (isSo()) resolve(undefined);
    };
    waiting.add(look);
    look();
    return Promise.race([promise, following]).finally(() => {
      clearTimeout(timer);
      waiting.delete(look);
    });
  };
  const firstOf = (key: Key, turn: number): number | undefined =>
    sightings.get(key)?.find((one) => one.turn >= turn)?.at;
  return {
    async seen(turns, patience) {
      const found = new Map<Key, number>();
      const missing = new Map(turns);
      const isSo = (): boolean => {
        for (const [key, turn] of missing) {
          const at = firstOf(key, turn);
          if (at === undefined) return false;
          found.set(key, at);
          missing.delete(key);
        }
        return true;
      };
      await until(isSo, patience, () => `${missing.size} of ${turns.size} Gauges were not seen to.`);
      return found;
    },
    none: () =>
      until(
        () => sightings.size === 0,
        120_000,
        () => `${sightings.size} Gauges are left.`,
      ),
    stop: () => stopped.abort(),
  };
}
