import { silentLog } from "@drover/controller";
import type { RedisServer } from "@drover/local-servers";
import { Redis } from "ioredis";
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { openBullmqJobQueue } from "../../bullmq/bullmq-job-queue.ts";
import { openWorkQueue } from "../../work-queue/bullmq-work-queue.ts";
import { keepScriptsLoaded } from "../lua/keep-scripts-loaded.ts";
import { queuePrefix } from "../../work-queue/queue-prefix.ts";
import { connectRedis } from "../redis-connection.ts";
import { openRedisLedger } from "../../ledger/redis-ledger.ts";
import { commandsOf, type RedisRole } from "./redis-users.ts";
import type { QueueWorker, Wake } from "../../work-queue/work-queue.ts";
import { times, roleActions } from "./role-actions.fixture.ts";

/** The actions of a user who may do `commands`, on keys of its own. */
export interface RoleExercise {
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
 * All that a component does with Redis: its connection, its ledger and its jobs, in good and bad days. Ends at once
 * when something is denied.
 */
export async function exerciseRole({ server, role, user, commands }: RoleExercise): Promise<{
  /** `lived`, or why it ended. */
  readonly outcome: string;
  readonly denied: readonly string[];
}> {
  const admin = new Redis(server.url);
  const controller = `of-${user}`;
  const prefix = queuePrefix(controller);
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
  const outcome = await runRoleActions({
    role,
    controller,
    url,
    admin,
    loadsScripts,
    signal: end.signal,
  }).then(
    () => "lived",
    (error: unknown) => String(error),
  );
  clearInterval(watching);
  const denied = await deniedTo(admin, user);
  await admin.quit();
  return { outcome, denied };
}

async function runRoleActions(options: {
  readonly role: RedisRole;
  readonly controller: string;
  readonly url: string;
  readonly admin: Redis;
  readonly loadsScripts: boolean;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { role, controller, url, admin, loadsScripts, signal } = options;
  const prefix = queuePrefix(controller);
  const ledger = openRedisLedger({ redis: admin, prefix, ...times });
  const jobQueue = openBullmqJobQueue({ redis: admin, prefix, log: silentLog });
  const opened: (() => Promise<unknown>)[] = [() => jobQueue.close()];
  // What is refused is tried again until the queue is closed.
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () =>
      reject(new Error("The actions were ended.", { cause: signal.reason })),
    );
  });
  ended.catch(() => undefined);
  try {
    const redis = await connectRedis({
      url,
      clientName: role,
      log: silentLog,
      connectTimeout: 2_000,
      loadsScripts,
    });
    opened.unshift(() => redis.quit());
    const idle = { worker: randomUUID(), slots: 1_000, version: 0, lasts: 600_000 };
    await ledger.registerWorker({ ...idle, backoff: { first: 20, longest: 50 }, accounts: {} });
    await delay(times.recoveryWindow, undefined, { signal });
    const incarnations: string[] = [];
    const workers: QueueWorker[] = [];
    const queue = openWorkQueue({
      redis,
      controller,
      log: silentLog,
      times,
      upkeep: commandsOf(role).includes("scan") ? "all" : "own",
      onIncarnation: (incarnation) => void incarnations.push(incarnation),
    });
    opened.unshift(() => queue.close());
    opened.unshift(() => Promise.all(workers.map((worker) => worker.drain(0))));
    const wake = async (...all: readonly Wake[]): Promise<void> => jobQueue.add(await ledger.wake(all));
    const until = async (holds: () => unknown): Promise<void> => {
      while (!(await holds())) await delay(10, undefined, { signal });
    };
    const stage = { queue, redis, admin, ledger, prefix, incarnations, workers, wake, until };
    for (const act of roleActions[role]) await Promise.race([act(stage), ended]);
  } finally {
    for (const close of opened) await close().catch(() => undefined);
  }
}
