import { type Log, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { Redis } from "ioredis";
import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { connectRedis, disconnectRedis } from "../redis-connection.ts";
import { type RedisRole, redisUserRules } from "../users/redis-users.ts";
import { loadedScripts } from "./loaded-scripts.ts";
import { openNeighbourScripts } from "./neighbour-scripts.ts";
import { forgetSets, ownSetName, readSet, recordedSets, redisNow } from "./recorded-scripts.ts";

const index = "{drover-scripts}";
const roles = ["bridge", "deployer", "embedded", "function", "gateway", "operator"] as const;
const users = roles.flatMap((role) => {
  const controllers = role === "bridge" || role === "deployer" ? "all" : ["web/a/*"];
  return ["--user", role, ...redisUserRules({ role, controllers }).split(" "), ">secret"];
});

let server: RedisServer;
let admin: Redis;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  server = await startRedis({ persistence: true, args: users });
  admin = new Redis(server.url);
  admin.on("error", () => undefined);
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});
beforeEach(async () => {
  await admin.flushall();
  await admin.script("FLUSH");
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const warnings: unknown[] = [];
beforeEach(() => void warnings.splice(0));
const log: Log = { ...silentLog, warn: (fields, message) => void warnings.push([message, fields]) };
const warned = (part: string) => warnings.filter((one) => JSON.stringify(one).includes(part));
/** A bridge of this version. */
async function startBridge(role: RedisRole = "bridge") {
  const url = server.url.replace("//", `//${role}:secret@`);
  const redis = await connectRedis({ url, clientName: role, log, recordScriptsAs: "2.0.0" });
  closing.unshift(() => disconnectRedis(redis));
  return redis;
}

const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
/** Records a set as a bridge of another version does. */
async function record(scripts: unknown, { renewedAt = Date.now(), name = "", version = "1.0.0" } = {}) {
  const text = typeof scripts === "string" ? scripts : JSON.stringify(scripts);
  const under = name === "" ? sha256(text) : name;
  await admin.set(`${index}:${under}`, text);
  await admin.hset(index, under, `${renewedAt} ${version}`);
  return under;
}
const has = async (...scripts: readonly string[]) =>
  admin.script("EXISTS", ...scripts.map(sha1)) as Promise<number[]>;
const theirs = ["return 'one'", "return 'two'"] as const;
const own = loadedScripts.map(({ lua }) => lua);
const ownLoaded = async () => (await has(...own)).every((one) => one === 1);

it("a bridge records its version's scripts, and loads recorded ones of another version after a restart and a flush", async () => {
  await record(theirs);
  await startBridge();
  await expect.poll(() => has(...theirs), { timeout: 5_000 }).toEqual([1, 1]);
  const recorded = await recordedSets(admin);
  expect(recorded.map(({ name, version }) => [name, version])).toContainEqual([ownSetName, "2.0.0"]);
  expect((await readSet(admin, ownSetName))?.map(({ sha }) => sha).sort()).toEqual(
    loadedScripts.map(({ sha }) => sha).sort(),
  );
  await admin.script("FLUSH");
  await expect.poll(() => has(...theirs), { timeout: 5_000 }).toEqual([1, 1]);
  await server.kill();
  await server.restart();
  await expect.poll(() => has(...theirs), { timeout: 10_000 }).toEqual([1, 1]);
  expect(await ownLoaded()).toBe(true);
  expect(await admin.acl("LOG")).toEqual([]);
});

it("a set that is recorded while a bridge runs is loaded, and one that is removed is not loaded again", async () => {
  await startBridge();
  const name = await record(theirs);
  await expect.poll(() => has(...theirs), { timeout: 5_000 }).toEqual([1, 1]);
  const last = await record(["return 'marker'"]);
  await forgetSets(
    admin,
    (await recordedSets(admin)).filter((set) => set.name === name),
  );
  // Once the bridge has seen the record without the set.
  await expect.poll(() => has("return 'marker'"), { timeout: 5_000 }).toEqual([1]);
  await admin.script("FLUSH");
  await expect.poll(() => has("return 'marker'"), { timeout: 5_000 }).toEqual([1]);
  expect(await has(...theirs)).toEqual([0, 0]);
  expect(Object.keys(await admin.hgetall(index)).sort()).toEqual([last, ownSetName].sort());
  expect(await admin.exists(`${index}:${name}`)).toBe(0);
});

it("the record is written again when Redis has lost it, with the sets of other versions", async () => {
  const name = await record(theirs);
  await startBridge();
  await expect.poll(() => has(...theirs), { timeout: 5_000 }).toEqual([1, 1]);
  await admin.flushall();
  await expect
    .poll(async () => Object.keys(await admin.hgetall(index)).sort(), { timeout: 5_000 })
    .toEqual([name, ownSetName].sort());
  expect((await readSet(admin, name))?.map(({ lua }) => lua)).toEqual(theirs);
});

it.each([
  ["another text than its name says", { name: sha256("other") }, theirs],
  ["no JSON", {}, "[return"],
  ["an object", {}, { lua: "return 1" }],
  ["a script beyond the bounds", {}, [theirs[0], "-".repeat(300_000)]],
  ["too many scripts", {}, Array.from({ length: 201 }, (_, i) => `return ${i}`)],
  ["a text beyond the bounds", {}, Array.from({ length: 30 }, (_, i) => `--${i}${"-".repeat(200_000)}`)],
  ["no Lua", {}, ["return return"]],
])("a set with %s is not loaded, and is logged once", async (_what, how, text) => {
  await record(text, how);
  const good = await record(["return 'good'"]);
  await startBridge();
  await expect.poll(() => has("return 'good'"), { timeout: 5_000 }).toEqual([1]);
  await admin.script("FLUSH");
  await expect.poll(() => has("return 'good'"), { timeout: 5_000 }).toEqual([1]);
  await expect.poll(() => warned("are not loaded").length).toBe(1);
  expect(await has(...theirs)).toEqual([0, 0]);
  expect(await ownLoaded()).toBe(true);
  expect((await recordedSets(admin)).map(({ name }) => name)).toContain(good);
});

it("of more than four sets those go that were not renewed for the longest time, with their texts", async () => {
  const names: string[] = [];
  for (let age = 1; age <= 5; age++)
    names.push(await record([`return ${age}`], { renewedAt: Date.now() - age * 1_000 }));
  await startBridge();
  await expect
    .poll(async () => Object.keys(await admin.hgetall(index)).sort(), { timeout: 5_000 })
    .toEqual([ownSetName, ...names.slice(0, 3)].sort());
  await expect.poll(() => admin.keys(`${index}:*`).then(({ length }) => length)).toBe(4);
});

it.each(["embedded", "function", "gateway", "operator"] as const)(
  "%s can neither read nor write the record",
  async (role) => {
    const user = new Redis(server.url.replace("//", `//${role}:secret@`));
    closing.unshift(() => user.quit());
    await record(theirs);
    for (const asked of [
      user.hgetall(index),
      user.get(`${index}:${ownSetName}`),
      user.hset(index, "a", "1 1"),
      user.set(`${index}:a`, "[]"),
      user.del(index),
      user.rename("{drover:web/a/1}:control", `${index}:a`),
      user.evalsha(loadedScripts[0]?.sha ?? "", 1, index),
    ])
      await expect(asked).rejects.toThrow(/NOPERM|NOSCRIPT|No permissions/);
    await admin.acl("LOG", "RESET");
  },
);

it("a deployer records, too; a user that may not is warned once, and loads the scripts of its version", async () => {
  await startBridge("deployer");
  await expect.poll(() => admin.hexists(index, ownSetName), { timeout: 5_000 }).toBe(1);
  await admin.flushall();
  await startBridge("embedded");
  await expect
    .poll(() => warned("Could not record the scripts of this version").length, { timeout: 5_000 })
    .toBe(1);
  await admin.script("FLUSH");
  await expect.poll(ownLoaded, { timeout: 5_000 }).toBe(true);
  expect(warned("Could not record the scripts of this version").length).toBe(1);
  await admin.acl("LOG", "RESET");
});

it("a set is renewed after the interval and not before, without its text", async () => {
  const renewedAt = async () => (await recordedSets(admin))[0]?.renewedAt ?? 0;
  const { refresh } = openNeighbourScripts(admin, silentLog, "2.0.0", 0);
  await refresh();
  const first = await renewedAt();
  await admin.config("RESETSTAT");
  await expect.poll(() => refresh().then(renewedAt)).toBeGreaterThan(first);
  expect(await admin.info("commandstats")).not.toContain("cmdstat_set:");
  const rare = openNeighbourScripts(admin, silentLog, "2.0.0");
  await rare.refresh();
  const last = await renewedAt();
  await expect.poll(async () => (await redisNow(admin)) > last).toBe(true);
  await rare.refresh();
  expect(await renewedAt()).toBe(last);
  // One that Redis has lost is written at once.
  await admin.flushall();
  await rare.refresh();
  expect((await readSet(admin, ownSetName))?.length).toBe(loadedScripts.length);
});

it("the next process of its version writes a damaged text again, and those of other versions load it then", async () => {
  await openNeighbourScripts(admin, silentLog, "2.0.0").refresh();
  await admin.set(`${index}:${ownSetName}`, "[]");
  expect(await readSet(admin, ownSetName)).toBeUndefined();
  await openNeighbourScripts(admin, silentLog, "2.0.0").refresh();
  expect(await readSet(admin, ownSetName)).toHaveLength(loadedScripts.length);
  const name = await record(theirs, { renewedAt: 1 });
  await admin.set(`${index}:${name}`, "[]");
  const { refresh, sets } = openNeighbourScripts(admin, silentLog, "2.0.0");
  await refresh();
  await admin.set(`${index}:${name}`, JSON.stringify(theirs));
  await refresh();
  expect(sets()).toEqual([]);
  await record(theirs, { renewedAt: 2 });
  await refresh();
  expect(sets().map((set) => set.name)).toEqual([name]);
});

it("a refused access is not repeated before the interval is over", async () => {
  const url = server.url.replace("//", "//embedded:secret@");
  const redis = await connectRedis({ url, clientName: "embedded", log: silentLog });
  closing.unshift(() => disconnectRedis(redis));
  await admin.acl("LOG", "RESET");
  const denied = async () => JSON.stringify(await admin.acl("LOG")).match(/"count",(\d+)/)?.[1];
  const rare = openNeighbourScripts(redis, silentLog, "2.0.0");
  for (let times = 0; times < 3; times++) await rare.refresh();
  expect(await denied()).toBe("1");
  const eager = openNeighbourScripts(redis, silentLog, "2.0.0", 0);
  for (let times = 0; times < 3; times++) await eager.refresh();
  expect(await denied()).toBe("4");
  await admin.acl("LOG", "RESET");
});

it("a set whose scripts Redis refuses for a while is loaded afterwards", async () => {
  await record(theirs);
  await startBridge();
  await expect.poll(() => has(...theirs), { timeout: 5_000 }).toEqual([1, 1]);
  await record(["return 'later'"]);
  await admin.call("ACL", "SETUSER", "bridge", "-script|load");
  await expect.poll(() => warned("Could not load scripts").length, { timeout: 5_000 }).toBeGreaterThan(0);
  await admin.call("ACL", "SETUSER", "bridge", "+script|load");
  await expect.poll(() => has("return 'later'"), { timeout: 5_000 }).toEqual([1]);
  await admin.acl("LOG", "RESET");
});
