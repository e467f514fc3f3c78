import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { KubeClient, ReadOptions, RequestOptions, WriteGuard, WatchOptions } from "./client.ts";
import { isApiError, ApiError, ConnectionError, MalformedReplyError } from "../errors.ts";
import { findObjects } from "./find-objects.ts";
import { keyOf } from "../objects/kube-object.ts";
import { acceptedJson, listFrom, objectFrom, reviewFrom, refusalError } from "./reply.ts";
import {
  bindRequest,
  createRequest,
  deleteRequest,
  getRequest,
  listRequest,
  patchRequest,
  replaceRequest,
  reviewRequest,
  type RequestShape,
  watchRequest,
} from "./request-shape.ts";
import { builtin, type ResourceRef } from "../objects/resource-ref.ts";
import { type Timers, sleep } from "@drover/timers";
import { type Transport, transportAs } from "../transport/transport.ts";
import { bothGuards, performWrite, guardOf, type SendGuard } from "./write-guard.ts";
import { readBounded } from "../transport/bounded-body.ts";
import { type WatchFrame, watchFrames } from "./watch-frames.ts";

export interface ClientParts {
  readonly transport: Transport;
  readonly requestTimeout: Milliseconds;
  readonly fieldManager: string;
  readonly timers: Timers;
}

/** Largest body of a reply, in bytes. etcd takes objects of 1.5 MiB by default; a page has at most 500 of them. */
const longestBody = { object: 16 * 1024 * 1024, list: 64 * 1024 * 1024 };
const retries = { read: 2, write: 2 };

/** A client over a transport. With `guard`, each write is checked before it is sent. */
export function clientOver(parts: ClientParts, guard?: WriteGuard): KubeClient {
  const { transport, fieldManager, requestTimeout } = parts;
  const writeObject = (ref: ResourceRef, key: ObjectKey, shape: RequestShape, options: RequestOptions = {}) =>
    performWrite(guard, { ref, key }, async () =>
      objectFrom(shape.name, ref, await write(parts, guardOf(shape, guard), shape, options)),
    );
  /** A write that is not answered with the object. */
  const writeWithoutObject = async (
    ref: ResourceRef,
    key: ObjectKey,
    shape: RequestShape,
    options: RequestOptions,
  ) =>
    performWrite(guard, { ref, key }, async (): Promise<undefined> => {
      await write(parts, guardOf(shape, guard), shape, options);
    });
  const client: KubeClient = {
    get: async (ref, key, options = {}) => {
      const shape = getRequest(ref, key);
      return unlessAbsent(undefined, async () =>
        objectFrom(shape.name, ref, await read(parts, shape, options)),
      );
    },
    list: async (ref, options = {}) => {
      const shape = listRequest(ref, options);
      return listFrom(shape.name, ref, await read(parts, shape, options), options.metadataOnly === true);
    },
    find: (ref, options = {}) => findObjects(client, guard?.cache, ref, options),
    create: async (ref, object, options) =>
      writeObject(ref, keyOf(object), createRequest(ref, object, fieldManager), options),
    replace: async (ref, object, options) => {
      const key = keyOf(object);
      return writeObject(ref, key, replaceRequest(ref, key, object, { ...options, fieldManager }), options);
    },
    patch: async (ref, key, patch, options) =>
      writeObject(ref, key, patchRequest(ref, key, patch, { ...options, fieldManager }), options),
    bind: (pod, node, options = {}) =>
      writeWithoutObject(builtin.pod, keyOf({ metadata: pod }), bindRequest(pod, node), options),
    delete: async (ref, key, options = {}) => {
      const shape = deleteRequest(ref, key, options);
      return unlessAbsent(false, () => writeWithoutObject(ref, key, shape, options).then(() => true));
    },
    review: async (ref, spec, options = {}) => {
      const shape = reviewRequest(ref, spec);
      return reviewFrom(shape.name, await read(parts, shape, options));
    },
    watch: (ref, options) => openWatch(transport, requestTimeout, ref, options),
    guarded: (inner) => clientOver(parts, bothGuards(guard, inner)),
    as: ({ namespace, name }) =>
      clientOver(
        { ...parts, transport: transportAs(transport, `system:serviceaccount:${namespace}:${name}`) },
        guard,
      ),
    close: () => transport.close(),
  };
  return client;
}

