import {
  type FunctionIdentity,
  namesQueueOf,
  objectKey,
  queueOf,
  ReconcileFunction,
  silentLog,
} from "@drover/controller";
import { type KubeClient, refOf } from "@drover/kube";
import { connectRedis, disconnectRedis, openWorkQueue, redisUserAdmin } from "@drover/queue";
import { beforeEach, expect, it, vi } from "vitest";
import { redisOfFile } from "../../../../packages/queue/src/redis/redis.fixture.ts";
import { sandboxOfFile } from "../../../../packages/testing/src/sandbox.fixture.ts";
import { redisUserName } from "../names.ts";
import { runSweeper, sweep, type SweepOptions } from "./sweep.ts";

const { client } = await sandboxOfFile({ kinds: [ReconcileFunction] });
const { server, redis } = await redisOfFile();
beforeEach(() => redis.flushall());

const ref = refOf(ReconcileFunction);
const kind = (plural: string) => ({ group: "", version: "v1", kind: "Thing", plural, scope: "Namespaced" });
let count = 0;
/** A ReconcileFunction that there is, whose code is asked about the kinds. */
async function made(asked: readonly string[] = [], metadata: object = {}): Promise<FunctionIdentity> {
  const watches = asked.map((plural) => ({ ...kind(plural), names: { code: true } }));
  const name = `sites-${count++}`;
  const object = {
    metadata: { name, namespace: "default", ...metadata },
    spec: { for: kind("pods"), watches },
  };
  return (await client.create(ref, object)).metadata;
}
const gone: FunctionIdentity = { namespace: "default", name: "sites", uid: "00000000-dead" };
const keysOf = (queue: string): readonly string[] => [
  `{drover:${queue}}:control`,
  `{drover:${queue}}:jobs:id`,
];
const put = async (...names: readonly string[]): Promise<void> => {
  await redis.mset(names.flatMap((name) => [name, "1"]));
};
const swept = (of: Pick<KubeClient, "list"> = client, isOf?: SweepOptions["isOf"]) =>
  sweep({
    ...(isOf && { isOf }),
    redis,
    accounts: redisUserAdmin(redis),
    pace: 0,
    log: silentLog,
    client: { ...client, ...of },
    signal: new AbortController().signal,
  });

it("deletes what functions that are gone left, and no key of one that there is, or of anything else", async () => {
  const identity = await made(["secrets"]);
  const own = queueOf(identity);
  const kept = [
    ...keysOf(own),
    ...keysOf(namesQueueOf(own, { plural: "secrets", group: "" })),
    `{drover-hook:${own}}:pushes`,
    ...keysOf(queueOf({ name: "sites" })),
    ...keysOf("flat"),
    ...keysOf("a/b"),
    "{drover-stream:v1/pods}:seen",
    "{drover-bridges}",
    "drover:web/sites/u",
  ];
  const left = [
    ...keysOf(queueOf(gone)),
    ...keysOf(namesQueueOf(queueOf(gone), { plural: "secrets", group: "" })),
    `{drover-hook:${queueOf(gone)}}:pushes`,
    // Its uid is another one's: an older function of that name.
    ...keysOf(queueOf({ ...identity, uid: "00000000-dead" })),
    // Its code is not asked about these any more.
    ...keysOf(namesQueueOf(own, { plural: "configmaps", group: "" })),
  ];
  await put(...kept, ...left);
  await swept();
  expect((await redis.keys("*")).sort()).toEqual(kept.toSorted());
});

it("revokes the users of functions that are gone, and no others", async () => {
  const identity = await made();
  const accounts = redisUserAdmin(redis);
  for (const user of [redisUserName(identity), redisUserName(gone), "gateway", "functions"]) {
    await accounts.grant(user, { role: "function", controllers: ["a"] }, ["p"]);
  }
  await swept();
  const users = await accounts.names();
  expect(users).toEqual(expect.arrayContaining(["default", "gateway", "functions", redisUserName(identity)]));
  expect(users).not.toContain(redisUserName(gone));
});

it("keeps what was written for a function that is made while it looks", async () => {
  let late: readonly string[] | undefined;
  await put(...keysOf(queueOf(gone)));
  await swept({
    async list(...asked) {
      const answer = await client.list(...asked);
      if (late === undefined) await put(...(late = keysOf(queueOf(await made()))));
      return answer;
    },
  });
  expect((await redis.keys("*")).sort()).toEqual([...(late ?? [])].sort());
});

