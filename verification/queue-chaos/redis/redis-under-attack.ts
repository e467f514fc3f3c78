import {
  redisRequest,
  type RedisPair,
  type RedisServer,
  startRedis,
  startRedisPair,
} from "@drover/local-servers";
import { Queue } from "bullmq";
import { setTimeout as delay } from "node:timers/promises";
import { countJobs } from "./bullmq-jobs.ts";
import type { Loss } from "../oracle/facts.ts";
import { mutateKeys } from "./mutate-keys.ts";
import type { RedisFault, Schedule } from "../schedules/schedule.ts";

/** A fault that has begun, and how it ends. */
export interface Broken {
  readonly detail: string;
  readonly over: () => Promise<void>;
}

/** The Redis of a schedule, and how it is broken. */
export interface RedisUnderAttack {
  /** For Drover's processes: a user of their own, so that their permissions can be taken. */
  readonly url: string;
  /** A fault of a moment happens when it is put right. `passes` resolves when that many more runs have started. */
  begin(fault: RedisFault, passes: Passes): Promise<Broken>;
  /** BullMQ's jobs, by BullMQ's own lists; undefined while Redis does not answer. */
  jobs(): Promise<{ waiting: number; active: number; failed: number } | undefined>;
  /** Keys that the queue has put aside as broken. */
  quarantined(): Promise<readonly string[]>;
  stop(): Promise<void>;
}
type Passes = (runs: number) => Promise<void>;

const password = "drover";
const user = ["--user", "drover", "on", `>${password}`, "~*", "&*", "+@all"];
/** The server's dump cannot be written where a folder has its name. */
const noDump = ["--dbfilename", "appendonlydir"];
/** Each key takes that long to load, in microseconds, and commands are answered in between. */
const slowLoading = ["--key-load-delay", "400", "--loading-process-events-interval-bytes", "1024"];

/** Starts what the schedule's faults need: a pair where one fails over, else one server. */
export async function startRedisUnderAttack(
  { steps }: Schedule,
  subject: Subject,
): Promise<RedisUnderAttack> {
  const planned = new Set(steps.map((step) => step.do));
  if (planned.has("redis-failover")) {
    const pair = await startRedisPair({ persistence: true, args: user });
    return underAttack({
      ...subject,
      server: () => pair.primary,
      url: pair.url,
      pair,
      stop: () => pair.stop(),
    });
  }
  const args = [
    ...user,
    ...(planned.has("redis-full-disk") ? noDump : []),
    ...(planned.has("redis-loading") ? slowLoading : []),
  ];
  const server = await startRedis({ persistence: true, args });
  return underAttack({ ...subject, server: () => server, url: server.url, stop: () => server.stop() });
}

/** The controller and the keys that are to be broken. */
interface Subject {
  readonly controller: string;
  readonly keys: readonly string[];
}

interface Target extends Subject {
  /** The primary of the moment. */
  server(): RedisServer;
  readonly url: string;
  readonly pair?: RedisPair;
  stop(): Promise<void>;
}

function underAttack(target: Target): RedisUnderAttack {
  return {
    url: target.url.replace("redis://", `redis://drover:${password}@`),
    begin: (fault, passes) => breakRedis(target, fault, passes),
    jobs: () => countJobs(target.server().port).catch(() => undefined),
    async quarantined() {
      const script = "return table.concat(redis.call('KEYS', '*:quarantine:*'), ' ')";
      const names = (await redisRequest(target.server().port, ["EVAL", script, "0"])) ?? "";
      return names.split(" ").filter((name) => name !== "");
    },
    stop: () => target.stop(),
  };
}

const nothing = (): Promise<void> => Promise.resolve();

