import { silentLog } from "@drover/controller";
import { builtin, connect, isObjectEvent, type KubeClient, kindOf, refOf, runReflector } from "@drover/kube";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { groupOf } from "../streams/bridge-group.ts";
import { openStreamStore } from "./stream-store.ts";

/**
 * docs/bridge.md: a restart wakes everybody whose object has changed. Here the bridge dies while it compares its index with
 * a list, which takes several batches; each test lets it die at another one.
 */
const count = 1_200;
const ref = refOf(kindOf(builtin.configMap));
const names = Array.from({ length: count }, (_, i) => `c${i}`);
/** Most are deleted, so that the objects that no page of the list has come in several batches. */
const isDeleted = (i: number): boolean => i % 8 !== 0;
const isRecreated = (i: number): boolean => i % 16 === 1;
const isChanged = (i: number): boolean => i % 16 === 0;

/** The call in which the bridge dies, and whether the events of that call were taken. */
const crashes = [1, 2, 3, 4].flatMap((call) => [true, false].map((taken) => ({ call, taken })));
const streamOf = ({ call, taken }: Crash): string => `v1/configmaps-${call}-${taken}`;
type Crash = (typeof crashes)[number];

let sandbox: Sandbox;
let server: RedisServer;
let client: KubeClient;

const all = (indices: readonly number[], act: (name: string) => Promise<unknown>): Promise<unknown> =>
  Promise.all(indices.map((i) => act(names[i] ?? "")));
const create = (name: string) =>
  client.create(builtin.configMap, { metadata: { name, namespace: "default" }, data: { a: "b" } });
const where = (is: (i: number) => boolean): number[] => names.flatMap((_, i) => (is(i) ? [i] : []));

beforeAll(async () => {
  [sandbox, server] = await Promise.all([startSandbox({}), startRedis({ persistence: false })]);
  client = await connect({ server: sandbox.url, token: sandbox.token });
  await all(
    where(() => true),
    create,
  );
  await Promise.all(crashes.map((crash) => live(streamOf(crash))));
  const key = (name: string) => `default/${name}` as Parameters<KubeClient["delete"]>[1];
  await all(where(isDeleted), (name) => client.delete(builtin.configMap, key(name)));
  await all(where(isRecreated), create);
  await all(where(isChanged), (name) =>
    client.patch(builtin.configMap, key(name), { type: "merge", body: { data: { a: "c" } } }),
  );
  // Nobody can go on from where the index stands: it is compared with a list.
  sandbox.faults.compact();
});
afterAll(async () => {
  await client.close();
  await sandbox.close();
  await server.stop();
});

/** What a bridge emitted: an object's name, with what has become of it. */
interface Life {
  readonly told: ReadonlySet<string>;
  /** In how many calls. */
  readonly calls: number;
}

/** A bridge, until it goes on from the position of its stream, or dies: its connection to Redis ends, and it does no more. */
async function live(stream: string, crash?: Crash): Promise<Life> {
  const redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  const store = openStreamStore({ group: groupOf(), redis, holder: "bridge", lease: 60_000 });
  const held = await store.hold(stream, { scope: "all", listeners: ["self"], queues: [] });
  if ("heldBy" in held) throw new Error(`held by ${held.heldBy}`);
  const told = new Set<string>();
  const dead = Promise.withResolvers<undefined>();
  const stop = new AbortController();
  let calls = 0;
  const reflector = runReflector({
    client,
    ref,
    log: silentLog,
    signal: stop.signal,
    seen: held.seen,
    from: { position: held.position, emittedToAll: held.emittedToAll },
    async onEvents(events) {
      const objects = events.filter(isObjectEvent);
      if (objects.length === 0) return;
      const isLast = ++calls === crash?.call;
      if (!isLast || crash.taken) for (const { key, type } of objects) told.add(`${type} ${key}`);
      if (!isLast) return;
      // What the index is to keep of earlier calls is in Redis by now: it is written a moment later.
      await Array.fromAsync(held.seen.allBut(new Set()));
      redis.disconnect();
      dead.resolve(undefined);
      await new Promise(() => undefined);
    },
  });
  if (crash !== undefined) {
    await dead.promise;
    // Its lease ends; another bridge takes the stream.
    const other = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
    await other.hset(`{drover-stream:${stream}}:stream`, "until", 1);
    await disconnectRedis(other);
    return { told, calls };
  }
  await vi.waitFor(() => expect(reflector.status().following).toBe(true), { timeout: 30_000, interval: 20 });
  stop.abort();
  await reflector.done;
  await held.release();
  await disconnectRedis(redis);
  return { told, calls };
}

it.concurrent.each(crashes)(
  "a bridge that dies in call $call, its events taken: $taken, leaves nobody out",
  async (crash) => {
    const first = await live(streamOf(crash), crash);
    const second = await live(streamOf(crash));
    // It died in the midst of it.
    expect(second.calls).toBeGreaterThan(0);
    const told = new Set([...first.told, ...second.told].map((one) => one.replace(/^\w+ default\//, "")));
    const changed = where((i) => isDeleted(i) || isChanged(i));
    expect(changed.filter((i) => !told.has(names[i] ?? ""))).toEqual([]);
    // Also of those that were created again, which are other objects of the same names.
    const deleted = [...first.told, ...second.told].filter((one) => one.startsWith("deleted "));
    expect(new Set(deleted).size).toBe(where(isDeleted).length);
    // And nobody whose object has not changed.
    expect([...told].filter((name) => !changed.includes(names.indexOf(name)))).toEqual([]);
  },
);
