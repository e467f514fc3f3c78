import { objectKey, type ObjectKey, silentLog } from "@drover/controller";
import type { RedisServer } from "@drover/local-servers";
import { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { bullmqBells } from "./bullmq-bells.ts";
import { openWorkQueue } from "./bullmq-work-queue.ts";
import { keepScriptsLoaded } from "./keep-scripts-loaded.ts";
import { prefixOf } from "./prefix-of.ts";
import { deleteKeys } from "./queue-keys.ts";
import { redisAccounts } from "./redis-accounts.ts";
import { connectRedis, type RedisConnection } from "./redis-connection.ts";
import { openRedisLedger, type RedisLedger } from "./redis-ledger.ts";
import { commandsOf, type RedisRole } from "./redis-users.ts";
import type { QueueWorker, Verdict, Wake, WorkQueue } from "./work-queue.ts";

const times = { lease: 600, renewal: 100, settling: 250 };
const key = (name: string): ObjectKey => objectKey({ namespace: "a", name });
const wakeOf = (name: string, fields: Partial<Wake> = {}): Wake => ({
  key: key(name),
  kind: "buckets",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
  ...fields,
});
const newsOf = (name: string): Wake => wakeOf(name, { kind: "pods", news: "{}" });

/** Where a life is lived: the queue of the user at hand, and an administrator who makes things happen to it. */
interface Stage {
  readonly queue: WorkQueue;
  /** The user's. */
  readonly redis: RedisConnection;
  readonly admin: Redis;
  /** The administrator's; no ringer goes with it. */
  readonly ledger: RedisLedger;
  readonly prefix: string;
  readonly eras: readonly string[];
  readonly workers: QueueWorker[];
  /** The administrator wakes a key and adds the bells. */
  readonly wake: (...wakes: readonly Wake[]) => Promise<void>;
  readonly until: (holds: () => unknown) => Promise<void>;
}

type Act = (stage: Stage) => Promise<void>;

const isAsked: Act = async ({ queue }) => {
  await queue.ping(10_000);
  await queue.stats(10_000);
};

/** A key whose time comes, one whose worker died, and a pause that is looked up for every key. */
const rings: Act = async ({ ledger, admin, prefix, until }) => {
  await ledger.pause({ kind: "object", key: key("paused") }, "tests");
  await ledger.wake([wakeOf("later"), wakeOf("dead")]);
  await ledger.claim(key("later"), "t1");
  await ledger.settle(key("later"), "t1", { kind: "done", after: 50 });
  await ledger.claim(key("dead"), "t2");
  await until(async () => !(await admin.zscore(`${prefix}:waits`, key("later"))));
  await until(async () => !(await admin.zscore(`${prefix}:leases`, key("dead"))));
};

/** What a run saw, by which the next one begins where it ended. */
const seen = { kind: "buckets", uid: "u1", resourceVersion: "7" };

/** A server forgets its scripts, and whoever may load them sends the next one with its text. */
const losesScripts: Act = async ({ queue, admin }) => {
  for (let times = 0; times < 3; times++) {
    await admin.script("FLUSH");
    await queue.stats(10_000);
  }
};

/** A key that is woken is given to a free slot, with what its last run has left. */
const gives: Act = async ({ queue, ledger, admin, prefix, until }) => {
  const left = key("left");
  await ledger.wake([wakeOf("left", seen)]);
  await ledger.claim(left, "t6");
  await ledger.settle(left, "t6", { kind: "done", saw: { ...seen, copy: "{}", lists: "{}" } });
  // Else the slot is given one of these, whose bells nobody answers.
  for (const { key: rung } of (await ledger.list("rung", 100)).keys) {
    await ledger.claim(rung, "t9");
    await ledger.settle(rung, "t9", { kind: "done" });
  }
  await ledger.offer({ worker: "w", askedAt: 0, version: 9, tokens: ["t7"] });
  await queue.wake([newsOf("left")]);
  await until(async () => {
    const { token, settled } = await admin.hgetall(`${prefix}:key:${left}`);
    return token?.startsWith("t7:") || settled !== "t6"; // where there is a worker, it may have run it
  });
};

/** Whoever may wake may bring news to a run that is under way. */
const bringsNews: Act = async ({ queue, ledger }) => {
  await ledger.wake([wakeOf("under-way")]);
  await ledger.claim(key("under-way"), "t8");
  await queue.wake([newsOf("under-way")]);
};

const meetsAnotherServer: Act = async ({ admin, prefix, eras, ledger, until }) => {
  await ledger.wake([wakeOf("rung-before")]);
  const before = eras.length;
  await admin.hset(`${prefix}:control`, "server", "another");
  await until(() => eras.length > before);
  await until(async () => (await admin.hget(`${prefix}:control`, "claimsFrom")) === "0");
};

const meetsStrangers: Act = async ({ admin, prefix, until }) => {
  await admin.zadd(`${prefix}:waits`, 1, "a/b/c");
  await until(() => admin.exists(`${prefix}:quarantine:member:a/b/c`));
  await admin.set(`${prefix}:shut`, "garbage");
  await until(() => admin.exists(`${prefix}:quarantine:shut`));
};

const ringsAgain: Act = async ({ admin, prefix, ledger, workers, until }) => {
  // Whoever ends a run would be handed the key, before it is missed.
  await Promise.all(workers.map((worker) => worker.drain(0)));
  // Others may be rung by it, too, which have just been put right.
  await ledger.wake([wakeOf("lost")], true);
  const bellOf = () => admin.hget(`${prefix}:key:${key("lost")}`, "bell");
  await until(bellOf);
  const bell = await bellOf();
  await until(async () => ![bell, null].includes(await bellOf()));
};

const wakes: Act = async ({ queue }) => {
  await queue.wake([
    wakeOf("one"),
    wakeOf("two", { class: "listing" }),
    wakeOf("three", { class: "resync" }),
  ]);
};

/** A key that was gone, and is heard of again before it was forgotten. */
const comesBack =
  (hear: (queue: WorkQueue, back: ObjectKey) => Promise<unknown>): Act =>
  async ({ queue, ledger }) => {
    const back = key("back");
    await ledger.wake([wakeOf("back")]);
    await ledger.claim(back, "t5");
    await ledger.settle(back, "t5", { kind: "gone" });
    await hear(queue, back);
  };

const walksRound: Act = async ({ admin, prefix, ledger, until }) => {
  await ledger.wake([wakeOf("forgotten")]);
  await ledger.claim(key("forgotten"), "t3");
  await ledger.settle(key("forgotten"), "t3", { kind: "done", after: 100_000 });
  await admin.zrem(`${prefix}:waits`, key("forgotten"));
  await until(async () => (await admin.hget(`${prefix}:key:${key("forgotten")}`, "state")) !== "waits");
};

const deploys: Act = async ({ queue, redis, prefix }) => {
  const accounts = redisAccounts(redis);
  const controllers = [prefix.slice("{drover:".length, -1)];
  await accounts.grant(`${controllers[0]}-s`, { role: "function", controllers }, ["new", "old"]);
  await accounts.revoke(`${controllers[0]}-s`);
  await accounts.names();
  await deleteKeys(redis, [{ name: `${prefix}:of-another`, queue: "another" }]);
  await queue.pause({ kind: "controller" }, "tests");
  await queue.resume({ kind: "controller" });
};

const operates: Act = async ({ queue, ledger }) => {
  await ledger.wake([wakeOf("ran")]);
  await ledger.claim(key("ran"), "t4");
  const run = { trigger: [], duration: 1, verdict: "done" } as const;
  await ledger.settle(key("ran"), "t4", { kind: "done" }, run);
  for (const scope of [
    { kind: "controller" },
    { kind: "namespace", namespace: "a" },
    { kind: "object", key: key("ran") },
  ] as const) {
    await queue.pause(scope, "tests");
    await ledger.wake([wakeOf("held", { resourceVersion: "2" })]);
    await queue.resume(scope);
  }
  await queue.force([key("ran")]);
  for (const state of ["waits", "ready", "rung", "leased", "parked", "paused", "failing"] as const) {
    await queue.list(state, { after: "1 a", limit: 10 });
  }
  await queue.inspect(key("ran"));
};

/** What BullMQ finds: a bell whose worker died, one that another works on, and as many failed ones as are kept. */
const inheritsBells: Act = async ({ admin, prefix, wake }) => {
  await wake(wakeOf("stalled"), wakeOf("active"));
  const bells = `${prefix}:bells`;
  const id = await admin.lmove(`${bells}:wait`, `${bells}:active`, "LEFT", "LEFT");
  await admin.sadd(`${bells}:stalled`, id);
  await admin.lmove(`${bells}:wait`, `${bells}:active`, "LEFT", "LEFT");
  const failed = Array.from({ length: 1_000 }, (_, i) => [i, `old-${i}`]);
  await admin.zadd(`${bells}:failed`, ...failed.flat());
};

/** Which verdicts a key's runs come to, in turn; then it is done. */
const verdictsOf: Readonly<Record<string, readonly Verdict[]>> = {
  done: [{ kind: "done", account: "aws" }],
  listed: [{ kind: "done", saw: { ...seen, copy: "{}", lists: "{}" } }],
  again: [{ kind: "done", after: 20 }],
  wait: [{ kind: "wait", after: 20 }],
  retry: [
    { kind: "retry", error: "no" },
    { kind: "retry", error: "no" },
  ],
  asked: [{ kind: "retry", error: "429", after: 20 }],
  throttled: [{ kind: "throttled", account: "aws", after: 20 }],
  conflict: [{ kind: "conflict" }],
  terminal: [{ kind: "terminal", error: "no" }],
  gone: [{ kind: "gone" }],
  interrupted: [{ kind: "interrupted" }],
};

/** A run is under way when another server takes over, which knows its key as one that is gone, and announces itself. */
const announces: Act = async ({ admin, prefix, wake, until }) => {
  const announced = () => admin.hget(`${prefix}:key:${key("held")}`, "announced");
  await wake(wakeOf("held"));
  await until(() => admin.zscore(`${prefix}:leases`, key("held")));
  await admin
    .multi()
    .del(`${prefix}:key:${key("held")}`)
    .hset(`${prefix}:key:${key("held")}`, "settled", "t0")
    .hset(`${prefix}:control`, "server", "forgetful")
    .exec();
  await until(announced);
  await until(async () => (await admin.hget(`${prefix}:control`, "claimsFrom")) === "0");
};

/** A run that ended with lists is followed by one that is also given the news since. */
const learnsMore: Act = async ({ queue, admin, prefix, until }) => {
  const settled = () => admin.hget(`${prefix}:key:${key("listed")}`, "settled");
  const before = await settled();
  await queue.wake([newsOf("listed")]);
  await until(async () => (await settled()) !== before);
};

const works: Act = async (stage) => {
  const { queue, workers, wake, until } = stage;
  let isHeld = true;
  const left = new Map(Object.entries(verdictsOf).map(([name, verdicts]) => [key(name), [...verdicts]]));
  let settled = 0;
  const worker = queue.work(
    async ({ key: of, claim, signal }) => {
      while (of === key("held") && isHeld && !signal.aborted) await delay(10);
      // Long enough for its lease to be renewed.
      if (claim.fails === 0) await delay(2 * times.renewal);
      return left.get(of)?.shift() ?? { kind: "done" };
    },
    {
      concurrency: 20,
      timeout: 60_000,
      version: 1,
      backoff: { first: 20, longest: 50 },
      limits: { runs: { perSecond: 1_000, burst: 100 }, accounts: { aws: { perSecond: 1_000, burst: 10 } } },
      onSettled: () => {
        settled++;
      },
    },
  );
  workers.push(worker);
  const names = Object.keys(verdictsOf);
  await wake(...names.map((name) => wakeOf(name, seen)));
  await until(() => [...left.values()].every((verdicts) => verdicts.length === 0) && settled >= names.length);
  await learnsMore(stage);
  await announces(stage);
  isHeld = false;
};

/** What failed is retried by a bridge, page by page. */
const retries: Act = async ({ queue }) => {
  for (const state of ["parked", "failing"] as const) await queue.list(state, { after: "1 a", limit: 10 });
  await queue.notRunSince([key("ran")], 0);
};

const ringer: readonly Act[] = [
  ...[isAsked, rings, gives, bringsNews, meetsAnotherServer, meetsStrangers, ringsAgain],
];
const follows: readonly Act[] = [...[wakes, comesBack((queue) => queue.wake([wakeOf("back")])), walksRound]];
const lives: Readonly<Record<RedisRole, readonly Act[]>> = {
  bridge: [...follows, retries, losesScripts, ...ringer],
  function: [inheritsBells, works, ...ringer],
  gateway: [inheritsBells, works, ...ringer],
  embedded: [...follows, retries, losesScripts, inheritsBells, works, ...ringer],
  operator: [operates, comesBack((queue, back) => queue.force([back])), ...ringer],
  deployer: [deploys, wakes, losesScripts, inheritsBells, works, ...ringer],
};

/** A life of a user who may do `commands`, on keys of its own. */
export interface Life {
  readonly server: RedisServer;
  readonly role: RedisRole;
  readonly user: string;
  readonly commands: readonly string[];
}

/** Of what ACL LOG says, the commands that a user was denied. */
export async function deniedTo(admin: Redis, user: string): Promise<readonly string[]> {
  const entries = z.array(z.array(z.unknown())).parse(await admin.acl("LOG", 1_000));
  const field = (entry: readonly unknown[], name: string): unknown => entry[entry.indexOf(name) + 1];
  const denied = entries
    .filter((entry) => field(entry, "username") === user)
    .map((entry) => field(entry, "object"));
  return [...new Set(denied.map(String))];
}

/**
 * All that a component does with Redis: its connection, its ledger and its bells, in good and bad days. Ends at once
 * when something is denied.
 */
export async function life({ server, role, user, commands }: Life): Promise<{
  /** `lived`, or why it ended. */
  readonly outcome: string;
  readonly denied: readonly string[];
}> {
  const admin = new Redis(server.url);
  const controller = `of-${user}`;
  const prefix = prefixOf(controller);
  await admin.call(
    "ACL",
    "SETUSER",
    user,
    "reset",
    "on",
    ">secret",
    `~${prefix}*`,
    `&${prefix}*`,
    ...commands.map((name) => `+${name}`),
  );
  const loadsScripts = commandsOf(role).includes("script|load");
  // As on a new server, where another process loads the scripts for those who may not.
  await admin.script("FLUSH");
  if (!loadsScripts) await keepScriptsLoaded(admin, silentLog);
  const end = new AbortController();
  const watching = setInterval(() => {
    void deniedTo(admin, user).then((denied) => {
      if (denied.length > 0) end.abort(new Error("Something was denied."));
    });
  }, 20);
  const url = server.url.replace("//", `//${user}:secret@`);
  const outcome = await live({ role, controller, url, admin, loadsScripts, signal: end.signal }).then(
    () => "lived",
    (error: unknown) => String(error),
  );
  clearInterval(watching);
  const denied = await deniedTo(admin, user);
  await admin.quit();
  return { outcome, denied };
}

async function live(options: {
  readonly role: RedisRole;
  readonly controller: string;
  readonly url: string;
  readonly admin: Redis;
  readonly loadsScripts: boolean;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { role, controller, url, admin, loadsScripts, signal } = options;
  const prefix = prefixOf(controller);
  const ledger = openRedisLedger({ redis: admin, prefix, ...times });
  const bells = bullmqBells({ redis: admin, prefix, log: silentLog });
  const opened: (() => Promise<unknown>)[] = [() => bells.close()];
  // What is refused is tried again until the queue is closed.
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () =>
      reject(new Error("The life was ended.", { cause: signal.reason })),
    );
  });
  ended.catch(() => undefined);
  try {
    const redis = await connectRedis({
      url,
      clientName: role,
      log: silentLog,
      patience: 2_000,
      loadsScripts,
    });
    opened.unshift(() => redis.quit());
    const idle = { worker: randomUUID(), slots: 1_000, version: 0, lasts: 600_000 };
    await ledger.enlist({ ...idle, backoff: { first: 20, longest: 50 }, accounts: {} });
    await delay(times.settling, undefined, { signal });
    const eras: string[] = [];
    const workers: QueueWorker[] = [];
    const queue = openWorkQueue({
      redis,
      controller,
      log: silentLog,
      times,
      upkeep: commandsOf(role).includes("scan") ? "all" : "own",
      onIncarnation: (era) => void eras.push(era),
    });
    opened.unshift(() => queue.close());
    opened.unshift(() => Promise.all(workers.map((worker) => worker.drain(0))));
    const wake = async (...all: readonly Wake[]): Promise<void> => bells.add(await ledger.wake(all));
    const until = async (holds: () => unknown): Promise<void> => {
      while (!(await holds())) await delay(10, undefined, { signal });
    };
    const stage = { queue, redis, admin, ledger, prefix, eras, workers, wake, until };
    for (const act of lives[role]) await Promise.race([act(stage), ended]);
  } finally {
    for (const close of opened) await close().catch(() => undefined);
  }
}
