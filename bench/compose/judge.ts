import { z } from "zod";
import type { Api } from "../bridge/cluster/api.ts";
import { followWatch, type WatchEvent } from "../bridge/cluster/follow-watch.ts";
import type { Key } from "../bridge/cluster/numbered-kind.ts";
import { now } from "../../verification/harness/clock.ts";
import { childKinds, childrenOfEach, sites } from "./sites.ts";

const identity = z.object({
  kind: z.string(),
  metadata: z.object({ namespace: z.string(), name: z.string(), generation: z.number().default(0) }),
});
const parent = z.object({
  spec: z.object({ turn: z.number() }),
  status: z.object({ observedGeneration: z.number().default(0) }).prefault({}),
});
const page = z.object({ data: z.object({ turn: z.coerce.number() }) });

/** The benchmark's own watches of parents and children, the same for every contestant. */
export interface Judge {
  /**
   * Resolves with the time when the last of these parents was done: its status is of its generation, all its children
   * exist, and the child that shows the turn shows this one, or a later one. ms of the monotonic clock.
   */
  done(keys: readonly Key[], turn: number): Promise<number>;
  /** Resolves when no parent and no child is left. */
  none(): Promise<void>;
  stop(): void;
}

/** ms: longer than the slowest contestant takes for anything. */
const patience = 1_800_000;

/** One parent, as its watches show it. */
interface Sight {
  isThere: boolean;
  /** The turn of the parent if its status is of its generation, and of the child that shows it. */
  settled: number;
  shown: number;
  readonly children: Set<string>;
}

const isLeft = ({ isThere, children }: Sight): boolean => isThere || children.size > 0;

export function openJudge(api: Api): Judge {
  const sights = new Map<Key, Sight>();
  const sightOf = (key: Key): Sight => {
    const sight = sights.get(key) ?? { isThere: false, settled: -1, shown: -1, children: new Set() };
    sights.set(key, sight);
    return sight;
  };
  const waiting = new Set<() => void>();
  const take = (event: WatchEvent): void => {
    const { kind, metadata } = identity.parse(event.object);
    const sight = sightOf(`${metadata.namespace}/${metadata.name.replace(/-scripts$/, "")}`);
    if (kind === "Site") takeParent(sight, event, metadata.generation);
    else takeChild(sight, event, `${kind} ${metadata.name}`);
    for (const look of waiting) look();
  };
  const stopped = new AbortController();
  const following = Promise.race(
    [sites.collection, ...childKinds.map(({ all }) => all)].map((path) =>
      followWatch(api, path, take, stopped.signal),
    ),
  );
  // Resolves the waiting promises.
  following.catch(() => undefined);
  const until = async (isSo: () => boolean): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => reject(new Error("Parents or children are missing, or left.")), patience);
    const look = (): void => {
      if (isSo()) resolve(undefined);
    };
    waiting.add(look);
    look();
    await Promise.race([promise, following]).finally(() => {
      clearTimeout(timer);
      waiting.delete(look);
    });
  };
  const isDone = (key: Key, turn: number): boolean => {
    const { settled, shown, children } = sightOf(key);
    return settled >= turn && shown >= turn && children.size === childrenOfEach;
  };
  return {
    async done(keys, turn) {
      const missing = new Set(keys);
      await until(() => {
        for (const key of missing) {
          if (!isDone(key, turn)) return false;
          missing.delete(key);
        }
        return true;
      });
      return now();
    },
    none: () => until(() => ![...sights.values()].some(isLeft)),
    stop: () => stopped.abort(),
  };
}

function takeParent(sight: Sight, { type, object }: WatchEvent, generation: number): void {
  const { spec, status } = parent.parse(object);
  sight.isThere = type !== "DELETED";
  sight.settled = sight.isThere && status.observedGeneration >= generation ? spec.turn : -1;
}

function takeChild(sight: Sight, { type, object }: WatchEvent, title: string): void {
  const isThere = type !== "DELETED";
  if (isThere) sight.children.add(title);
  else sight.children.delete(title);
  const shown = page.safeParse(object).data;
  if (shown !== undefined) sight.shown = isThere ? shown.data.turn : -1;
}
