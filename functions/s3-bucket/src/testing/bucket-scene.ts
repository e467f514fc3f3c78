import { randomUUID } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import {
  unavailableClient,
  type Condition,
  type Log,
  objectKey,
  type ReconcileResult,
  RetryAfterError,
  type StatusOf,
  TerminalError,
  ThrottledError,
} from "@drover/controller";
import { startS3 } from "@drover/local-servers";
import { expect } from "vitest";
import type { z } from "zod";
import { Bucket, type BucketContext } from "../bucket.ts";
import { bucketController } from "../bucket-controller.ts";
import { s3ConfigSchema } from "../config.ts";
import { type BucketPorts, s3BucketPorts } from "../s3/s3-bucket-port.ts";
import { type BucketHandle, bucketHandle, s3ClientOf } from "./bucket-handle.ts";
import { s3ConfigurationsStub } from "./s3-configurations-stub.ts";
import { startS3FaultProxy } from "./s3-fault-proxy.ts";

type Result = ReconcileResult<typeof Bucket>;

/** A Bucket object in a cluster that keeps the status that the function returns. */
export interface TestBucket {
  readonly key: string;
  readonly bucketName: string;
  /** The bucket of that name. */
  readonly bucket: BucketHandle;
  readonly uid: string;
  spec: z.output<typeof Bucket.spec>;
  status: Partial<StatusOf<typeof Bucket>> & { readonly observedGeneration?: number };
  generation: number;
  /** The account that the last run used. */
  account: string | undefined;
  /** One run; keeps the status that it returns. */
  reconcile(signal?: AbortSignal): Promise<Result>;
  /** Runs as long as each asks for the next at once: until what is asked for is so, or it must wait. */
  reconcileUntilStable(): Promise<Result>;
  finalize(signal?: AbortSignal): Promise<void>;
}

export type BucketScene = Awaited<ReturnType<typeof openBucketScene>>;

/** A real S3 server, the function in front of a proxy, and a client of its own to see and do things behind its back. */
export async function openBucketScene(timeout = "5s") {
  const server = await startS3();
  const stub = s3ConfigurationsStub();
  const proxy = await startS3FaultProxy(server.url, { stub });
  const direct = await startS3FaultProxy(server.url, { stub, recordsCalls: false });
  const ports = s3BucketPorts(
    s3ConfigSchema.parse({
      s3Endpoint: proxy.url,
      s3Timeout: timeout,
      s3Roles: "arn:aws:iam::222222222222:role/buckets-{namespace}",
    }),
  );
  const { accessKeyId, secretAccessKey } = server;
  const s3 = s3ClientOf(server);
  const withConfigurations = s3ClientOf({ ...server, url: direct.url });
  const secrets = new Map<string, Record<string, string>>([["keys", { accessKeyId, secretAccessKey }]]);
  const logged: object[] = [];
  const object = (...asked: ObjectOptions) => testObject({ ports, secrets, logged, s3 }, ...asked);
  return {
    server,
    proxy,
    ports,
    s3,
    /** As `s3`, with the configurations that the server of the tests lacks. */
    withConfigurations,
    secrets,
    logged,
    bucket: (name: string) => bucketHandle(s3, name),
    object,
    /** An object whose bucket is as its spec asks. */
    async stableObject(...asked: ObjectOptions) {
      const stable = object(...asked);
      await stable.reconcileUntilStable();
      return stable;
    },
    async close() {
      ports.close();
      s3.destroy();
      withConfigurations.destroy();
      await proxy.close();
      await direct.close();
      await server.stop();
    },
  };
}

type ObjectOptions = [spec?: z.input<typeof Bucket.spec>, name?: string];

interface ObjectServers {
  readonly ports: BucketPorts;
  readonly s3: S3Client;
  readonly secrets: ReadonlyMap<string, Record<string, string>>;
  readonly logged: object[];
}

function logInto(logged: object[]): Log {
  const note = (fields: object, message: string) => void logged.push({ ...fields, message });
  return { debug: note, info: note, warn: note, error: note };
}

function testObject(
  { ports, secrets, logged, s3 }: ObjectServers,
  ...[spec = {}, name = `b-${randomUUID().slice(0, 8)}`]: ObjectOptions
): TestBucket {
  const uid = randomUUID();
  const controller = bucketController(ports);
  const bucketName = spec.bucketName ?? `default-${name}`;
  const key = objectKey({ namespace: "default", name });
  const log = logInto(logged);
  const metadataNow = () => ({
    namespace: "default",
    name,
    uid,
    resourceVersion: "1",
    generation: object.generation,
  });
  const context = (signal = new AbortController().signal): BucketContext => ({
    key,
    metadata: metadataNow(),
    object: { metadata: metadataNow() },
    spec: object.spec,
    status: object.status,
    log,
    now: () => new Date(),
    signal,
    client: unavailableClient(() => new Error("Buckets are outside of the cluster.")),
    guard: { beforeWrite: () => {} },
    announce: () => undefined,
    readSecret: (secret) => Promise.resolve(secrets.get(secret)),
  });
  const object: TestBucket = {
    key,
    uid,
    bucketName,
    bucket: bucketHandle(s3, bucketName),
    spec: Bucket.spec.parse({ credentialsSecret: { name: "keys" }, ...spec }),
    status: {},
    generation: 1,
    account: undefined,
    async reconcile(signal) {
      const result = (await controller.reconcile(context(signal))) ?? {};
      object.account = result.account;
      // As a status that has been to the API server and back.
      if (result.status !== undefined)
        object.status = {
          ...Bucket.status.parse(JSON.parse(JSON.stringify(result.status))),
          observedGeneration: object.generation,
        };
      return result;
    },
    async reconcileUntilStable() {
      for (let runs = 0; runs < 10; runs++) {
        const result = await object.reconcile();
        if (result.requeueAfter !== "1ms") return result;
      }
      throw new Error("Ten runs were not enough.");
    },
    finalize: (signal) => controller.finalize(context(signal)),
  };
  return object;
}

/** A run at the end of an object. False: the bucket is being emptied, and the next run is to come at once. */
export const isFinalized = (object: TestBucket): Promise<boolean> =>
  object.finalize().then(
    () => true,
    (error: unknown) => {
      if (error instanceof RetryAfterError && error.reason === "Emptying") return false;
      throw error;
    },
  );

/** The error that something must end with. */
export async function expectError(of: Promise<unknown>): Promise<Error> {
  const error: unknown = await of.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof Error) return error;
  throw new Error("It succeeded, and should not have.");
}

/** Its bucket has the object as its owner, and these tags. */
export const expectOwned = async ({ bucket, uid }: TestBucket, tags: object = {}): Promise<void> =>
  expect(await bucket.tags()).toMatchObject({ ...tags, "drover.dev/owner-uid": uid });

/** The wait, or the stop, that something must end with, for this reason if one is given. */
export async function expectRefusal(
  of: Promise<unknown>,
  reason?: string,
): Promise<RetryAfterError | TerminalError | ThrottledError> {
  const error = await expectError(of);
  const isRefusal =
    error instanceof RetryAfterError || error instanceof TerminalError || error instanceof ThrottledError;
  if (!isRefusal) throw error;
  expect(error.reason).toBe(reason ?? error.reason);
  return error;
}

export const readyOf = ({ conditions = [] }: Result): Condition | undefined =>
  conditions.find(({ type }) => type === "Ready");
