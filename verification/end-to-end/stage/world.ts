import { customResourceDefinition, type Resource, silentLog } from "@drover/controller";
import { connectRedis, disconnectRedis, type RedisConnection } from "@drover/queue";
import {
  type RedisServer,
  type S3Server,
  startRedis,
  startS3,
  type TiedProcess,
} from "@drover/local-servers";
import { Bucket } from "@drover/s3-bucket";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, vi } from "vitest";
import { looseKind, type Manifest, object } from "../../harness/manifests.ts";
import { root } from "../../harness/repository-files.ts";
import { type Started, startProcess } from "../../harness/start-process.ts";
import { type S3Truth, s3Truth } from "./s3-truth.ts";
import { startTestCluster, type TestCluster, type TestObject } from "./test-cluster.ts";

/** Everything that a Bucket needs to become a bucket, each part a process of its own, all of them real. */
export interface World {
  readonly cluster: TestCluster;
  readonly redis: RedisServer;
  readonly s3: S3Server;
  readonly truth: S3Truth;
  /** `functions`: a folder of other registrations than the bucket function's, or those of the cluster. */
  startBridge(options?: {
    functions?: string;
    /** The log line to wait for; by default that the bridge follows a kind. */
    awaited?: string;
    env?: Record<string, string>;
    machine?: string;
  }): Promise<Started>;
  /** A worker of the bucket function. `s3Url` puts something between it and the S3 server. */
  startWorker(options?: {
    s3Url?: string;
    concurrency?: number;
    awaited?: string;
    env?: Record<string, string>;
  }): Promise<Started>;
  /**
   * Any process of Drover's, by its main module, until it has logged `awaited`. Each has a wall clock of its own, but for
   * those of one `machine`: signatures, and deadlines of calls, tolerate no minutes (docs/operating-functions.md, Clocks).
   */
  startProcess(
    name: string,
    main: string,
    awaited: string,
    env: NodeJS.ProcessEnv,
    machine?: string,
  ): Promise<Started>;
  /**
   * A gateway that may call functions on loopback. `machine`: that of the process with the signatures that it verifies.
   *
   * @param allowed the port of a function with a plain HTTP URL
   */
  startGateway(options: {
    readonly allowed?: number;
    readonly awaited?: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly machine: string;
  }): Promise<Started>;
  /** A process that serves a function for the gateway, without a cluster and a Redis. */
  startServed(options: {
    readonly name: string;
    readonly main: string;
    readonly port: number;
    /** `namespace/name` of its ReconcileFunction. */
    readonly audience: string;
    /** The folder of its Secret. */
    readonly secrets: string;
    readonly env?: NodeJS.ProcessEnv;
    readonly machine: string;
  }): Promise<Started>;
  /** A folder as a Secret is mounted, with a file for each value. */
  mount(name: string, values: Readonly<Record<string, string>>): string;
  /** Another function, by its main module. `env`: such as DROVER_FUNCTION, where the cluster registers it. */
  startFunction(main: string, env?: Record<string, string>): Promise<Started>;
  /** The object as it is when it is Ready for the generation it has, or when `predicate` holds. */
  until(
    manifest: Manifest,
    predicate: (object: TestObject | undefined) => boolean,
  ): Promise<TestObject | undefined>;
  /** Applies a manifest and waits until its object is Ready. */
  applyReady(manifest: Manifest): Promise<TestObject | undefined>;
  /** Deletes an object and waits until it is gone. */
  removed(manifest: Manifest): Promise<void>;
  /** Applies the definitions of kinds. */
  define(...kinds: readonly Resource[]): Promise<void>;
  /** A connection as the administrator of Redis, closed with the world. */
  connectRedis(): Promise<RedisConnection>;
  /** Closes what a test has opened for the processes, once they have ended. */
  atEnd(close: () => Promise<void>): void;
  /** For files of a test; goes away with the world. */
  readonly folder: string;
  stop(): Promise<void>;
}

/** Registrations as the cluster has them. */
export const ofCluster = "the cluster's";

/** How long a step may take on a slow machine before the test fails. Nothing waits for this time to pass. */
const timeout = 100_000;

/**
 * @param startQueue another Redis than the usual one.
 * @param startCluster another cluster than the suite's.
 */
