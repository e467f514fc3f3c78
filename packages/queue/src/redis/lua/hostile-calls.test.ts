import fc from "fast-check";
import { silentLog } from "@drover/controller";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import { bullmqScripts } from "../../bullmq/bullmq-scripts.ts";
import { keepScriptsLoaded } from "./keep-scripts-loaded.ts";
import { loadedScripts } from "./loaded-scripts.ts";
import type { LuaScript, LoadableScript } from "./lua-script.ts";
import { queuePrefix } from "../../work-queue/queue-prefix.ts";
import { bareRedisOfFile } from "../redis.fixture.ts";
import { redisUserRules } from "../users/redis-users.ts";
import { maxJsonBytes } from "./script-bounds.ts";

/**
 * The promise of script-bounds.ts, as the server counts: commands that a call makes, and the server's own time for it, which
 * is only there to see loops that make no commands.
 */
const mostCommands = 30_000;
const mostMicroseconds = 2_000_000;
/** Far more than any bound, of everything that a caller can write. */
const many = 20_000;

const P = queuePrefix("mine");
const B = `${P}:jobs`;
const options = { persistence: false, args: ["--slowlog-log-slower-than", "0"] };
const { server, redis: admin } = await bareRedisOfFile(options);
await keepScriptsLoaded(admin, silentLog);
const rules = redisUserRules({ role: "function", controllers: ["mine"] });
await admin.call("ACL", "SETUSER", "hostile", ...rules.split(" "), ">secret");
const hostile = new Redis(server.url.replace("//", "//hostile:secret@"));
afterAll(() => hostile.disconnect());

/** All keys of a ledger and of jobs, each with far too much in it, as plain commands of the caller could make them. */
const grown = `
local P, B, many, paused = KEYS[1], KEYS[1] .. ':jobs', tonumber(ARGV[1]), ARGV[2]
local now = redis.call('TIME')[1] * 1000
local function each(key, command, ...)
  local rest, from = { ... }, 1
  while from <= many do
    local args = {}
    for i = from, math.min(from + 999, many) do
      for _, one in ipairs(rest) do args[#args + 1] = (string.gsub(tostring(one), '#', i)) end
    end
    redis.call(command, key, unpack(args))
    from = from + 1000
  end
end
for _, set in ipairs({ 'waits', 'ready', 'dispatched', 'parked', 'failing', 'paused' }) do each(P .. ':' .. set, 'ZADD', '1', 'n1/k#') end
each(P .. ':leases', 'ZADD', now + 1e9, 'n1/k#')
each(P .. ':throttled', 'ZADD', 'inf', 'change:n1/a#')
each(P .. ':flows:change', 'ZADD', '#', paused == '1' and 'n1/a#' or 'n#/')
for i = 1, many do redis.call('ZADD', P .. ':queue:change' .. (paused == '1' and ':n1/a' .. i or ':n' .. i .. '/'), 1, 'n1/k' .. i) end
each(P .. ':advertised', 'ZADD', now + 1000, 's#')
each(P .. ':advertisements', 'HSET', 's#', 'w -5 1')
each(P .. ':assigned', 'HSET', 's#', 's#:1:1 5 n1/k1')
each(P .. ':workers', 'HSET', 'w#', (now + 1e9) .. ' 100000 1')
each(P .. ':scripts', 'HSET', 's#', '1')
each(P .. ':limits', 'HSET', 'account a# every', '1')
each(P .. ':key:n1/k1', 'HSET', 'version:k#', '1')
redis.call('HSET', P .. ':key:n1/k2', 'leftLists', '1', 'deltas', many * 6, 'observedIn', 'e', 'reasons', '[' .. string.rep('[],', 300000) .. '[]]', 'state', 'ready', 'wakes', '1')
redis.call('SET', P .. ':lists:n1/k2', string.rep('x', 1000000))
each(P .. ':deltas:n1/k2', 'SADD', 'news#')
redis.call('HSET', P .. ':key:n1/k3', 'cachedObject', string.rep('x', 3000000), 'state', 'ready')
each(P .. ':history:n1/k1', 'LPUSH', 'run#')
for _, list in ipairs({ 'wait', 'active', 'paused' }) do each(B .. ':' .. list, 'RPUSH', 'j#') end
each(B .. ':stalled', 'SADD', 'j#')
for _, set in ipairs({ 'failed', 'completed', 'delayed', 'prioritized', 'waiting-children' }) do each(B .. ':' .. set, 'ZADD', '1', 'j#') end
redis.call('HSET', B .. ':metrics:failed', 'count', 1, 'prevTS', 0, 'prevCount', 0)
for i = 1, 5 do redis.call('HSET', B .. ':j' .. i, 'data', '{}', 'parentKey', B .. ':j' .. i % 5 + 1, 'parent', cjson.encode({ id = 'j1', queueKey = B }), 'atm', 1) end
redis.call('SET', B .. ':j1:lock', 't')
return 1`;

