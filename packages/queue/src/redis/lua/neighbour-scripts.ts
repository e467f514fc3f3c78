import type { Log, Milliseconds } from "@drover/controller";
import type { RedisConnection } from "../redis-servers.ts";
import { RedisRefusalError, redisRefusalOf } from "../redis-errors.ts";
import type { LoadableScript } from "./lua-script.ts";
import {
  ownSetName,
  readSet,
  type RecordedSet,
  recordedSets,
  recordOwnSet,
  restoreSet,
} from "./recorded-scripts.ts";

/** How often this version's set is renewed, and a refused access is tried again. */
const usualInterval: Milliseconds = 60_000;

/** A set of another version, with its scripts. */
export interface NeighbourSet extends RecordedSet {
  readonly scripts: readonly LoadableScript[];
}

/** The recorded sets of other versions, as they were last read. */
export interface NeighbourScripts {
  readonly sets: () => readonly NeighbourSet[];
  /** Reads the record, and renews this version's set in it. Does not reject: what fails is logged, and tried again. */
  readonly refresh: () => Promise<void>;
  /** Leaves a set out that Redis does not load, until it is renewed. */
  readonly reject: (set: RecordedSet, error: unknown) => void;
}

/**
 * Keeps this version's scripts recorded, and those of other versions at hand: if Redis loses the whole record, as when it is
 * emptied, they are recorded again. If only a set is gone, `drover migrate --finish` or the limit of their number has removed it.
 *
 * @param version the version of Drover.
 * @param interval between two renewals; also after a refusal.
 */
export function openNeighbourScripts(
  redis: RedisConnection,
  log: Log,
  version: string,
  interval: Milliseconds = usualInterval,
): NeighbourScripts {
  const held = new Map<string, NeighbourSet>();
  const rejected = new Map<string, RecordedSet["renewedAt"]>();
  let nextRenewal = -Infinity;

  const warnOfSet = ({ name, version: theirs, renewedAt }: RecordedSet, error?: unknown): void => {
    if (!rejected.has(name))
      log.warn(
        { set: name, version: theirs, err: error },
        "The recorded scripts of a version are not loaded",
      );
    rejected.set(name, renewedAt);
  };
  const take = async (set: RecordedSet): Promise<void> => {
    const { name, renewedAt } = set;
    if (name === ownSetName || rejected.get(name) === renewedAt) return;
    const scripts = held.get(name)?.scripts ?? (await readSet(redis, name));
    if (scripts === undefined) {
      warnOfSet(set);
      return;
    }
    rejected.delete(name);
    held.set(name, { ...set, scripts });
  };
  const update = async (): Promise<void> => {
    let recorded = await recordedSets(redis);
    if (recorded.length === 0) for (const set of held.values()) await restoreSet(redis, set, set.scripts);
    const isRecorded = recorded.some(({ name }) => name === ownSetName);
    if (!isRecorded || performance.now() >= nextRenewal) {
      recorded = await recordOwnSet(redis, version, nextRenewal === -Infinity);
      nextRenewal = performance.now() + interval;
    }
    for (const set of recorded) await take(set);
    for (const name of held.keys()) if (!recorded.some((set) => set.name === name)) held.delete(name);
  };

  return {
    sets: () => [...held.values()],
    reject(set, error) {
      held.delete(set.name);
      warnOfSet(set, error);
    },
    refresh: withoutRejecting(update, interval, redis, log),
  };
}

/** Calls `update`, unless the last call is still in progress, or Redis has refused one lately. Logs the first failure of several. */
function withoutRejecting(
  update: () => Promise<void>,
  interval: Milliseconds,
  redis: RedisConnection,
  log: Log,
): () => Promise<void> {
  let pausedUntil = -Infinity;
  let isUnderWay = false;
  let hasFailed = false;
  return async () => {
    if (isUnderWay || performance.now() < pausedUntil) return;
    isUnderWay = true;
    try {
      await update();
      hasFailed = false;
    } catch (error) {
      const refusal = error instanceof RedisRefusalError ? error : redisRefusalOf(error);
      if (refusal !== undefined) pausedUntil = performance.now() + interval;
      // Nothing is wrong if the connection was closed meanwhile.
      if (!hasFailed && redis.status !== "end") {
        const words =
          "Could not record the scripts of this version, or read those of others: after a restart of Redis, functions of " +
          "other versions stop";
        log.warn({ err: refusal ?? error }, words);
      }
      hasFailed = true;
    } finally {
      isUnderWay = false;
    }
  };
}
