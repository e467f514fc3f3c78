import { objectKey, silentLog } from "@drover/controller";
import { readFile } from "node:fs/promises";
import { afterAll, describe, expect, it } from "vitest";
import { openWorkQueue } from "../../work-queue/bullmq-work-queue.ts";
import { keepScriptsLoaded } from "../lua/keep-scripts-loaded.ts";
import { queuePrefix } from "../../work-queue/queue-prefix.ts";
import { connectRedis } from "../redis-connection.ts";
import { bareRedisOfFile } from "../redis.fixture.ts";
import type { RedisConnection } from "../redis-servers.ts";
import { RedisRefusalError } from "../redis-errors.ts";
import { openRedisLedger } from "../../ledger/redis-ledger.ts";
import { deniedTo, exerciseRole } from "./redis-users.fixture.ts";
import { commandsOf, type RedisRole, redisUserRules } from "./redis-users.ts";
import type { LedgerScript } from "../../ledger/ledger-script.ts";
import { ledgerScripts } from "../../ledger/ledger-scripts.ts";
import type { Wake } from "../../work-queue/work-queue.ts";

const roles = ["bridge", "function", "gateway", "embedded", "operator", "deployer"] as const;
const photos: Wake = {
  key: objectKey({ namespace: "a", name: "photos" }),
  kind: "buckets",
  resourceVersion: "1",
  reason: "Added",
  class: "change",
};

const { server, redis: admin } = await bareRedisOfFile();
await keepScriptsLoaded(admin, silentLog);
const opened: RedisConnection[] = [];
/** A connection of a new user. */
const as = async (name: string, rules: string): Promise<RedisConnection> => {
  await admin.call("ACL", "SETUSER", name, ...rules.split(" "), ">secret");
  const url = server.url.replace("//", `//${name}:secret@`);
  const loadsScripts = rules.includes(" +script|load ");
  const redis = await connectRedis({ url, clientName: name, log: silentLog, loadsScripts });
  opened.push(redis);
  return redis;
};
const refusal = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    (answer) => `granted: ${JSON.stringify(answer)}`,
    (error: unknown) => String(error),
  );

afterAll(() => {
  for (const redis of opened) redis.disconnect();
});

it.concurrent.each(roles)("%s: a whole life is permitted", async (role) => {
  const { outcome, denied } = await exerciseRole({ server, role, user: role, commands: commandsOf(role) });
  expect({ outcome, denied }).toEqual({ outcome: "lived", denied: [] });
});

describe("a function's user", () => {
  it("reaches its own controller's keys and no other's, nor anything of the server", async () => {
    await admin.set(`${queuePrefix("theirs")}:secret`, "1");
    const mine = await as("mine", redisUserRules({ role: "function", controllers: ["mine"] }));
    const times = { lease: 6_000, recoveryWindow: 1_500 };
    const own = openRedisLedger({ redis: mine, prefix: queuePrefix("mine"), ...times });
    await own.wake([photos]);
    expect(await own.count()).toMatchObject({ due: 1 });
    const theirs = openRedisLedger({ redis: mine, prefix: queuePrefix("theirs"), ...times });
    const their = `${queuePrefix("theirs")}:secret`;
    for (const asked of [
      theirs.wake([photos]),
      theirs.count(),
      mine.get(their),
      mine.eval("return redis.call('GET', ARGV[1])", 1, queuePrefix("mine"), their),
      mine.rename(`${queuePrefix("mine")}:control`, their),
      mine.keys("*"),
      mine.scan(0),
      mine.config("GET", "*"),
      mine.acl("LIST"),
      mine.client("LIST"),
      mine.select(1),
      mine.flushall(),
      mine.publish("all", "x"),
      mine.function("LIST"),
      mine.script("LOAD", "return 1"),
      mine.script("EXISTS", "0".repeat(40)),
      mine.script("FLUSH"),
      mine.function("LOAD", "#!lua name=mine\nredis.register_function('f', function() return 1 end)"),
      mine.fcall("f", 0),
    ]) {
      expect(await refusal(asked)).toMatch(
        /NOPERM|ACL failure in script|The user executing the script can't/,
      );
    }
  });
});

it("a bridge's and an operator's users take no jobs", async () => {
  for (const role of ["bridge", "operator"] as const) {
    const redis = await as(`no-jobs-${role}`, redisUserRules({ role, controllers: ["a", "b"] }));
    expect(await refusal(redis.bzpopmin(`${queuePrefix("a")}:jobs:marker`, 1))).toContain("NOPERM");
    expect(await redis.hgetall(`${queuePrefix("b")}:control`)).toEqual({});
  }
});

it("what is not granted is told with what to grant, and is done once it is", async () => {
  const rules = redisUserRules({ role: "bridge", controllers: ["poor"] });
  const redis = await as("poor", rules.replace(" +hset ", " "));
  const lines: { readonly err: unknown; readonly message: string }[] = [];
  const warn = (fields: object, message: string): void =>
    void lines.push({ err: "err" in fields && fields.err, message });
  const queue = openWorkQueue({ redis, controller: "poor", log: { ...silentLog, warn } });
  const waking = queue.wake([photos]);
  const told = "Redis did not record a wake; sending it again until it does";
  await expect.poll(() => lines.map(({ message }) => message)).toContain(told);
  const error = lines.find(({ message }) => message === told)?.err;
  expect(error).toBeInstanceOf(RedisRefusalError);
  expect(String(error)).toMatch(/docs\/operating-redis\.md.*Grant it with ACL SETUSER/);
  await admin.call("ACL", "SETUSER", "poor", "+hset");
  await waking;
  await expect.poll(() => queue.stats(10_000)).toMatchObject({ due: 1 });
  await queue.close();
});

