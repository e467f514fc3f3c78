import { queueOf, type ReconcileFunctionSpec, silentLog } from "@drover/controller";
import { connect, type KubeClient } from "@drover/kube";
import { type RedisServer, startRedis } from "@drover/local-servers";
import { connectRedis, disconnectRedis, type RedisConnection, redisUserRules } from "@drover/queue";
import { type Sandbox, startSandbox } from "@drover/sandbox";
import { type Bridge, type BridgeOptions, openBridge } from "./bridge.ts";
import { registrationOf } from "./registration/registration.ts";

export const coreKind = (kind: string, plural: string) =>
  ({ group: "", version: "v1", kind, plural, scope: "Namespaced" }) as const;
export const configMapKind = coreKind("ConfigMap", "configmaps");

/** An API server, a Redis, bridges as users of the role `bridge`, and queues that nothing takes keys from. */
export interface BridgeScene extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly server: RedisServer;
  readonly admin: RedisConnection;
  readonly client: KubeClient;
  startBridge(options?: Pick<BridgeOptions, "redisFor">): Promise<RunningBridge>;
  /** Redis as the function of that queue. */
  asFunction(queue: string): Promise<RedisConnection>;
  /** Writes a ConfigMap, or another object of the core group; answers its version. */
  put(name: string, fields?: object, plural?: string): Promise<string>;
  remove(name: string, plural?: string): Promise<void>;
  /** What the ledger has of a key in `default`. */
  entry(queue: string, name: string): Promise<Readonly<Record<string, string>>>;
  wakes(queue: string, name: string): Promise<number>;
}

export interface RunningBridge {
  readonly bridge: Bridge;
  /** Its connection to Redis ends, as when its process is killed. */
  kill(): void;
}

export const testRegistration = (name: string, spec: Partial<ReconcileFunctionSpec> = {}) =>
  registrationOf({ name }, { for: configMapKind, ...spec });

/** The hash of a queue that its function may write, by the function's name. */
export const controlOf = (name: string): string => `{drover:${queueOf({ name })}}:control`;

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
  const connectTo = (url: string, loadsScripts: boolean) =>
    connectRedis({ url, clientName: "test", log: silentLog, loadsScripts });
  const admin = await connectTo(server.url, true);
  const connections = [admin];
  const bridges: Bridge[] = [];
  const asUser = async (name: string, rules: string): Promise<RedisConnection> => {
    await admin.call("ACL", "SETUSER", name, ...rules.split(" "), ">secret");
    const loadsScripts = rules.includes(" +script|load ");
    const connection = await connectTo(server.url.replace("//", `//${name}:secret@`), loadsScripts);
    connections.push(connection);
    return connection;
  };
  const request = requestsTo(sandbox);
  const entry = (controller: string, name: string) =>
    admin.hgetall(`{drover:${queueOf({ name: controller })}}:key:default/${name}`);
  return {
    sandbox,
    server,
    admin,
    client,
    entry,
    async startBridge(options = {}) {
      const redis = await asUser("bridge", redisUserRules({ role: "bridge", controllers: "all" }));
      const bridge = openBridge({ client, redis, compareEvery: 1_800_000, log: silentLog, ...options });
      bridges.push(bridge);
      return { bridge, kill: () => redis.disconnect() };
    },
    asFunction: (name) =>
      asUser(`function-${name}`, redisUserRules({ role: "function", controllers: [queueOf({ name })] })),
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
    wakes: async (queue, name) => Number((await entry(queue, name))["wakes"] ?? 0),
    async [Symbol.asyncDispose]() {
      // One that was killed has no connection to say goodbye over.
      await Promise.allSettled(bridges.map((bridge) => bridge.close()));
      await Promise.all(connections.map(disconnectRedis));
      await client.close();
      await Promise.all([sandbox.close(), server.stop()]);
    },
  };
}
