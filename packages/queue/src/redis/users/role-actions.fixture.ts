import { objectKey, type ObjectKey } from "@drover/controller";
import type { Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { deleteKeys } from "../../work-queue/queue-keys.ts";
import { redisUserAdmin } from "./redis-user-admin.ts";
import type { RedisConnection } from "../redis-servers.ts";
import type { RedisLedger } from "../../ledger/redis-ledger.ts";
import type { RedisRole } from "./redis-users.ts";
import type { QueueWorker, RunOutcome, Wake, WorkQueue } from "../../work-queue/work-queue.ts";

export const times = { lease: 600, renewal: 100, recoveryWindow: 250 };

const key = (name: string): ObjectKey => objectKey({ namespace: "a", name });

const wakeOf = (name: string, fields: Partial<Wake> = {}): Wake => ({
  key: key(name),
  kind: "buckets",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
  ...fields,
});

const wakeWithDelta = (name: string): Wake => wakeOf(name, { kind: "pods", delta: "{}" });

/** The context of a role: the queue of its user, and an administrator who changes its data. */
interface RoleContext {
  readonly queue: WorkQueue;
  /** The user's. */
  readonly redis: RedisConnection;
  readonly admin: Redis;
  /** The administrator's; no dispatcher goes with it. */
  readonly ledger: RedisLedger;
  readonly prefix: string;
  readonly incarnations: readonly string[];
  readonly workers: QueueWorker[];
  /** The administrator wakes a key and adds the jobs. */
  readonly wake: (...wakes: readonly Wake[]) => Promise<void>;
  readonly until: (holds: () => unknown) => Promise<void>;
}

type RoleAction = (context: RoleContext) => Promise<void>;

const queriesQueue: RoleAction = async ({ queue }) => {
  await queue.ping(10_000);
  await queue.stats(10_000);
};

/** A key whose time comes, one whose worker died, and a pause that is looked up for every key. */
const dispatches: RoleAction = async ({ ledger, admin, prefix, until }) => {
  await ledger.pause({ kind: "object", key: key("paused") }, "tests");
  await ledger.wake([wakeOf("later"), wakeOf("dead")]);
  await ledger.claim(key("later"), "t1");
  await ledger.settle(key("later"), "t1", { kind: "done", after: 50 });
  await ledger.claim(key("dead"), "t2");
  await until(async () => !(await admin.zscore(`${prefix}:waits`, key("later"))));
  await until(async () => !(await admin.zscore(`${prefix}:leases`, key("dead"))));
};

/** What a run observed, by which the next one begins where it ended. */
const seen = { kind: "buckets", uid: "u1", resourceVersion: "7" };

/** A server forgets its scripts, and whoever may load them sends the next one with its text. */
const losesScripts: RoleAction = async ({ queue, admin }) => {
  for (let times = 0; times < 3; times++) {
    await admin.script("FLUSH");
    await queue.stats(10_000);
  }
};

/** A key that is woken is assigned to an idle slot, with what its last run has left. */
const assigns: RoleAction = async ({ queue, ledger, admin, prefix, until }) => {
  const left = key("left");
  await ledger.wake([wakeOf("left", seen)]);
  await ledger.claim(left, "t6");
  await ledger.settle(left, "t6", {
    kind: "done",
    observed: { ...seen, cachedObject: "{}", cachedLists: "{}" },
  });
  // Else the slot is given one of these, whose jobs no worker takes.
  for (const { key: dispatched } of (await ledger.list("dispatched", 100)).keys) {
    await ledger.claim(dispatched, "t9");
    await ledger.settle(dispatched, "t9", { kind: "done" });
  }
  await ledger.advertise({ worker: "w", askedAt: 0, version: 9, tokens: ["t7"] });
  await queue.wake([wakeWithDelta("left")]);
  await until(async () => {
    const { token, settled } = await admin.hgetall(`${prefix}:key:${left}`);
    return token?.startsWith("t7:") || settled !== "t6"; // where there is a worker, it may have run it
  });
};

/** Whoever may wake may bring deltas to a run that is under way. */
const wakesWithDelta: RoleAction = async ({ queue, ledger }) => {
  await ledger.wake([wakeOf("under-way")]);
  await ledger.claim(key("under-way"), "t8");
  await queue.wake([wakeWithDelta("under-way")]);
};

const changesServer: RoleAction = async ({ admin, prefix, incarnations, ledger, until }) => {
  await ledger.wake([wakeOf("dispatched-before")]);
  const before = incarnations.length;
  await admin.hset(`${prefix}:control`, "server", "another");
  await until(() => incarnations.length > before);
  await until(async () => (await admin.hget(`${prefix}:control`, "claimsFrom")) === "0");
};

const repairsForeignData: RoleAction = async ({ admin, prefix, until }) => {
  await admin.zadd(`${prefix}:waits`, 1, "a/b/c");
  await until(() => admin.exists(`${prefix}:quarantine:member:a/b/c`));
  await admin.set(`${prefix}:throttled`, "garbage");
  await until(() => admin.exists(`${prefix}:quarantine:throttled`));
};

const dispatchesAgain: RoleAction = async ({ admin, prefix, ledger, workers, until }) => {
  // Otherwise the key would be chained to a run that ends, before its job is missed.
  await Promise.all(workers.map((worker) => worker.drain(0)));
  // It may also dispatch others that have just been repaired.
  await ledger.wake([wakeOf("lost")], true);
  const jobNumberOf = () => admin.hget(`${prefix}:key:${key("lost")}`, "job");
  await until(jobNumberOf);
  const jobNumber = await jobNumberOf();
  await until(async () => ![jobNumber, null].includes(await jobNumberOf()));
};

const wakes: RoleAction = async ({ queue }) => {
  await queue.wake([
    wakeOf("one"),
    wakeOf("two", { class: "listing" }),
    wakeOf("three", { class: "resync" }),
  ]);
};

/** A key that was gone, and is heard of again before it was forgotten. */
const returnsAfterGone =
  (wakeAgain: (queue: WorkQueue, back: ObjectKey) => Promise<unknown>): RoleAction =>
  async ({ queue, ledger }) => {
    const back = key("back");
    await ledger.wake([wakeOf("back")]);
    await ledger.claim(back, "t5");
    await ledger.settle(back, "t5", { kind: "gone" });
    await wakeAgain(queue, back);
  };

const scrubs: RoleAction = async ({ admin, prefix, ledger, until }) => {
  await ledger.wake([wakeOf("forgotten")]);
  await ledger.claim(key("forgotten"), "t3");
  await ledger.settle(key("forgotten"), "t3", { kind: "done", after: 100_000 });
  await admin.zrem(`${prefix}:waits`, key("forgotten"));
  await until(async () => (await admin.hget(`${prefix}:key:${key("forgotten")}`, "state")) !== "waits");
};

const deploys: RoleAction = async ({ queue, redis, prefix }) => {
  const accounts = redisUserAdmin(redis);
  const controllers = [prefix.slice("{drover:".length, -1)];
  await accounts.grant(`${controllers[0]}-s`, { role: "function", controllers }, ["new", "old"]);
  await accounts.revoke(`${controllers[0]}-s`);
  await accounts.names();
  await deleteKeys(redis, [{ name: `${prefix}:of-another`, queue: "another" }]);
  await queue.pause({ kind: "controller" }, "tests");
  await queue.resume({ kind: "controller" });
};

const operates: RoleAction = async ({ queue, ledger }) => {
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
  for (const state of ["waits", "ready", "dispatched", "leased", "parked", "paused", "failing"] as const) {
    await queue.list(state, { after: "1 a", limit: 10 });
  }
  await queue.inspect(key("ran"));
};

/** What BullMQ finds: a job whose worker died, one that another works on, and as many failed ones as are kept. */
const inheritsJobs: RoleAction = async ({ admin, prefix, wake }) => {
  await wake(wakeOf("stalled"), wakeOf("active"));
  const jobs = `${prefix}:jobs`;
  const id = await admin.lmove(`${jobs}:wait`, `${jobs}:active`, "LEFT", "LEFT");
  await admin.sadd(`${jobs}:stalled`, id);
  await admin.lmove(`${jobs}:wait`, `${jobs}:active`, "LEFT", "LEFT");
  const failed = Array.from({ length: 1_000 }, (_, i) => [i, `old-${i}`]);
  await admin.zadd(`${jobs}:failed`, ...failed.flat());
};

/** Which outcomes a key's runs come to, in turn; then it is done. */
const outcomesOf: Readonly<Record<string, readonly RunOutcome[]>> = {
  done: [{ kind: "done", account: "aws" }],
  listed: [{ kind: "done", observed: { ...seen, cachedObject: "{}", cachedLists: "{}" } }],
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
const announces: RoleAction = async ({ admin, prefix, wake, until }) => {
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

/** A run that ended with lists is followed by one that is also given the deltas since. */
const runsWithDeltas: RoleAction = async ({ queue, admin, prefix, until }) => {
  const settled = () => admin.hget(`${prefix}:key:${key("listed")}`, "settled");
  const before = await settled();
  await queue.wake([wakeWithDelta("listed")]);
  await until(async () => (await settled()) !== before);
};

const works: RoleAction = async (stage) => {
  const { queue, workers, wake, until } = stage;
  let isHeld = true;
  const left = new Map(Object.entries(outcomesOf).map(([name, outcomes]) => [key(name), [...outcomes]]));
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
  const names = Object.keys(outcomesOf);
  await wake(...names.map((name) => wakeOf(name, seen)));
  await until(() => [...left.values()].every((outcomes) => outcomes.length === 0) && settled >= names.length);
  await runsWithDeltas(stage);
  await announces(stage);
  isHeld = false;
};

/** What failed is retried by a bridge, page by page. */
const retries: RoleAction = async ({ queue }) => {
  for (const state of ["parked", "failing"] as const) await queue.list(state, { after: "1 a", limit: 10 });
  await queue.notRunSince([key("ran")], 0);
};

const dispatcherActions: readonly RoleAction[] = [
  ...[queriesQueue, dispatches, assigns, wakesWithDelta, changesServer, repairsForeignData, dispatchesAgain],
];

const bridgeActions: readonly RoleAction[] = [
  ...[wakes, returnsAfterGone((queue) => queue.wake([wakeOf("back")])), scrubs],
];

export const roleActions: Readonly<Record<RedisRole, readonly RoleAction[]>> = {
  bridge: [...bridgeActions, retries, losesScripts, ...dispatcherActions],
  function: [inheritsJobs, works, ...dispatcherActions],
  gateway: [inheritsJobs, works, ...dispatcherActions],
  embedded: [...bridgeActions, retries, losesScripts, inheritsJobs, works, ...dispatcherActions],
  operator: [operates, returnsAfterGone((queue, back) => queue.force([back])), ...dispatcherActions],
  deployer: [deploys, wakes, losesScripts, inheritsJobs, works, ...dispatcherActions],
};