function read(parts: ClientParts, shape: RequestShape, options: ReadOptions): Promise<unknown> {
  const rule = { of: "read", most: options.retries ?? retries.read, timers: parts.timers } as const;
  return withRetries({ ...rule, signal: options.signal }, () => exchange(parts, shape, options));
}

function write(
  parts: ClientParts,
  beforeSend: SendGuard,
  shape: RequestShape,
  options: RequestOptions,
): Promise<unknown> {
  const rule = { of: "write", most: retries.write, timers: parts.timers } as const;
  return withRetries({ ...rule, signal: options.signal }, () => exchange(parts, shape, options, beforeSend));
}

async function exchange(
  { transport, requestTimeout }: ClientParts,
  shape: RequestShape,
  { signal, timeout = requestTimeout }: RequestOptions,
  beforeSend?: SendGuard,
): Promise<unknown> {
  return acceptedJson(
    await transport.request({ ...shape, signal, timeout, beforeSend }, longestBody[shape.reply]),
  );
}

async function unlessAbsent<T>(otherwise: T, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (isApiError(error, "NotFound")) return otherwise;
    throw error;
  }
}

interface RetryRule {
  /** Most repeats of a call. */
  readonly most: number;
  /** Reads are repeated after any failure that may pass; writes only if the server has reported that it did nothing. */
  readonly of: "read" | "write";
  readonly timers: Timers;
  readonly signal: AbortSignal | undefined;
}

/** A longer Retry-After is left to the caller, which has a queue for the work. */
const longestWait: Milliseconds = 5_000;

const firstWait: Milliseconds = 100;

/** Makes a call, and repeats it while the rule allows, never within a Retry-After. */
async function withRetries<T>(rule: RetryRule, call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries >= rule.most || !isRetriable(rule.of, error)) throw error;
      const asked = error instanceof ApiError ? (error.retryAfter ?? 0) : 0;
      if (asked > longestWait) throw error;
      // Jitter is added: the wait is never shorter than requested.
      const span = Math.max(asked, firstWait * 2 ** tries) * (1 + Math.random() / 2);
      await sleep(rule.timers, span, "retry", rule.signal);
    }
  }
}

function isRetriable(of: "read" | "write", error: unknown): boolean {
  if (error instanceof ConnectionError) return of === "read" && error.code !== "TIMEOUT";
  if (!(error instanceof ApiError)) return false;
  if (error.kind === "TooManyRequests") return true;
  return of === "read" && (error.kind === "ServerError" || error.kind === "Timeout");
}

/** Largest body of a refusal, in bytes. */
const longestRefusal = 1024 * 1024;

/** Opens a watch when its first frame is requested. Leaving the loop closes it. */
async function* openWatch(
  transport: Transport,
  timeout: Milliseconds,
  ref: ResourceRef,
  options: WatchOptions,
): AsyncGenerator<readonly WatchFrame[], void, undefined> {
  const { signal, onActivity = () => undefined } = options;
  const reply = await transport.stream({ ...watchRequest(ref, options), signal, timeout });
  onActivity();
  if (reply.status !== 200) throw refusalError({ ...reply, body: await readBounded(reply, longestRefusal) });
  if (!reply.contentType.startsWith("application/json")) {
    reply.body.destroy();
    throw new MalformedReplyError(
      reply.request,
      `it answers with ${JSON.stringify(reply.contentType)}, not JSON.`,
    );
  }
  options.onOpen?.();
  try {
    yield* watchFrames(reply, { ref, partial: options.metadataOnly === true }, onActivity);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  }
}