/** Sets the data that a call may change so that the next one does little. */
const ready = `
local P, now = KEYS[1], redis.call('TIME')[1] * 1000
local server = string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
redis.call('DEL', P .. ':control')
redis.call('HSET', P .. ':control', 'schema', 1, 'server', ARGV[1] == '1' and 'another' or server, 'incarnation', 'e', 'slots', '1e308', 'newest', '0', 'limited', ARGV[2], 'pauses', ARGV[3], 'dispatches', 'nan', 'turn', '-1')
redis.call('HSET', P .. ':pauses', 'namespace n1', now)
return 1`;

interface Cost {
  readonly commands: number;
  readonly microseconds: number;
}

/** The cost of a call, as the server counts it. */
async function cost(call: () => Promise<unknown>): Promise<Cost> {
  await admin.config("RESETSTAT");
  await call().catch(() => undefined);
  const stats = [...(await admin.info("commandstats")).matchAll(/^cmdstat_([^:]+):calls=(\d+),usec=(\d+)/gm)];
  const inside = stats.filter(([, name = ""]) => !["info", "config|resetstat", "evalsha"].includes(name));
  const evalsha = stats.find(([, name]) => name === "evalsha");
  return {
    commands: inside.reduce((sum, [, , calls]) => sum + Number(calls), 0),
    microseconds: Number(evalsha?.[3] ?? 0),
  };
}

const cheap = ({ commands, microseconds }: Cost): boolean =>
  commands <= mostCommands && microseconds <= mostMicroseconds;

const hostileText = fc.oneof(
  fc.constantFrom(
    "",
    "0",
    "1",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "9223372036854775807",
    "n1/k1",
    "n1/k2",
    "n1/k3",
  ),
  fc.constantFrom(
    "s1",
    "t",
    "ready",
    "namespace n1",
    "object n1/k2",
    "controller",
    "{}",
    "[]",
    "null",
    '{"a":',
    "done",
    "retry",
  ),
  fc.integer({ min: 1, max: 8_000_000 }).map((length) => "[".repeat(length)),
  fc.integer({ min: 1, max: 8_000_000 }).map((length) => "x".repeat(length)),
);
/** Lists as scripts take them, of many keys or of one many times. */
const hostileList = fc
  .record({
    length: fc.constantFrom(1, 40, 200, 1_000, 1_001, 100_000),
    name: fc.constantFrom("n1/k1", "n1/k2", "n1/k3", "n#/k#", "n1/k#", "s#", `${P}:key:n1/k#`, `${P}:ready`),
    as: fc.constantFrom("text", "wake", "lease"),
  })
  .map(({ length, name, as }) =>
    JSON.stringify(
      Array.from({ length }, (_, i) => {
        const key = name.replaceAll("#", String(i));
        const wake = {
          kind: "k",
          resourceVersion: String(i),
          reason: `r${i}`,
          class: "change",
          force: i % 2 === 0,
        };
        return as === "text"
          ? key
          : as === "wake"
            ? { key, ...wake, delta: "n", cachedObject: "c" }
            : { key, token: "t" };
      }),
    ),
  );
interface Grown {
  readonly another: boolean;
  readonly limited: boolean;
  readonly paused: boolean;
}
const state = fc.record({ another: fc.boolean(), limited: fc.boolean(), paused: fc.boolean() });
const grow = async ({ paused }: Grown): Promise<void> => {
  await admin.flushall("ASYNC");
  await admin.eval(grown, 1, P, many, Number(paused));
};
const makeReady = ({ another, limited, paused }: Grown): Promise<unknown> =>
  admin.eval(ready, 1, P, Number(another), Number(limited), Number(paused));
/** A call takes away a part of what has grown, unless it breaks the promise: it lasts for some calls. */
const grownFor = 20;
let callsLeft = 0;
const regrow = async (at: Grown): Promise<void> => {
  if (callsLeft-- <= 0) {
    callsLeft = grownFor;
    await grow(at);
  }
  await makeReady(at);
};

/** The state in which no limit, pause or other server holds a call back. */
const plain: Grown = { another: false, limited: false, paused: false };
/** Calls a script of the ledger as the hostile user. */
const costOf = (script: LuaScript<string>, values: readonly string[]): Promise<Cost> =>
  cost(() => hostile.evalsha(script.sha, 1, P, ...values));

const isLedgers = (script: LoadableScript): script is LuaScript<string> => "arguments" in script;
const ledgers = loadedScripts.filter(isLedgers);

