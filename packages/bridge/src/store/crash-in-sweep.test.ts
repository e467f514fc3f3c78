import { silentLog } from "@drover/controller";
import { builtin, isObjectEvent, type KubeClient, kindOf, refOf, runReflector } from "@drover/kube";
import { connectRedis, disconnectRedis } from "@drover/queue";
import { beforeAll, expect, it, vi } from "vitest";
import { sandboxOfFile } from "../../../testing/src/sandbox.fixture.ts";
import { redisOfFile } from "../../../queue/src/redis/redis.fixture.ts";
import { heldStream, openTestStreams } from "./held-stream.fixture.ts";

/**
 * docs/bridge.md: a restart wakes the key of each object that has changed. Here the bridge dies while it compares its index
 * with a list, in several batches; in each test it dies in another batch.
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

const [{ sandbox, client }, { server, redis: admin }] = await Promise.all([sandboxOfFile(), redisOfFile()]);

const all = (indices: readonly number[], act: (name: string) => Promise<unknown>): Promise<unknown> =>
  Promise.all(indices.map((i) => act(names[i] ?? "")));
const create = (name: string) =>
  client.create(builtin.configMap, { metadata: { name, namespace: "default" }, data: { a: "b" } });
const where = (is: (i: number) => boolean): number[] => names.flatMap((_, i) => (is(i) ? [i] : []));

beforeAll(async () => {
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
  // The watch cannot resume at the stored position: the index is compared with a list.
  sandbox.faults.compact();
});

/** The changes that one process of a bridge emitted, as `<type> <key>`. */
interface Emitted {
  readonly changes: ReadonlySet<string>;
  /** Number of calls. */
  readonly calls: number;
}

/** Runs a bridge until its stream resumes watching, or until it dies: its connection to Redis ends, and it does no more. */
async function live(stream: string, crash?: Crash): Promise<Emitted> {
  const redis = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  const held = await heldStream(openTestStreams(redis), stream, {
    scope: "all",
    listeners: ["self"],
    queues: [],
  });
  const changes = new Set<string>();
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
      if (!isLast || crash.taken) for (const { key, type } of objects) changes.add(`${type} ${key}`);
      if (!isLast) return;
      // Earlier calls are in Redis by now: the index is written a moment later.
      await Array.fromAsync(held.seen.allBut(new Set()));
      redis.disconnect();
      dead.resolve(undefined);
      await new Promise(() => undefined);
    },
  });
  if (crash !== undefined) {
    await dead.promise;
    // Its lease ends; another bridge takes the stream.
    await admin.hset(`{drover-stream:${stream}}:stream`, "until", 1);
    return { changes, calls };
  }
  await vi.waitFor(() => expect(reflector.status().following).toBe(true), { timeout: 30_000, interval: 20 });
  stop.abort();
  await reflector.done;
  await held.release();
  await disconnectRedis(redis);
  return { changes, calls };
}

it.concurrent.each(crashes)(
  "a bridge that dies in call $call, its events accepted: $taken, misses no changed object",
  async (crash) => {
    const first = await live(streamOf(crash), crash);
    const second = await live(streamOf(crash));
    // It died during the comparison.
    expect(second.calls).toBeGreaterThan(0);
    const emitted = [...first.changes, ...second.changes];
    const named = new Set(emitted.map((one) => one.replace(/^\w+ default\//, "")));
    const changed = where((i) => isDeleted(i) || isChanged(i));
    expect(changed.filter((i) => !named.has(names[i] ?? ""))).toEqual([]);
    // Also objects that were created again: they are other objects with the same names.
    const deleted = emitted.filter((one) => one.startsWith("deleted "));
    expect(new Set(deleted).size).toBe(where(isDeleted).length);
    // And no object that has not changed.
    expect([...named].filter((name) => !changed.includes(names.indexOf(name)))).toEqual([]);
  },
);
