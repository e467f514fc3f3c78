import { createHash } from "node:crypto";
import { z } from "zod";
import type { Milliseconds } from "@drover/controller";
import type { RedisConnection } from "../redis-servers.ts";
import { recordedScriptsPrefix as indexKey } from "../../work-queue/queue-prefix.ts";
import { throwRefusal } from "../redis-errors.ts";
import { loadedScripts } from "./loaded-scripts.ts";
import { loadableScript, type LoadableScript } from "./lua-script.ts";

/**
 * Script sets of Drover's versions, recorded in Redis: bridges and deployers record that of their own version, and load those of
 * others for processes that may not load any. The name of a set is the SHA-256 of its text, a JSON array of scripts.
 *
 * | key                       | type   | holds                                                          |
 * | ------------------------- | ------ | -------------------------------------------------------------- |
 * | `{drover-scripts}`        | hash   | by name: when a process of that version renewed it, and the version |
 * | `{drover-scripts}:<name>` | string | the text                                                       |
 *
 * Only users that may load scripts anyway can write these keys, or read them.
 */
const textKey = (name: string): string => `${indexKey}:${name}`;

/** Sets that are kept: of this version, of its neighbours, and of one more. The one that was renewed last goes last. */
const maxSets = 4;
/** A set that has not been renewed for this long has no bridge or deployer of its version. */
export const recordedSetExpiry: Milliseconds = 180_000;
/** Bounds of a set; Drover's are 600 kB, 30 scripts, and 50 kB for the longest. */
const maxSetBytes = 4_194_304;
const maxScripts = 200;
const maxScriptBytes = 262_144;

const nameOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The set of this version. */
const ownText = JSON.stringify(loadedScripts.map(({ lua }) => lua).sort());
export const ownSetName = nameOf(ownText);

/** An entry of the record. */
export interface RecordedSet {
  readonly name: string;
  /** The version of Drover, for people: two builds of a version may have different scripts. */
  readonly version: string;
  /** Redis' clock, ms. */
  readonly renewedAt: Milliseconds;
}

/** The recorded sets, the last renewed first. Entries that Drover has not written are left out. */
export async function recordedSets(redis: RedisConnection): Promise<readonly RecordedSet[]> {
  const entries = Object.entries(await redis.hgetall(indexKey).catch(throwRefusal));
  return entries
    .flatMap(([name, entry]) => {
      const [, renewedAt, version] = /^(\d{1,15}) ([\w.+-]{1,64})$/.exec(entry) ?? [];
      if (!/^[0-9a-f]{64}$/.test(name) || version === undefined) return [];
      return [{ name, version, renewedAt: Number(renewedAt) }];
    })
    .sort((a, b) => b.renewedAt - a.renewedAt);
}

/** Redis' clock, ms. */
export async function redisNow(redis: RedisConnection): Promise<Milliseconds> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
}

/**
 * Records this version's set as renewed now. Of too many sets, those go that were not renewed for the longest time.
 *
 * @param isFirst writes the text also if there is one, which may be damaged.
 * @returns the sets that are recorded now.
 */
export async function recordOwnSet(
  redis: RedisConnection,
  version: string,
  isFirst: boolean,
): Promise<readonly RecordedSet[]> {
  // Once: half a megabyte in the append-only file.
  if (isFirst || (await redis.exists(textKey(ownSetName))) === 0)
    await redis.set(textKey(ownSetName), ownText);
  await redis.hset(indexKey, ownSetName, `${await redisNow(redis)} ${version}`);
  const recorded = await recordedSets(redis);
  await forgetSets(redis, recorded.slice(maxSets));
  return recorded.slice(0, maxSets);
}

/** Removes sets from the record. Servers keep their scripts until they restart. */
export async function forgetSets(redis: RedisConnection, sets: readonly RecordedSet[]): Promise<void> {
  for (const { name } of sets) {
    await redis.hdel(indexKey, name).catch(throwRefusal);
    await redis.del(textKey(name));
  }
}

/** Puts a set back of which Redis lost the record. */
export async function restoreSet(
  redis: RedisConnection,
  { name, version, renewedAt }: RecordedSet,
  scripts: readonly LoadableScript[],
): Promise<void> {
  await redis.set(textKey(name), JSON.stringify(scripts.map(({ lua }) => lua)));
  await redis.hset(indexKey, name, `${renewedAt} ${version}`);
}

const setSchema = z.array(z.string().max(maxScriptBytes)).max(maxScripts);

/** The scripts of a recorded set; undefined if its text is absent, not the one of that name, or beyond the bounds. */
export async function readSet(
  redis: RedisConnection,
  name: string,
): Promise<readonly LoadableScript[] | undefined> {
  const text = await redis.get(textKey(name));
  if (text === null || text.length > maxSetBytes || nameOf(text) !== name) return undefined;
  return setSchema.safeParse(jsonIn(text)).data?.map(loadableScript);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