async function breakRedis(target: Target, fault: RedisFault, passes: Passes): Promise<Broken> {
  const server = target.server();
  const ask = (...command: string[]) => redisRequest(server.port, command);
  const then = (...command: string[]): Broken => ({
    detail: command.join(" "),
    over: () => ask(...command).then(() => undefined),
  });
  switch (fault.do) {
    case "redis-loading":
      await ask("EVAL", "for i = 1, ARGV[1] do redis.call('SET', 'junk:' .. i, i) end", "0", `${fault.junk}`);
      await server.kill();
      return { detail: "", over: () => server.restart() };
    case "redis-kill":
      await server.kill();
      return { detail: "", over: () => server.restart() };
    case "redis-hang":
      process.kill(server.pid, "SIGSTOP");
      return { detail: "", over: () => goOn(server) };
    case "redis-cut":
      return { detail: "", over: () => cut(server, fault.times, passes) };
    case "redis-oom":
      await ask("CONFIG", "SET", "maxmemory", "1");
      return then("CONFIG", "SET", "maxmemory", "0");
    case "redis-readonly":
      await ask("REPLICAOF", "127.0.0.1", "1");
      return then("REPLICAOF", "NO", "ONE");
    case "redis-noperm":
      await ask("ACL", "SETUSER", "drover", fault.without);
      return then("ACL", "SETUSER", "drover", "+@all");
    case "redis-full-disk":
      await failToSave(server);
      return then("CONFIG", "SET", "save", "");
    case "redis-flush":
      await ask("FLUSHALL");
      return { detail: "", over: nothing };
    case "redis-old-dump":
      return oldDump(server, fault.runs, passes);
    case "redis-failover":
      return failOver(target.pair, fault, passes);
    case "jobs-forge":
      return { detail: "", over: () => forgeJobs(target, server.port, fault.times) };
    case "jobs-mutate":
      return { detail: await mutateKeys(server.port, "jobs", fault.picks), over: nothing };
    case "ledger-mutate":
      return { detail: await mutateKeys(server.port, "ledger", fault.picks), over: nothing };
  }
}

function goOn({ pid }: RedisServer): Promise<void> {
  process.kill(pid, "SIGCONT");
  return Promise.resolve();
}

async function cut(server: RedisServer, times: number, passes: Passes): Promise<void> {
  for (let i = 0; i < times; i++) {
    await redisRequest(server.port, ["CLIENT", "KILL", "TYPE", "normal"]);
    await passes(1);
  }
}

/** Adds jobs, as any client with access to BullMQ's queue can. */
async function forgeJobs({ controller, keys }: Target, port: number, times: number): Promise<void> {
  const connection = { host: "127.0.0.1", port };
  const queue = new Queue("jobs", { connection, prefix: `{drover:${controller}}`, skipMetasUpdate: true });
  for (let i = 0; i < times; i++) {
    // BullMQ refuses them where its own counter was broken, until that is put aside.
    await Promise.allSettled(keys.map((key) => queue.add("job", { key }, { removeOnComplete: true })));
  }
  await queue.close();
}

/** A server that was to save, and could not, takes no writes: what a full disk does. */
async function failToSave({ port }: RedisServer): Promise<void> {
  await redisRequest(port, ["CONFIG", "SET", "save", "3600 100000000"]);
  await redisRequest(port, ["BGSAVE"]);
  while (
    (await redisRequest(port, ["INFO", "persistence"]))?.includes("rdb_last_bgsave_status:ok") === true
  ) {
    await delay(5);
  }
}

async function oldDump(server: RedisServer, runs: number, passes: Passes): Promise<Broken> {
  const dump = await server.snapshot();
  return {
    detail: "",
    over: async () => {
      await passes(runs);
      await server.kill();
      await server.restartFrom(dump);
    },
  };
}

async function failOver(
  pair: RedisPair | undefined,
  { old, runs }: Extract<RedisFault, { do: "redis-failover" }>,
  passes: Passes,
): Promise<Broken> {
  if (pair === undefined) throw new Error("A schedule with a failover starts a pair.");
  await pair.caughtUp();
  pair.severReplication();
  return {
    detail: `the old primary was ${old}`,
    over: async () => {
      await passes(runs);
      await pair.failOver({ old });
      await pair.rejoin();
    },
  };
}

const losses: Readonly<Partial<Record<RedisFault["do"], Loss>>> = {
  "redis-flush": "data",
  "redis-old-dump": "data",
  "redis-failover": "data",
  "ledger-mutate": "integrity",
};

/** The data that a fault may take from the ledger; the oracle is strictest with one that takes nothing. */
export const lossOf = (fault: RedisFault["do"]): Loss => losses[fault] ?? "nothing";
