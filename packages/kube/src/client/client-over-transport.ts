import type { Milliseconds, ObjectKey } from "@drover/controller";
import type { KubeClient, ReadOptions, RequestOptions, WriteGuard } from "./client.ts";
import { isApiError } from "../errors.ts";
import { findObjects } from "./find-objects.ts";
import { keyOf } from "../objects/kube-object.ts";
import { acceptedJson, listFrom, objectFrom, reviewFrom } from "./reply.ts";
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
} from "./request-shape.ts";
import { builtin, type ResourceRef } from "../objects/resource-ref.ts";
import { withRetries } from "./with-retries.ts";
import type { Timers } from "@drover/timers";
import { type Transport, transportAs } from "../transport/transport.ts";
import { openWatch } from "./open-watch.ts";
import { bothGuards, performWrite, guardOf, type SendGuard } from "./write-guard.ts";

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