describe("whatever a function's user calls, with whatever it has written, the server does a bounded amount of work", () => {
  it("in the ledger's scripts", { timeout: 0 }, async () => {
    const call = fc.record({
      script: fc.constantFrom(...ledgers),
      argument: fc.array(fc.oneof(hostileText, hostileList), { minLength: 24, maxLength: 24 }),
      told: fc.boolean(),
      state,
    });
    await fc.assert(
      fc.asyncProperty(call, async ({ script, argument, told, state: at }) => {
        await regrow(at);
        // Time, server, lease and recovery window are arguments, too: usual, or hostile.
        const values = script.arguments.map((_, i) =>
          i < 4 && !told ? (["", "", "6000", "1200"][i] ?? "") : (argument[i] ?? ""),
        );
        expect(await costOf(script, values)).toSatisfy(cheap);
      }),
      { numRuns: 40 },
    );
  });

  it.each<[string, Grown]>([
    ["no limits", plain],
    ["limits, and a paused namespace", { another: false, limited: true, paused: true }],
    ["another server than before", { another: true, limited: false, paused: true }],
  ])("in each of the ledger's, called as it is meant, with %s and all that it reads grown", async (_, at) => {
    const list = (element: (i: number) => unknown): string =>
      JSON.stringify(Array.from({ length: 1_000 }, (_, i) => element(i)));
    const usual: Readonly<Record<string, string>> = {
      now: "",
      server: "",
      lease: "6000",
      settling: "1200",
      version: "1",
      stands: "1",
      jitter: "0",
      key: "n1/k2",
      token: "t",
      limit: "1e9",
      offset: "0",
      state: "ready",
      scope: "namespace n1",
      on: "0",
      slots: "5",
      lasts: "1000",
      limits: "{}",
      patience: "0",
      since: "1e300",
      next: "t2",
      verdict: "done",
      wakes: list((i) => ({
        key: `n1/k${i}`,
        kind: "k",
        resourceVersion: "1",
        reason: `r${i}`,
        class: "change",
      })),
      leases: list((i) => ({ key: `n1/k${i}`, token: "t" })),
      tokens: list((i) => `s${i}`),
      keys: list((i) => `n1/k${i}`),
      names: JSON.stringify(Array.from({ length: 40 }, (_, i) => `${P}:key:n1/k${i}`)),
    };
    await grow(at);
    const dear: unknown[] = [];
    for (const script of ledgers) {
      await makeReady(at);
      const of = await costOf(
        script,
        script.arguments.map((name) => usual[name] ?? ""),
      );
      if (!cheap(of)) dear.push([script.name, of]);
    }
    expect(dear).toEqual([]);
  });

  it("in each of the ledger's that takes a list, with the longest that is short enough in bytes", async () => {
    await grow(plain);
    const filled = (element: (i: number) => unknown): string => {
      const all = Array.from({ length: 30_000 }, (_, i) => element(i));
      while (JSON.stringify(all).length > maxJsonBytes) all.length = Math.floor(all.length * 0.9);
      return JSON.stringify(all);
    };
    const lists: Readonly<Record<string, string>> = {
      wakes: filled((i) => ({ key: `n1/k${i}`, kind: "k", resourceVersion: "1" })),
      leases: filled((i) => ({ key: `n1/k${i}`, token: "t" })),
      tokens: filled((i) => `s${i}`),
      keys: filled((i) => `n1/k${i}`),
      names: filled((i) => `${P}:key:n1/k${i}`),
    };
    const usual = new Map(Object.entries({ lease: "6000", settling: "1200", since: "1e300", ...lists }));
    const taking = ledgers.filter((script) => script.arguments.some((name) => name in lists));
    expect(taking.map(({ name }) => name).sort()).toEqual([
      "advertise",
      "not-run-since",
      "renew",
      "repair",
      "wake",
    ]);
    for (const script of taking) {
      await makeReady(plain);
      const values = script.arguments.map((name) => usual.get(name) ?? "");
      expect(await costOf(script, values), script.name).toSatisfy(cheap);
    }
  });

  const pack = async (value: unknown): Promise<Buffer> => {
    const packed = await admin.callBuffer(
      "EVAL",
      "return cmsgpack.pack(cjson.decode(ARGV[1]))",
      0,
      JSON.stringify(value),
    );
    return packed as Buffer;
  };
  /** Names of the keys that each of BullMQ's scripts takes, in their order. */
  const keysOf: Readonly<Record<string, string>> = {
    addStandardJob: "wait paused meta id completed delayed active events marker",
    extendLocks: "stalled",
    getState: "completed failed delayed active wait paused waiting-children prioritized",
    moveStalledJobsToWait: "stalled wait active stalled-check meta paused marker events repeat",
    moveToActive: "wait active prioritized events stalled limiter delayed paused meta pc marker",
    moveToFinished:
      "wait active prioritized events stalled limiter delayed paused meta pc failed j1 metrics:failed marker",
    updateData: "j1",
  };
  /** Options as BullMQ passes them. */
  const usualOptions = {
    token: "t",
    keepJobs: { count: 1_000 },
    attempts: 1,
    lockDuration: 1_000,
    maxMetricsSize: "",
  };
  const costOfBullmqs = (sha: string, names: readonly string[], values: readonly (string | Buffer)[]) =>
    cost(() => hostile.evalsha(sha, names.length, ...names, ...values));
  it("in BullMQ's scripts", { timeout: 0 }, async () => {
    const option = fc.constantFrom<unknown>(
      0,
      1,
      -1,
      1e15,
      1e308,
      1_000,
      "",
      "t",
      "1e15",
      null,
      { id: "a" },
      { count: 1e9 },
    );
    const packed = fc.oneof(
      fc.dictionary(
        fc.constantFrom(
          "token",
          "keepJobs",
          "maxMetricsSize",
          "limiter",
          "lockDuration",
          "attempts",
          "de",
          "name",
        ),
        fc.oneof(
          option,
          fc.dictionary(fc.constantFrom("count", "age", "limit", "max", "id", "keepLastIfActive"), option),
        ),
      ),
      fc.constant({ ...usualOptions, maxMetricsSize: 1e15 }),
      fc.constant({ ...usualOptions, keepJobs: { count: 0, age: 1, limit: 1e9 } }),
      fc.constant(usualOptions),
      fc.integer({ min: 1, max: 30_000 }).map((length) => Array.from({ length }, (_, i) => `j${i + 1}`)),
    );
    const argument = fc.oneof(
      packed.map((value) => ({ value })),
      fc.oneof(fc.constantFrom(`${B}:`, "j1", "1e15", "failed", "1", "0", "failedReason"), hostileText),
    );
    const call = fc.record({
      script: fc.constantFrom(...bullmqScripts),
      given: fc.array(argument, { minLength: 9, maxLength: 9 }),
      length: fc.constantFrom(1, 3, 4, 9),
      keys: fc.boolean(),
      state,
    });
    await fc.assert(
      fc.asyncProperty(call, async ({ script: [name, script], given, length, keys, state: at }) => {
        await regrow(at);
        const args = await Promise.all(
          given
            .slice(0, length)
            .map((each) => (typeof each === "string" ? Promise.resolve(each) : pack(each.value))),
        );
        const names = (keysOf[name] ?? "").split(" ").map((key) => `${B}:${key}`);
        const taken = keys ? names : names.toReversed();
        expect(await costOfBullmqs(script.sha, taken, args)).toSatisfy(cheap);
      }),
      { numRuns: 40 },
    );
  });

  it.each<[string, string, readonly unknown[]]>([
    [
      "metrics without end",
      "moveToFinished",
      ["j1", "1e15", "failedReason", "x", "failed", "0", `${B}:`, { maxMetricsSize: 1e15 }],
    ],
    [
      "all finished jobs",
      "moveToFinished",
      ["j1", "1", "failedReason", "x", "failed", "0", `${B}:`, { keepJobs: { count: 1 } }],
    ],
    [
      "old jobs",
      "moveToFinished",
      [
        "j1",
        "9e12",
        "failedReason",
        "x",
        "failed",
        "0",
        `${B}:`,
        { keepJobs: { count: 0, age: 1, limit: 1e9 } },
      ],
    ],
    ["stalled jobs", "moveStalledJobsToWait", ["0", `${B}:`, "1", "30000"]],
    ["a job's state", "getState", ["j20000"]],
    ["the next job", "moveToActive", [`${B}:`, "1e15", {}]],
  ])("in BullMQ's scripts, asked for %s", async (_, name, args) => {
    await grow(plain);
    const script = bullmqScripts.get(name);
    const values = await Promise.all(
      args.map((each) =>
        typeof each === "string" ? Promise.resolve(each) : pack({ ...usualOptions, ...(each as object) }),
      ),
    );
    const names = (keysOf[name] ?? "").split(" ").map((key) => `${B}:${key}`);
    expect(await costOfBullmqs(script?.sha ?? "", names, values)).toSatisfy(cheap);
  });

  it("which these tests would see", async () => {
    const script = "for i = 1, 30001 do redis.call('GET', KEYS[1]) end return 1";
    const sha = String(await admin.script("LOAD", script));
    expect(await cost(() => hostile.evalsha(sha, 1, `${P}:x`))).not.toSatisfy(cheap);
  });
});