it("leaves one that is being deleted to its own run, and one whose spec cannot be read as it is", async () => {
  const deleting = await made([], { finalizers: ["example.com/test"] });
  await client.delete(ref, objectKey({ namespace: "default", name: deleting.name }));
  const unclear = await made();
  const kept = [deleting, unclear].flatMap((one) =>
    keysOf(namesQueueOf(queueOf(one), { plural: "secrets", group: "" })),
  );
  await put(...kept);
  await swept({
    async list(...asked) {
      const answer = await client.list(...asked);
      const spoil = (one: (typeof answer.items)[number]) =>
        one.metadata.uid === unclear.uid ? { ...one, spec: { for: "what" } } : one;
      return { ...answer, items: answer.items.map(spoil) };
    },
  });
  expect((await redis.keys("*")).sort()).toEqual(kept.toSorted());
});

it("deletes nothing while the API server does not list the functions", async () => {
  await put(...keysOf(queueOf(gone)));
  await expect(swept({ list: () => Promise.reject(new Error("no answer")) })).rejects.toThrow("no answer");
  expect(await redis.keys("*")).toHaveLength(2);
});

it("comes to an end with a writer that has not noticed, and takes what that wrote the next time", async () => {
  const late = openWorkQueue({ redis, controller: queueOf(gone), log: silentLog });
  const wake = (name: string) =>
    late.wake([
      {
        key: objectKey({ namespace: "a", name }),
        kind: "sites",
        resourceVersion: "1",
        reason: "Late",
        class: "change",
      },
    ]);
  await wake("one");
  await swept();
  await wake("two");
  expect(await redis.keys(`*${queueOf(gone)}*`)).not.toEqual([]);
  await late.close();
  await swept();
  expect(await redis.keys("*")).toEqual([]);
});

it("deletes keys and users of a function that has another Redis, but for what its hooks took in Drover's own", async () => {
  const identity = await made();
  const hook = `{drover-hook:${queueOf(identity)}}:pushes`;
  const selfNamed = keysOf(queueOf({ name: "sites" }));
  const here = [...keysOf(queueOf(identity)), hook, ...selfNamed];
  const accounts = redisUserAdmin(redis);
  const users = async () => (await accounts.names()).filter((user) => user === redisUserName(identity));
  const filled = async () => {
    await redis.flushall();
    await put(...here);
    await accounts.grant(redisUserName(identity), { role: "function", controllers: ["a"] }, ["p"]);
  };
  await filled();
  await swept(client, (namespace) => namespace === undefined);
  expect((await redis.keys("*")).sort()).toEqual([hook, ...selfNamed].sort());
  expect(await users()).toEqual([]);
  await filled();
  await swept(client, (namespace) => namespace === "default");
  expect((await redis.keys("*")).sort()).toEqual([...keysOf(queueOf(identity)), ...selfNamed].sort());
  expect(await users()).toHaveLength(1);
});

it("a Redis that refuses keeps no other from being swept, and is swept when it does not", async () => {
  await redis.call("ACL", "SETUSER", "limited", "on", ">p", "~*", "&*", "+@all");
  const url = server.url.replace("//", "//limited:p@");
  const limited = await connectRedis({ url, clientName: "test", log: silentLog });
  await redis.call("ACL", "SETUSER", "limited", "-scan");
  const warnings: unknown[] = [];
  const stopping = new AbortController();
  let servers = [limited, redis];
  const swept = runSweeper({
    client,
    pace: 0,
    every: 5,
    signal: stopping.signal,
    tenants: {
      servers: () => servers.map((one) => ({ redis: one, tenant: undefined })),
      tenantOf: () => undefined,
    },
    log: { ...silentLog, warn: (fields, message) => warnings.push([message, fields]) },
  });
  const until = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 20_000, interval: 5 });
  const isSwept = async () => expect(await redis.keys("*")).toEqual([]);
  await put(...keysOf(queueOf(gone)));
  await until(isSwept);
  await until(() => expect(warnings.length).toBeGreaterThan(1));
  expect(warnings[0]).toEqual([
    "Could not sweep a Redis for functions that are gone",
    { err: expect.objectContaining({ message: expect.stringMatching(/NOPERM.*scan/) as string }) as Error },
  ]);
  servers = [limited];
  await put(...keysOf(queueOf(gone)));
  await redis.call("ACL", "SETUSER", "limited", "+scan");
  await until(isSwept);
  stopping.abort();
  await swept;
  await disconnectRedis(limited);
});

it("a sweep that is under way when the process stops is left, and is no trouble", async () => {
  const stopping = new AbortController();
  const begun = Promise.withResolvers<undefined>();
  const warnings: unknown[] = [];
  const swept = runSweeper({
    pace: 0,
    every: 5,
    signal: stopping.signal,
    client: {
      ...client,
      list: (_ref, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("left")));
          begun.resolve(undefined);
        }),
    },
    tenants: { servers: () => [{ redis, tenant: undefined }], tenantOf: () => undefined },
    log: { ...silentLog, warn: (fields) => warnings.push(fields) },
  });
  await begun.promise;
  stopping.abort();
  await swept;
  expect(warnings).toEqual([]);
});
