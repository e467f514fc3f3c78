import type { Redis } from "ioredis";
import { goneKeyTtl } from "../../ledger/ledger.ts";
import { cachedObjectTtl } from "../../cache/cache-bounds.ts";
import { keptFor } from "./random-calls.ts";
import { openRedisLedger } from "../../ledger/redis-ledger.ts";
import {
  type PlayedAnswer,
  jitterAt,
  recordAssignments,
  type PlayedStep,
  jsonRoundTrip,
} from "./play-in-memory.ts";
import { keys, times } from "./random-calls.ts";

const prefix = "{drover:agree}";

/**
 * Plays steps in an empty Redis. Sends most of them without waiting, because no step depends on an answer, and Redis
 * answers in order. Only a step of two calls is awaited before the next one.
 */
export async function playInRedis(
  redis: Redis,
  steps: readonly PlayedStep[],
  received: ReturnType<typeof recordAssignments>,
): Promise<readonly (PlayedAnswer | undefined)[]> {
  received.forget();
  const playing: ReturnType<typeof play>[] = [];
  await redis.flushall();
  for (const step of steps) {
    playing.push(play(redis, step));
    if ("callsTwice" in step && step.callsTwice) await playing.at(-1);
  }
  const played = await Promise.all(playing);
  let known = "";
  await received.caughtUp();
  const answers = played.map((each) => {
    if (each === undefined) return undefined;
    const isNewIncarnation = each.incarnation !== known;
    known = each.incarnation;
    return { answer: each.answer, isNewIncarnation };
  });
  const left = { forgotten: await expiringIn(redis), members: await membersIn(redis) };
  return [...answers, received.answer(), { answer: left, isNewIncarnation: false }];
}

/** The names that expire in Redis, and the lifetimes that the ledger asks for, ms. */
async function expiringIn(redis: Redis): Promise<Readonly<Record<string, number>>> {
  const names = await redis.keys(`${prefix}:*`);
  const left = await Promise.all(names.map((name) => redis.pttl(name)));
  return Object.fromEntries(
    names.flatMap((name, i) => {
      const ms = left[i] ?? -1;
      // Little of the lifetime has passed: a sequence takes some milliseconds.
      const asked = [goneKeyTtl, cachedObjectTtl, keptFor].find((time) => ms > time / 2 && ms <= time);
      return ms < 0 ? [] : [[name.slice(prefix.length + 1), asked ?? ms]];
    }),
  );
}

/**
 * The members of collections in Redis. Leaves out a key's own data, pauses and limits: other answers report these. Leaves
 * out which scripts workers need, too: the ledger in memory has none.
 */
async function membersIn(redis: Redis): Promise<Readonly<Record<string, readonly string[]>>> {
  const names = (await redis.keys(`${prefix}:*`)).filter((name) => !isOfFields.test(name));
  const members = await Promise.all(
    names.map(async (name) =>
      (await redis.type(name)) === "hash" ? redis.hkeys(name) : redis.zrange(name, "0", "-1"),
    ),
  );
  return Object.fromEntries(
    names.map((name, i) => [name.slice(prefix.length + 1), members[i]?.toSorted() ?? []]),
  );
}
const isOfFields = /:(key|history|object|lists|deltas):|:(control|pauses|limits|scripts)$/;

/** Records the messages to workers during everything that is played from now on. */
export const recordAssignmentsInRedis = (redis: Redis) =>
  recordAssignments(openRedisLedger({ redis, prefix, ...times }));

async function play(
  redis: Redis,
  step: PlayedStep,
): Promise<{ readonly answer: unknown; readonly incarnation: string } | undefined> {
  if ("data" in step) {
    await redis.eval(scripts[step.data], 0);
    return undefined;
  }
  let { drawn } = step;
  let incarnation = "";
  const ledger = openRedisLedger({
    redis,
    prefix,
    ...times,
    now: () => step.now,
    server: () => step.server,
    random: () => jitterAt(drawn++),
    onIncarnation: (found) => void (incarnation = found),
  });
  const answer = jsonRoundTrip(await step.perform(ledger));
  return { answer, incarnation };
}

const copyTo = (db: number): string =>
  `for _, key in ipairs(redis.call('KEYS', '*')) do redis.call('COPY', key, key, 'DB', ${db}) end\n`;
const select = (db: number): string => `redis.call('SELECT', ${db})\n`;
const flush = "redis.call('FLUSHDB')\n";
/** The second database of Redis holds a backup of the first. */
const scripts = {
  lost: flush,
  saved: select(1) + flush + select(0) + copyTo(1),
  restored: flush + select(1) + copyTo(0),
};

/** Call this first: a call that must load its script would be executed after later calls. */
export async function loadScripts(redis: Redis): Promise<void> {
  const ledger = openRedisLedger({ redis, prefix: "{drover:loading}", ...times });
  const backoff = { first: 1, longest: 1 };
  await ledger.registerWorker({ worker: "w", slots: 0, version: 0, lasts: 1, backoff, accounts: {} });
  await ledger.dispatch();
  await ledger.unclaimedJobs(0);
  await ledger.count();
  await ledger.time();
  await ledger.notRunSince([], 0);
  await ledger.list("ready", 1, "1 a");
  await ledger.renew([]);
  await ledger.advertise({ worker: "w", askedAt: 0, version: 0, tokens: [] });
  await ledger.wake([]);
  await ledger.pause({ kind: "controller" }, "tests");
  for (const key of keys.slice(0, 1)) {
    await ledger.claim(key, "t");
    await ledger.settle(key, "t", { kind: "gone" });
    await ledger.dispatchAgain({ key, number: "0" });
    await ledger.inspect(key);
  }
}