describe("the rules", () => {
  const { wake, list, pause } = ledgerScripts;
  const { dispatch, unclaimedJobs, dispatchAgain, repair, discard, count } = ledgerScripts;
  const { claim, renew, settle, registerWorker } = ledgerScripts;
  const dispatcher = [dispatch, unclaimedJobs, dispatchAgain, repair, discard, count];
  const worker = [...dispatcher, claim, renew, settle, registerWorker];
  const scripts: Readonly<Record<RedisRole, readonly LedgerScript<string>[]>> = {
    bridge: [...dispatcher, wake, list, ledgerScripts.notRunSince],
    function: worker,
    gateway: worker,
    embedded: [...worker, wake],
    operator: [...dispatcher, wake, pause, list, ledgerScripts.inspect],
    deployer: [...worker, wake, pause],
  };
  it.each(roles)(
    "%s: grant all that its scripts may call, also in branches that are seldom taken",
    (role) => {
      const called = scripts[role].flatMap(({ lua }) =>
        [...lua.matchAll(/(?:call\(|read\(.*?, )'([A-Z]+)'/g)].map(([, name = ""]) => name.toLowerCase()),
      );
      expect(new Set(called).size).toBeGreaterThan(15);
      expect([...new Set(called)].filter((name) => !commandsOf(role).includes(name))).toEqual([]);
    },
  );
  it("grant to whom a bridge is embedded in what both are granted, and no more", () => {
    const both = new Set([...commandsOf("bridge"), ...commandsOf("function")]);
    expect(commandsOf("embedded").toSorted()).toEqual([...both].toSorted());
    const own = redisUserRules({ role: "embedded", controllers: ["a"] })
      .split(" ")
      .filter((rule) => rule.startsWith("~"));
    expect(own).toEqual(["~{drover:a}*", "~{drover-stream:a:*}*", "~{drover-bridges:a}*"]);
  });
  it("grant a function to hold a job for longer than any test lasts", async () => {
    const script = import.meta.resolve("bullmq").replace(/\/dist\/.*/, "/dist/esm/scripts/extendLocks-1.js");
    const source = await readFile(new URL(script), "utf8");
    const called = [...source.matchAll(/call\(['"]([A-Z]+)['"]/gi)].map(([, name = ""]) =>
      name.toLowerCase(),
    );
    expect(called).toContain("set");
    expect(called.filter((name) => !commandsOf("function").includes(name))).toEqual([]);
  });
  it("are those that the page for operators shows", async () => {
    const page = await readFile(new URL("../../../../../docs/operating-redis.md", import.meta.url), "utf8");
    const line = (role: RedisRole): string => {
      const of = role === "embedded" ? "-/buckets.s3.drover.dev/-" : "web/buckets.s3.drover.dev/*";
      const controllers = role === "deployer" ? "all" : [of];
      return `ACL SETUSER ${role} ${redisUserRules({ role, controllers })} >secret-of-${role}`;
    };
    expect(page.split("\n").filter((text) => text.startsWith("ACL SETUSER"))).toEqual(roles.map(line));
    const more = commandsOf("bridge", true).filter((name) => !commandsOf("bridge").includes(name));
    expect(page).toContain(`also has \`${more.map((name) => `+${name}`).join(" ")}\``);
  });
  it("reach the keys of all controllers and of nothing else, where that is asked for", async () => {
    const redis = await as("all", redisUserRules({ role: "operator", controllers: "all" }));
    expect(await redis.exists(`${queuePrefix("any")}:control`)).toBe(0);
    expect(await redis.exists(`${queuePrefix("web/any/u/names/secrets")}:control`)).toBe(0);
    expect(await refusal(redis.exists("others"))).toContain("NOPERM");
    expect(await refusal(redis.exists("{drover-bridges}"))).toContain("NOPERM");
  });
  it.each(roles)(
    "%s: reach the queue that grants only as a bridge or the deployer, also of all",
    async (role) => {
      const redis = await as(`granting-${role}`, redisUserRules({ role, controllers: "all" }));
      const queue = "drover/reconcilefunctions.drover.dev/u";
      const entry = `${queuePrefix(queue)}:key:a/granted`;
      const asked = [
        ...[redis.hset(entry, "observedIn", "forged"), redis.hgetall(entry), redis.del(entry)],
        redis.publish(`${queuePrefix(queue)}:worker:w`, "forged"),
      ];
      const answers = await Promise.all(asked.map(refusal));
      const may = ["bridge", "deployer"].includes(role);
      expect(answers.map((answer) => answer.includes("NOPERM"))).toEqual(asked.map(() => !may));
    },
  );
  it("add what a cluster is asked for", () => {
    const rules = redisUserRules({ role: "bridge", controllers: ["a"], cluster: true });
    expect(rules).toMatch(/^reset on ~\{drover:a\}\* .*\+cluster\|slots \+cluster\|info \+asking/);
  });
  it.each(["", "*", "a b", "a?", "[a]", "\\", "a}*", "a/*", "a/b*", "*/b/c", "a/b/c/*", "a//b", "/a/b/c"])(
    "are not made of a name that is none: %j",
    (name) => {
      expect(() => redisUserRules({ role: "bridge", controllers: ["a", name] })).toThrow(
        /is not the name of a queue/,
      );
    },
  );
  it("are not made for nobody", () => {
    expect(() => redisUserRules({ role: "bridge", controllers: [] })).toThrow(/at least one controller/);
  });
});

it("what is denied is seen by these tests", async () => {
  const commands = commandsOf("bridge").filter((name) => name !== "hset");
  const { denied } = await exerciseRole({ server, role: "bridge", user: "blind", commands });
  expect(denied).toContain("hset");
  expect(await deniedTo(admin, "nobody")).toEqual([]);
});
