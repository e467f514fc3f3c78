/**
 * A function with a Pod that was taken over: a process that has its Redis user, does all that this user may, and tries what it
 * may not, until it is killed. Its settings come as JSON, as the only argument: {@link HostileSettings}. Every second it
 * prints what it has done so far, as JSON: {@link HostileCounts}.
 */
import { Redis } from "ioredis";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { loadedScripts } from "../../packages/queue/src/redis/lua/loaded-scripts.ts";
import { pseudoRandom } from "@drover/random";
import { type HostileCounts, hostileMark } from "./mark.ts";

export interface HostileSettings {
  readonly url: string;
  /** Of its own keys. */
  readonly prefix: string;
  /** Keys that are others'. */
  readonly foreign: readonly string[];
  readonly seed: number;
  /** Connections that it tries to hold. */
  readonly connections: number;
}

const { url, prefix, foreign, seed, connections } = JSON.parse(process.argv[2] ?? "{}") as HostileSettings;
const dice = pseudoRandom(seed);
const pick = <T>(choices: readonly T[]): T => dice.oneOf(choices);
const counts: HostileCounts = { done: 0, denied: 0, full: 0, refused: 0 };
const own = (name: string): string => `${prefix}:${name}`;
const kept = [
  ...[
    "control",
    "waits",
    "ready",
    "flows:change",
    "throttled",
    "dispatched",
    "leases",
    "parked",
    "failing",
    "paused",
    "pauses",
  ],
  ...[
    "limits",
    "workers",
    "advertised",
    "advertisements",
    "assigned",
    "queue:change:default/",
    "key:default/m1",
    "object:default/m1",
  ],
  ...["deltas:default/m1", "history:default/m1", "jobs:wait", "jobs:active", "jobs:meta", "jobs:prioritized"],
];
const text = (): string =>
  pick([
    ...["", "0", "-1", "nan", "1e308", "{}", "[]", "null", "default/m1", "namespace default", "controller"],
    ...["ready", "done", "change", "x".repeat(70_000), "[".repeat(70_000)],
    ...foreign,
    JSON.stringify([...foreign, "default/m1"]),
    JSON.stringify(
      Array.from({ length: 1_000 }, (_, i) => ({ key: `default/k${i}`, kind: "k", resourceVersion: "1" })),
    ),
  ]);

async function call(redis: Redis, command: string, ...args: readonly string[]): Promise<void> {
  try {
    await redis.call(command, ...args);
    counts.done += 1;
  } catch (error) {
    const message = String(error);
    if (/NOPERM|ACL failure|can't run this command|has no permissions/.test(message)) counts.denied += 1;
    else if (message.includes("OOM")) counts.full += 1;
    else counts.refused += 1;
  }
}

const memory = (redis: Redis) =>
  call(redis, "SET", own(`x:${dice.between(0, 499)}`), hostileMark.repeat(20_000));
let crumbs = 0;
/** Fills what large values leave, up to the limit. */
const crumb = (redis: Redis) =>
  call(redis, "SET", own(`y:${crumbs++}`), "x".repeat(pick([1_000, 100, 10, 1])));
const breakOwn = (redis: Redis) => {
  const key = own(pick(kept));
  return pick([
    () => call(redis, "DEL", key),
    () => call(redis, "SET", key, hostileMark),
    () => call(redis, "RENAME", key, own(pick(kept))),
    () =>
      call(
        redis,
        "HSET",
        own("control"),
        pick(["schema", "server", "incarnation", "slots", "dispatches"]),
        text(),
      ),
    () => call(redis, "HSET", key, text(), hostileMark),
    () => call(redis, "ZADD", key, pick(["1", "inf", "-inf"]), text()),
    () => call(redis, "LPUSH", key, hostileMark),
  ])();
};
const scripts = (redis: Redis) => {
  const { sha } = pick(loadedScripts);
  const keys = pick([[prefix], [prefix], foreign.slice(0, 1), [prefix, ...foreign].slice(0, 12)]);
  const args = Array.from({ length: dice.between(0, 19) }, text);
  return call(redis, "EVALSHA", sha, String(keys.length), ...keys, ...args);
};
const write = `redis.call('SET', KEYS[1], '${hostileMark}') while true do end`;
const forbidden = (redis: Redis) => {
  const key = pick(foreign);
  return pick([
    () => call(redis, "EVAL", write, "1", own("x")),
    () => call(redis, "EVAL", write, "1", key),
    () => call(redis, "SCRIPT", "LOAD", write),
    () => call(redis, "FUNCTION", "LOAD", `#!lua name=h\nredis.register_function('h', function() end)`),
    () => call(redis, "SET", key, hostileMark),
    () => call(redis, "DEL", key),
    () => call(redis, "RENAME", key, own("taken")),
    () => call(redis, "HSET", key, "a", hostileMark),
    () => call(redis, "GET", key),
    () => call(redis, "FLUSHALL"),
    () => call(redis, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru"),
    () => call(redis, "ACL", "SETUSER", "hostile", "+@all", "~*"),
    () => call(redis, "PUBLISH", key, hostileMark),
  ])();
};

/** Holds so many connections, and makes a new one for each that is closed. */
function hold(): void {
  const { hostname, port, username, password } = new URL(url);
  const open = (): void => {
    const socket: Socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined).on("close", () => setTimeout(open, 100));
    socket.on("connect", () => socket.write(`AUTH ${decodeURIComponent(username)} ${password}\r\n`)).resume();
  };
  for (let i = 0; i < connections; i++) open();
}

const acts = [memory, crumb, breakOwn, scripts, forbidden] as const;
for (const act of acts) {
  const redis = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 100 });
  redis.on("error", () => undefined);
  void (async () => {
    for (;;) {
      await Promise.all(Array.from({ length: 8 }, () => act(redis)));
      // A denied command is answered at once: without this, it would be all that is tried.
      await delay(1);
    }
  })();
}
// The four have theirs: there may be no more afterwards.
await delay(500);
hold();
setInterval(() => console.log(JSON.stringify(counts)), 500);
