import { queueOf, type ReconcileFunctionSpec, silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { expect, vi } from "vitest";
import { type Bridge, type BridgeOptions, openBridge } from "./bridge.ts";
import { connectAs } from "./redis-user.fixture.ts";
import { type Registration, registrationOf } from "./registration/registration.ts";

export const coreKind = (kind: string, plural: string) =>
  ({ group: "", version: "v1", kind, plural, scope: "Namespaced" }) as const;
export const configMapKind = coreKind("ConfigMap", "configmaps");

/** An API server, a Redis, bridges that use the Redis role `bridge`, and queues without workers. */
export interface BridgeScene extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly server: RedisServer;
  readonly admin: RedisConnection;
  readonly client: KubeClient;
  startBridge(options?: Pick<BridgeOptions, "redisFor">): Promise<RunningBridge>;
  /** A connection with the role of the function of that queue. */
  asFunction(queue: string): Promise<RedisConnection>;
  /** Writes a ConfigMap, or another object of the core group; returns its version. */
  put(name: string, fields?: object, plural?: string): Promise<string>;
  remove(name: string, plural?: string): Promise<void>;
  /** The ledger entry of a key in `default`. */
  entry(queue: string, name: string): Promise<Readonly<Record<string, string>>>;
  wakes(queue: string, name: string): Promise<number>;
  /** Waits until a key in `default` has been woken that often; by default, at least once. */
  woken(queue: string, name: string, times?: number): Promise<void>;
  /** Waits until no queue is behind, and nothing is owed to any. */
  caughtUp(bridge: Bridge): Promise<void>;
  /** Starts a bridge for these functions, and waits until it has listed their `streams`. */
  startFollowing(registrations: readonly Registration[], streams?: number): Promise<RunningBridge>;
}

export interface RunningBridge {
  readonly bridge: Bridge;
  /** Ends its connection to Redis, as if its process was killed. */
  kill(): void;
}

export const until = (look: () => Promise<void> | void) =>
  vi.waitFor(look, { timeout: 50_000, interval: 20 });

export const testRegistration = (name: string, spec: Partial<ReconcileFunctionSpec> = {}) =>
  registrationOf({ name }, { for: configMapKind, ...spec });

/** The hash of a queue that its function may write. */
export const controlOf = (name: string): string => `{drover:${queueOf({ name })}}:control`;

function expectSynced({ bridge }: RunningBridge, streams: number): void {
  expect(bridge.followed()).toHaveLength(streams);
  for (const { reflector } of bridge.followed()) expect(reflector.status().synced).toBe(true);
}

async function expectNothingOwed(bridge: Bridge, admin: RedisConnection): Promise<void> {
  expect(bridge.followed().flatMap((stream) => stream.lags())).toEqual([]);
  for (const left of ["owed:*", "behind"]) expect(await admin.keys(`{drover-stream:*:${left}`)).toEqual([]);
}

const requestsTo =
  ({ url, token }: Sandbox) =>
  async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/api/v1/namespaces/default/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };

export async function openBridgeScene(): Promise<BridgeScene> {
  const [sandbox, server] = await Promise.all([startSandbox({}), startRedis({ persistence: false })]);
  const client = await connect({ server: sandbox.url, token: sandbox.token });
  const admin = await connectRedis({ url: server.url, clientName: "test", log: silentLog });
  const connections = [admin];
  const bridges: Bridge[] = [];
  const as = async (...of: Parameters<typeof connectAs>): Promise<RedisConnection> => {
    const connection = await connectAs(...of);
    connections.push(connection);
    return connection;
  };
  const request = requestsTo(sandbox);
  const entry = (controller: string, name: string) =>
    admin.hgetall(`{drover:${queueOf({ name: controller })}}:key:default/${name}`);
  const scene: BridgeScene = {
    sandbox,
    server,
    admin,
    client,
    entry,
    async startBridge(options = {}) {
      const redis = await as("bridge", server, admin, "all");
      const bridge = openBridge({ client, redis, compareEvery: 1_800_000, log: silentLog, ...options });
      bridges.push(bridge);
      return { bridge, kill: () => redis.disconnect() };
    },
    asFunction: (name) => as("function", server, admin, [queueOf({ name })], `function-${name}`),
    async put(name, fields = {}, plural = "configmaps") {
      const body = { metadata: { name }, ...fields };
      const changed = await request("PATCH", `${plural}/${name}`, body);
      const { status, text } = changed.status === 404 ? await request("POST", plural, body) : changed;
      if (status >= 300) throw new Error(text);
      return (JSON.parse(text) as { metadata: { resourceVersion: string } }).metadata.resourceVersion;
    },
    async remove(name, plural = "configmaps") {
      await request("DELETE", `${plural}/${name}`);
    },
    woken: (queue, name, times) =>
      until(async () => {
        const wakes = await scene.wakes(queue, name);
        if (times === undefined) expect(wakes, name).toBeGreaterThan(0);
        else expect(wakes, name).toBe(times);
      }),
    caughtUp: (bridge) => until(() => expectNothingOwed(bridge, admin)),
    async startFollowing(registrations, streams = 1) {
      const running = await scene.startBridge();
      running.bridge.register(registrations);
      await until(() => expectSynced(running, streams));
      return running;
    },
    wakes: async (queue, name) => Number((await entry(queue, name))["wakes"] ?? 0),
    async [Symbol.asyncDispose]() {
      // A killed bridge has no connection to leave its group with.
      await Promise.allSettled(bridges.map((bridge) => bridge.close()));
      await Promise.all(connections.map(disconnectRedis));
      await client.close();
      await Promise.all([sandbox.close(), server.stop()]);
    },
  };
  return scene;
}