export async function startWorld(
  startQueue: (folder: string) => Promise<RedisServer> = () => startRedis({ persistence: true }),
  startCluster: (folder: string) => Promise<TestCluster> = startTestCluster,
): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), "drover-world-"));
  const [cluster, redis, s3] = await Promise.all([startCluster(folder), startQueue(folder), startS3()]);
  const truth = s3Truth(s3);
  const started: TiedProcess[] = [];
  let processes = 0;
  const closing: (() => Promise<void>)[] = [];
  const define: World["define"] = async (...kinds) => {
    for (const kind of kinds) await cluster.apply({ ...customResourceDefinition(kind) });
  };
  const until: World["until"] = async (manifest, predicate) => {
    let object: TestObject | undefined;
    const look = async (): Promise<void> => {
      object = await cluster.get(manifest);
      if (!predicate(object))
        throw new Error(`${manifest.metadata.name} is ${JSON.stringify(object, null, 2)}`);
    };
    await vi.waitFor(look, { timeout, interval: 100 });
    return object;
  };
  await define(Bucket);

  const start: World["startProcess"] = (name, main, awaited, env, machine) =>
    startProcess({
      name,
      main,
      awaited,
      ...(machine !== undefined && { machine }),
      logFile: join(folder, `${name}-${processes++}.log`),
      env: { DROVER_REDIS_URL: redis.url, DROVER_KUBECONFIG: cluster.kubeconfig, ...env },
      onSpawned: (child) => started.push(child),
    });
  return {
    folder,
    cluster,
    redis,
    s3,
    truth,
    startBridge: ({
      functions = join(root, "functions/s3-bucket/deploy"),
      awaited = "; watching",
      env = {},
      machine,
    } = {}) =>
      start(
        ...(["bridge", "apps/bridge/src/main.ts", awaited] as const),
        {
          DROVER_FUNCTIONS: functions === ofCluster ? undefined : functions,
          DROVER_AUTHORS: "trusted",
          ...env,
        },
        machine,
      ),
    startWorker: ({ s3Url = s3.url, concurrency = 8, awaited = "Taking keys", env = {} } = {}) =>
      start("bucket", "functions/s3-bucket/src/main.ts", awaited, {
        DROVER_S3_ENDPOINT: s3Url,
        DROVER_S3_REGION: s3.region,
        DROVER_CONCURRENCY: String(concurrency),
        DROVER_LEASE: "1s",
        DROVER_LEASE_RENEWAL: "300ms",
        AWS_ACCESS_KEY_ID: s3.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
        ...env,
      }),
    startProcess: start,
    startGateway({ allowed, awaited = "Taking keys", env = {}, machine }) {
      const settings = {
        DROVER_WEBHOOK_NETWORKS: "127.0.0.0/8",
        DROVER_AUTHORS: "trusted",
        ...(allowed !== undefined && { DROVER_WEBHOOK_ALLOW: `http://127.0.0.1:${allowed}` }),
        ...env,
      };
      return start("gateway", "apps/gateway/src/main.ts", awaited, settings, machine);
    },
    startServed({ name, main, port, audience, secrets, env = {}, machine }) {
      const settings = {
        DROVER_REDIS_URL: undefined,
        DROVER_KUBECONFIG: undefined,
        DROVER_HTTP_PORT: String(port),
        DROVER_WEBHOOK_AUDIENCE: audience,
        DROVER_WEBHOOK_SECRETS: secrets,
        ...env,
      };
      return start(name, main, "Answering calls", settings, machine);
    },
    mount(name, values) {
      const mounted = join(folder, name);
      mkdirSync(mounted, { recursive: true });
      for (const [key, value] of Object.entries(values)) {
        writeFileSync(join(mounted, key), value);
        chmodSync(join(mounted, key), 0o600);
      }
      return mounted;
    },
    startFunction: (main, env = {}) => start("function", main, "Taking keys", env),
    until,
    define,
    async applyReady(manifest) {
      await cluster.apply(manifest);
      return until(manifest, isReady);
    },
    async removed(manifest) {
      await cluster.remove(manifest);
      await until(manifest, isGone);
    },
    async connectRedis() {
      const connection = await connectRedis({ url: redis.url, clientName: "test", log: silentLog });
      closing.push(() => disconnectRedis(connection));
      return connection;
    },
    atEnd: (close) => void closing.push(close),
    async stop() {
      await Promise.all(started.map((child) => child.stop()));
      await Promise.all(closing.map((close) => close()));
      truth.close();
      await Promise.all([cluster.stop(), redis.stop(), s3.stop()]);
      rmSync(folder, { recursive: true });
    },
  };
}

/** A world with these kinds, for the tests of a file; it ends with the file. */
export async function worldOfFile(...kinds: readonly Resource[]): Promise<World> {
  const world = await startWorld();
  afterAll(() => world.stop());
  await world.define(...kinds);
  return world;
}

/** A Bucket object in the default namespace. */
export const bucket = (name: string, spec: object = {}): Manifest =>
  object(Bucket, name, { bucketName: name, onDelete: "Delete", ...spec });

/** The name of a queue: of the ReconcileFunction that there is now. */
export async function queueOf({ cluster }: World, manifest: Manifest): Promise<string> {
  const { namespace = "", name } = manifest.metadata;
  return [namespace, name, (await cluster.get(manifest))?.metadata.uid].join("/");
}

/** Ready, for the spec that the object has now. */
export const isReady = (object: TestObject | undefined): boolean => conditionOf(object)?.status === "True";

/** The Ready condition, once it speaks of the spec that the object has now. */
export const conditionOf = (object: TestObject | undefined) =>
  object?.status?.observedGeneration === object?.metadata.generation
    ? object?.status?.conditions?.find(({ type }) => type === "Ready")
    : undefined;
export const isGone = (object: TestObject | undefined): boolean => object === undefined;

/** Ask again until it is so. */
export const eventually = <T>(look: () => Promise<T> | T): Promise<T> =>
  vi.waitFor(look, { timeout, interval: 100 });

/** A kind that is not defined yet. */
export const absentees = looseKind("s3.drover.dev", "Absentee");

/** A URL that a process has logged in this field. A line reaches the file a moment after the line that was awaited. */
export async function loggedUrl({ logFile }: Pick<Started, "logFile">, field: string): Promise<string> {
  const url = () => new RegExp(`"${field}":"(http:[^"]+)"`).exec(readFileSync(logFile, "utf8"))?.[1] ?? "";
  await eventually(() => expect(url()).not.toBe(""));
  return url();
}

/** The metrics of a process, as Prometheus reads them. */
export const metricsOf = async ({ url }: Pick<Started, "url">): Promise<string> =>
  (await fetch(`${url}/metrics`)).text();
