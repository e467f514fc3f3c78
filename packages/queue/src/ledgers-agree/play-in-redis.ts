import type { Redis } from "ioredis";
import { answerKept, leftCopyKept } from "../ledger.ts";
import { openRedisLedger } from "../redis-ledger.ts";
import { type Answer, jitterAt, listenTo, type Step, written } from "./play-in-memory.ts";
import { keys, times } from "./random-calls.ts";

const prefix = "{drover:agree}";

/**
 * Plays steps in an empty Redis. Sends most of them without waiting, because no step depends on an answer, and Redis
 * answers in order. Only a step of two calls is awaited before the next one.
 */
export async function playInRedis(
  redis: Redis,
  steps: readonly Step[],
  heard: ReturnType<typeof listenTo>,
): Promise<readonly (Answer | undefined)[]> {
  heard.forget();
  const playing: ReturnType<typeof play>[] = [];
  await redis.flushall();
  for (const step of steps) {
    playing.push(play(redis, step));
    if ("isTwo" in step && step.isTwo) await playing.at(-1);
  }
  const played = await Promise.all(playing);
  let known = "";
  await heard.caughtUp();
  const answers = played.map((each) => {
    if (each === undefined) return undefined;
    const newEra = each.era !== known;
    known = each.era;
    return { answer: each.answer, newEra };
  });
  const left = { forgotten: await forgottenIn(redis), members: await membersIn(redis) };
  return [...answers, heard.answer(), { answer: left, newEra: false }];
}

/** The names that expire in Redis, and the lifetimes that the ledger asks for, ms. */
async function forgottenIn(redis: Redis): Promise<Readonly<Record<string, number>>> {
  const names = await redis.keys(`${prefix}:*`);
  const left = await Promise.all(names.map((name) => redis.pttl(name)));
  return Object.fromEntries(
    names.flatMap((name, i) => {
      const ms = left[i] ?? -1;
      // Little of the lifetime has passed: a sequence takes some milliseconds.
      const asked = [answerKept, leftCopyKept].find((time) => ms > time / 2 && ms <= time);
      return ms < 0 ? [] : [[name.slice(prefix.length + 1), asked ?? ms]];
    }),
  );
}

/** The members of collections in Redis. Leaves out a key's own data, pauses and limits: other answers report these. */
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
const isOfFields = /:(key|history|copy|lists|news):|:(control|paused|limits)$/;

/** Records the messages to workers during everything that is played from now on. */
export const listenInRedis = (redis: Redis) => listenTo(openRedisLedger({ redis, prefix, ...times }));

async function play(
  redis: Redis,
  step: Step,
): Promise<{ readonly answer: unknown; readonly era: string } | undefined> {
  if ("data" in step) {
    await redis.eval(scripts[step.data], 0);
    return undefined;
  }
  let { drawn } = step;
  let era = "";
  const ledger = openRedisLedger({
    redis,
    prefix,
    ...times,
    now: () => step.now,
    server: () => step.server,
    random: () => jitterAt(drawn++),
    onEra: (found) => void (era = found),
  });
  const answer = written(await step.on(ledger));
  return { answer, era };
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
  await ledger.enlist({ worker: "w", slots: 0, version: 0, lasts: 1, backoff, accounts: {} });
  await ledger.ring();
  await ledger.unanswered(0);
  await ledger.count();
  await ledger.moment();
  await ledger.notRunSince([], 0);
  await ledger.list("ready", 1, "1 a");
  await ledger.renew([]);
  await ledger.offer({ worker: "w", askedAt: 0, version: 0, tokens: [] });
  await ledger.wake([]);
  await ledger.pause({ kind: "controller" }, "tests");
  for (const key of keys.slice(0, 1)) {
    await ledger.claim(key, "t");
    await ledger.settle(key, "t", { kind: "gone" });
    await ledger.ringAgain({ key, number: "0" });
    await ledger.inspect(key);
  }
}
