import { type Log, silentLog } from "@drover/controller";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, redisUserAdmin, type RedisConnection } from "@drover/queue";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { functionUsers } from "./function-users.ts";
import { redisUserName } from "../names.ts";

/** Drover's own server, and a tenant's: as an administrator, and as a deployer that may be refused to change users. */
let servers: readonly RedisServer[];
let admins: readonly RedisConnection[];
let deployers: readonly RedisConnection[];
let warnings: (readonly [string, object])[];
const log: Log = { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) };
const functionRef = { namespace: "web", name: "sites", uid: "u" };
const user = { role: "function", controllers: ["web/sites/u"] } as const;

beforeAll(async () => {
  servers = await Promise.all([startRedis({ persistence: false }), startRedis({ persistence: false })]);
  const connected = (url: string) => connectRedis({ url, clientName: "test", log: silentLog });
  admins = await Promise.all(servers.map(({ url }) => connected(url)));
  for (const admin of admins) await admin.call("ACL", "SETUSER", "deployer", "on", ">p", "~*", "&*", "+@all");
  deployers = await Promise.all(servers.map(({ url }) => connected(url.replace("//", "//deployer:p@"))));
});
afterAll(async () => {
  await Promise.all([...deployers, ...admins].map(disconnectRedis));
  await Promise.all(servers.map((server) => server.stop()));
});
beforeEach(async () => {
  warnings = [];
  for (const admin of admins) {
    await admin.call("ACL", "SETUSER", "deployer", "+@all");
    await redisUserAdmin(admin).grant(redisUserName(functionRef), user, ["p"]);
  }
});

const [ours, theirs] = [0, 1];
const refusedIn = (server: number) => admins[server]!.call("ACL", "SETUSER", "deployer", "-acl");
/** Accounts of functions in Drover's own Redis, or in another. */
const accounts = (own = () => ours) =>
  functionUsers(
    {
      redisFor: () => ({ redis: deployers[own()]!, gone: new AbortController().signal }),
      servers: () => [
        { redis: deployers[theirs]!, tenant: { namespaces: ["other"], url: servers[theirs]!.url } },
        { redis: deployers[ours]!, tenant: undefined },
      ],
    },
    log,
  );
const has = async (server: number) =>
  (await redisUserAdmin(admins[server]!).names()).includes(redisUserName(functionRef));
const notRevoked = [
  "Could not revoke a Redis user; the next sweep tries again",
  {
    function: "web/sites/u",
    err: expect.objectContaining({ message: expect.stringMatching(/NOPERM/) as string }) as Error,
  },
];

it("what another tenant's Redis refuses is noted, and keeps no user from being revoked or granted", async () => {
  await refusedIn(theirs);
  await accounts().revoke(functionRef);
  expect([await has(ours), await has(theirs)]).toEqual([false, true]);
  await accounts().grant(functionRef, user, ["p"]);
  expect(await has(ours)).toBe(true);
  expect(warnings).toEqual([notRevoked, notRevoked]);
});

it("a user that another Redis did not revoke is revoked there the next time that it is granted", async () => {
  await refusedIn(theirs);
  const same = accounts();
  await same.grant(functionRef, user, ["p"]);
  expect(await has(theirs)).toBe(true);
  await admins[theirs]!.call("ACL", "SETUSER", "deployer", "+acl");
  await same.grant(functionRef, user, ["p"]);
  expect([await has(ours), await has(theirs)]).toEqual([true, false]);
});

it("what Drover's own Redis refuses is an error", async () => {
  await refusedIn(ours);
  await expect(accounts().revoke(functionRef)).rejects.toThrow("NOPERM");
  expect(warnings).toEqual([]);
});

it("the users of one Redis are known though another does not give its own", async () => {
  await refusedIn(theirs);
  const names = await redisUserAdmin(admins[ours]!).names();
  expect(names).toContain(redisUserName(functionRef));
  expect(await accounts().names()).toEqual(names);
  expect(warnings).toMatchObject([["Could not list the users of functions in a Redis", {}]]);
});

it("a function that moves to another Redis, and back, has a user in the one where it is, and in no other", async () => {
  let own = ours;
  const same = accounts(() => own);
  for (own of [theirs, ours, theirs, theirs, ours]) {
    await same.grant(functionRef, user, ["p"]);
    expect([await has(ours), await has(theirs)]).toEqual([own === ours, own === theirs]);
  }
});

it("of a function that goes no user is left anywhere, and its next one of that name has another", async () => {
  const next = { ...functionRef, uid: "u2" };
  await accounts().grant(next, { ...user, controllers: ["web/sites/u2"] }, ["p"]);
  await accounts().revoke(functionRef);
  expect([await has(ours), await has(theirs)]).toEqual([false, false]);
  expect(await accounts().names()).toContain(redisUserName(next));
  await accounts().revoke(next);
});

it("no user is made where a function is now while it is not revoked where it was", async () => {
  await redisUserAdmin(admins[theirs]!).revoke(redisUserName(functionRef));
  await refusedIn(ours);
  await expect(accounts(() => theirs).grant(functionRef, user, ["p"])).rejects.toThrow("NOPERM");
  expect(await has(theirs)).toBe(false);
});

it("a function that stays where it is keeps its connections, also when another deployer grants its user", async () => {
  const url = servers[ours]!.url.replace("//", `//${encodeURIComponent(redisUserName(functionRef))}:p@`);
  const connection = await connectRedis({
    url,
    clientName: "a function",
    log: silentLog,
    loadsScripts: false,
  });
  /** The id that Redis gave the function's connection. */
  const connected = async () =>
    /^id=(\d+) .*user=function:web\/sites\/u /m.exec(String(await admins[ours]!.call("CLIENT", "LIST")))?.[1];
  const before = await connected();
  expect(before).toBeDefined();
  await accounts().grant(functionRef, user, ["p"]);
  expect(await connected()).toEqual(before);
  await disconnectRedis(connection);
});
